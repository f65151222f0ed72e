"""Ways through hidden cells in numpy and flows by scipy: the answers of ``two_way_routes.c``.

Takes the place of the compiled module.
"""

from __future__ import annotations

from types import TracebackType
from typing import Self

import numpy as np
from scipy.sparse import csr_array
from scipy.sparse.csgraph import maximum_flow

from tabprotect.engine.arrays import Bools, Floats, Ints

Path = list[tuple[int, int]]
"""Arcs, the first and every second one from a row to a column, the others back."""


class Residual:
    """The residual capacities of the arcs, all (rows, columns); restored when the context ends.

    Parameters
    ----------
    free : bool
        Arcs that cost nothing.
    weight : float64
        Of using each.
    forward, back : int64
        What can go from a row to a column, and back.
    """

    def __init__(self, free: Bools, weight: Floats, forward: Ints, back: Ints) -> None:
        self._free, self._weight = free, weight
        self._forward, self._back = forward, back
        self._undo: list[tuple[Bools | Floats | Ints, tuple[Ints, Ints], Bools | Floats | Ints]]
        self._undo = []

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for array, at, before in reversed(self._undo):
            array[at] = before

    def _keep(self, array: Bools | Floats | Ints, at: tuple[Ints, Ints]) -> None:
        self._undo.append((array, at, array[at]))

    def shut(self, at: tuple[Ints, Ints]) -> None:
        """Let nothing go along arcs."""
        for array in (self._forward, self._back):
            self._keep(array, at)
            array[at] = 0

    def use(self, path: Path, amount: int) -> None:
        """Take an amount along a path."""
        at = _places(path)
        # From a row to a column, then back.
        turn = np.where(np.arange(len(path)) % 2 == 0, 1, -1)
        for array, sign in ((self._forward, -1), (self._back, 1)):
            self._keep(array, at)
            array[at] += sign * turn * amount

    def pay(self, path: Path, weight: float) -> None:
        """Open what a path uses."""
        at = _places(path)
        for array, value in ((self._free, True), (self._weight, weight)):
            self._keep(array, at)
            array[at] = value

    def reach(self, ends: tuple[int, int], left: int, *, at_once: bool = False) -> tuple[Path, int]:
        """A path of fewest free arcs from a row to a column, and how much of ``left`` it carries.

        Parameters
        ----------
        at_once
            It must carry all of it.
        """
        amount = left
        while amount:
            path = self._fewest(amount, *ends)
            if path:
                return path, amount
            if at_once:
                break
            amount //= 2
        return [], 0

    def cheapest(self, ends: tuple[int, int], left: int) -> tuple[Path, int]:
        """A path of least weight that carries all of ``left``, or else as much as any does."""
        amount = left
        while amount:
            path = self._shortest(amount, *ends)
            if path:
                return path, amount
            amount //= 2
        return [], 0

    def _fewest(self, amount: int, i: int, j: int) -> Path:
        """Breadth first."""
        rows, columns = self._free.shape
        from_row = np.full(columns, -1, dtype=np.int64)
        from_column = np.full(rows, -1, dtype=np.int64)
        from_column[i] = columns
        # Rows from which the next arc would be the last.
        lasting = np.flatnonzero(self._free[:, j] & (self._forward[:, j] >= amount))
        edge = np.array([i])
        while len(edge) and len(lasting):
            if from_column[lasting].max() >= 0:
                from_row[j] = lasting[from_column[lasting] >= 0][0]
                return _traced(from_row, from_column, i, j)
            met = self._free[edge] & (self._forward[edge] >= amount)
            new = np.flatnonzero(met.any(axis=0) & (from_row < 0))
            if not len(new):
                break
            from_row[new] = edge[met[:, new].argmax(axis=0)]
            met = self._met(lasting, new, amount)
            edge = lasting
            if not met.any():
                edge = np.flatnonzero(from_column < 0)
                met = self._met(edge, new, amount)
            found = met.any(axis=1)
            edge = edge[found]
            from_column[edge] = new[met[found].argmax(axis=1)]
        return []

    def _met(self, rows: Ints, columns: Ints, amount: int) -> Bools:
        at = rows[:, None], columns
        met: Bools = self._free[at] & (self._back[at] >= amount)
        return met

    def _shortest(self, amount: int, i: int, j: int) -> Path:
        """Least weight, by correcting labels. Empty when there is none."""
        rows, columns = self._weight.shape
        to_row, to_column = np.full(rows, np.inf), np.full(columns, np.inf)
        from_row = np.full(columns, -1, dtype=np.int64)
        from_column = np.full(rows, -1, dtype=np.int64)
        to_row[i] = 0.0
        edge = np.array([i])
        while len(edge):
            there = np.where(self._forward[edge] >= amount, self._weight[edge], np.inf)
            there += to_row[edge, None]
            best = there.argmin(axis=0)
            least = there[best, np.arange(columns)]
            new = np.flatnonzero((least < to_column) & (least < to_column[j]))
            to_column[new] = least[new]
            from_row[new] = edge[best[new]]
            new = new[(new != j) & (to_column[new] < to_column[j])]
            if not len(new):
                break
            again = np.where(self._back[:, new] >= amount, self._weight[:, new], np.inf)
            again += to_column[new]
            best = again.argmin(axis=1)
            least = again[np.arange(rows), best]
            edge = np.flatnonzero((least < to_row) & (least < to_column[j]))
            to_row[edge] = least[edge]
            from_column[edge] = new[best[edge]]
        return _traced(from_row, from_column, i, j) if np.isfinite(to_column[j]) else []


