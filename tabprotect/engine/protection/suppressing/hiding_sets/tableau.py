"""Changes of hidden numbers, written in terms of a few that move freely: how far one can be pushed.

The equations of the published numbers are solved once for each hiding set: every hidden number is a
sum of those that are left free (a tableau). A push begins where nothing moves, which is always
possible, and goes on by pivots of the simplex method until the number has moved as far as is asked,
so that no other programme is solved for what holds. A push that ends before proves nothing: rounding
adds up over many pivots. The pivots are compiled where a compiler was there; numpy gives the same
numbers.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from tabprotect.engine.arrays import Bools, Floats, Ints

if TYPE_CHECKING:
    from scipy.sparse import csr_array

try:
    from tabprotect.engine.protection.suppressing.hiding_sets import pivots
except ImportError:
    pivots = None  # type: ignore[assignment]

NOTHING, SLACK = 1e-11, 1e-9
"""Entries below the first are rounding; distances below the second are none."""

MOST_PIVOTS = 200
"""Most pivots of a push."""

MOST_ENTRIES = 200_000
"""Most entries of a tableau: beyond, a sparse programme takes less."""


class Tableau:
    """The changes that a hiding set leaves open. Nothing confidential but which numbers are hidden.

    Parameters
    ----------
    sums : (numbers, cells)
        Which cells add up to each number.
    column : int64 (numbers,)
        The cell of a number that is one cell, else -1.
    hidden : bool (numbers,)
    bare : int64
        Cells that are no number, and move.
    """

    def __init__(self, sums: csr_array, column: Ints, hidden: Bools, bare: Ints) -> None:
        self.hidden = hidden.copy()
        one = column >= 0
        # A variable is a number, or behind the numbers a cell that is none.
        self._cells = np.concatenate([column[hidden & one], bare])
        moving = np.concatenate([np.flatnonzero(hidden & one), len(column) + np.arange(len(bare))])
        published = sums[np.flatnonzero(~hidden & ~one)][:, self._cells].toarray().astype(np.float64)
        published = published[published.any(axis=1)]
        # Short equations first: less is filled in.
        published = published[np.argsort((published != 0).sum(axis=1), kind="stable")].copy()
        pivot = np.full(len(published), -1, dtype=np.int64)
        (_solved if pivots is None else pivots.solved)(published, pivot)
        says = np.flatnonzero(pivot >= 0)
        free = np.setdiff1d(np.arange(len(moving)), pivot[says])
        totals = np.flatnonzero(hidden & ~one)
        inner = -published[says][:, free]
        whole = sums[totals][:, self._cells].toarray().astype(np.float64)
        self._entries = np.ascontiguousarray(
            np.vstack([inner, whole[:, free] + whole[:, pivot[says]] @ inner])
        )
        self._basic = np.concatenate([moving[pivot[says]], totals]).astype(np.int64)
        self._beside = moving[free].astype(np.int64)
        self._moving = moving
        self.work = len(says) * published.size

    @property
    def size(self) -> int:
        """The number of entries."""
        return self._entries.size

    def push(self, number: int, need: float, ends: tuple[Floats, Floats], cells: int) -> tuple[int, Floats]:
        """Push a number by ``need``, up or down: the pivots that took, -1 where it does not go so far.

        Parameters
        ----------
        ends : float64 (numbers and bare cells,)
            How far each may fall, at most 0, and rise.

        Returns
        -------
        The pivots, and the change of each of ``cells`` cells, float64 (cells,).
        """
        low, high = ends
        x = np.zeros(len(low))
        asked = self._basic, self._beside, low, high, x, number, need, MOST_PIVOTS
        taken = (_pushed if pivots is None else pivots.pushed)(self._entries, *asked)
        change = np.zeros(cells)
        change[self._cells] = x[self._moving]
        return taken, change


def _solved(entries: Floats, pivot: Ints) -> None:
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


def _pushed(
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
