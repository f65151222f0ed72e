"""The linear programme of a reader: how large can hidden sums be, given all that is published?

Unknowns are deviations from the true sums, so that equations have zeros on the right. One model
serves all readers: only bounds and the objective change.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from tabprotect.engine.arrays import Bools, Floats, Ints
from tabprotect.engine.magnitudes.readers import Item, Puzzle, floors, lower_ends
from tabprotect.engine.solver import Entries, Model

NEAR = 1e-4
"""By how much a float may fall short of a need: sums are whole numbers."""


class ReaderProgramme:
    """The hidden cells of a pattern as one programme.

    Parameters
    ----------
    hidden
        By cell.
    """

    def __init__(self, puzzle: Puzzle, hidden: Bools) -> None:
        self.puzzle = puzzle
        self.hidden = hidden.copy()
        self.cells = puzzle.equations.places[hidden[puzzle.equations.places]]
        self.at = {cell: n for n, cell in enumerate(self.cells.tolist())}
        entries, rows = _matrix(puzzle, self.cells, hidden)
        self.low, self.high = lower_ends(puzzle, self.cells, {})
        zeros = np.zeros(rows)
        self.model = Model.of_entries(
            entries, rows=(zeros, zeros), columns=(self.low, np.full(len(self.cells), np.inf))
        )
        self.points: list[Floats] = []
        """Deviations that were found possible: they spare programmes."""
        self.solved = 0

    def most(self, item: Item) -> float:
        """By how much the cell's sum can exceed the true one for the reader, or enough of it."""
        known = floors(self.puzzle, item.reader, self.hidden)
        low, high = self.low, self.high
        if known:
            low, high = lower_ends(self.puzzle, self.cells, known)
        column = self.at[item.cell]
        changed = np.array(sorted(self.at[c] for c in known), dtype=np.int64)
        for point in reversed(self.points):
            if point[column] >= item.need - NEAR and _fits(point, low, high, changed):
                return float(point[column])
        # Enough is enough: a bounded optimum is as good as an endless one.
        limit = max(1.0, 2.0 * item.need)
        bounds = (low, np.minimum(high, np.inf))
        if len(changed):
            self.model.limit_many("columns", changed, (bounds[0][changed], bounds[1][changed]))
        self.model.limit(column, float(low[column]), float(min(high[column], limit)))
        found = self.model.optimise(np.array([column]), "max")
        self.solved += 1
        back = np.union1d(changed, [column]).astype(np.int64)
        self.model.limit_many("columns", back, (self.low[back], self.high[back]))
        if found.value is None:
            return 0.0
        if found.value >= item.need - NEAR:
            self.points.append(found.point)
            del self.points[:-200]
        return float(found.value)

    def broken(self, items: Iterable[Item]) -> list[tuple[Item, float]]:
        """The items that a reader can estimate too closely, and how far the sum can go."""
        out = []
        for item in items:
            most = self.most(item)
            if most < item.need - NEAR:
                out.append((item, most))
        return out


def _fits(point: Floats, low: Floats, high: Floats, changed: Ints) -> bool:
    """Return True if a deviation is possible for a reader who knows more of some cells."""
    here = point[changed]
    return bool(np.all(here >= low[changed] - 1e-9) and np.all(here <= high[changed] + 1e-9))


def _matrix(puzzle: Puzzle, cells: Ints, hidden: Bools) -> tuple[Entries, int]:
    """The equations among hidden cells, by columns."""
    sums = puzzle.equations
    number = np.repeat(np.arange(len(sums)), np.diff(sums.start))
    inside = hidden[sums.child]
    parents = np.flatnonzero(hidden[sums.parent])
    row = np.concatenate([number[inside], parents])
    cell = np.concatenate([sums.child[inside], sums.parent[parents]])
    sign = np.concatenate([np.ones(int(inside.sum())), -np.ones(len(parents))])
    used, row = np.unique(row, return_inverse=True)
    column = np.searchsorted(cells, cell)
    order = np.lexsort((row, column))
    starts = np.searchsorted(column[order], np.arange(len(cells) + 1))
    return Entries(starts.astype(np.int64), row[order].astype(np.int64), sign[order]), len(used)
