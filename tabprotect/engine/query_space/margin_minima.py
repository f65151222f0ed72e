"""The smallest and largest count at the at-risk cells, for every margin of a table at once.

Depth first over the lattice from the table downwards: each margin is summed from the margin it
was reached from, not from the table, so that the work shrinks with the margins. Memory is a few
copies of the table's non-zero cells, whatever the number of margins.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

Ints = npt.NDArray[np.int64]
Flags = npt.NDArray[np.bool_]

ROOMY = 6
"""A margin with up to this many possible cells per cell that is not zero is summed by bincount,
a sparser one by sorting; about where the two cost the same."""

EXACT_FLOAT = 2**53
"""Sums below this are exact in double precision."""


@dataclass(frozen=True)
class Node:
    """One margin: its cells that are not zero.

    Attributes
    ----------
    sizes
        Categories of the variables it has, most significant first.
    keys, counts : (cells,)
        Mixed-radix keys (not sorted) and counts, as floats where these are exact.
    risky : bool (cells,)
        Cells that contain an at-risk cell of the table.
    """

    sizes: tuple[int, ...]
    keys: Ints
    counts: npt.NDArray[np.int64] | npt.NDArray[np.float64]
    risky: Flags

    def extremes(self) -> tuple[int, int]:
        """Smallest and largest count of the risky cells."""
        counts = self.counts[self.risky]
        return int(counts.min()), int(counts.max())


def root(codes: Ints, sizes: Sequence[int], counts: Ints, at_risk: int) -> Node:
    """The whole table: codes (K, cells) in the order of ``sizes``, at-risk cells first."""
    keys = np.zeros(codes.shape[1], dtype=np.int64)
    for code, size in zip(codes, sizes, strict=True):
        keys *= size
        keys += code
    exact = int(counts.sum()) < EXACT_FLOAT
    risky = np.arange(len(keys)) < at_risk
    return Node(tuple(sizes), keys, counts.astype(np.float64) if exact else counts, risky)


def without(node: Node, place: int) -> tuple[tuple[int, ...], Ints]:
    """Sizes, and keys (not yet summed), of a margin's margin over all but one variable."""
    below = 1
    for size in node.sizes[place + 1 :]:
        below *= size
    sizes = node.sizes[:place] + node.sizes[place + 1 :]
    upper = node.keys // (below * node.sizes[place])
    if below == 1:
        return sizes, upper
    return sizes, upper * below + (node.keys - node.keys // below * below)


def drop(node: Node, place: int) -> Node:
    """The margin over all variables but one, summed."""
    sizes, keys = without(node, place)
    possible = 1
    for size in sizes:
        possible *= size
    if possible <= ROOMY * len(keys) and node.counts.dtype == np.float64:
        sums = np.bincount(keys, weights=node.counts, minlength=possible)
        hit = np.zeros(possible, dtype=np.bool_)
        hit[keys[node.risky]] = True
        # A risky cell may count zero where zeros are at risk: it must not get lost.
        found = np.flatnonzero((sums > 0) | hit)
        return Node(sizes, found, sums[found], hit[found])
    order = np.argsort(keys)
    keys = keys[order]
    starts = np.concatenate([[0], np.flatnonzero(keys[1:] != keys[:-1]) + 1])
    return Node(
        sizes,
        keys[starts],
        np.add.reduceat(node.counts[order], starts),
        np.logical_or.reduceat(node.risky[order], starts),
    )


def last_extremes(node: Node, place: int) -> tuple[int, int]:
    """As ``drop(node, place).extremes()`` where nothing below is wanted, and cheaper."""
    sizes, keys = without(node, place)
    possible = 1
    for size in sizes:
        possible *= size
    if possible <= ROOMY * len(keys) and node.counts.dtype == np.float64:
        sums = np.bincount(keys, weights=node.counts, minlength=possible)[keys[node.risky]]
        return int(sums.min()), int(sums.max())
    return drop(node, place).extremes()


def branch(node: Node, kept: int) -> tuple[Ints, Ints]:
    """Extremes of every margin of a node that keeps its first ``kept`` variables.

    Returns
    -------
    smallest, largest : int64 (2^(variables - kept),)
        By the bit set of the variables *dropped*: bit ``i`` is the variable at place ``kept + i``.
    """
    free = len(node.sizes) - kept
    smallest = np.empty(1 << free, dtype=np.int64)
    largest = np.empty(1 << free, dtype=np.int64)
    # (margin, bit set dropped, first free variable that may still be dropped)
    stack = [(node, 0, 0)]
    while stack:
        here, dropped, first = stack.pop()
        smallest[dropped], largest[dropped] = here.extremes()
        gone = dropped.bit_count()
        for i in range(first, free):
            bit = dropped | 1 << i
            place = kept + i - gone
            if i == free - 1:
                smallest[bit], largest[bit] = last_extremes(here, place)
            else:
                stack.append((drop(here, place), bit, i + 1))
    return smallest, largest
