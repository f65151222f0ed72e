"""The pivots of a tableau in numpy: the numbers of ``pivots.c``. Takes the place of the compiled module."""

from __future__ import annotations

import numpy as np

from tabprotect.engine.arrays import Floats, Ints

NOTHING, SLACK = 1e-11, 1e-9
"""Entries below the first are rounding; distances below the second are none."""


def solved(entries: Floats, pivot: Ints) -> None:
    """Solve rows for one column each, in their order; -1 for a row that says nothing."""
    for r, row in enumerate(entries):
        k = int(np.abs(row).argmax()) if len(row) else 0
        if not len(row) or abs(row[k]) <= SLACK:
            continue
        pivot[r] = k
        row /= row[k]
        times = entries[:, k].copy()
        times[r] = 0.0
        some = np.flatnonzero(times)
        left = entries[some] - times[some, None] * row
        left[np.abs(left) < NOTHING] = 0.0
        entries[some] = left


def pushed(
    entries: Floats,
    basic: Ints,
    beside: Ints,
    low: Floats,
    high: Floats,
    x: Floats,
    number: int,
    need: float,
    most: int,
) -> int:
    """Pivots until a number has moved by ``need``; how many, -1 if it does not go so far."""
    sign = -1.0 if need < 0 else 1.0
    mine, own = (next(iter(np.flatnonzero(side == number)), -1) for side in (basic, beside))
    for done in range(most):
        gain = sign * entries[mine] if mine >= 0 else np.where(np.arange(len(beside)) == own, sign, 0)
        at = x[beside]
        goes = np.where(gain > 0, at < high[beside] - SLACK, at > low[beside] + SLACK)
        best = np.where(goes, np.abs(gain), 0.0)
        j = int(best.argmax()) if len(best) else -1
        if j < 0 or best[j] <= SLACK:
            return -1
        enters = beside[j]
        way = 1.0 if gain[j] > 0 else -1.0
        cap = (abs(need) - sign * x[number]) / best[j]
        own_room = high[enters] - x[enters] if way > 0 else x[enters] - low[enters]
        own_room = np.inf if enters == number else own_room
        column = entries[:, j].copy()
        rooms = _rooms(way * column, x[basic], (low[basic], high[basic]))
        if mine >= 0:
            rooms[mine] = np.inf
        nearest = rooms.min(initial=np.inf)
        step = min(cap, own_room, nearest)
        x[enters] += way * step
        x[basic] += way * column * step
        if sign * x[number] >= abs(need) - SLACK:
            return done + 1
        if own_room <= nearest:
            continue
        leaves = int(np.where(rooms <= nearest + SLACK, np.abs(column), 0.0).argmax())
        row = entries[leaves]
        by = row[j]
        row /= -by
        row[j] = 1.0 / by
        column[leaves] = 0.0
        some = np.flatnonzero(column)
        entries[some, j] = 0.0
        entries[some] += column[some, None] * row
        beside[j], basic[leaves] = basic[leaves], enters
        if own == j:
            own, mine = -1, leaves
    return -1


def _rooms(rate: Floats, x: Floats, ends: tuple[Floats, Floats]) -> Floats:
    """How far each number goes at a rate until it meets an end."""
    low, high = ends
    rooms = np.full(len(rate), np.inf)
    up, down = rate > SLACK, rate < -SLACK
    rooms[up] = (high[up] - x[up]) / rate[up]
    rooms[down] = (low[down] - x[down]) / rate[down]
    return np.where(rooms > 0, rooms, 0.0)
