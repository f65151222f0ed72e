"""What is proved of every inner cell where there is no posterior: ends that no original passes.

Every factor limits a sum. What the other cells of a sum leave to a cell limits the cell, again and
again until nothing moves: never more than holds for every original, often less.
"""

from __future__ import annotations

import numpy as np

from tabprotect.engine.arrays import Ints
from tabprotect.engine.errors import InputError
from tabprotect.engine.release.likelihood import UNBOUNDED, CellFactors
from tabprotect.languages.said import say

EXACT = 2.0**50
"""Sums beyond are not whole numbers to the last place here: nothing is proved from them."""


ROUNDS = 50
"""Rounds over all sums at most: what is found by then holds."""


def proved_ends(likelihood: CellFactors) -> tuple[Ints, Ints]:
    """Lower and upper ends of the inner cells, int64 (cells,); ``UNBOUNDED`` for no upper end.

    Raises
    ------
    InputError
        When no original fits.
    """
    size = likelihood.domain.size
    lower, upper = np.zeros(size), np.full(size, np.inf)
    sizes = np.diff(likelihood.starts)
    of, cells = np.repeat(np.arange(len(sizes)), sizes), likelihood.cells
    least = likelihood.low[likelihood.kind].astype(np.float64)
    most = likelihood.high[likelihood.kind].astype(np.float64)
    most[likelihood.high[likelihood.kind] >= UNBOUNDED] = np.inf
    if max(least.max(initial=0.0), most[np.isfinite(most)].max(initial=0.0)) > EXACT:
        return lower.astype(np.int64), np.full(size, UNBOUNDED, dtype=np.int64)
    for _ in range(ROUNDS):
        before = lower.copy(), upper.copy()
        at_least = np.bincount(of, lower[cells], len(sizes))
        np.minimum.at(upper, cells, most[of] - (at_least[of] - lower[cells]))
        # The upper end of all others is known where no other one is open.
        open_ = np.isinf(upper[cells])
        number = np.bincount(of, open_, len(sizes))
        at_most = np.bincount(of, np.where(open_, 0.0, upper[cells]), len(sizes))
        others = at_most[of] - np.where(open_, 0.0, upper[cells])
        shut = number[of] - open_ == 0
        np.maximum.at(lower, cells[shut], (least[of] - others)[shut])
        if (lower > upper).any():
            raise InputError(say("no original fits the published counts"))
        if (lower == before[0]).all() and (upper == before[1]).all():
            break
    ends = np.where(np.isinf(upper), float(UNBOUNDED), upper)
    return lower.astype(np.int64), ends.astype(np.int64)
