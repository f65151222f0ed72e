"""The largest and smallest count a cell may have, by linear or integer programming."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from tabprotect.engine.arrays import Floats, Ints
from tabprotect.engine.bounds.support import Support
from tabprotect.engine.errors import InfeasibleError, SolverError
from tabprotect.engine.progress import Progress
from tabprotect.engine.solver import NEAR, Entries, Limit, Sense, SolverOutcome, TableProgramme

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


class CellProgramme:
    """One programme for one set of released sums, kept from cell to cell.

    Where fractions are allowed it is quick, and sharp only if the *table* found is whole: an integral
    optimal value alone proves nothing.

    Parameters
    ----------
    opened
        The cells that are open.
    low, high : int64 (cells,)
        Their bounds known so far.
    integral
        Whether counts are whole.
    """

    def __init__(self, opened: Support, low: Ints, high: Ints, *, integral: bool) -> None:
        self._opened = opened
        sums = opened.totals, opened.totals
        self._model = TableProgramme(
            Entries.adding_up(opened.rows), sums=sums, cells=(low, high), integral=integral
        )

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
        """Minimise or maximise one cell, from where the run before ended.

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
        model, end, cell = self._model, int(sense == "max"), np.array([position])
        low, high = known
        if not model.integral:
            try:
                outcome = model.optimise(cell, sense, progress=progress, stage=stage)
            except SolverError:
                # Counts too large for the solver's tolerance: what was known holds all the same.
                return Extreme(known[end], None)
            return self._found(outcome, end, known)
        # The known bound is nearly always the true one, and any table that attains it is found many
        # times faster than the same bound is proven from below.
        limit = Limit(nodes=most_nodes)
        try:
            with model.held(cell, known[end], known[end]):
                outcome = model.optimise(cell[:0], sense, limit=limit, progress=progress, stage=stage)
            return Extreme(known[end], self._whole(outcome.point))
        except InfeasibleError:
            low, high = (low, high - 1) if end else (low + 1, high)
        with model.held(cell, low, high):
            start = self._opened.truth
            outcome = model.optimise(cell, sense, start=start, limit=limit, progress=progress, stage=stage)
        return self._found(outcome, end, (low, high))

    def _found(self, outcome: SolverOutcome, end: int, known: tuple[int, int]) -> Extreme:
        """The bound rounded outwards, so that no table is beyond it, and the table that was found."""
        if end:
            bound = known[1] if outcome.bound >= known[1] else math.floor(outcome.bound + NEAR)
        else:
            bound = known[0] if outcome.bound <= known[0] else math.ceil(outcome.bound - NEAR)
        return Extreme(bound, self._whole(outcome.point))

    def _whole(self, point: Floats) -> Ints | None:
        counts = np.rint(point).astype(np.int64)
        return counts if len(point) and self._opened.keeps(counts) else None
