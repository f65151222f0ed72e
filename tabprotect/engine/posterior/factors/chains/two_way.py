"""Better counts of the originals of two-way tables with both margins published."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache

import numpy as np

from tabprotect.engine.bounds.counting import TableCount, count_tables
from tabprotect.engine.posterior.factors.components import FactorComponent


def totals(component: FactorComponent) -> tuple[list[int], list[int]] | None:
    """Row and column totals if nothing else limits the cells, else ``None``."""
    cells = len(component)
    if any(np.isneginf(log).any() for log in component.logs):
        return None
    margins: list[list[int]] = []
    sides: list[np.ndarray] = []
    left = [one for one in component.sums if len(one.cells) < cells]
    if any(one.low != one.high for one in left):
        return None
    while left and len(margins) < 3:
        # The sums disjoint from the first one lie on its side of the table.
        side = np.full(cells, -1)
        totals_: list[int] = []
        rest = []
        for one in left:
            if (side[one.cells] < 0).all():
                side[one.cells] = len(totals_)
                totals_.append(one.low)
            else:
                rest.append(one)
        if (side < 0).any():
            return None
        margins.append(totals_)
        sides.append(side)
        left = rest
    if len(margins) != 2 or left:
        return None
    rows, columns = margins
    code = sides[0] * len(columns) + sides[1]
    if len(np.unique(code)) != cells or len(rows) * len(columns) != cells:
        return None
    of_row, of_column = np.array(rows)[sides[0]], np.array(columns)[sides[1]]
    implied_high = np.minimum(of_row, of_column)
    implied_low = np.maximum(of_row + of_column - sum(rows), 0)
    if (component.low != implied_low).any() or (component.high != implied_high).any():
        return None
    return rows, columns


def counting(
    component: FactorComponent,
) -> tuple[Callable[[], int | None], Callable[[], TableCount | None]]:
    """Functions giving the exact number and an estimate of it; both may return ``None``."""

    @cache
    def counted() -> TableCount | None:
        found = totals(component)
        return None if found is None else count_tables(*found)

    def exact() -> int | None:
        found = counted()
        return found.count if found is not None and found.exact else None

    return exact, counted
