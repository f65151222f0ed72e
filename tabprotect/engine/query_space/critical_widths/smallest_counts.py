"""The smallest count at the at-risk cells, for every margin of a table at once.

Counts never grow with the margin, so a margin need not be looked at if one of its own margins is
down to the smallest at-risk count: in a sparse table that is most of the lattice. Margins are
visited after all of their own margins. Memory is one key per variable and cell, however many there
are.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from tabprotect.engine.arrays import EXACT_FLOAT, AnyInts, Floats, Ints
from tabprotect.engine.query_space.lattice import Lattice, Query
from tabprotect.engine.tables.bit_sets import bits

Sums = Ints | Floats

ROOMY = 8
"""Possible cells per listed cell up to which a margin is summed by bincount; beyond, by sorting."""


def at_risk_sums(key: Ints, size: int, counts: Sums, at_risk: int) -> Ints:
    """The margin's count at each of the first ``at_risk`` cells, int64 (at_risk,).

    Parameters
    ----------
    key : int64 (cells,)
        Each cell's number in the margin, from 0 to ``size - 1``.
    counts : int64 or float64 (cells,)
        Floats only if every sum is exact.
    """
    wanted = key[:at_risk]
    if size <= ROOMY * len(key) + 4096 and counts.dtype == np.float64:
        sums = np.bincount(key, weights=counts, minlength=size)
        return sums[wanted].astype(np.int64)
    order = np.argsort(key)
    ordered = key[order]
    starts = np.concatenate([[0], np.flatnonzero(ordered[1:] != ordered[:-1]) + 1])
    sums = np.add.reduceat(counts[order], starts)
    return sums[np.searchsorted(ordered[starts], wanted)].astype(np.int64)


def summable(counts: Ints) -> Sums:
    """The counts as floats if all their sums are exact: these are the fastest to sum."""
    return counts.astype(np.float64) if int(counts.sum()) < EXACT_FLOAT else counts


@dataclass(frozen=True, eq=False)
class ListedCells:
    """Cells with a count, as a worker gets them.

    Attributes
    ----------
    codes : whole numbers (K, cells)
        Category numbers by bit of the lattice, at-risk cells first.
    sizes
        Number of categories by bit.
    counts : int64 (cells,)
    at_risk
        Number of at-risk cells.
    lattice
        The query space.
    """

    codes: AnyInts
    sizes: tuple[int, ...]
    counts: Ints
    at_risk: int
    lattice: Lattice

    def added(self, query: Query, key: Ints, size: int) -> tuple[Ints, int]:
        """Each cell's number in a margin with more variables, and how many numbers there are."""
        for v in bits(self.lattice.finest(query)):
            key, size = key * self.sizes[v] + self.codes[v], size * self.sizes[v]
        return key, size


def smallest_counts(
    cells: ListedCells,
    *,
    always: Query = 0,
    free: int | None = None,
    watch: Callable[[float], None] = lambda fraction: None,
) -> Ints:
    """The smallest count at an at-risk cell of every margin ``always | q``, in the order of ``q``.

    Parameters
    ----------
    always
        Bits that every margin has, none of them of the first ``free`` variables.
    free
        ``q`` runs over the queries over the first ``free`` variables (all by default).
    watch
        Called now and then with the fraction done; may raise.

    Returns
    -------
    int64 (queries,)
    """
    lattice, at_risk = cells.lattice, cells.at_risk
    patterns = lattice.patterns[:free]
    numbers = summable(cells.counts)
    floor = int(cells.counts[:at_risk].min())
    out = np.full(math.prod(map(len, patterns)), floor, dtype=np.int64)
    key, size = cells.added(always, np.zeros(len(cells.counts), dtype=np.int64), 1)
    out[0] = int(at_risk_sums(key, size, numbers, at_risk).min())
    if out[0] == floor or not patterns:
        return out
    place = _places(lattice, patterns)
    # What may be added below the lowest variable of a query, in counting order.
    steps = [[(v, q) for v, found in enumerate(patterns[:end]) for q in found[1:]]
             for end in range(len(patterns) + 1)]  # fmt: skip
    # (q, key, possible cells, next step, below which variable).
    stack = [(0, key, size, 0, len(patterns))]
    while stack:
        query, key, size, step, end = stack.pop()
        if step + 1 < len(steps[end]):
            stack.append((query, key, size, step + 1, end))
        v, pattern = steps[end][step]
        larger = query | pattern
        if any(out[place(below)] == floor for below in lattice.below(larger) if below):
            continue
        own, possible = cells.added(pattern, key, size)
        at = place(larger)
        out[at] = int(at_risk_sums(own, possible, numbers, at_risk).min())
        watch(at / len(out))
        if out[at] > floor and v:
            stack.append((larger, own, possible, 0, v))
    return out


def _places(lattice: Lattice, patterns: Sequence[Sequence[Query]]) -> Callable[[Query], int]:
    """The position of a query over the first variables, as a function."""
    if lattice.plain:
        return lambda query: query
    weights: list[tuple[Query, dict[Query, int]]] = []
    stride = 1
    for axis, found in zip(lattice.axes, patterns, strict=False):
        weights.append((axis, {pattern: k * stride for k, pattern in enumerate(found)}))
        stride *= len(found)
    return lambda query: sum(places[query & axis] for axis, places in weights)
