"""The linear programme of a reader: how large can hidden sums be, given all that is published?

Unknowns are deviations from the true sums, so that equations have zeros on the right. One model
serves all readers: only bounds and the objective change.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from tabprotect.engine.arrays import Bools, Floats, Ints
from tabprotect.engine.magnitudes.readers.attack_problem import (
    AttackProblem,
    AttackTarget,
    Reader,
    floors,
    lower_ends,
)
from tabprotect.engine.solver import Entries, TableProgramme

NEAR = 1e-4
"""By how much a float may fall short of a need: sums are whole numbers."""


MOST_POINTS = 300
"""How many deviations that were found are remembered."""

WHOLE_AT_ONCE = 300
"""Beyond this many hidden cells a deviation is looked for among those near by first."""

HOPS = (2, 4)
"""How far away cells that may move with one lie: by equations from cell to cell."""


class ReaderProgramme:
    """The hidden cells of a pattern as one programme.

    Parameters
    ----------
    hidden
        By cell.
    before
        Of a pattern that hid no more: what was possible there is possible here.
    """

    def __init__(self, puzzle: AttackProblem, hidden: Bools, before: ReaderProgramme | None = None) -> None:
        self.puzzle = puzzle
        self.hidden = hidden.copy()
        self.cells = puzzle.equations.places[hidden[puzzle.equations.places]]
        self.at = {cell: n for n, cell in enumerate(self.cells.tolist())}
        equation, column, sign = puzzle.equations.among(self.cells)
        self.low, self.high = lower_ends(puzzle, self.cells, {})
        zeros = np.zeros(int(equation.max(initial=-1)) + 1)
        self.model = TableProgramme(
            Entries.at(equation, column, sign, len(self.cells)),
            sums=(zeros, zeros),
            cells=(self.low, np.full(len(self.cells), np.inf)),
        )
        # Deviations that were found possible, the last in turn overwritten: they spare programmes.
        self._points = np.zeros((MOST_POINTS, len(self.cells)))
        self._found = 0
        self._parts: dict[tuple[int, int], ReaderProgramme] = {}
        if before is not None:
            columns = np.searchsorted(self.cells, before.cells)
            self._points[:, columns] = before._points
            self._found = before._found

    def most(self, item: AttackTarget) -> float:
        """Return by how much the cell's sum can exceed the true one for the reader, or enough of it."""
        known = floors(self.puzzle, item.reader, self.hidden)
        low, high = self.low, self.high
        if known:
            low, high = lower_ends(self.puzzle, self.cells, known)
        column = self.at[item.cell]
        changed = np.array(sorted(self.at[c] for c in known), dtype=np.int64)
        point = self._known_point(item, column, changed, (low, high))
        if point is not None:
            return float(point[column])
        near = self._near(item)
        if near is not None:
            return near
        # Enough is enough: a bounded optimum is as good as an endless one.
        limit = max(1.0, 2.0 * item.need)
        held = np.union1d(changed, [column]).astype(np.int64)
        most = np.where(held == column, np.minimum(high[held], limit), high[held])
        with self.model.held(held, low[held], most):
            found = self.model.optimise(np.array([column]), "max")
        if found.value is None:
            return 0.0
        if found.value >= item.need - NEAR:
            self._remember(np.arange(len(self.cells)), found.point)
        return float(found.value)

    def ends(self, cell: int, reader: Reader) -> tuple[float, float]:
        """The least and the largest sum that a hidden cell can have for a reader."""
        low, high = lower_ends(self.puzzle, self.cells, floors(self.puzzle, reader, self.hidden))
        column, every = np.array([self.at[cell]]), np.arange(len(self.cells))
        with self.model.held(every, low, high):
            found = [self.model.optimise(column, sense).value for sense in ("min", "max")]
        value = float(self.puzzle.value[cell])
        ends = (low[column[0]], np.inf)
        least, most = (end if one is None else one for one, end in zip(found, ends, strict=True))
        return value + float(least), value + float(most)

    def _near(self, item: AttackTarget) -> float | None:
        """Return how far the sum can go where only cells near by move, if that is far enough."""
        if len(self.cells) <= WHOLE_AT_ONCE:
            return None
        for hops in HOPS:
            part = self._parts.get((item.cell, hops))
            if part is None:
                moving = np.zeros(len(self.hidden), dtype=bool)
                moving[self.puzzle.equations.near(item.cell, hops, self.hidden)] = True
                if len(self._parts) >= 2 * len(HOPS):
                    self._parts.clear()
                part = self._parts[item.cell, hops] = ReaderProgramme(self.puzzle, moving)
            if len(part.cells) > len(self.cells) // 4:
                return None
            found = part.most(item)
            if found >= item.need - NEAR:
                point = part._points[(part._found - 1) % MOST_POINTS]
                self._remember(np.searchsorted(self.cells, part.cells), point)
                return found
        return None

    def _remember(self, columns: Ints, point: Floats) -> None:
        place = self._found % MOST_POINTS
        self._points[place] = 0.0
        self._points[place, columns] = point
        self._found += 1

    def _known_point(
        self, item: AttackTarget, column: int, changed: Ints, ends: tuple[Floats, Floats]
    ) -> Floats | None:
        """A deviation that was found before and is possible for this reader, too."""
        enough = np.flatnonzero(self._points[:, column] >= item.need - NEAR)
        here = self._points[np.ix_(enough, changed)]
        low, high = (end[changed] for end in ends)
        fits = np.all((here >= low - 1e-9) & (here <= high + 1e-9), axis=1)
        return None if not fits.any() else self._points[enough[int(fits.argmax())]]

    def broken(self, items: Iterable[AttackTarget]) -> list[tuple[AttackTarget, float]]:
        """The items that a reader can estimate too closely, and how far the sum can go."""
        found = ((item, self.most(item)) for item in items)
        return [(item, most) for item, most in found if most < item.need - NEAR]
