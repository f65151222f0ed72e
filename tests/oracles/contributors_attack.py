"""An attack on hidden sums with contributors' knowledge, written from its definition.

Each holding, and nobody, reads a two-way table with totals: hidden sums are at least what he put in,
exactly that where he is alone, and all adds up. Every hidden cell and every sum of hidden cells that a
row or a column publishes is estimated from above; his own part is taken off, and the rest is how large
another's part can be.
"""

from __future__ import annotations

from collections.abc import Mapping
from itertools import product

import numpy as np
from scipy.optimize import linprog

Cell = tuple[int, int]
Holdings = dict[str, int]


def grid(rows: Mapping[tuple[int, int, str], int], shape: tuple[int, int]) -> dict[Cell, Holdings]:
    """The contributions to every cell; the last row and column are totals, counted anew."""
    out: dict[Cell, Holdings] = {}
    for (i, j, holding), value in rows.items():
        for cell in product((i, shape[0]), (j, shape[1])):
            held = out.setdefault(cell, {})
            held[holding] = held.get(holding, 0) + value
    return out


def equations(shape: tuple[int, int]) -> list[tuple[Cell, list[Cell]]]:
    """Each total with what it is the sum of."""
    rows = [((i, shape[1]), [(i, j) for j in range(shape[1])]) for i in range(shape[0] + 1)]
    columns = [((shape[0], j), [(i, j) for i in range(shape[0])]) for j in range(shape[1] + 1)]
    return rows + columns


def broken(
    cells: Mapping[Cell, Holdings], shape: tuple[int, int], hidden: set[Cell], share: float
) -> list[tuple[tuple[Cell, ...], str | None, str]]:
    """Aggregates, readers and targets: the reader can estimate the target within the share."""
    value = {cell: sum(held.values()) for cell, held in cells.items()}
    order = sorted(hidden)
    at = {cell: n for n, cell in enumerate(order)}
    left, right, targets = [], [], [(cell,) for cell in order]
    for parent, children in equations(shape):
        row, side = np.zeros(len(order)), 0.0
        for cell, sign in [(parent, -1.0), *((child, 1.0) for child in children)]:
            if cell in at:
                row[at[cell]] += sign
            else:
                side -= sign * value.get(cell, 0)
        inside = tuple(child for child in children if child in at)
        if parent not in at and inside:
            targets.append(inside)
        if row.any():
            left.append(row)
            right.append(side)
    found = []
    readers: list[str | None] = [None, *sorted({h for cell in order for h in cells[cell]})]
    for reader, group in product(readers, dict.fromkeys(targets)):
        together: Holdings = {}
        for cell in group:
            for holding, own in cells[cell].items():
                together[holding] = together.get(holding, 0) + own
        mine = together.pop(reader, 0) if reader is not None else 0
        if not together:
            continue
        largest = max(together, key=lambda h: together[h])
        need = (1 + share) * together[largest]
        if sum(value[cell] for cell in group) - mine >= need:
            continue
        ends: list[tuple[float, float | None]] = []
        for cell in order:
            own = cells[cell].get(reader, 0) if reader is not None else 0
            alone = reader is not None and set(cells[cell]) == {reader}
            ends.append((own, own if alone else None))
        cost = np.zeros(len(order))
        cost[[at[cell] for cell in group]] = -1.0
        answer = linprog(cost, A_eq=np.array(left), b_eq=right, bounds=ends, method="highs")
        if answer.status == 0 and -answer.fun - mine < need - 1e-4:
            found.append((group, reader, largest))
    return found
