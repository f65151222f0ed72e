"""Steps of chains over loose sums, in Python: number for number those of ``loose_steps.c``.

Takes the place of the compiled module. The arrays, in order: the numbers (cells, sums, axes, orders
of boxes, largest step, chains, steps, whether a way into the sums is sought); low and high of the cells, and where the log weight of count 0
would stand; where the sums of each cell begin, and these sums; low and high of the sums, and where
their log weights of 0 would stand; all log weights; the penalty; the line of each cell along each
axis, where lines begin, and their cells; the place of each cell along each axis, then in the grid;
where the cells of each sum begin, and these cells; the strides of the axes, then the grid; tables, sums and states of the chains, which are changed.
"""

from __future__ import annotations

import math
from typing import Any

MASK, MOST_SOUGHT = 2**64 - 1, 64


class _Coins:
    """Splitmix64."""

    def __init__(self, state: int) -> None:
        self.state = state

    def next(self) -> float:
        self.state = (self.state + 0x9E3779B97F4A7C15) & MASK
        z = self.state
        z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) & MASK
        z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & MASK
        return float((z ^ (z >> 31)) >> 11) * 2.0**-53

    def below(self, number: int) -> int:
        return int(self.next() * float(number))


def logarithm(u: float) -> float:
    """The natural logarithm by sums and products."""
    if u <= 0.0:
        return -1e9
    part, power = math.frexp(u)
    if part < 0.70710678118654752:
        part, power = part * 2.0, power - 1
    t = (part - 1.0) / (part + 1.0)
    s = t * t
    series = 2.0 + s * (2.0 / 3.0 + s * (2.0 / 5.0 + s * (2.0 / 7.0 + s * (2.0 / 9.0 + s * (2.0 / 11.0)))))
    return float(power) * 0.69314718055994531 + t * series


def steps(arrays: tuple[Any, ...]) -> None:
    """Take steps in every chain, one chain after the other."""
    numbers, tables, sums, states = arrays[0].tolist(), *arrays[18:]
    for chain in range(numbers[5]):
        coins = _Coins(int(states[chain]))
        for _ in range(numbers[6]):
            _step(arrays, numbers, tables[chain], sums[chain], coins)
        states[chain] = coins.state


def _step(arrays: tuple[Any, ...], numbers: list[int], table: Any, total: Any, coins: _Coins) -> None:
    low, high, at, of_starts, of, sum_low, sum_high, sum_at, logs, penalty = arrays[1:11]
    corners = _box(arrays, numbers, total, coins)
    by = 1 + coins.below(numbers[4])
    chance = coins.next()
    if coins.next() < 0.5:
        by = -by
    gain, moves, changes = 0.0, {}, {}
    for k, cell in enumerate(corners):
        moves[cell] = -by if k.bit_count() % 2 else by
        value = int(table[cell]) + moves[cell]
        if not low[cell] <= value <= high[cell]:
            return
        gain += float(logs[at[cell] + value] - logs[at[cell] + table[cell]])
        for f in of[of_starts[cell] : of_starts[cell + 1]].tolist():
            changes[f] = changes.get(f, 0) + moves[cell]

    def weight(f: int, value: int) -> float:
        inside = min(max(value, int(sum_low[f])), int(sum_high[f]))
        return float(logs[sum_at[f] + inside]) - float(penalty[0]) * float(abs(value - inside))

    for f, change in changes.items():
        if change:
            gain += weight(f, int(total[f]) + change) - weight(f, int(total[f]))
    if not corners or (gain < 0.0 and not logarithm(chance) < gain):
        return
    for cell, change in moves.items():
        table[cell] += change
    for f, change in changes.items():
        total[f] += change


def _astray(arrays: tuple[Any, ...], numbers: list[int], total: Any, coins: _Coins) -> int:
    """A cell of a sum that is out of its range, if such a one is soon found; else any cell."""
    sum_low, sum_high, starts, members = *arrays[6:8], *arrays[15:17]
    for _ in range(MOST_SOUGHT):
        f = coins.below(numbers[1])
        if not sum_low[f] <= total[f] <= sum_high[f]:
            mine = members[starts[f] : starts[f + 1]]
            return int(mine[coins.below(len(mine))])
    return coins.below(numbers[0])


def _box(arrays: tuple[Any, ...], numbers: list[int], total: Any, coins: _Coins) -> list[int]:
    """The corners of a box, or none."""
    (cells, _, axes, orders), (line, starts, members, place) = numbers[:4], arrays[11:15]
    order, grid = coins.below(orders), arrays[17]
    cell = _astray(arrays, numbers, total, coins) if numbers[7] else coins.below(cells)
    corners = [cell]
    if not order:
        return corners
    first = coins.below(axes)
    for k in range(order):
        axis = (first + k) % axes
        mine = members[starts[line[axis, cell]] : starts[line[axis, cell] + 1]]
        other = int(mine[coins.below(len(mine))])
        if other == cell:
            return []
        shift = int(place[axis, other] - place[axis, cell]) * int(grid[axis])
        for corner in list(corners):
            there = int(grid[axes + int(place[axes, corner]) + shift])
            if there < 0:
                return []
            corners.append(there)
    return corners
