"""The smallest count at the at-risk cells, for every margin of a table at once.

Counts never grow with the margin, so a margin one of whose own margins is down to the smallest
at-risk count needs no look: in a sparse table that is most of the lattice. Margins are visited
after all of their own margins. Memory is one key per variable and cell, whatever their number.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from tabprotect.engine.arrays import Floats, Ints
from tabprotect.engine.budgets import EXACT_FLOAT
from tabprotect.engine.query_space.lattice import Query, bits

Sums = Ints | Floats

ROOMY = 8
"""Possible cells per listed cell up to which a margin is summed by bincount, else by sorting."""


def at_risk_sums(key: Ints, size: int, counts: Sums, at_risk: int) -> Ints:
    """The margin's count at each of the first ``at_risk`` cells, int64 (at_risk,).

    Parameters
    ----------
    key : int64 (cells,)
        Each cell's number in the margin, from 0 to ``size - 1``.
    counts : int64 or float64 (cells,)
        Floats only where every sum is exact.
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
    """Counts as floats where all their sums are exact, which is the fastest to sum."""
    return counts.astype(np.float64) if int(counts.sum()) < EXACT_FLOAT else counts


def smallest_counts(
    codes: Ints,
    sizes: Sequence[int],
    counts: Ints,
    at_risk: int,
    *,
    always: Query = 0,
    free: int | None = None,
    watch: Callable[[float], None] = lambda fraction: None,
) -> Ints:
    """The smallest count at an at-risk cell of every margin ``always | q``, by ``q``.

    Parameters
    ----------
    codes : int64 (K, cells)
        Category numbers, at-risk cells first.
    always
        Variables that every margin has; all beyond the first ``free``.
    free
        ``q`` runs over the subsets of the first so many variables (all by default).
    watch
        Told the fraction done now and then; may raise.

    Returns
    -------
    int64 (2^free,)
    """
    free = len(sizes) if free is None else free
    numbers = summable(counts)
    floor = int(counts[:at_risk].min())
    out = np.full(1 << free, floor, dtype=np.int64)
    key, size = np.zeros(codes.shape[1], dtype=np.int64), 1
    for v in bits(always):
        key, size = key * sizes[v] + codes[v], size * sizes[v]
    out[0] = int(at_risk_sums(key, size, numbers, at_risk).min())
    if out[0] == floor or not free:
        return out
    # (q, key, possible cells, next variable to add, below the lowest of q): in counting order.
    stack = [(0, key, size, 0, free)]
    while stack:
        query, key, size, v, end = stack.pop()
        if v + 1 < end:
            stack.append((query, key, size, v + 1, end))
        larger = query | 1 << v
        if any(out[larger & ~(1 << u)] == floor for u in bits(query)):
            continue
        own, possible = key * sizes[v] + codes[v], size * sizes[v]
        out[larger] = int(at_risk_sums(own, possible, numbers, at_risk).min())
        watch(larger / len(out))
        if out[larger] > floor and v:
            stack.append((larger, own, possible, 0, v))
    return out
