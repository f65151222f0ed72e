"""Bounds of cells from bounds of sums: no table lies outside them.

The rest of a sum, given the bounds of its other cells, bounds a cell; this is repeated until nothing
changes. The bounds hold for every table, but are often not tight.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from tabprotect.engine.arrays import UNBOUNDED, Ints
from tabprotect.engine.errors import InputError, TabprotectError
from tabprotect.languages.messages import message

ROUNDS = 200
"""The most rounds over all sums; the bounds found by then hold."""


def _none_fits(_: int) -> TabprotectError:
    return InputError(message("no original fits the published counts"))


def propagated(
    sums: tuple[Ints, Ints],
    ends: tuple[Ints, Ints],
    cells: tuple[Ints, Ints],
    none_fits: Callable[[int], TabprotectError] = _none_fits,
) -> tuple[Ints, Ints]:
    """Narrow the lower and upper bounds of cells that are not negative, (cells,).

    Parameters
    ----------
    sums : int64 (sums + 1,), (entries,)
        The cells of each sum, one sum after the other.
    ends : int64 (sums,), (sums,)
        Bounds of the sums; ``UNBOUNDED`` for no upper one.
    cells : int64 (cells,), (cells,)
        Bounds of the cells; ``UNBOUNDED`` for no upper one.
    none_fits
        The error to raise when a cell has no count left; it takes the cell.
    """
    (starts, members), (low, high) = sums, (end.copy() for end in cells)
    filled = np.diff(starts) > 0
    begins, least, most = starts[:-1][filled], ends[0][filled], ends[1][filled]
    of = np.repeat(np.arange(len(begins)), np.diff(starts)[filled])
    # Larger ones could add up to more than a number holds: nothing is concluded from them.
    largest = UNBOUNDED // max(len(members), 1)
    for _ in range(ROUNDS):
        before = low.copy(), high.copy()
        rest = most[of] - (np.add.reduceat(low[members], begins)[of] - low[members])
        np.minimum.at(high, members, np.where(most[of] >= UNBOUNDED, UNBOUNDED, rest))
        # The upper bound of all others is known if none of them is unbounded.
        endless = high[members] > largest
        others_open = np.add.reduceat(endless.astype(np.int64), begins)[of] > endless
        finite = np.where(endless, 0, high[members])
        rest = least[of] - (np.add.reduceat(finite, begins)[of] - finite)
        np.maximum.at(low, members, np.where(others_open, 0, rest))
        crossed = np.flatnonzero(low > high)
        if len(crossed):
            raise none_fits(int(crossed[0]))
        if (low == before[0]).all() and (high == before[1]).all():
            break
    return low, high
