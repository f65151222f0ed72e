"""Bounds of cells from bounds of sums: no table lies outside them.

The rest of a sum, given the bounds of its other cells, bounds a cell; this is repeated until nothing
changes. The bounds hold for every table, but are often not tight.
"""

from __future__ import annotations

import numpy as np

from tabprotect.engine.arrays import Floats, Ints
from tabprotect.engine.errors import InputError
from tabprotect.languages.messages import message

ROUNDS = 50
"""The most rounds over all sums; the bounds found by then hold."""

EXACT = 2.0**50
"""Sums beyond this are not exact in floating point: nothing is proved from them."""


def propagated(size: int, sums: tuple[Ints, Ints], least: Floats, most: Floats) -> tuple[Floats, Floats]:
    """Lower and upper bounds of cells that are not negative, (cells,); infinite for no upper one.

    Parameters
    ----------
    size
        Number of cells.
    sums : int64 (sums + 1,), (entries,)
        The cells of each sum, one sum after the other.
    least, most : float64 (sums,)
        Bounds of the sums; infinite for no upper one.

    Raises
    ------
    InputError
        When no table fits.
    """
    starts, cells = sums
    lower, upper = np.zeros(size), np.full(size, np.inf)
    sizes = np.diff(starts)
    of = np.repeat(np.arange(len(sizes)), sizes)
    if max(least.max(initial=0.0), most[np.isfinite(most)].max(initial=0.0)) > EXACT:
        return lower, upper
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
            raise InputError(message("no original fits the published counts"))
        if (lower == before[0]).all() and (upper == before[1]).all():
            break
    return lower, upper
