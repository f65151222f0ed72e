"""Effects of a cycle set on one table: blocked cycles, cells that cannot move, bridges."""

from __future__ import annotations

import numpy as np

from tabprotect.engine.arrays import Bools
from tabprotect.engine.cycles import cycle_steps
from tabprotect.engine.cycles.graphs import components
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

    They are the bridges of the bipartite graph of positive cells (Lenz, theorem 2, corrected). A
    depth-first search leaves a tree; each edge beside it joins a node to one above, and no edge of the
    tree between the two is a bridge.
    """
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import depth_first_order

    m, n = table.counts.shape
    rows, columns = np.nonzero(table.counts > 0)
    ends = np.stack([rows, columns + m])
    # A further node joins the parts of the graph.
    _, first = np.unique(components(rows, columns + m, m + n), return_index=True)
    row, column = np.hstack([ends, [first, np.full(len(first), m + n)]])
    graph = coo_array((np.ones(len(row)), (row, column)), shape=(m + n + 1, m + n + 1)).tocsr()
    order, before = depth_first_order(graph, m + n, directed=False)
    place = np.argsort(order)
    upper, lower = np.where(place[ends[0]] < place[ends[1]], ends, ends[::-1])
    beside = before[lower] != upper
    around = np.zeros(m + n + 1, dtype=np.int64)
    np.add.at(around, lower[beside], 1)
    np.subtract.at(around, upper[beside], 1)
    for node in order[:0:-1].tolist():
        around[before[node]] += around[node]
    alone = ~beside & (around[lower] == 0)
    return list(zip(rows[alone].tolist(), columns[alone].tolist(), strict=True))
