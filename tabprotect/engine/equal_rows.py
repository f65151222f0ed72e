"""Equal rows among columns of whole numbers."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from tabprotect.engine.arrays import Ints

SMALL = 2**31
"""Range of a column up to which its numbers are used unchanged."""

FITS = 2**62
"""Keys below it need no renumbering."""


def row_keys(columns: Iterable[Ints]) -> tuple[Ints, int]:
    """A key for each row, int64 (rows,), and a bound of all keys: equal keys for equal rows.

    Keys ascend as the rows do. Nothing is sorted, unless the columns' ranges multiply to more than
    a key can hold.

    Parameters
    ----------
    columns : int64 (rows,), at least one
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
    return key, size


def equal_rows(columns: Iterable[Ints]) -> tuple[Ints, Ints]:
    """The distinct rows, in ascending order.

    Parameters
    ----------
    columns : int64 (rows,), at least one

    Returns
    -------
    first : int64 (different rows,)
        The first row of each.
    which : int64 (rows,)
        Position of each row among the distinct ones.
    """
    key, size = row_keys(columns)
    return _by_key(key, size)


def rows_by_first(columns: Iterable[Ints]) -> tuple[Ints, Ints]:
    """:func:`equal_rows` in the order in which the distinct rows first appear."""
    key, size = row_keys(columns)
    # A sort that need not return positions takes a tenth of the time.
    ordered = np.sort(key)
    if (ordered[1:] != ordered[:-1]).all():
        every = np.arange(len(key))
        return every, every
    first, which = _by_key(key, size)
    order = np.argsort(first)
    rank = np.empty(len(first), dtype=np.int64)
    rank[order] = np.arange(len(first))
    return first[order], rank[which]


def _by_key(key: Ints, size: int) -> tuple[Ints, Ints]:
    if size <= np.size(key):
        # An entry for every key: the first row of each is written last.
        place = np.full(size, -1, dtype=np.int64)
        place[key[::-1]] = np.arange(len(key))[::-1]
        there = place >= 0
        return place[there], (np.cumsum(there) - 1)[key]
    _, first, which = np.unique(key, return_index=True, return_inverse=True)
    return first.astype(np.int64), which.reshape(-1).astype(np.int64)
