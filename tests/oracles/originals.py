"""Every table of counts that keeps what is published, written down one by one."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from functools import cache

import numpy as np

from tabprotect.engine.protection.subtables import groupings_of
from tabprotect.engine.tables.domain import Domain
from tabprotect.engine.tables.groupings.grouping import true_table
from tabprotect.engine.tables.table import Table

Limit = tuple[tuple[int, ...], int, int]
"""Cells, and the least and largest sum of them."""

DEAD_ENDS = 30
"""Tables begun for each one that may be finished."""


class TooManyError(Exception):
    """More originals than the reader has patience for."""


def listed(size: int, limits: Sequence[Limit], most: int) -> np.ndarray:
    """Every table of counts from 0 up that keeps the limits, (tables, size); cell by cell.

    Raises
    ------
    TooManyError
        When there are more than ``most``, or too many are begun that come to nothing.
    """
    touching: list[list[int]] = [[] for _ in range(size)]
    for number, (cells, _, _) in enumerate(limits):
        for cell in cells:
            touching[cell].append(number)
    if any(not numbers for numbers in touching):
        raise TooManyError
    top = [min(limits[n][2] for n in numbers) for numbers in touching]
    room = [sum(top[cell] for cell in cells) for cells, _, _ in limits]
    tables, sums = np.zeros((1, 0), dtype=np.int64), np.zeros((1, len(limits)), dtype=np.int64)
    for cell, mine in enumerate(touching):
        for n in mine:
            room[n] -= top[cell]
        high = np.min([limits[n][2] - sums[:, n] for n in mine], axis=0)
        low = np.max([np.zeros_like(high), *(limits[n][1] - sums[:, n] - room[n] for n in mine)], 0)
        choices = np.maximum(high - low + 1, 0)
        begun = int(choices.sum())
        if begun > (most if cell == size - 1 else DEAD_ENDS * most):
            raise TooManyError
        from_ = np.repeat(np.arange(len(tables)), choices)
        ends = np.cumsum(choices)
        counts = np.arange(begun) - np.repeat(ends - choices, choices) + low[from_]
        tables = np.column_stack([tables[from_], counts])
        sums = sums[from_]
        sums[:, mine] += counts[:, None]
    return tables


def summed(domain: Domain, names: Sequence[str]) -> list[tuple[int, ...]]:
    """The flat inner cells behind each cell of a margin, in the margin's order."""
    axes = [domain.names.index(name) for name in names]
    cells: dict[tuple[int, ...], list[int]] = {
        key: [] for key in itertools.product(*(range(domain.shape[a]) for a in axes))
    }
    for flat, index in enumerate(itertools.product(*map(range, domain.shape))):
        cells[tuple(index[a] for a in axes)].append(flat)
    return [tuple(each) for each in cells.values()]


@cache
def grouped(domain: Domain, table: Domain, groupings: str) -> list[tuple[int, ...]]:
    """The same of a table over groups of categories, by where a single record lands."""
    units = np.eye(domain.size, dtype=np.int64).reshape(-1, *domain.shape)
    known = groupings_of(domain, {"groupings": groupings})
    into = [int(true_table(Table.dense(domain, unit), table, known).counts.argmax()) for unit in units]
    return [tuple(c for c, to in enumerate(into) if to == k) for k in range(table.size)]