def _places(path: Path) -> tuple[Ints, Ints]:
    rows, columns = zip(*path, strict=True)
    return np.array(rows), np.array(columns)


def _traced(from_row: Ints, from_column: Ints, i: int, j: int) -> Path:
    path = []
    column = j
    while True:
        row = int(from_row[column])
        path.append((row, column))
        if row == i:
            return path[::-1]
        column = int(from_column[row])
        path.append((row, column))


PART = 16
"""Rows and columns of a rectangle that are looked at first."""


def route(
    free: Bools,
    weight: Floats,
    forward: Ints,
    back: Ints,
    barred: Ints,
    what: Ints,
    rows: int,
    columns: int,
    pay: bool,
    step: float,
    few: int,
) -> tuple[bytes, bytes] | None:
    """Places and changes of the cheapest way that was found; None without one."""
    i, j, need, turn = what.tolist()
    moved: dict[tuple[int, int], int] = {}
    if len(barred) <= few:
        moved = _rectangle((free, forward, back), (i, j), need, barred)
    if not moved:
        moved, left = {(i, j): need}, need
        with Residual(free, weight, forward, back) as network:
            network.shut(divmod(np.append(barred, i * columns + j), columns))
            while left:
                path, amount = network.reach((i, j), left)
                if not path and pay:
                    path, amount = network.cheapest((i, j), left)
                    if path:
                        network.pay(path, step)
                if not path:
                    return None
                network.use(path, amount)
                for number, at in enumerate(path):
                    moved[at] = moved.get(at, 0) + (amount if number % 2 else -amount)
                left -= amount
    places = np.array([row * columns + column for row, column in moved], dtype=np.int64)
    return places.tobytes(), (turn * np.array(list(moved.values()), dtype=np.int64)).tobytes()


def _rectangle(
    sides: tuple[Bools, Ints, Ints], at: tuple[int, int], need: int, barred: Ints
) -> dict[tuple[int, int], int]:
    """The first rectangle of three other hidden cells, in a corner of the table if there is one."""
    free, fall, rise = sides
    i, j = at
    falls, rises = free & (fall >= need), free & (rise >= need)
    for array in (falls, rises):
        array.reshape(-1)[barred] = False
    falls[at] = False
    rows, columns = np.flatnonzero(falls[:, j]), np.flatnonzero(falls[i])
    for part in (PART, len(rows) + len(columns)):
        meets = rises[rows[:part, None], columns[None, :part]]
        if meets.any() or part >= max(len(rows), len(columns)):
            break
    if not meets.any():
        return {}
    k, m = divmod(int(meets.argmax()), meets.shape[1])
    row, column = int(rows[k]), int(columns[m])
    return {at: need, (i, column): -need, (row, column): need, (row, j): -need}


def largest_flow(forward: Ints, back: Ints, i: int, j: int) -> int:
    """The largest flow from row i to column j beside their own arc, by scipy."""
    rows, columns = forward.shape
    graph = np.zeros((rows + columns, rows + columns), dtype=np.int32)
    graph[:rows, rows:], graph[rows:, :rows] = forward, back.T
    graph[i, rows + j] = graph[rows + j, i] = 0
    return int(maximum_flow(csr_array(graph), i, rows + j).flow_value)
