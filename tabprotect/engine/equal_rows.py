"""Equal rows among columns of whole numbers, the places of each number, and runs of them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import pairwise

import numpy as np
import numpy.typing as npt

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


def _by_key(key: Ints, size: int) -> tuple[Ints, Ints]:
    if size <= np.size(key):
        # An entry for every key: the first row of each is written last.
        place = np.full(size, -1, dtype=np.int64)
        place[key[::-1]] = np.arange(len(key))[::-1]
        there = place >= 0
        return place[there], (np.cumsum(there) - 1)[key]
    _, first, which = np.unique(key, return_index=True, return_inverse=True)
    return first.astype(np.int64), which.reshape(-1).astype(np.int64)


def order_of_keys(key: Ints) -> Ints:
    """The stable order of numbers from 0: by 16 bits at a time, which takes one pass each."""
    order = np.argsort(key.astype(np.uint16), kind="stable")
    for shift in range(16, int(key.max(initial=0)).bit_length(), 16):
        order = order[np.argsort((key[order] >> shift).astype(np.uint16), kind="stable")]
    return order


def starts_of_runs(ordered: npt.NDArray[np.signedinteger]) -> Ints:
    """Return where each run of equal values begins."""
    if not len(ordered):
        return np.zeros(0, dtype=np.int64)
    return np.flatnonzero(np.append(True, ordered[1:] != ordered[:-1]))


def by_number(which: npt.NDArray[np.signedinteger], size: int) -> tuple[Ints, Ints]:
    """The places of each number below ``size``, in order: all of them, and where those of each begin.

    int64 (places,), (size + 1,).
    """
    order = np.argsort(which, kind="stable")
    return order, np.searchsorted(which[order], np.arange(size + 1)).astype(np.int64)


def members(which: npt.NDArray[np.signedinteger], size: int) -> Iterator[Ints]:
    """The places of each number below ``size``, number by number."""
    order, starts = by_number(which, size)
    yield from (order[a:b] for a, b in pairwise(starts.tolist()))


def place_among(listed: npt.NDArray[np.integer], wanted: npt.NDArray[np.integer]) -> Ints:
    """The place of each number in a rising list; -1 where it is not in it."""
    if not len(listed):
        return np.full(wanted.shape, -1, dtype=np.int64)
    at = np.minimum(np.searchsorted(listed, wanted), len(listed) - 1)
    return np.where(listed[at] == wanted, at, -1)


def spread(first: Ints, lengths: Ints) -> Ints:
    """Runs of consecutive numbers, one after the other, by the first of each and how many there are."""
    before = np.cumsum(lengths) - lengths
    return np.repeat(first - before, lengths) + np.arange(int(lengths.sum()))


def runs(first: Ints, lengths: Ints) -> tuple[Ints, Ints]:
    """The runs ``first[i], first[i] + 1, ...`` of the given lengths: (owner, value) of each entry."""
    return np.repeat(np.arange(len(first)), lengths), spread(first, lengths)


def sums_by_key(key: Ints, columns: Ints) -> tuple[Ints, Ints]:
    """Distinct keys, rising, and the sums of columns by them."""
    if not len(key):
        return key, columns
    order = order_of_keys(key)
    start = starts_of_runs(key[order])
    sums = np.array([np.add.reduceat(column[order], start) for column in columns])
    return key[order[start]], sums


def largest_by_key(key: Ints, size: Ints, most: int) -> tuple[Ints, Ints]:
    """Distinct keys, rising, and the largest sizes of each, int64 (keys, most), 0 where there are fewer."""
    falling = np.argsort(-size, kind="stable")
    return largest_of_sorted(key[falling], size[falling], most)


def largest_of_sorted(key: Ints, size: Ints, most: int) -> tuple[Ints, Ints]:
    """The same of sizes that fall."""
    order = order_of_keys(key)
    start = starts_of_runs(key[order])
    tops = np.zeros((len(start), most), dtype=np.int64)
    lengths = np.diff(start, append=len(key))
    for rank in range(most):
        there = np.flatnonzero(lengths > rank)
        tops[there, rank] = size[order[start[there] + rank]]
    return key[order[start]], tops
