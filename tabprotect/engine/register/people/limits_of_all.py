"""What the exact numbers and the limits of several tables of the same records leave possible together. Confidential.

Every sum that a release tells of lies between two ends, and all are sums over the table of all variables: one
linear programme tells between which ends each cell of each table is then. Where shared margins are stated by
no release, and no tables can be drawn that fit each other (``rings``), each table is believed as by its own
release within these ends.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from tabprotect.engine.arrays import Ints
from tabprotect.engine.belief.evidence import Evidence, OfRelease
from tabprotect.engine.disclosure.widened import cells_may_fail
from tabprotect.engine.errors import InfeasibleError, InputError, SolverError
from tabprotect.engine.posterior.widening import Widening
from tabprotect.engine.progress import SILENT, Progress
from tabprotect.engine.register.people.grouped_categories import Groups, over_categories
from tabprotect.engine.register.people.parts_of_whole import MANY, Counted, together_at_risk
from tabprotect.engine.register.people.rings import codes_among, finest_variables
from tabprotect.engine.register.people.stated_margins import PublishedSums, believed_cells, cells_and_sums
from tabprotect.engine.release.likelihood import CellFactors, product
from tabprotect.engine.release.mechanism import Gate
from tabprotect.engine.release.published_numbers import Law
from tabprotect.engine.solver import NEAR, Entries, TableProgramme
from tabprotect.engine.tables.domain import Domain

MOST_CELLS = 2**15
"""Cells of the table of all variables: a programme on so many takes some tenths of a second."""

WIDE = 12
"""Counts above the least that are told apart: a cell that may have more is as free as by its own release."""


@dataclass(frozen=True, eq=False)
class LimitsOfAll:
    """Releases of the same records, none of which need state a margin.

    Attributes
    ----------
    read
        All of them, the release at hand first.
    limits
    groups
        Variables whose categories are groups of those of another one, beside those of one name.
    """

    read: Sequence[Evidence]
    limits: Gate
    groups: Sequence[Groups] = ()
    progress: Progress = SILENT

    def tells_little(self) -> bool:
        """Return True if no belief within the ends that all releases leave is beyond the limits."""
        try:
            return self.domain.size <= MOST_CELLS and not any(map(self._fails, range(len(self.read))))
        except (InfeasibleError, InputError, SolverError):
            return False

    @cached_property
    def domain(self) -> Domain:
        """All variables that are groups of no others, each with its finest categories."""
        found = finest_variables(self.read)
        return Domain(tuple(v for v in found.values() if v.name not in self._coarse))

    @cached_property
    def _coarse(self) -> dict[str, Groups]:
        return {one.coarse: one for one in self.groups if one.coarse != one.fine}

    @cached_property
    def _at_risk(self) -> Gate:
        return replace(self.limits, at_risk=together_at_risk(self.limits, self.read))

    def _placed(self, known: CellFactors, one: Evidence) -> CellFactors:
        """What is known of the table of a release, of the cells of all variables."""
        names = one.likelihood.domain.names
        codes = codes_among(one, [n for n in names if n not in self._coarse], self.domain, self.read)
        for name in set(names) - set(codes):
            group = self._coarse[name].group
            if group is None or len(group) != len(self.domain[self._coarse[name].fine].categories):
                raise InfeasibleError("it is not settled which categories go together")
            codes[name] = self._coarse[name].fine, group
        return over_categories(known, self.domain, codes)

    @cached_property
    def _counted(self) -> list[Counted]:
        return [Counted.of(one, one.likelihood.domain.names) for one in self.read]

    @cached_property
    def _programme(self) -> TableProgramme:
        known = []
        for one, counted in zip(self.read, self._counted, strict=True):
            low, high = counted.cell_ends
            ends = _between(counted.domain, PublishedSums.of_cells(counted.domain), low, high)
            known.append(self._placed(product([counted.factors, ends]), one))
        every = product(known)
        low, high = every.ends
        rows = np.repeat(np.arange(len(low)), np.diff(every.starts))
        none = np.zeros(self.domain.size)
        sums = low.astype(np.float64), np.where(high < MANY, high, np.inf)
        return TableProgramme(
            Entries.at(rows, every.cells, 1.0, self.domain.size), sums=sums, cells=(none, none + np.inf)
        )

    def narrowed(self, number: int) -> tuple[Ints, Ints, Ints]:
        """The cells of a table that may be at risk and have other ends beside all releases; these ends."""
        counted = self._counted[number]
        return self._narrowed(number, PublishedSums.of_cells(counted.domain), counted.cell_ends)

    def _narrowed(self, number: int, sums: PublishedSums, own: tuple[Ints, Ints]) -> tuple[Ints, Ints, Ints]:
        """The same of sums of cells, by their own ends."""
        counted, (least, most) = self._counted[number], own
        wanted = np.flatnonzero((least < most) & (least <= self._at_risk.at_risk.high))
        place = self._placed(_between(counted.domain, sums, least, most), self.read[number])
        low, high = least.copy(), np.minimum(most, least + WIDE)
        for at in wanted.tolist():
            columns = place.cells[place.starts[at] : place.starts[at + 1]]
            least_found = self._programme.optimise(columns, "min", progress=self.progress).bound
            most_found = self._programme.optimise(columns, "max", progress=self.progress).bound
            low[at] = max(low[at], math.ceil(least_found - NEAR))
            high[at] = min(high[at], math.floor(min(most_found, MANY) + NEAR))
        other = wanted[(low > least)[wanted] | (high < np.minimum(most, least + WIDE))[wanted]]
        return other, low[other], np.where(high < least + WIDE, high, most)[other]

    def _fails(self, number: int) -> bool:
        one, counted = self.read[number], self._counted[number]
        published = [sums for sums in counted.published(counted.domain) if sums.judged.any()]
        inside: list[CellFactors] = []
        for sums in (PublishedSums.of_cells(counted.domain), *published):
            own = sums.ends(counted.factors, counted.cell_ends)
            at, low, high = self._narrowed(number, sums, own)
            if len(at):
                ends = np.zeros_like(own[0]), np.full_like(own[1], MANY)
                ends[0][at], ends[1][at] = low, high
                inside.append(_between(counted.domain, sums, *ends))
        if not inside:
            return False
        known, chance = (
            Evidence(one.release, product(inside), alone=True),
            OfRelease(one.release, "limits of all"),
        )
        found = believed_cells([one, known], chance, self.progress)
        beliefs = cells_and_sums(found, published, chance)
        return any(cells_may_fail(belief, Widening(), self._at_risk) for belief in beliefs)


def _between(domain: Domain, sums: PublishedSums, low: Ints, high: Ints) -> CellFactors:
    """Sums of cells of a table, each between its ends."""
    ends, kind = np.unique(np.stack([low, high]), axis=1, return_inverse=True)
    laws: list[Law] = [(a, b, None) for a, b in ends.T.tolist()]
    cells = sums.cells
    starts = np.cumsum([0, *map(len, cells)]).astype(np.int64)
    held = starts, np.concatenate(cells)
    return CellFactors.of(domain, (), held, kind.reshape(-1).astype(np.int64), laws)
