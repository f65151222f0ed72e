"""Contributions to sums, cell after cell: what is held of them, and what is counted."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tabprotect.engine.arrays import Bools, Ints
from tabprotect.engine.equal_rows import starts_of_runs
from tabprotect.engine.magnitudes.tables.largest_only import LargestOnly

TOPS = 4
"""How many of the largest contributions of a cell are kept at once."""


@dataclass(frozen=True, eq=False)
class Contributions:
    """The contributions of each holding to each combination of categories. Confidential.

    Attributes
    ----------
    codes : int64 (variables, rows)
    holding : int64 (rows,)
        Its number.
    own : int64 (rows,)
        The sum of the measure over its units with this weight.
    weight : int64 (rows,)
        In millionths.
    weighted : int64 (rows,)
        What goes into the published sum.
    units : int64 (rows,)
    asked, waived : bool (rows,)
        Whether a unit asked for protection; whether all waived it.
    shadow, cost : int64 (rows,)
        What rules are judged by, and what hiding costs, in place of the measure.
    """

    codes: Ints
    holding: Ints
    own: Ints
    weight: Ints
    weighted: Ints
    units: Ints
    asked: Bools
    waived: Bools
    shadow: Ints
    cost: Ints


@dataclass(frozen=True, eq=False)
class ContributionList:
    """The contributions to some cells, cell after cell, each by holding. Confidential.

    Attributes
    ----------
    cell : int64 (cells,)
        The key of each.
    start : int64 (cells + 1,)
    holding, own, weighted, judged, units : int64 (contributions,)
        ``judged`` is what rules go by: the shadow variable, else ``own``.
    asked, waived : bool (contributions,)
    """

    cell: Ints
    start: Ints
    holding: Ints
    own: Ints
    weighted: Ints
    judged: Ints
    units: Ints
    asked: Bools
    waived: Bools

    def of(self, number: int) -> slice:
        """The contributions of one cell."""
        return slice(int(self.start[number]), int(self.start[number + 1]))


@dataclass(frozen=True, eq=False)
class Cells:
    """All cells with records, sorted by key.

    Attributes
    ----------
    key : int64 (cells,)
    nodes : int64 (variables, cells)
    value, units, holdings, nonzero, cost : int64 (cells,)
    """

    key: Ints
    nodes: Ints
    value: Ints
    units: Ints
    holdings: Ints
    nonzero: Ints
    cost: Ints

    def __len__(self) -> int:
        return len(self.key)


def stated_listing(largest: LargestOnly, every: Cells, cells: Ints) -> ContributionList:
    """The contributions that are stated of some cells."""
    start, holding, own = largest.contributions(cells, every.value[cells])
    ones, no = np.ones(len(own), dtype=np.int64), np.zeros(len(own), dtype=bool)
    return ContributionList(every.key[cells], start, holding, own, own, own, ones, no, no)


def copies(value: Ints, whole: Ints, most: int) -> tuple[Ints, Ints]:
    """The largest copies of contributions that stand for several, each with whose it is.

    The last copy of a contribution may be a fraction of it.
    """
    at: list[int] = []
    copies: list[int] = []
    for one in np.flatnonzero(value > 0).tolist():
        left, size = int(whole[one]), int(value[one])
        for _ in range(most):
            if left <= 0:
                break
            at.append(one)
            copies.append(min(size, left))
            left -= size
    ranked = np.argsort(-np.array(copies, dtype=np.int64), kind="stable")[:most]
    return np.array(at, dtype=np.int64)[ranked], np.array(copies, dtype=np.int64)[ranked]


Counted = tuple[Ints, Ints, Ints]
"""Cells, their figures (figures, cells) and their largest contributions (cells, TOPS)."""


def put_together(one: Counted, other: Counted) -> Counted:
    """Return what is counted of different holdings in the same cells."""
    cells = np.union1d(one[0], other[0])
    figures = np.zeros((len(other[1]), len(cells)), dtype=np.int64)
    tops = np.zeros((len(cells), 2 * TOPS), dtype=np.int64)
    for first, (at, counted, ranked) in ((0, one), (TOPS, other)):
        place = np.searchsorted(cells, at)
        figures[:, place] += counted
        tops[place, first : first + TOPS] = ranked
    return cells, figures, -np.sort(-tops, axis=1)[:, :TOPS]


def figures_of(part: ContributionList) -> Ints:
    """Value, units, holdings, holdings that are not zero, and the sum of sizes that rules go by."""
    at = part.start[:-1]
    whole = part.weighted if part.judged is part.own else part.judged
    return np.array(
        [
            np.add.reduceat(part.weighted, at),
            np.add.reduceat(part.units, at),
            np.diff(part.start),
            np.add.reduceat((part.own != 0).astype(np.int64), at),
            np.add.reduceat(np.abs(whole), at),
        ]
    )


def largest_of(part: ContributionList, most: int) -> Ints:
    """The largest sizes of each cell, int64 (cells, most), 0 where there are fewer."""
    left = np.abs(part.judged)
    at, lengths = part.start[:-1], np.diff(part.start)
    cell = np.repeat(np.arange(len(at)), lengths)
    out = np.zeros((len(at), most), dtype=np.int64)
    for rank in range(most):
        out[:, rank] = np.maximum.reduceat(left, at)
        if rank + 1 < most:
            here = np.flatnonzero(left == out[cell, rank])
            left[here[starts_of_runs(cell[here])]] = 0
    return out
