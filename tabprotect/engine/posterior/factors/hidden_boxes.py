"""Boxes of hidden cells: moves of tables in three ways whose lines have exact sums.

A box is two places along each of three axes; adding 1 to its corners with alternating signs keeps the sum of
every line. Cells in circuits of the graph of sums need no boxes, and there is no such graph in three ways.
Boxes of cells that lie in few are taken more often, so that these are moved as often as others. What boxes do not
reach is made up for by a basis of the moves of the cells that are left when each cell that lies in a box is
taken away with that box: together they span all moves.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from heapq import heapify, heappop, heappush

import numpy as np

from tabprotect.engine.arrays import Ints
from tabprotect.engine.cycles.kernel_basis import Vector, kernel
from tabprotect.engine.posterior.factors.components import FactorComponent, by_cell
from tabprotect.engine.progress import SILENT, Progress

AXES = 3

BOXES, TRIES, AT_ONCE = 24, 1_000, 100
"""Boxes that are wanted of each cell, how many are tried for it, and how many at a time."""

RARE = 1.5
"""Power of the number of boxes of a cell to which these are taken the less often: with 1.5 chains agree soonest."""

BESIDE = 8
"""Moves that share a cell with it which each move can be added to."""

SIGNS = (1, -1, -1, 1, -1, 1, 1, -1)


def drawn_boxes(
    component: FactorComponent, shape: Sequence[int], generator: np.random.Generator
) -> Ints | None:
    """The corners of boxes that keep all sums, local cells, int64 (boxes, 8); ``None`` where none does.

    The same box may come more than once.

    Parameters
    ----------
    shape
        Shape of the table that the flat cells of the component belong to.
    """
    places = np.array(np.unravel_index(component.cells, shape))
    axes = [a for a in range(len(shape)) if np.ptp(places[a])]
    if len(axes) != AXES:
        return None
    at, size = places[axes], [shape[a] for a in axes]
    grid = np.full(size, -1, dtype=np.int64)
    grid[tuple(at)] = np.arange(len(component))
    lines = [_lines(at, axis, size) for axis in range(AXES)]
    wanted, found = np.arange(len(component)), np.zeros(len(component), dtype=np.int64)
    out: list[Ints] = []
    for _ in range(TRIES // AT_ONCE):
        cells = np.repeat(wanted, AT_ONCE)
        other = []
        for axis, (line, starts, members) in enumerate(lines):
            begin, end = starts[line[cells]], starts[line[cells] + 1]
            taken = members[begin + (generator.random(len(cells)) * (end - begin)).astype(np.int64)]
            other.append(at[axis, taken])
        ends = [(at[axis, cells], other[axis]) for axis in range(AXES)]
        corners = np.stack(
            [grid[ends[0][k >> 2], ends[1][k >> 1 & 1], ends[2][k & 1]] for k in range(2**AXES)], axis=1
        )
        there = (corners >= 0).all(axis=1)
        for here, beyond in ends:
            there &= here != beyond
        chosen = corners[there]
        out.append(chosen)
        found += np.bincount(chosen[:, 0], minlength=len(found))
        wanted = np.flatnonzero(found < BOXES)
        if not len(wanted):
            break
    boxes = np.concatenate(out)
    boxes = boxes[_keeping(component, boxes)]
    if not len(boxes):
        return None
    boxes = boxes[np.unique(np.sort(boxes, axis=1), axis=0, return_index=True)[1]]
    many = np.bincount(boxes.reshape(-1), minlength=len(component))
    weight = (1.0 / many[boxes] ** RARE).sum(axis=1)
    taken = generator.choice(len(boxes), BOXES * len(component), p=weight / weight.sum())
    return np.concatenate([boxes, boxes[taken]])


def _lines(at: Ints, axis: int, size: Sequence[int]) -> tuple[Ints, Ints, Ints]:
    """The line of each cell along an axis, where lines begin, and their cells."""
    rest = [k for k in range(AXES) if k != axis]
    line = np.ravel_multi_index([at[k] for k in rest], [size[k] for k in rest])
    count = math.prod(size[k] for k in rest)
    starts = np.concatenate([[0], np.cumsum(np.bincount(line, minlength=count))])
    return line, starts.astype(np.int64), np.argsort(line, kind="stable")


def _keeping(component: FactorComponent, boxes: Ints) -> np.ndarray:
    """Which boxes keep all sums: corners that rise and those that fall lie in the same ones."""
    of_cell = by_cell(component.sums, len(component))
    most = max(map(len, of_cell), default=0)
    sums = np.array([[*mine, *[-1] * (most - len(mine))] for mine in of_cell], dtype=np.int64)
    signs = np.array(SIGNS)
    up, down = (
        np.sort(sums[boxes[:, signs == sign]].reshape(len(boxes), 4 * most), axis=1) for sign in (1, -1)
    )
    return np.asarray((up == down).all(axis=1), dtype=np.bool_)


def unreached(component: FactorComponent, boxes: Ints, progress: Progress = SILENT) -> list[Vector]:
    """Moves that span, together with the boxes, all moves that keep the sums."""
    cells = len(component)
    touching: list[list[int]] = [[] for _ in range(cells)]
    rows = np.unique(np.sort(boxes, axis=1), axis=0).tolist()
    for number, row in enumerate(rows):
        for cell in row:
            touching[cell].append(number)
    alive, there = [True] * len(rows), [True] * cells
    degree = [len(mine) for mine in touching]
    waiting = [(many, cell) for cell, many in enumerate(degree) if many]
    heapify(waiting)
    while waiting:
        many, cell = heappop(waiting)
        if not there[cell] or many != degree[cell] or not many:
            continue
        there[cell] = False
        for number in touching[cell]:
            if not alive[number]:
                continue
            alive[number] = False
            for corner in rows[number]:
                degree[corner] -= 1
                if there[corner] and degree[corner]:
                    heappush(waiting, (degree[corner], corner))
    rest = np.flatnonzero(there)
    local = np.full(cells, -1, dtype=np.int64)
    local[rest] = np.arange(len(rest))
    sums = [mine[mine >= 0] for mine in (local[one.cells] for one in component.sums)]
    found = kernel([mine for mine in sums if len(mine)], len(rest), progress)
    return [{int(rest[cell]): times for cell, times in move.items()} for move in found]


def beside(
    boxes: Ints, further: Sequence[Vector], cells: int, generator: np.random.Generator
) -> list[list[int]]:
    """For each of the boxes and the moves after them some that share a cell with it."""
    flat = np.concatenate([boxes.reshape(-1), np.array([c for one in further for c in one], dtype=np.int64)])
    sizes = np.array([*[boxes.shape[1]] * len(boxes), *map(len, further)], dtype=np.int64)
    moves = np.repeat(np.arange(len(sizes)), sizes)[np.argsort(flat, kind="stable")]
    starts = np.concatenate([[0], np.cumsum(np.bincount(flat, minlength=cells))])
    first = np.concatenate([[0], np.cumsum(sizes)[:-1]])
    u, v = generator.random((2, BESIDE, len(sizes)))
    shared = flat[first + (u * sizes).astype(np.int64)]
    width = starts[shared + 1] - starts[shared]
    found = moves[starts[shared] + (v * width).astype(np.int64)]
    return [list(one) for one in found.T.tolist()]
