"""Sums of hidden cells that are published all the same: each must pass the rules itself.

Where a parent is published, so is the sum of its hidden children: that union, with contributions
pooled per holding, has to be safe, or another child (at last the parent) is hidden.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from tabprotect.engine.arrays import Bools, Ints
from tabprotect.engine.magnitudes.readers import Puzzle


def fault(puzzle: Puzzle, hidden: Bools, equation: int) -> int | None:
    """By how much the sum that an equation publishes is too certain; ``None`` if it is not.

    A single hidden cell in an equation can be computed: it protects nothing.
    """
    sums = puzzle.equations
    children = sums.children(equation)
    inside = children[hidden[children]]
    if hidden[sums.parent[equation]]:
        if len(inside):
            return None
        return puzzle.level([int(sums.parent[equation])])
    if not len(inside):
        return None
    level = puzzle.level(inside.tolist())
    return level if level > 0 or len(inside) == 1 else None


def mend_unions(
    puzzle: Puzzle, hidden: Bools, cost: Ints, frozen: Bools, which: Iterable[int] | None = None
) -> list[int]:
    """Hide cells until every equation is sound; the equations that cannot be mended.

    Parameters
    ----------
    hidden
        Changed in place.
    frozen
        Cells that stay published.
    which
        Equations to look at; all of them by default.
    """
    sums = puzzle.equations
    waiting = list(range(len(sums))) if which is None else sorted(set(which))
    stuck: list[int] = []
    while waiting:
        touched: set[int] = set()
        for equation in waiting:
            missing = fault(puzzle, hidden, equation)
            while missing is not None:
                chosen = _cheapest(puzzle, hidden, cost, frozen, equation, missing)
                if chosen is None:
                    stuck.append(equation)
                    break
                hidden[chosen] = True
                touched.update(sums.touching[chosen])
                missing = fault(puzzle, hidden, equation)
        waiting = sorted(touched)
    return stuck


def _cheapest(
    puzzle: Puzzle,
    hidden: Bools,
    cost: Ints,
    frozen: Bools,
    equation: int,
    missing: int,
) -> int | None:
    """The cheapest child that reaches the missing level, else the largest, else the parent."""
    sums = puzzle.equations
    children = sums.children(equation)
    value = np.abs(puzzle.value)
    open_now = children[~hidden[children] & ~frozen[children] & (value[children] > 0)]
    if len(open_now):
        enough: Ints = open_now[value[open_now] >= missing]
        if len(enough):
            return int(enough[np.lexsort((enough, cost[enough]))[0]])
        return int(open_now[np.lexsort((open_now, -value[open_now]))[0]])
    parent = int(sums.parent[equation])
    return None if hidden[parent] or frozen[parent] else parent
