"""How far chains and populations of draws agree: what all engines that draw have in common.

What moves the chains is not: bounds and circuits in whole numbers (``factors``), whole rings drawn at
once (``together``), and tempered levels under noise that equal sets of records share (``attack``) have
no state, start or step in common, and one driver over them would be slower than each.
"""

from __future__ import annotations

import math
from collections.abc import Iterable

import numpy as np

from tabprotect.engine.arrays import Floats


def r_hat(within: Floats, between: Floats, share: float = 1.0, still: float = 0.0) -> float:
    """The largest potential scale reduction of several means: 1 when the chains agree.

    Infinite when chains stand still in different places. Gelman & Rubin 1992.

    Parameters
    ----------
    within, between : float64 (means,)
        The variance inside the chains, and that of their means.
    share
        (records - 1) / records.
    still
        Up to this variance a chain stands still.
    """
    moves = within > still
    if (between[~moves] > still).any():
        return math.inf
    return float(np.sqrt(share + between[moves] / within[moves]).max()) if moves.any() else 1.0


def worth(shares: Floats, variance: Floats, draws: int, alike: int | None = None) -> float:
    """The independent draws that would have the same error, at most as many as were taken.

    Parameters
    ----------
    alike
        What they are worth where there is no spread between them; by default all.
    """
    spread, noise = float((shares * (1 - shares)).sum()), float(variance.sum())
    return min(spread / noise, float(draws)) if noise else float(draws if alike is None else alike)


def averaged(runs: Iterable[Floats]) -> tuple[Floats, Floats, int]:
    """The mean over runs, the sum of squares around it, and the number of runs."""
    mean = square = np.zeros(())
    number = 0
    for number, one in enumerate(runs, start=1):
        difference = one - mean
        mean = mean + difference / number
        square = square + difference * (one - mean)
    return mean, square, number
