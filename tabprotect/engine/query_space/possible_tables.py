"""All tables with the released margins, classified by further margins."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from tabprotect.engine.arrays import Ints
from tabprotect.engine.bounds.fibre import fibre
from tabprotect.engine.progress import SILENT, Progress
from tabprotect.engine.query_space.lattice import Query
from tabprotect.engine.tables.bit_sets import bits
from tabprotect.engine.tables.table import Table

POSSIBLE_CELLS = 2_000
"""Most cells of a table whose possible originals are listed."""

POSSIBLE_TABLES = 100_000
"""Most tables with the released margins that are listed to price a refusal."""

POSSIBLE_HELD = 2**22
"""Most counts in all of them together."""


def possible_tables(table: Table, released: Sequence[Query], progress: Progress = SILENT) -> Ints | None:
    """Every table with the same released margins, int64 (tables, cells).

    Returns
    -------
    int64 (tables, cells) or None
        Cells flat; ``None`` if there are too many to be listed.
    """
    shape, size = table.domain.shape, table.domain.size
    if size > POSSIBLE_CELLS:
        return None
    most = min(POSSIBLE_TABLES, POSSIBLE_HELD // size)
    counts = table.counts.reshape(-1)
    high = np.where(table.domain.structural_cells(), 0, table.total)
    sums: list[tuple[Ints, int, int]] = []
    for query in {0, *released}:
        keys = margin_keys(shape, query)
        totals = np.bincount(keys, counts).astype(np.int64)
        np.minimum(high, totals[keys], out=high)
        cells = np.split(np.argsort(keys, kind="stable"), np.cumsum(np.bincount(keys))[:-1])
        sums += [(of, int(t), int(t)) for of, t in zip(cells, totals, strict=True)]
    # Each sum once: repeated ones cost time and add nothing.
    once = list({of.tobytes(): (of, low, total) for of, low, total in sums}.values())
    found = fibre(np.zeros_like(counts), high, once, most=most, progress=progress)
    return None if found is None else found.tables()


def margin_keys(shape: tuple[int, ...], query: Query) -> Ints:
    """The cell of a margin that each inner cell falls into, int64 (cells,)."""
    keys = np.zeros(shape, dtype=np.int64)
    for v in bits(query):
        along = [1] * len(shape)
        along[v] = shape[v]
        keys = keys * shape[v] + np.arange(shape[v]).reshape(along)
    return keys.reshape(-1)


def margin_counts(shape: tuple[int, ...], tables: Ints, query: Query) -> Ints:
    """A margin of every table, int64 (tables, cells of the margin)."""
    keys = margin_keys(shape, query)
    size = math.prod(shape[v] for v in bits(query))
    begins = np.searchsorted(np.sort(keys), np.arange(size))
    return np.add.reduceat(tables[:, np.argsort(keys, kind="stable")], begins, axis=1)


def alike(shape: tuple[int, ...], tables: Ints, margins: Sequence[Query]) -> Ints:
    """The class of each table, int64 (tables,): tables in one class have the same margins."""
    sums = [margin_counts(shape, tables, query) for query in margins]
    if not sums:
        return np.zeros(len(tables), dtype=np.int64)
    _, classes = np.unique(np.concatenate(sums, axis=1), axis=0, return_inverse=True)
    return np.asarray(classes.reshape(-1), dtype=np.int64)
