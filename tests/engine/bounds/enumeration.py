"""The oracle: every table of whole counts with given margins, listed one by one."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from tabprotect.engine.tables.table import Table


def tables(table: Table, release: Sequence[Sequence[str]]) -> np.ndarray:
    """All tables (n, cells) that share the released margins with one."""
    domain = table.domain
    keys = np.arange(domain.size)
    rows, totals = [], []
    for margin in release:
        rows.append(domain.project_keys(keys, margin) + len(totals))
        totals += table.margin(margin).counts.reshape(-1).tolist()
    sums = [list(map(int, column)) for column in np.stack(rows, axis=1)]
    last = {}
    for cell, ends in enumerate(sums):
        for end in ends:
            last[end] = cell
    left = list(totals)
    cells = [0] * domain.size

    def below(cell: int) -> Iterator[list[int]]:
        if cell == domain.size:
            yield list(cells)
            return
        most = min(left[end] for end in sums[cell])
        closing = [left[end] for end in sums[cell] if last[end] == cell]
        values = range(most + 1)
        if closing:
            values = range(closing[0], closing[0] + 1) if closing[0] <= most else range(0)
            if any(other != closing[0] for other in closing):
                return
        for value in values:
            cells[cell] = value
            for end in sums[cell]:
                left[end] -= value
            yield from below(cell + 1)
            for end in sums[cell]:
                left[end] += value

    return np.array(list(below(0)))
