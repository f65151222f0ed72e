"""The cheapest further cells that keep a reader from coming too near: one programme over all cells."""

from __future__ import annotations

import numpy as np

from tabprotect.engine.arrays import Bools, Ints
from tabprotect.engine.errors import InfeasibleError
from tabprotect.engine.magnitudes.readers.attack_problem import (
    AttackProblem,
    AttackTarget,
    floors,
    lower_ends,
)
from tabprotect.engine.solver import Entries, TableProgramme

MOVED = 1e-6


class Repair:
    """Moves of all cells, up and down apart; what is hidden moves for nothing.

    Parameters
    ----------
    frozen
        Cells that stay published.
    places
        The cells that may move, rising; by default all.
    """

    def __init__(self, puzzle: AttackProblem, cost: Ints, frozen: Bools, places: Ints | None = None) -> None:
        self.puzzle = puzzle
        self.places = puzzle.equations.places if places is None else places
        self.cost = np.maximum(1.0, cost[self.places].astype(np.float64))
        fixed = frozen[self.places] | puzzle.still[self.places]
        low, high = lower_ends(puzzle, self.places, {})
        self.down = np.where(fixed, 0.0, -low)
        self.up = np.where(fixed, 0.0, high)
        equation, cell, sign = puzzle.equations.among(self.places)
        size, zeros = len(self.places), np.zeros(int(equation.max(initial=-1)) + 1)
        self.model = TableProgramme(
            Entries.at(np.tile(equation, 2), np.append(cell, cell + size), np.append(sign, -sign), 2 * size),
            sums=(zeros, zeros),
            cells=(np.zeros(2 * size), np.append(self.up, self.down)),
        )

    def further(self, item: AttackTarget, hidden: Bools) -> Ints:
        """The cells to hide for an item that is broken.

        Raises
        ------
        InfeasibleError
            When no pattern protects it.
        """
        size = len(self.places)
        known = floors(self.puzzle, item.reader, np.ones(len(hidden), dtype=bool))
        at = {cell: n for n, cell in enumerate(self.places.tolist())}
        changed = np.array(sorted(at[cell] for cell in known if cell in at), dtype=np.int64)
        low, high = lower_ends(self.puzzle, self.places, known)
        up = np.minimum(self.up, high)
        down = np.minimum(self.down, -low)
        target = at[item.cell]
        if up[target] < item.need:
            raise InfeasibleError("")
        both = np.unique(np.concatenate([changed, changed + size, [target, target + size]]))
        both = both.astype(np.int64)
        lower = np.zeros(2 * size)
        upper = np.concatenate([up, down])
        lower[target], upper[target + size] = float(item.need), 0.0
        price = np.where(hidden[self.places], 0.0, self.cost)
        with self.model.held(both, lower[both], upper[both]):
            point = self.model.weighted(np.tile(price / price.max(initial=1.0), 2)).point
        moved = point[:size] + point[size:] > MOVED
        return np.asarray(self.places[moved & ~hidden[self.places]])
