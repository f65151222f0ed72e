"""The evidence of a criterion about sums: who contributes to every sum of one table. Confidential.

Whole sub-tables are published; the sums of all others are hidden, and a reader works them out as far
as he can from what is published and what he contributed himself.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from tabprotect.engine.arrays import Bools, Floats, Ints
from tabprotect.engine.errors import InputError
from tabprotect.engine.magnitudes.readers.attack_problem import AttackProblem
from tabprotect.engine.magnitudes.tables.magnitude_table import MagnitudeTable
from tabprotect.engine.options import Measure
from tabprotect.engine.progress import SILENT, Progress
from tabprotect.engine.protection.margins.margin_safety import MOST_TIGHT
from tabprotect.engine.query_space.criterion_evidence import Evidence, TightCell, Verdict
from tabprotect.engine.query_space.critical_widths.at_risk import AtRiskCells
from tabprotect.engine.query_space.critical_widths.widths import Widths
from tabprotect.engine.query_space.lattice import Lattice, Query
from tabprotect.engine.query_space.sums.hidden_sums import HiddenSums
from tabprotect.engine.release.published_magnitudes import PublishedMagnitudes
from tabprotect.engine.sensitivity.magnitude_rules import MagnitudeRule, judge
from tabprotect.engine.sensitivity.small_count import SmallCount
from tabprotect.engine.tables.domain import Domain
from tabprotect.engine.tables.table import Table
from tabprotect.engine.tables.variable import Variable
from tabprotect.languages.messages import joined, message

MOST_FIGURE = 100
"""The largest figure and threshold, and the figure of a sum that nobody has to be protected in."""


@dataclass(frozen=True, repr=False)
class TightSum(TightCell):
    """A sum that tells a reader too much of a contributor, with the ends it has for him. Confidential."""

    json_keys = "cell=text value=count lower upper"


@dataclass(frozen=True)
class SumsAudit:
    """What a release of sums gives away by one rule.

    Attributes
    ----------
    verdict
    tight
        What is given away, the sums that are published first.
    """

    verdict: Verdict
    tight: tuple[TightSum, ...]


@dataclass(frozen=True, repr=False)
class SumEvidence(Evidence):
    """The sums of one table by sub-table, each with its figure by itself.

    Attributes
    ----------
    sums
        Every sum with its contributors.
    queries : int64 (sums,)
        The sub-table that each is in.
    """

    sums: MagnitudeTable
    queries: Ints
    _audits: dict[tuple[str, tuple[Query, ...], int], SumsAudit] = field(default_factory=dict, compare=False)
    _hidden: dict[tuple[Query, ...], HiddenSums] = field(default_factory=dict, compare=False)

    @classmethod
    def of(cls, sums: MagnitudeTable, figures: Ints | int = MOST_FIGURE) -> SumEvidence:
        """The evidence of a table whose sums have these figures by themselves, int64 (sums,).

        Raises
        ------
        InputError
            If there are more sub-tables than can be listed.
        """
        cells = AtRiskCells(sums.units, SmallCount(), "all")
        lattice = cells.lattice
        queries = queries_of(sums, lattice)
        smallest = np.full(lattice.size, MOST_FIGURE, dtype=np.int64)
        np.minimum.at(smallest, lattice.at(queries), np.broadcast_to(figures, queries.shape))
        # Whoever has a sub-table has all below it; coarser levels come before finer ones.
        for v in range(lattice.variables):
            above = lattice.every[lattice.every >> v & 1 == 1]
            at = lattice.at(above)
            smallest[at] = np.minimum(smallest[at], smallest[lattice.at(above & ~(1 << v))])
        return cls(cells, Widths(lattice, smallest, smallest), sums, queries)

    @property
    def measure(self) -> Measure:
        return "magnitudes"

    @cached_property
    def table(self) -> Table:
        """The sums of the finest categories, in the smallest unit of the measure."""
        full = self.queries == self.lattice.full
        domain = Domain(self.sums.variables)
        keys = np.ravel_multi_index(tuple(self.sums.cells.nodes[:, full]), domain.shape)
        return Table.sparse(domain, np.asarray(keys, dtype=np.int64), self.sums.cells.value[full])

    def shown(self, numbers: Ints) -> Ints | Floats:
        return numbers if not self.sums.decimals else numbers / 10**self.sums.decimals

    def stated(self) -> dict[str, object]:
        return {"measure": self.sums.measure}

    def part(self, query: Query) -> PublishedMagnitudes:
        """The sub-table of a query, with all that is coarser, as it is published."""
        names = self.lattice.names_of(query)
        here = np.flatnonzero(self.queries & query == self.queries)
        domain = Domain(self.sums.variables)
        variables = domain.project(names).variables
        nodes = []
        for name, variable in zip(names, variables, strict=True):
            axis, level = domain.place(name)
            places = _places(self.sums.variables[axis], variable, "" if level is None else level.name)
            nodes.append(places[self.sums.cells.nodes[axis, here]])
        shape = tuple(len(variable.nodes) for variable in variables)
        key = np.ravel_multi_index(tuple(nodes), shape) if nodes else np.zeros(len(here), dtype=np.int64)
        order = np.argsort(key)
        return PublishedMagnitudes(
            variables,
            self.sums.measure,
            self.sums.decimals,
            np.asarray(key[order], dtype=np.int64),
            self.sums.cells.value[here[order]],
            np.zeros(len(here), dtype=np.bool_),
            self.sums.weighted,
        )

    def published(self, released: Sequence[Query]) -> Bools:
        """The sums that a release publishes; one that holds the same records as another with it."""
        out = np.zeros(len(self.queries), dtype=np.bool_)
        for query in (0, *released):
            out |= self.queries & query == self.queries
        same = self._whole.equations.same
        groups = np.zeros_like(out)
        groups[same[out]] = True
        return np.asarray(groups[same])

    @cached_property
    def _whole(self) -> AttackProblem:
        return AttackProblem(self.sums, ())

    def problem(self, rule: MagnitudeRule) -> AttackProblem:
        """Readers of this table by a rule; how sums add up is worked out once."""
        found = AttackProblem(self.sums, (rule,))
        found.__dict__["equations"] = self._whole.equations
        return found

    def audited(
        self, rule: MagnitudeRule, released: tuple[Query, ...], threshold: int, progress: Progress = SILENT
    ) -> SumsAudit:
        """Try every contributor on everything that a release leaves open.

        Raises
        ------
        Interrupted
        """
        key = rule.name, released, threshold
        found = self._audits.get(key)
        if found is None:
            found = self._audits[key] = self._audit(rule, released, progress)
        return found

    def _audit(self, rule: MagnitudeRule, released: tuple[Query, ...], progress: Progress) -> SumsAudit:
        problem = self.problem(rule)
        same = problem.equations.same
        own = same == np.arange(len(same))
        unsafe = judge((rule,), self.sums.judged(rule.ranks)).unsafe & own
        hidden = ~self.published(released)
        shown = np.flatnonzero(unsafe & ~hidden)
        if len(shown):
            values = [self.sums.shown(int(v)) for v in problem.value[shown[:MOST_TIGHT]]]
            tight = [
                self._tight(cell, value, value) for cell, value in zip(shown.tolist(), values, strict=False)
            ]
            return SumsAudit("bad", tuple(tight))
        left = self._released(released, hidden)
        broken = left.given_away(problem, unsafe & hidden, progress)
        tight = [
            self._tight(item.cell, *map(self._shown, left.ends(item.cell, item.reader))) for item in broken
        ]
        return SumsAudit("bad" if broken else "safe", tuple(tight))

    def _released(self, released: tuple[Query, ...], hidden: Bools) -> HiddenSums:
        known = self._hidden.get(released)
        if known is None:
            known = self._hidden[released] = HiddenSums(self._whole, hidden)
        return known

    def _shown(self, value: float) -> int | float:
        return value if np.isinf(value) else self.sums.shown(round(value))

    def _tight(self, cell: int, low: int | float, high: int | float) -> TightSum:
        nodes = tuple(self.sums.cells.nodes[:, cell].tolist())
        return TightSum(nodes, self.text(cell), self.sums.shown(int(self.sums.cells.value[cell])), low, high)

    def text(self, cell: int) -> str:
        """A sum by the categories that it is of."""
        nodes = self.sums.cells.nodes[:, cell].tolist()
        named = [
            "=".join(variable.entries[node])
            for variable, node in zip(self.sums.variables, nodes, strict=True)
            if node < len(variable.nodes) - 1
        ]
        return joined(named, ", ") or message("the total")

    def bounds(
        self, released: Sequence[Query], cells: Ints, progress: Progress = SILENT
    ) -> tuple[Floats, Floats]:
        """Lower and upper bound of sums for somebody who contributes nothing, in the unit of the measure.

        Parameters
        ----------
        cells : int64 (n,)
        """
        hidden = ~self.published(released)
        left = self._released(tuple(released), hidden)
        same, value = self._whole.equations.same, self._whole.value
        low, high = value[cells].astype(np.float64), value[cells].astype(np.float64)
        for at, cell in enumerate(cells.tolist()):
            progress.report(message("bounding sums"), at / len(cells))
            if hidden[cell]:
                low[at], high[at] = left.ends(int(same[cell]))
        unit = 10**self.sums.decimals
        return low / unit, high / unit


def queries_of(sums: MagnitudeTable, lattice: Lattice) -> Ints:
    """The sub-table that every sum is in, int64 (sums,)."""
    out = np.zeros(len(sums.cells), dtype=np.int64)
    for variable, nodes in zip(sums.variables, sums.cells.nodes, strict=True):
        bits = [lattice.query([entry]) for entry, _ in variable.entries[:-1]]
        out |= np.array([*bits, 0], dtype=np.int64)[nodes]
    return out


def evidence_of_sums(evidence: Evidence) -> SumEvidence:
    """The evidence, as that of sums.

    Raises
    ------
    InputError
        For that of counts.
    """
    if not isinstance(evidence, SumEvidence):
        raise InputError(message("the table holds counts, and the criterion judges sums"))
    return evidence


def _places(whole: Variable, part: Variable, level: str) -> Ints:
    """The node of a level of a variable, as a variable of its own, for each node of the whole one."""
    at = {node: place for place, node in enumerate(part.nodes)}
    out = np.full(len(whole.nodes), -1, dtype=np.int64)
    for place, (of, name) in enumerate(whole.nodes[:-1]):
        # Categories finer than the level are in none of its sums.
        if of or not level:
            out[place] = at.get(("" if of == level else of, name), -1)
    out[-1] = len(part.nodes) - 1
    return out
