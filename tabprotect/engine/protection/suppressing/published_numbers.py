"""The distinct published numbers, the cells behind them, and the equations between them."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np

from tabprotect.engine.arrays import Ints
from tabprotect.engine.tables.publication import Publication

if TYPE_CHECKING:
    from scipy.sparse import csc_array


@lru_cache(maxsize=8)
def merged_sums(publication: Publication) -> tuple[csc_array[np.int64], Ints]:
    """Distinct sums by inner cells (cells that enter the same sums merged), and each cell's number."""
    from scipy.sparse import csc_array

    kind = np.zeros(publication.domain.size, dtype=np.int64)
    for m in range(len(publication.margins)):
        keys = publication.keys(m)
        kind = np.unique(kind * (int(keys.max()) + 1) + keys, return_inverse=True)[1]
    if publication.domain.structural:
        # They add into nothing: a kind of their own.
        kind[publication.domain.structural_cells()] = -1
    first, inverse = np.unique(kind, return_index=True, return_inverse=True)[1:]
    sums = publication.incidence[publication.distinct[0]].tocsc()[:, first]
    return csc_array(sums), inverse


@dataclass(frozen=True, eq=False)
class Equations:
    """Published totals and the published numbers that add up to each.

    Attributes
    ----------
    total : int64 (equations,)
        Numbers, by their place among the distinct ones.
    starts : int64 (equations + 1,)
        Where each equation's parts begin.
    parts : int64 (entries,)
    """

    total: Ints
    starts: Ints
    parts: Ints


@lru_cache(maxsize=8)
def equations(publication: Publication) -> Equations:
    """Every total beside the parts of the next finer published sub-tables."""
    margins = publication.margins
    inverse = publication.distinct[1]
    finer = [
        [f for f, fine in enumerate(margins) if f != m and publication.determines(fine, margin)]
        for m, margin in enumerate(margins)
    ]
    totals, sizes, parts = [], [], []
    for m in range(len(margins)):
        for f in finer[m]:
            # A sub-table in between says the same in two steps.
            if any(f in finer[g] for g in finer[m] if g != f):
                continue
            keys, first = np.unique(publication.keys(f), return_index=True)
            into = publication.keys(m)[first]
            order = np.argsort(into, kind="stable")
            codes, number = np.unique(into, return_counts=True)
            whole = inverse[publication.starts[m] + codes]
            part = inverse[publication.starts[f] + keys[order]]
            # Where all else is structural zeros, a total is one of its own parts: that says nothing.
            says = np.logical_and.reduceat(np.repeat(whole, number) != part, np.cumsum(number) - number)
            totals.append(whole[says])
            sizes.append(number[says])
            parts.append(part[np.repeat(says, number)])
    empty = np.zeros(0, dtype=np.int64)
    starts = np.concatenate([[0], np.cumsum(np.concatenate([empty, *sizes]))]).astype(np.int64)
    return Equations(np.concatenate([empty, *totals]), starts, np.concatenate([empty, *parts]))
