"""Proved bounds of every inner cell, used without a posterior: no original lies outside them.

Every factor bounds a sum. The rest of a sum, given the bounds of its other cells, bounds the cell;
this is repeated until nothing changes. The bounds hold for every original, but are often not tight.
"""

from __future__ import annotations

import numpy as np

from tabprotect.engine.arrays import Ints
from tabprotect.engine.errors import InputError
from tabprotect.engine.release.likelihood import UNBOUNDED, CellFactors

EXACT = 2.0**50
"""Sums beyond this are not exact in floating point: nothing is proved from them."""


ROUNDS = 50
"""The most rounds over all sums; the bounds found by then hold."""


def proved_ends(likelihood: CellFactors) -> tuple[Ints, Ints]:
    """Lower and upper bounds of the inner cells, int64 (cells,); ``UNBOUNDED`` for no upper bound.

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
        # The upper bound of all others is known if none of them is unbounded.
        open_ = np.isinf(upper[cells])
        number = np.bincount(of, open_, len(sizes))
        at_most = np.bincount(of, np.where(open_, 0.0, upper[cells]), len(sizes))
        others = at_most[of] - np.where(open_, 0.0, upper[cells])
        shut = number[of] - open_ == 0
        np.maximum.at(lower, cells[shut], (least[of] - others)[shut])
        if (lower > upper).any():
            raise InputError("no original fits the published counts")
        if (lower == before[0]).all() and (upper == before[1]).all():
            break
    ends = np.where(np.isinf(upper), float(UNBOUNDED), upper)
    return lower.astype(np.int64), ends.astype(np.int64)
