"""The interval of every suppressed cell by listing all tables a reader cannot tell apart."""

from __future__ import annotations

from collections.abc import Collection
from itertools import product

import numpy as np

from tabprotect.engine.tables.publication import Publication
from tabprotect.engine.tables.structural import of_cells
from tabprotect.engine.tables.table import Table


def with_zeros(table: Table, cells: Collection[int]) -> Table:
    """The table where nobody can be in some flat cells."""
    domain = table.domain
    zeros = of_cells([domain.unflat(cell) for cell in cells], domain.categories)
    counts = table.counts.copy().reshape(-1)
    counts[list(cells)] = 0
    return Table.dense(domain.with_structural(zeros), counts.reshape(domain.shape))


def tables_alike(
    publication: Publication, table: Table, suppressed: np.ndarray, *, never_zero: bool = False
) -> np.ndarray:
    """All published vectors (tables, size) that agree where nothing is suppressed.

    The grand total must be published. With ``never_zero`` no suppressed count is 0.
    """
    total = table.total
    incidence = publication.incidence.toarray()
    values = incidence @ table.counts.reshape(-1)
    inner = table.counts.reshape(-1)
    # A structural zero adds into nothing.
    fixed = ~incidence.any(axis=0)
    for cell in np.flatnonzero(~suppressed):
        if incidence[cell].sum() == 1:
            fixed |= incidence[cell] > 0
    free = np.flatnonzero(~fixed)
    rest = total - int(inner[fixed].sum())
    # No cell is more than what a published sum leaves for its hidden cells.
    left = values - incidence @ np.where(fixed, inner, 0)
    most = [min(left[(incidence[:, cell] > 0) & ~suppressed]) for cell in free[:-1]]
    listed = [c for c in product(*(range(top + 1) for top in most)) if sum(c) <= rest]
    choices = np.array(listed, dtype=np.int64).reshape(len(listed), -1)
    candidates = np.tile(inner, (len(choices), 1))
    if len(free):
        candidates[:, free[:-1]] = choices
        candidates[:, free[-1]] = rest - choices.sum(axis=1)
    sums = candidates @ incidence.T
    agree = (sums[:, ~suppressed] == values[~suppressed]).all(axis=1)
    if never_zero:
        agree &= (sums[:, suppressed] > 0).all(axis=1)
    return sums[agree]


def intervals(
    publication: Publication, table: Table, suppressed: np.ndarray, *, never_zero: bool = False
) -> tuple[np.ndarray, np.ndarray]:
    """Lowest and highest count of every published cell over those tables."""
    found = tables_alike(publication, table, suppressed, never_zero=never_zero)
    return found.min(axis=0), found.max(axis=0)
