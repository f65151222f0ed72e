"""Who may take whose place when records are swapped, and one run of it.

Records live in places (areas) and are of kinds (all their other variables). A class are the records
that agree in the matched variables; a level says within which group of places they are swapped, and
between which units of it. The same plan is run by who protects a table, forwards, and by who asks what
its originals were, from what is published: the levels then come in the reverse order.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

import numpy as np

from tabprotect.engine.arrays import Floats, Ints
from tabprotect.engine.errors import TooLargeError
from tabprotect.engine.swaps import exchanges
from tabprotect.languages.messages import message

SwapRule = Literal["deal", "own"]


TOGETHER = 2**16
"""Records, or cells, of all copies of a table that are swapped at once: what caches hold."""

MOST_RECORDS = 10**8
"""Records that are swapped one by one, some forty bytes each."""


@dataclass(frozen=True, eq=False)
class SwapLevel:
    """One round over all records.

    Attributes
    ----------
    within : int64 (places,)
        The group of places that records stay in.
    unit : int64 (places,)
        The unit that targets count by: two records of one unit are not exchanged.
    rule
        ``deal``: each record is drawn by its chance, and the places of the drawn of a class and
        group are dealt among them anew. ``own``: the records of a class and group are paired by
        chance, and each pair, in an order by chance, is exchanged with one of two chances.
    rates : float64
        ``deal``: the chance of each kind, (kinds,). ``own``: the higher and the lower chance, (2,).
    targets : int64 (tables, kinds)
        ``own``: the category of each kind in the tables whose small counts are looked at.
    small
        ``own``: the higher chance holds where a cell of a target, of one of the two units and one
        of the two categories, has 1 to so many before or after the exchange.
    """

    within: Ints
    unit: Ints
    rule: SwapRule
    rates: Floats
    targets: Ints
    small: int = 0


@dataclass(frozen=True, eq=False)
class SwapPlan:
    """How the records of a table are swapped.

    Attributes
    ----------
    place, kind : int64 (cells,)
        Of each flat cell.
    match : int64 (kinds,)
        The class of each kind by the matched variables.
    levels
        In the order in which they are run.
    """

    place: Ints
    kind: Ints
    match: Ints
    levels: tuple[SwapLevel, ...]

    @property
    def places(self) -> int:
        """Number of places."""
        return len(self.levels[0].unit)

    @cached_property
    def cell(self) -> Ints:
        """The flat cell of each place and kind, int64 (places, kinds)."""
        out = np.empty((self.places, len(self.match)), dtype=np.int64)
        out[self.place, self.kind] = np.arange(len(self.place))
        return out

    def classes(self, level: SwapLevel) -> Ints:
        """The class of each flat cell at a level, int64 (cells,)."""
        groups = int(level.within.max(initial=0)) + 1
        return self.match[self.kind] * groups + level.within[self.place]

    def fixed(self, counts: Ints) -> int:
        """Return how many records have nobody elsewhere to change with at any level.

        Parameters
        ----------
        counts : int64 (cells,)
        """
        stuck = counts > 0
        for level in self.levels:
            classes, unit = self.classes(level), level.unit[self.place]
            low, high = (np.full(int(classes.max(initial=0)) + 1, end) for end in (len(unit), -1))
            np.minimum.at(low, classes[counts > 0], unit[counts > 0])
            np.maximum.at(high, classes[counts > 0], unit[counts > 0])
            stuck = stuck & (low >= high)[classes]
        return int(counts[stuck].sum())


@dataclass(eq=False)
class SwapRuns:
    """Runs of a plan from one table.

    Attributes
    ----------
    plan
    counts : int64 (cells,)
    backwards
        Whether the levels are run in the reverse order: from what is published.

    Raises
    ------
    TooLargeError
        For more records than can be held one by one.
    """

    plan: SwapPlan
    counts: Ints
    backwards: bool = False

    def __post_init__(self) -> None:
        if (people := int(self.counts.sum())) > MOST_RECORDS:
            raise TooLargeError(
                message("{people:,} records are too many to be swapped one by one", people),
                hint=message("swap within parts of the table"),
            )
        plan = self.plan
        # Records of one class stand together.
        order = np.argsort(plan.match, kind="stable")
        each = np.repeat(plan.cell[:, order].T.reshape(-1), self.counts[plan.cell[:, order].T.reshape(-1)])
        self._kind, self._place = plan.kind[each], plan.place[each]

    @property
    def records(self) -> int:
        """Their number."""
        return len(self._place)

    def tables(self, number: int, generator: np.random.Generator) -> Iterator[Ints]:
        """So many tables that the plan makes of this one, in blocks, each int64 (tables, cells)."""
        most = max(TOGETHER // max(self.records, len(self.counts), 1), 1)
        for begin in range(0, number, most):
            yield self._block(min(most, number - begin), generator)

    def _block(self, copies: int, generator: np.random.Generator) -> Ints:
        now = _Records(
            np.tile(self._place, copies),
            np.tile(self._kind, copies),
            np.repeat(np.arange(copies, dtype=np.int64), self.records),
            self.plan.match,
        )
        return now.run(self.plan, copies, generator, self.backwards)


def swapped_back(plan: SwapPlan, tables: Ints, generator: np.random.Generator) -> Ints:
    """One run from each of some published tables, int64 (tables, cells): the levels in the reverse order."""
    order = plan.cell[:, np.argsort(plan.match, kind="stable")].T.reshape(-1)
    out, totals = np.empty_like(tables), tables.sum(axis=1)
    for total in np.unique(totals).tolist():
        alike = np.flatnonzero(totals == total)
        most = max(TOGETHER // max(total, len(order)), 1)
        for begin in range(0, len(alike), most):
            rows = alike[begin : begin + most]
            each = np.repeat(np.tile(order, len(rows)), tables[np.ix_(rows, order)].reshape(-1))
            copy = np.repeat(np.arange(len(rows), dtype=np.int64), total)
            now = _Records(plan.place[each], plan.kind[each], copy, plan.match)
            out[rows] = now.run(plan, len(rows), generator, backwards=True)
    return out


@dataclass(eq=False)
class _Records:
    """Records of several copies of one table: place, kind and copy of each, and the class of each kind."""

    place: Ints
    kind: Ints
    copy: Ints
    match: Ints

    def run(self, plan: SwapPlan, copies: int, generator: np.random.Generator, backwards: bool) -> Ints:
        """Run all levels; the tables that come of it, int64 (copies, cells)."""
        for level in reversed(plan.levels) if backwards else plan.levels:
            (self.deal if level.rule == "deal" else self.exchange)(level, generator)
        size = len(plan.place)
        found = np.bincount(
            (self.copy * len(plan.match) + self.kind) * plan.places + self.place, minlength=copies * size
        )
        out = np.empty((copies, size), dtype=np.int64)
        out[:, plan.cell.T.reshape(-1)] = found.reshape(copies, size)
        return out

    def _classes(self, level: SwapLevel) -> Ints:
        classes = self.copy * (int(self.match.max(initial=0)) + 1) + self.match[self.kind]
        if (groups := int(level.within.max(initial=0)) + 1) > 1:
            classes = classes * groups + level.within[self.place]
        return classes

    def deal(self, level: SwapLevel, generator: np.random.Generator) -> None:
        """Draw records, and deal their places among those of each class."""
        drawn = np.flatnonzero(generator.random(len(self.place)) < level.rates[self.kind])
        classes = self._classes(level)[drawn]
        if (level.within != level.within[:1]).any():
            order = np.argsort(classes, kind="stable")
            drawn, classes = drawn[order], classes[order]
        self.place[drawn] = self.place[drawn[np.argsort(classes + generator.random(len(drawn)))]]

    def exchange(self, level: SwapLevel, generator: np.random.Generator) -> None:
        """Pair the records of each class, and exchange pairs in an order by chance."""
        classes = self._classes(level)
        order = np.argsort(classes + generator.random(len(classes)))
        classes = classes[order]
        begins = np.flatnonzero(np.diff(classes, prepend=-1))
        inside = np.arange(len(order)) - np.repeat(begins, np.diff(begins, append=len(order)))
        first = np.flatnonzero((inside % 2 == 0)[:-1] & (classes[1:] == classes[:-1]))
        # Of pairs that no count lets exchange the order does not matter.
        drawn = generator.random(len(first))
        first, drawn = first[may := drawn < level.rates.max()], drawn[may]
        first = first[generator.permutation(len(first))]
        self.exchange_pairs(level, np.stack([order[first], order[first + 1]], axis=1), drawn)

    def exchange_pairs(self, level: SwapLevel, pairs: Ints, drawn: Floats) -> None:
        """Exchange pairs one after the other.

        Parameters
        ----------
        pairs : int64 (pairs, 2)
            Of records of one copy each.
        drawn : float64 (pairs,)
            Between 0 and 1: compared with the chance of each.
        """
        copies, units = int(self.copy.max(initial=0)) + 1, int(level.unit.max(initial=0)) + 1
        sizes = level.targets.max(axis=1, initial=0) + 1
        at = self.copy * units + level.unit[self.place]
        counts = [
            np.bincount(at * size + target[self.kind], minlength=copies * units * size)
            for target, size in zip(level.targets, sizes.tolist(), strict=True)
        ]
        exchanges.exchange(
            (len(pairs), max(len(self.place) // copies, 1), units, len(self.match), len(sizes), level.small),
            (float(level.rates[0]), float(level.rates[1])),
            np.ascontiguousarray(pairs, dtype=np.int64),
            drawn,
            self.kind,
            level.unit,
            np.ascontiguousarray(level.targets),
            np.concatenate([[0], np.cumsum(sizes * copies * units)]).astype(np.int64),
            sizes.astype(np.int64),
            self.place,
            np.concatenate(counts).astype(np.int64),
        )
