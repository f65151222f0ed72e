"""The oracle: posteriors from the definition of the mechanism alone, over whole tables.

Nothing of the engine's posterior is used: no signature groups, no backward factors. A step back
from a table tries every table that could be before it and asks the *forward* step for its chance.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

Cells = tuple[int, ...]
Number = Any  # Fraction or float, as the caller likes


def step_chance(before: Cells, after: Cells, move: Cells, chances: dict[int, Number], rule: str) -> Number:
    """The chance that one forward step leads from ``before`` to ``after``."""
    touches_zero = any(x == 0 for x, m in zip(before, move, strict=True) if m)
    total: Number = 0
    for coin, chance in chances.items():
        reached = tuple(x + coin * m for x, m in zip(before, move, strict=True))
        blocked = (rule == "any_zero" and touches_zero) or (rule == "negative" and min(reached) < 0)
        if (before if blocked else reached) == after:
            total += chance
    return total


def posterior(
    published: Cells,
    moves: Sequence[Cells],
    *,
    alpha: Number,
    beta: Number,
    passes: int,
    rule: str,
    weight: Callable[[int, int], Number] = lambda cell, count: 1,
) -> dict[Cells, Number]:
    """{original: likelihood times prior}, only positive ones, not normalised."""
    chances = {1: alpha, -1: beta, 0: 1 - alpha - beta}
    tables: dict[Cells, Number] = {tuple(published): 1}
    for move in list(moves)[::-1] * passes:
        earlier: dict[Cells, Number] = {}
        for after, mass in tables.items():
            for coin in (-1, 0, 1):
                before = tuple(x - coin * m for x, m in zip(after, move, strict=True))
                if rule != "none" and min(before) < 0:
                    continue
                chance = step_chance(before, after, move, chances, rule)
                if chance:
                    earlier[before] = earlier.get(before, 0) + mass * chance
        tables = earlier
    out = {}
    for table, mass in tables.items():
        if min(table) < 0:
            continue
        for cell, count in enumerate(table):
            mass *= weight(cell, count)
        if mass:
            out[table] = mass
    return out


def marginals(found: dict[Cells, Number]) -> list[dict[int, Number]]:
    """Normalised distribution of each cell."""
    total = sum(found.values())
    out: list[dict[int, Number]] = [{} for _ in next(iter(found))]
    for table, mass in found.items():
        for cell, count in enumerate(table):
            out[cell][count] = out[cell].get(count, 0) + mass / total
    return out


def move_cells(arrays: Sequence[Any]) -> list[Cells]:
    """Moves as flat tuples."""
    return [tuple(np.asarray(a).reshape(-1).tolist()) for a in arrays]
