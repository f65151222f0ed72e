"""Cells that one total joins and nothing else distinguishes: every way to share it is as likely."""

from __future__ import annotations

import math

import numpy as np

from tabprotect.engine.arrays import Floats, Ints
from tabprotect.engine.posterior.factors.components import FactorComponent
from tabprotect.engine.progress import SILENT, Progress

MOST_CELLS = 10_000
"""Of a number that is worked out."""


class EvenShares:
    """The posterior of such a component: shares of a total between stars and bars."""

    def __init__(self, total: int, cells: int) -> None:
        self._total, self._cells = total, cells

    @classmethod
    def of(cls, component: FactorComponent) -> EvenShares | None:
        """``None`` for any other component."""
        if len(component.sums) != 1 or len(component) < 2:
            return None
        (one,) = component.sums
        bounded = (component.low != 0).any() or (component.high != one.high).any()
        if one.low != one.high or bounded or len(set(map(id, component.logs))) > 1:
            return None
        return cls(one.high, len(component)) if np.ptp(component.logs[0]) == 0 else None

    def marginals(self) -> list[Floats]:
        """Probabilities of each cell's counts 0, 1, ...; a tail below the smallest float is left."""
        # scipy is a third of the program's start.
        from scipy.special import gammaln

        rest, others = self._total - np.arange(self._total + 1.0), self._cells - 1
        logs = gammaln(rest + others) - gammaln(rest + 1) - gammaln(others)
        chances = np.exp(logs - logs.max())
        chances = chances[: int(np.flatnonzero(chances > 0)[-1]) + 1]
        return [chances / chances.sum()] * self._cells

    def draw(
        self, number: int, generator: np.random.Generator, progress: Progress = SILENT
    ) -> Ints:
        """Independent joint draws, int64 (number, cells)."""
        out = np.empty((number, self._cells), dtype=np.int64)
        places = self._total + self._cells - 1
        for k in range(number):
            progress.report("drawing tables", k / number)
            bars = generator.choice(places, self._cells - 1, replace=False, shuffle=False)
            bars.sort()
            out[k] = np.diff(bars, prepend=-1, append=places) - 1
        return out

    def count(self) -> int | None:
        """The number of originals; ``None`` when it is beyond all measure."""
        if self._cells > MOST_CELLS:
            return None
        return math.comb(self._total + self._cells - 1, self._cells - 1)
