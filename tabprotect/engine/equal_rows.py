"""Which rows of some columns of whole numbers are equal."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from tabprotect.engine.arrays import Ints

SMALL = 2**31
"""Range of a column up to which its numbers are used as they are."""

FITS = 2**62
"""Keys below it are told apart without being numbered anew."""


def equal_rows(columns: Iterable[Ints]) -> tuple[Ints, Ints]:
    """The different rows, in ascending order.

    One sort, unless the columns' ranges multiply to more than a key can hold; none where they are
    so small that the different rows can be marked.

    Parameters
    ----------
    columns : int64 (rows,), at least one

    Returns
    -------
    first : int64 (different rows,)
        The first of each.
    which : int64 (rows,)
        Place of each row among the different ones.
    """
    key, size = np.zeros((), dtype=np.int64), 1
    for column in columns:
        low = int(column.min(initial=0))
        radix = int(column.max(initial=0)) - low + 1
        if radix > SMALL:
            values, column = np.unique(column, return_inverse=True)
            low, radix = 0, len(values)
        if size > FITS // radix:
            found, key = np.unique(key, return_inverse=True)
            size = len(found)
        key, size = key * radix + (column - low), size * radix
    if key.ndim and size <= 2 * len(key):
        seen = np.zeros(size, dtype=np.bool_)
        seen[key] = True
        place = np.cumsum(seen) - 1
        which = place[key]
        first = np.empty(int(seen.sum()), dtype=np.int64)
        # Of several rows the one that is assigned last stays: backwards that is the first.
        first[which[::-1]] = np.arange(len(key) - 1, -1, -1)
        return first, which
    _, first, which = np.unique(key, return_index=True, return_inverse=True)
    return first.astype(np.int64), which.reshape(-1).astype(np.int64)
