"""A fibre: all tables of whole counts with given sums, listed.

The sums are solved for as many cells as they determine, each pivot being 1 or -1, so that whole
free cells give whole tables. The free cells are then taken one after the other; each takes the
counts that leave every cell and every sum of a range reachable by those still to come. A fibre of
few dimensions is listed that way whatever the number of cells and sums.

Other listers stay beside this one, with the growth by runs (``equal_rows.runs``) in common: sums that
overlap much are not solved but narrowed cell by cell (``attack.listing``), and moves backwards list what
steps reach (``posterior.moves.enumeration``, ``posterior.together.joint_listing``). Solved and narrowed,
20,979 tables of 3 x 3 x 3 counts with all two-way sums take 18 and 31 ms, 7,841 with one free cell 1 and
17 ms, 39,979 of 3 x 4 counts whose sums are ranges 58 and 13 ms: neither serves for both.

The word: Diaconis and Sturmfels 1998.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from tabprotect.engine.arrays import Floats, Ints
from tabprotect.engine.equal_rows import runs
from tabprotect.engine.progress import SILENT, Progress
from tabprotect.languages.messages import message

FIBRE_DIMENSION = 24
"""Most free cells of a fibre to be listed; with more it has too many tables."""

FIBRE_ENTRIES = 1_000_000
"""Most cells times sums of a fibre to be listed."""

FIBRE_POINTS = 1_000_000
"""Most tables, whole or partial, of a fibre to be listed."""

FIBRE_AT_ONCE = 2**21
"""Most numbers in one block of partial tables."""


LOOKED_AT = 500
"""Most partial tables by which the next free cell is chosen."""

GROWN = 2**31
"""Largest coefficient; beyond it the listing is given up, as sums of tables have no such ones."""

WHOLE = 2.0**53
"""Whole numbers below it are exact as floats."""

Sums = Sequence[tuple[Ints, int, int]]
"""Cells, and the least and the most that they add up to."""


@dataclass(frozen=True, eq=False)
class Fibre:
    """All tables with some sums.

    Attributes
    ----------
    constant : int64 (cells,)
    slopes : int64 (cells, dimension)
        A table is ``constant + slopes @ point``.
    points : int32 (tables, dimension)
        Counts of the free cells.
    """

    constant: Ints
    slopes: Ints
    points: np.ndarray

    def __len__(self) -> int:
        return len(self.points)

    def tables(self, chosen: Ints | slice = slice(None)) -> Ints:
        """Tables by number, int64 (tables, cells)."""
        moved = _product(self.points[chosen], self.slopes.T, floats=self._exact_in_floats)
        return np.asarray(moved, dtype=np.int64) + self.constant

    @cached_property
    def _exact_in_floats(self) -> bool:
        """Return True if no table goes beyond the whole numbers of floats."""
        ends = (self.points.max(axis=0, initial=0), self.points.min(axis=0, initial=0))
        largest = np.maximum(*(np.abs(one.astype(np.float64)) for one in ends))
        return bool((np.abs(self.slopes) @ largest).max(initial=0.0) < WHOLE)

    def blocks(self) -> Iterator[tuple[slice, Ints]]:
        """All tables, some at a time: their numbers, and themselves."""
        step = max(FIBRE_AT_ONCE // max(len(self.constant), 1), 1)
        for begin in range(0, len(self), step):
            chosen = slice(begin, min(begin + step, len(self)))
            yield chosen, self.tables(chosen)


def fibre(
    low: Ints, high: Ints, sums: Sums, *, most: int = FIBRE_POINTS, progress: Progress = SILENT
) -> Fibre | None:
    """List a fibre.

    Parameters
    ----------
    low, high : int64 (cells,)
        Ends that no cell passes; they need not be sharp.
    sums
        The sums of cells.
    most
        Most tables, whole or partial.

    Returns
    -------
    Fibre or None
        ``None`` where it has too many dimensions or tables, needs fractions to be solved, or is
        empty because sums contradict each other.
    """
    cells = len(low)
    if cells * max(len(sums), 1) > FIBRE_ENTRIES or cells - len(sums) > FIBRE_DIMENSION:
        return None
    matrix = np.zeros((len(sums), cells), dtype=np.int64)
    for row, (of, _, _) in zip(matrix, sums, strict=True):
        row[of] = 1
    ends = np.array([(a, b) for _, a, b in sums], dtype=np.int64).reshape(-1, 2)
    exact = ends[:, 0] == ends[:, 1]
    solved = _solved(matrix[exact], ends[exact, 0], high - low)
    if solved is None:
        return None
    constant, slopes, free = solved
    # Ranges as rows that must not be negative; an end that follows from a sum is left out.
    implied = np.zeros(cells, dtype=np.bool_)
    for of, _, total in (one for one, fixed in zip(sums, exact, strict=True) if fixed):
        implied[of] |= total - (int(low[of].sum()) - low[of]) <= high[of]
    ranged = matrix[~exact]
    gradient = np.concatenate([slopes, -slopes[~implied], ranged @ slopes, -(ranged @ slopes)])
    base = np.concatenate(
        [
            constant - low,
            (high - constant)[~implied],
            ranged @ constant - ends[~exact, 0],
            ends[~exact, 1] - ranged @ constant,
        ]
    )
    free_low, free_high = low[free], high[free]
    if (np.abs(gradient).max(initial=0) > GROWN) or (np.abs(base).max(initial=0) > 2 * GROWN**1.5):
        return None
    points = _walked(_Rows(gradient, base, free_low, free_high), most, progress)
    return None if points is None else Fibre(constant, slopes, points)


def _solved(matrix: Ints, totals: Ints, ranges: Ints) -> tuple[Ints, Ints, Ints] | None:
    """Solve the sums for free cells of smallest ranges: constant, slopes, free cells."""
    cells = matrix.shape[1]
    rest = np.column_stack([matrix, totals])
    waiting = np.ones(len(rest), dtype=np.bool_)
    pivots: list[tuple[int, int]] = []
    for cell in np.argsort(-ranges, kind="stable").tolist():
        rows = np.flatnonzero(waiting & (rest[:, cell] != 0))
        if not len(rows):
            continue
        unit = rows[np.abs(rest[rows, cell]) == 1]
        if not len(unit):
            return None
        row = int(unit[0])
        waiting[row] = False
        rest[row] *= rest[row, cell]
        others = np.flatnonzero(rest[:, cell])
        others = others[others != row]
        rest[others] -= rest[others, cell, None] * rest[row]
        if np.abs(rest).max() > GROWN**1.5:
            return None
        pivots.append((cell, row))
    if len(pivots) < cells - FIBRE_DIMENSION:
        return None
    if rest[waiting, -1].any():
        return None
    bound = np.zeros(cells, dtype=np.bool_)
    bound[[cell for cell, _ in pivots]] = True
    free = np.flatnonzero(~bound)
    constant, slopes = np.zeros(cells, dtype=np.int64), np.zeros((cells, len(free)), np.int64)
    slopes[free, np.arange(len(free))] = 1
    for cell, row in pivots:
        constant[cell] = rest[row, -1]
        slopes[cell] = -rest[row, free]
    return constant, slopes, free


@dataclass(frozen=True, eq=False)
class _Rows:
    """Rows ``base + gradient @ point`` that must not be negative, with the free cells' ends."""

    gradient: Ints
    base: Ints
    low: Ints
    high: Ints

    @cached_property
    def _exact_in_floats(self) -> bool:
        """Return True if no row goes beyond the whole numbers of floats."""
        largest = np.maximum(np.abs(self.low), np.abs(self.high)).astype(np.float64)
        reach = np.abs(self.gradient) @ largest + np.abs(self.base)
        return bool(2 * reach.max(initial=0.0) < WHOLE)

    def reached(self, points: Ints, taken: list[int], next_: int) -> tuple[Ints, Ints]:
        """The least and the most of one more free cell, given those taken (partial,)."""
        others = [k for k in range(len(self.low)) if k != next_ and k not in taken]
        slope = self.gradient[:, others]
        room = np.maximum(slope * self.low[others], slope * self.high[others]).sum(axis=1)
        # One row after the other: the least of many is found along whole rows.
        have = _product(self.gradient[:, taken], points.T, floats=self._exact_in_floats)
        have += (self.base + room)[:, None]
        step = self.gradient[:, next_]
        least = np.full(len(points), self.low[next_])
        most = np.full(len(points), self.high[next_])
        up, down, none = step > 0, step < 0, step == 0
        if up.any():
            np.maximum(least, -_least_quotient(have[up], step[up]), out=least)
        if down.any():
            np.minimum(most, _least_quotient(have[down], -step[down]), out=most)
        if none.any():
            most[have[none].min(axis=0) < 0] = -1
        return least, most


