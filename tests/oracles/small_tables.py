"""Small random tables, and the width of a release by listing every table with its margins."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from itertools import combinations

import numpy as np
from hypothesis import strategies as st

from tabprotect.engine.tables.domain import Domain
from tabprotect.engine.tables.table import Table

SHAPES = ((2, 2, 2), (2, 3, 2), (3, 2), (2, 2, 2, 2))


@cache
def every_table(cells: int, total: int) -> np.ndarray:
    """Every table of that many cells and records, (tables, cells): stars and bars."""
    bars = np.array(list(combinations(range(total + cells - 1), cells - 1)), dtype=np.int64)
    ends = np.full((len(bars), 1), total + cells - 1)
    return np.diff(np.concatenate([np.full((len(bars), 1), -1), bars, ends], axis=1)) - 1


def alike(table: Table, queries: Sequence[int]) -> np.ndarray:
    """All tables (n, *shape) with the same total and the same margins."""
    shape = table.domain.shape
    every = every_table(table.domain.size, table.total).reshape(-1, *shape)
    for query in queries:
        axes = tuple(v + 1 for v in range(len(shape)) if not query >> v & 1)
        sums = every.sum(axis=axes)
        own = table.counts.sum(axis=tuple(a - 1 for a in axes))
        every = every[(sums == own).reshape(len(every), -1).all(axis=1)]
    return every


def exact_width(table: Table, queries: Sequence[int], low: int, high: int) -> int:
    """Smallest width of an at-risk cell over all tables with the same margins."""
    left = alike(table, queries)
    width = left.max(axis=0) - left.min(axis=0)
    return int(width[(table.counts >= low) & (table.counts <= high)].min())


@st.composite
def tables(draw: st.DrawFn) -> Table:
    """Small tables with at least one count of 1 or 2."""
    shape = draw(st.sampled_from(SHAPES))
    size = int(np.prod(shape))
    most = 6 if size <= 8 else 4
    cells = draw(st.lists(st.integers(0, size - 1), min_size=2, max_size=most))
    counts = np.bincount(cells, minlength=size)
    if not ((counts == 1) | (counts == 2)).any():
        counts[counts.argmax()] = 1
    return Table.dense(Domain.of_shape(shape), counts.reshape(shape))
