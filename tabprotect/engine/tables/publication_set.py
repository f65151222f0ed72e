"""Several tables of the same records that are protected and published as one.

Each table of a set is a formula over the variables of the records and their levels; what two of
them have in common is one sub-table, protected once.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations

import numpy as np

from tabprotect.engine.errors import InputError, ParameterError
from tabprotect.engine.plain_values.encoding import Encodable
from tabprotect.engine.tables.domain import Domain
from tabprotect.engine.tables.formula import in_formula, names_in
from tabprotect.engine.tables.margins import MarginSet
from tabprotect.engine.tables.publication import Publication
from tabprotect.engine.tables.table import Table
from tabprotect.engine.tables.variable import Level
from tabprotect.languages.messages import message, plural


@dataclass(frozen=True)
class Sliver(Encodable):
    """A group of one level less the groups of another that lie in it: what subtraction gives.

    Attributes
    ----------
    variable
        Whose categories are grouped.
    group, less
        ``level: group`` that is published, and the published groups inside it.
    left
        The categories that remain.
    over
        The variables beside it in the tables that hold both.
    at_risk, least
        How many cells of the difference hold a count at risk, and the smallest positive one (0
        where all are empty). Confidential.
    """

    variable: str
    group: str
    less: tuple[str, ...]
    left: tuple[str, ...]
    over: tuple[str, ...]
    at_risk: int
    least: int

    @property
    def sentence(self) -> str:
        """Say it for people of the house."""
        over = message(" by {over}", ", ".join(self.over)) if self.over else ""
        return plural(
            self.at_risk,
            "{variable}: {group} less {less} leaves {left}{over}: {at_risk:,} small count",
            "{variable}: {group} less {less} leaves {left}{over}: {at_risk:,} small counts",
            self.variable,
            self.group,
            ", ".join(self.less),
            ", ".join(self.left),
            over,
            self.at_risk,
        )


@dataclass(frozen=True)
class PublicationSet:
    """The tables of a set by name, each with its sub-tables.

    Raises
    ------
    InputError
        For no table, or a formula that does not fit.
    """

    domain: Domain
    formulas: Mapping[str, str]

    def __post_init__(self) -> None:
        if not self.formulas:
            raise InputError(message("the set has no table"), hint=message("name one: --table NAME=FORMULA"))
        for name in self.formulas:
            if not name or set(name) & set('/\\:*?"<>|') or name.startswith("."):
                raise InputError(
                    message("{name} cannot name a file", repr(name)),
                    hint=message("letters, digits and hyphens"),
                )
        assert self.tables

    @cached_property
    def tables(self) -> Mapping[str, Publication]:
        """The sub-tables that each table of the set publishes."""
        return {name: Publication.of(self.domain, formula) for name, formula in self.formulas.items()}

    @cached_property
    def whole(self) -> Publication:
        """All sub-tables of all tables, each once."""
        margins = dict.fromkeys(m for table in self.tables.values() for m in table.margins)
        return Publication.of(self.domain, margins)

    @property
    def formula(self) -> str:
        """One formula that names every sub-table of the set, and no other."""
        return formula_of(self.whole.margins)

    @property
    def common(self) -> dict[tuple[str, ...], tuple[str, ...]]:
        """The sub-tables that several tables of the set hold, with their names."""
        found: dict[tuple[str, ...], list[str]] = {}
        for name, table in self.tables.items():
            for margin in table.margins:
                found.setdefault(margin, []).append(name)
        return {margin: tuple(names) for margin, names in found.items() if len(names) > 1}

    def slivers(
        self, table: Table, at_risk: tuple[int, int], earlier: Sequence[PublicationSet] = ()
    ) -> list[Sliver]:
        """The slivers that groups which do not nest disclose by subtraction, those at risk first.

        Parameters
        ----------
        table
            The true counts.
        at_risk
            The lowest and the highest count at risk.
        earlier
            Sets of the same records that were published by other groups: those of their levels
            that fit the categories are looked at too.
        """
        found: list[Sliver] = []
        for variable in self.domain.variables:
            levels = [(f"{variable.name}@{g.name}", g) for g in variable.named.values()]
            places = {name: _beside(self.whole.margins, name) for name, _ in levels}
            for number, other in enumerate(earlier, 1):
                for name, level in _fitting(other.domain, self.domain, variable.name):
                    places[message("{name} (earlier set {number})", name, number)] = _beside(
                        other.whole.margins, name
                    )
                    levels.append((message("{name} (earlier set {number})", name, number), level))
            for (a, one), (b, two) in combinations(levels, 2):
                over = _shared(self.domain, places[a], places[b])
                if over is not None:
                    found += _between(table, at_risk, variable.name, (a, one), (b, two), over)
        found.sort(key=lambda sliver: (-sliver.at_risk, sliver.variable, sliver.group))
        return found


def with_parts(formulas: Mapping[str, str], domain: Domain, by: str) -> dict[str, str]:
    """Formulas of tables, each of them by a further variable, too; without any the whole table.

    Raises
    ------
    ParameterError
        If there is no such variable, or a table is by it anyway.
    """
    if by not in domain.known_names:
        raise ParameterError(
            {"by": message("no variable {by}; there are {names}", repr(by), ", ".join(domain.names))}
        )
    whole = "*".join(in_formula(name) for name in domain.names if name != by)
    found: dict[str, str] = {}
    for name, formula in (formulas or {"all": whole}).items():
        if by in names_in(formula):
            raise ParameterError({"by": message("table {name} is by {by} anyway", repr(name), repr(by))})
        found |= {name: formula, f"{name}-by-{by}": f"({formula})*{in_formula(by)}"}
    return found


def formula_of(margins: MarginSet) -> str:
    """A formula for exactly these margins."""
    named = [":".join(map(in_formula, margin)) for margin in margins if margin]
    total = "1" if () in margins else "0"
    return " + ".join([total, *named])


def _beside(margins: MarginSet, name: str) -> list[frozenset[str]]:
    """Return what stands beside a level in the margins that name it."""
    return [frozenset(margin) - {name} for margin in margins if name in margin]


def _shared(
    domain: Domain, one: Sequence[frozenset[str]], two: Sequence[frozenset[str]]
) -> tuple[str, ...] | None:
    """The largest selection of variables that both stand with; ``None`` where either is nowhere."""
    both = [a & b for a in one for b in two]
    if not both:
        return None
    largest = max(both, key=lambda names: (len(names), sorted(names)))
    return tuple(name for name in domain.tidy(n for n in largest if n in domain.known_names))


def _fitting(before: Domain, now: Domain, name: str) -> Iterator[tuple[str, Level]]:
    """The levels of an earlier variable as groups of the categories there are."""
    if name not in before.names:
        return
    old, categories = before[name], now[name].categories
    if not set(categories) <= set(old.categories):
        return
    known = {level.name: level.groups for level in now[name].coarser}
    for level in old.coarser:
        groups = tuple(level.groups[old.code(category)] for category in categories)
        if known.get(level.name) != groups:
            yield f"{name}@{level.name}", Level(level.name, groups)


def _between(
    table: Table,
    at_risk: tuple[int, int],
    variable: str,
    one: tuple[str, Level],
    two: tuple[str, Level],
    over: tuple[str, ...],
) -> Iterator[Sliver]:
    for (wide_name, wide), (narrow_name, narrow) in ((one, two), (two, one)):
        if narrow.refines(wide):
            continue
        counts = None
        for group in dict.fromkeys(wide.groups):
            inside = {n for n, held in enumerate(wide.groups) if held == group}
            parts = [
                part
                for part in dict.fromkeys(narrow.groups)
                if {n for n, held in enumerate(narrow.groups) if held == part} <= inside
            ]
            left = [n for n in sorted(inside) if narrow.groups[n] not in parts]
            if not parts or not left:
                continue
            if counts is None:
                margin = table.margin([variable, *over])
                counts = np.moveaxis(margin.counts, margin.domain.axis(variable), 0)
            cells = counts[left].sum(axis=0)
            positive = cells[cells > 0]
            yield Sliver(
                variable,
                message("{wide_name}: {group}", wide_name, group),
                tuple(message("{narrow_name}: {part}", narrow_name, part) for part in parts),
                tuple(table.domain[variable].categories[n] for n in left),
                over,
                int(((cells >= at_risk[0]) & (cells <= at_risk[1])).sum()),
                int(positive.min()) if positive.size else 0,
            )