def _product(left: np.ndarray, right: np.ndarray, *, floats: bool) -> Ints | Floats:
    """The product of two matrices; of floats it takes a tenth of the time."""
    if floats:
        return np.asarray(left.astype(np.float64) @ right.astype(np.float64, order="C"))
    return np.asarray(left.astype(np.int64) @ right.astype(np.int64, order="C"))


def _least_quotient(have: Ints | Floats, step: Ints) -> Ints:
    """The least of all rows, each divided by its own step, which mostly is 1, and rounded down."""
    if (step != 1).any():
        have = have.astype(np.int64) // step[:, None]
    return np.asarray(have.min(axis=0), dtype=np.int64)


def _walked(rows: _Rows, most: int, progress: Progress) -> np.ndarray | None:
    """All points; the next free cell is the one with the fewest counts left."""
    taken: list[int] = []
    points = np.zeros((1, 0), dtype=np.int32)
    block = max(FIBRE_AT_ONCE // max(len(rows.base), 1), 1)
    dimension = len(rows.low)
    for done in range(dimension):
        sample = points[:: max(len(points) // LOOKED_AT, 1)].astype(np.int64)
        next_ = min(
            (k for k in range(dimension) if k not in taken),
            key=lambda k: _number(*rows.reached(sample, taken, k)),
        )
        parts, held = [], 0
        for begin in range(0, len(points), block):
            progress.report(message("listing tables"), (done + begin / len(points)) / dimension)
            here = points[begin : begin + block].astype(np.int64)
            least, top = rows.reached(here, taken, next_)
            lengths = np.maximum(top - least + 1, 0)
            held += int(lengths.sum())
            if held > most:
                return None
            source, count = runs(least, lengths)
            parts.append(np.column_stack([here[source], count]).astype(np.int32))
        points = np.concatenate(parts) if parts else np.zeros((0, done + 1), dtype=np.int32)
        taken.append(next_)
    if not dimension and (rows.base < 0).any():
        points = points[:0]
    order = np.argsort(taken)
    return np.ascontiguousarray(points[:, order])


def _number(least: Ints, most: Ints) -> int:
    return int(np.maximum(most - least + 1, 0).sum())
