"""The largest and smallest count a cell may have, by linear or integer programming."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from tabprotect.engine.arrays import Floats, Ints
from tabprotect.engine.bounds.support import Support
from tabprotect.engine.errors import InfeasibleError, SolverError
from tabprotect.engine.progress import Progress
from tabprotect.engine.solver import NEAR, Limit, Model, Sense

LARGEST_TOTAL = 10**9
"""Largest count of a programme: larger ones come near the solver's tolerance."""


@dataclass(frozen=True)
class Extreme:
    """One end of a cell's interval.

    Attributes
    ----------
    bound
        No table goes beyond it.
    witness : int64 (cells of the support,)
        A table of whole counts with the released sums (checked exactly) that comes as near as
        was found; ``None`` where no such table was found.
    """

    bound: int
    witness: Ints | None


class Programme:
    """One model for one set of released sums, kept from cell to cell.

    Parameters
    ----------
    opened
        The cells that are open.
    low, high : int64 (cells,)
        Their bounds known so far.
    """

    _integral: bool

    def __init__(self, opened: Support, low: Ints, high: Ints) -> None:
        self._opened = opened
        self._low, self._high = low, high
        self._model = Model(opened.rows, opened.totals, low=low, high=high, integral=self._integral)

    @staticmethod
    def fits(opened: Support, most_cells: int) -> bool:
        """Return True if a programme would be small enough, in cells and in counts."""
        return len(opened.keys) <= most_cells and opened.total <= LARGEST_TOTAL

    def extreme(
        self,
        position: int,
        sense: Sense,
        known: tuple[int, int],
        *,
        most_nodes: int | None,
        progress: Progress,
        stage: str,
    ) -> Extreme:
        """Minimise or maximise one cell.

        Parameters
        ----------
        position
            The cell's place in the support.
        known
            Outer bounds of the cell.
        most_nodes
            Branch-and-bound nodes after which an integer programme gives up; its bound then still
            holds.
        """
        raise NotImplementedError

    def _rounded(self, bound: float, sense: Sense, known: tuple[int, int]) -> int:
        """Round a bound outwards, so that no table is beyond it."""
        if sense == "max":
            return known[1] if bound >= known[1] else math.floor(bound + NEAR)
        return known[0] if bound <= known[0] else math.ceil(bound - NEAR)

    def _whole(self, point: Floats) -> Ints | None:
        if not len(point):
            return None
        counts = np.rint(point).astype(np.int64)
        return counts if self._opened.keeps(counts) else None


class LinearProgramme(Programme):
    """Fractions allowed: quick, and sharp only if the *table* found is whole.

    An integral optimal value alone proves nothing.
    """

    _integral = False

    def extreme(
        self,
        position: int,
        sense: Sense,
        known: tuple[int, int],
        *,
        most_nodes: int | None,
        progress: Progress,
        stage: str,
    ) -> Extreme:
        """As :meth:`Programme.extreme`, from the basis of the run before."""
        try:
            outcome = self._model.optimise(np.array([position]), sense, progress=progress, stage=stage)
        except SolverError:
            # Counts too large for the solver's tolerance: what was known holds all the same.
            return Extreme(known[1] if sense == "max" else known[0], None)
        return Extreme(self._rounded(outcome.bound, sense, known), self._whole(outcome.point))


class IntegerProgramme(Programme):
    """Whole counts only: sharp."""

    _integral = True

    def extreme(
        self,
        position: int,
        sense: Sense,
        known: tuple[int, int],
        *,
        most_nodes: int | None,
        progress: Progress,
        stage: str,
    ) -> Extreme:
        """As :meth:`Programme.extreme`.

        The known bound is nearly always the true one, and any table that attains it is found
        many times faster than the same bound is proven from below.
        """
        low, high = known
        goal = high if sense == "max" else low
        try:
            self._model.limit(position, goal, goal)
            try:
                outcome = self._model.optimise(
                    np.zeros(0, dtype=np.int64),
                    sense,
                    limit=Limit(nodes=most_nodes),
                    progress=progress,
                    stage=stage,
                )
                return Extreme(goal, self._whole(outcome.point))
            except InfeasibleError:
                low, high = (low, high - 1) if sense == "max" else (low + 1, high)
            self._model.limit(position, low, high)
            outcome = self._model.optimise(
                np.array([position]),
                sense,
                start=self._opened.truth,
                limit=Limit(nodes=most_nodes),
                progress=progress,
                stage=stage,
            )
            bound = self._rounded(outcome.bound, sense, (low, high))
            return Extreme(bound, self._whole(outcome.point))
        finally:
            self._model.limit(position, int(self._low[position]), int(self._high[position]))
