"""Controlled rounding of a two-way table by closed walks (Cox 1987), exactly in whole numbers.

The table of rests (count modulo base) is bordered so that all its rows and columns add up to
multiples of the base. As long as a rest is left there is a closed walk through rests, alternating
between rows and columns. Adding and subtracting along it in turn keeps all sums, and the amount is
one of the two that make a rest a multiple: each with the probability that keeps the expectation, or
always the likelier one, which is the shorter step, where there is to be no chance.
"""

from __future__ import annotations

from collections.abc import Callable
from copy import deepcopy

import numpy as np

from tabprotect.engine.arrays import Ints
from tabprotect.engine.protection.rounding import cox_steps

Walk = tuple[list[tuple[int, int]], list[tuple[int, int]]]
"""A closed walk: the cells of its even steps, and those of its odd ones."""


def bordered(counts: Ints, base: int) -> Ints:
    """The rests of a table, with a row and a column that complete the sums, (rows + 1, cols + 1)."""
    rest = counts % base
    wide = np.zeros((counts.shape[0] + 1, counts.shape[1] + 1), dtype=np.int64)
    wide[:-1, :-1] = rest
    wide[:-1, -1] = -rest.sum(axis=1) % base
    wide[-1, :-1] = -rest.sum(axis=0) % base
    wide[-1, -1] = rest.sum() % base
    return wide


class _Rests:
    """Rests as lists, and the places in each row and column that still have one."""

    def __init__(self, rests: Ints, base: int) -> None:
        self.base = base
        self.rest: list[list[int]] = rests.tolist()
        inside = rests > 0
        self.rows = [np.flatnonzero(row).tolist() for row in inside]
        self.columns = [np.flatnonzero(column).tolist() for column in inside.T]
        self.path: list[int] = []
        self.at: dict[int, int] = {}

    def _in_row(self, row: int, but: int) -> int:
        return _last(self.rows[row], but, lambda column: self.rest[row][column] > 0)

    def _in_column(self, column: int, but: int) -> int:
        return _last(self.columns[column], but, lambda row: self.rest[row][column] > 0)

    def walk(self) -> Walk | None:
        """The next closed walk through rests; ``None`` when there is no rest left.

        It goes on from the end of what is left of the last walk, each time to the last rest of the
        row or column other than the one it came by; so the walk follows from the rests alone.
        """
        # Rows are numbered 0, 1, ..., columns -1, -2, ...
        if not self.path:
            start = next((r for r in range(len(self.rows)) if self._in_row(r, -1) >= 0), None)
            if start is None:
                return None
            self.path, self.at = [start], {start: 0}
        while True:
            node = self.path[-1]
            before = self.path[-2] if len(self.path) > 1 else None
            if node >= 0:
                step = self._in_row(node, -1 if before is None else -1 - before)
                after = -1 - step
            else:
                step = after = self._in_column(-1 - node, -1 if before is None else before)
            if step < 0:
                # The walk that was left has no way on: begin anew.
                self.path, self.at = [], {}
                return self.walk()
            if after in self.at:
                return self._close(after)
            self.at[after] = len(self.path)
            self.path.append(after)

    def _close(self, node: int) -> Walk:
        begin = self.at[node]
        ring = self.path[begin:]
        for gone in ring[1:]:
            del self.at[gone]
        self.path = self.path[: begin + 1]
        cells = [(a, -1 - b) if a >= 0 else (b, -1 - a) for a, b in zip(ring, [*ring[1:], node], strict=True)]
        return cells[::2], cells[1::2]

    def room(self, walk: Walk) -> tuple[int, int]:
        """Return how far the even cells can go up (the odd ones down), and how far down."""
        rest, base = self.rest, self.base
        even, odd = [rest[r][c] for r, c in walk[0]], [rest[r][c] for r, c in walk[1]]
        return min(base - max(even), min(odd)), min(min(even), base - max(odd))

    def shift(self, walk: Walk, amount: int) -> list[tuple[int, int, bool]]:
        """Move along the walk; the cells that became multiples, and whether they went up."""
        done = []
        for cells, change in zip(walk, (amount, -amount), strict=True):
            for row, column in cells:
                value = self.rest[row][column] + change
                if value in (0, self.base):
                    done.append((row, column, value > 0))
                    value = 0
                self.rest[row][column] = value
        return done


