"""Effects of a cycle set on one table: blocked cycles, cells that cannot move, bridges."""

from __future__ import annotations

import numpy as np

from tabprotect.engine.arrays import Bools
from tabprotect.engine.cycles import cycle_steps
from tabprotect.engine.cycles.graphs import two_forests
from tabprotect.engine.tables.moves import MoveSet
from tabprotect.engine.tables.table import Table


def blocked_cycles(moves: MoveSet, table: Table, rule: str) -> Bools:
    """Mask of the cycles that are blocked on the table as it is, (cycles,).

    ``any_zero``: they touch a zero. ``negative``: blocked in both directions. O(entries).
    """
    counts = table.counts_at(moves.cells)
    if rule == "none":
        return np.zeros(len(moves), dtype=np.bool_)
    zero = counts == 0
    with_zero = np.logical_or.reduceat(zero, moves.starts[:-1])
    if rule == "any_zero":
        return with_zero
    up = np.logical_or.reduceat(zero & (moves.signs < 0), moves.starts[:-1])
    down = np.logical_or.reduceat(zero & (moves.signs > 0), moves.starts[:-1])
    return up & down


def _can_be_taken(moves: MoveSet, positive: Bools, passes: int) -> Bools:
    """Mask of the cycles that some coins could take under ``negative``, (cycles,).

    The cycles in their order, pass by pass; a cell that was zero counts as positive from the
    moment some cycle could have raised it.
    """
    positive = positive.copy()
    taken = np.zeros(len(moves), dtype=np.bool_)
    for _ in range(passes):
        before = positive.copy()
        cycle_steps.reached(len(moves), moves.starts, moves.cells, moves.signs, positive, taken)
        if (before == positive).all():
            break
    return taken


def immovable_cells(moves: MoveSet, table: Table, rule: str, *, passes: int = 1) -> Bools:
    """Positive cells that no cycle of the set can move, flat (cells,).

    Under ``any_zero`` a cycle that touches a zero is blocked for ever (a zero stays zero). Under
    ``negative`` zeros can rise: a cell is called immovable only if no chain of raised zeros
    could free it.
    """
    counts = table.counts.reshape(-1)
    if rule == "none":
        free = np.ones(len(moves), dtype=np.bool_)
    elif rule == "any_zero":
        free = ~blocked_cycles(moves, table, rule)
    else:
        free = _can_be_taken(moves, counts > 0, passes)
    moved = np.zeros(moves.domain.size, dtype=np.bool_)
    moved[moves.cells[free[moves.rows]]] = True
    return (counts > 0) & ~moved


def bridges(table: Table) -> list[tuple[int, int]]:
    """Positive cells of a two-way table that no cycle through positive cells can move.

    They are the bridges of the bipartite graph of positive cells (Lenz, theorem 2, corrected).
    Two spanning forests, the second of what the first leaves, hold every cut of at most one
    edge, so the search looks at 2 (rows + columns) edges however many cells are positive.
    """
    counts = table.counts
    m, n = counts.shape
    rows, columns = np.nonzero(counts > 0)
    near: list[list[int]] = [[] for _ in range(m + n)]
    for left, right in two_forests(rows, columns + m, m + n):
        for a, b in zip(left.tolist(), right.tolist(), strict=True):
            near[a].append(b)
            near[b].append(a)
    return sorted((min(edge), max(edge) - m) for edge in _bridges(near))


def _bridges(near: list[list[int]]) -> list[tuple[int, int]]:
    """Bridges of a graph without parallel edges, by an iterative depth-first search."""
    order = [-1] * len(near)
    low = [0] * len(near)
    clock = 0
    found: list[tuple[int, int]] = []
    for root in range(len(near)):
        if order[root] >= 0:
            continue
        order[root] = low[root] = clock
        clock += 1
        stack = [(root, -1, iter(near[root]))]
        while stack:
            node, parent, rest = stack[-1]
            for other in rest:
                if other == parent:
                    continue
                if order[other] >= 0:
                    low[node] = min(low[node], order[other])
                    continue
                order[other] = low[other] = clock
                clock += 1
                stack.append((other, node, iter(near[other])))
                break
            else:
                stack.pop()
                if parent >= 0:
                    low[parent] = min(low[parent], low[node])
                    if low[node] > order[parent]:
                        found.append((node, parent))
    return found
