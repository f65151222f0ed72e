"""The largest and smallest count a cell may have, by linear or integer programming."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from tabprotect.engine.bounds.support import Support
from tabprotect.engine.progress import Progress
from tabprotect.engine.solver import NEAR, Model, Sense

Ints = npt.NDArray[np.int64]

MOST_CELLS = 20_000
"""Open cells a programme is made of; a cell takes about a tenth of a second there."""

LARGEST_TOTAL = 10**9
"""Counts beyond come near the solver's tolerance."""


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
    """One model for one set of released sums; only the objective changes from cell to cell."""

    def __init__(self, opened: Support, low: Ints, high: Ints, *, integral: bool) -> None:
        self._opened = opened
        self._integral = integral
        self._model = Model(opened.rows, opened.totals, low=low, high=high, integral=integral)

    @staticmethod
    def fits(opened: Support) -> bool:
        """Whether the programme is small enough, in cells and in counts."""
        return len(opened.keys) <= MOST_CELLS and opened.total <= LARGEST_TOTAL

    def extreme(
        self, position: int, sense: Sense, *, most_nodes: int | None, progress: Progress, stage: str
    ) -> Extreme:
        """Minimise or maximise one cell.

        A linear programme's bound is rounded outwards. It is sharp only if its *table* is whole:
        an integral optimal value alone proves nothing.
        """
        outcome = self._model.optimise(
            np.array([position]),
            sense,
            start=self._opened.truth if self._integral else None,
            most_nodes=most_nodes,
            progress=progress,
            stage=stage,
        )
        if sense == "max":
            bound = math.floor(min(outcome.bound, self._opened.total) + NEAR)
        else:
            bound = math.ceil(max(outcome.bound, 0.0) - NEAR)
        return Extreme(bound, self._whole(outcome.point))

    def _whole(self, point: npt.NDArray[np.float64]) -> Ints | None:
        if not len(point):
            return None
        rounded = np.rint(point)
        if np.abs(point - rounded).max() > NEAR:
            return None
        counts = rounded.astype(np.int64)
        return counts if self._opened.keeps(counts) else None