def _last(places: list[int], but: int, holds: Callable[[int], bool]) -> int:
    """The last place that still has a rest and is not ``but``; -1 when there is none."""
    k = len(places) - 1
    while k >= 0:
        if not holds(places[k]):
            del places[k]
        elif places[k] != but:
            return places[k]
        k -= 1
    return -1


def round_unbiased(counts: Ints, base: int, generator: np.random.Generator) -> Ints:
    """Round each count to one of the two multiples beside it, so that E[rounded] = count.

    Row sums, column sums and the grand total are within the base of the true ones too, and
    unbiased; multiples stay.

    Parameters
    ----------
    counts : int64 (rows, columns)

    Returns
    -------
    rounded : int64 (rows, columns)
    """
    wide = bordered(counts, base)
    rests = _Rests(wide, base)
    up = np.zeros(wide.shape, dtype=np.bool_)
    while (walk := rests.walk()) is not None:
        more, less = rests.room(walk)
        # Up by `more` with probability less / (more + less): on average nothing changes.
        amount = more if int(generator.integers(more + less)) < less else -less
        for row, column, is_up in rests.shift(walk, amount):
            up[row, column] = is_up
    return counts - counts % base + base * up[:-1, :-1]


def round_without_chance(counts: Ints, base: int) -> Ints:
    """Round many tables by the same walks and always the shorter step.

    A walk begins in the first row with a rest and goes each time to the first rest of the column or row
    other than the one it came by; of equal steps the first cell goes down.

    Parameters
    ----------
    counts : int64 (tables, rows, columns)

    Returns
    -------
    rounded : int64 (tables, rows, columns)
    """
    out = np.empty(counts.shape, dtype=np.int64)
    tables, rows, columns = counts.shape
    cox_steps.round_all(tables, rows, columns, base, np.ascontiguousarray(counts, dtype=np.int64), out)
    return out


def chance_of_rounding(counts: Ints, rounded: Ints, base: int) -> float:
    """P(``rounded`` | ``counts``), exactly, by following every way that still agrees with it.

    For small tables: where both ways of a step agree, both are followed.
    """
    wide = bordered(counts, base)
    up, rest = np.divmod(rounded - (counts - counts % base), base)
    if rest.any() or ((up != 0) & (up != 1)).any() or (up > wide[:-1, :-1]).any():
        return 0.0
    target = _goals(wide, up, base)
    return 0.0 if target is None else _chance(_Rests(wide, base), target)


def _chance(rests: _Rests, target: list[list[bool]]) -> float:
    weight = 1.0
    while (walk := rests.walk()) is not None:
        more, less = rests.room(walk)
        ways = [
            (amount, odds)
            for amount, odds in ((more, less), (-less, more))
            if _agrees(rests, walk, amount, target)
        ]
        if not ways:
            return 0.0
        weight /= more + less
        if len(ways) == 2:
            other = deepcopy(rests)
            other.shift(walk, ways[1][0])
            first = deepcopy(rests)
            first.shift(walk, ways[0][0])
            return weight * sum(
                odds * _chance(then, target) for then, (_, odds) in zip((first, other), ways, strict=True)
            )
        amount, odds = ways[0]
        weight *= odds
        rests.shift(walk, amount)
    return weight


def _goals(wide: Ints, up: Ints, base: int) -> list[list[bool]] | None:
    """The bordered cells that go up, given those of the table itself; ``None`` if that is impossible."""
    goal = np.zeros(wide.shape, dtype=np.int64)
    goal[:-1, :-1] = up
    goal[:-1, -1] = wide[:-1].sum(axis=1) // base - up.sum(axis=1)
    goal[-1, :-1] = wide[:, :-1].sum(axis=0) // base - up.sum(axis=0)
    goal[-1, -1] = wide[-1].sum() // base - goal[-1, :-1].sum()
    border = np.ones(wide.shape, dtype=np.bool_)
    border[:-1, :-1] = False
    if ((goal < 0) | (goal > (wide > 0)))[border].any():
        return None
    result: list[list[bool]] = (goal > 0).tolist()
    return result


def _agrees(rests: _Rests, walk: Walk, amount: int, target: list[list[bool]]) -> bool:
    for cells, change in zip(walk, (amount, -amount), strict=True):
        for row, column in cells:
            value = rests.rest[row][column] + change
            if value in (0, rests.base) and (value > 0) != target[row][column]:
                return False
    return True
