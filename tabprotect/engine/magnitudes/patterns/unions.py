"""Sums of hidden cells that are published all the same: each must pass the rules itself.

Where a parent is published, so is the sum of its hidden children: that union, with contributions
pooled per holding, has to be safe, or another child (at last the parent) is hidden.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from tabprotect.engine.arrays import Bools, Ints
from tabprotect.engine.equal_rows import spread
from tabprotect.engine.magnitudes.readers.attack_problem import AttackProblem

SOUND = -1
"""What :func:`faults` says of an equation that publishes nothing too certain."""


def faults(puzzle: AttackProblem, hidden: Bools, which: Ints | None = None) -> Ints:
    """Return by how much the sum that each equation publishes is too certain, int64 (equations,).

    A single hidden cell in an equation can be computed: it protects nothing.

    Parameters
    ----------
    which
        Equations to look at; all of them by default.
    """
    sums = puzzle.equations
    which = np.arange(len(sums)) if which is None else which
    lengths = np.diff(sums.start)[which]
    child = sums.child[spread(sums.start[which], lengths)]
    number = np.repeat(np.arange(len(which)), lengths)
    inside = hidden[child]
    many = np.bincount(number[inside], minlength=len(which))
    parent = hidden[sums.parent[which]]
    alone = parent & (many == 0)
    published = ~parent & (many > 0)
    out = np.full(len(which), SOUND, dtype=np.int64)
    # Of each equation the hidden children, or the parent that nothing hides behind.
    cells = np.where(alone, sums.parent[which], -1)
    kept = inside & published[number]
    owner = np.concatenate([number[kept], np.flatnonzero(alone)])
    held = np.concatenate([child[kept], cells[alone]])
    order = np.argsort(owner, kind="stable")
    judged, start = np.unique(owner[order], return_index=True)
    if len(judged):
        level = puzzle.levels(start.astype(np.int64), held[order])
        single = alone[judged] | (many[judged] == 1)
        out[judged] = np.where((level > 0) | single, level, SOUND)
    return out


def mend_unions(
    puzzle: AttackProblem, hidden: Bools, cost: Ints, frozen: Bools, which: Iterable[int] | None = None
) -> None:
    """Hide cells until every equation is sound that can be.

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
    waiting = np.arange(len(sums)) if which is None else np.unique(np.array([*which], np.int64))
    stuck: set[int] = set()
    size = np.abs(puzzle.value)
    while len(waiting):
        missing = faults(puzzle, hidden, waiting)
        bad = missing != SOUND
        # What was hidden for one equation may serve the next: that is judged again first.
        touched: set[int] = set()
        for equation, level in zip(waiting[bad].tolist(), missing[bad].tolist(), strict=True):
            if equation in touched or equation in stuck:
                continue
            children = sums.children(equation)
            can = children[~hidden[children] & ~frozen[children] & (size[children] > 0)]
            chosen = _cheapest(can, size[can], cost, level)
            if chosen is None:
                parent = int(sums.parent[equation])
                if hidden[parent] or frozen[parent]:
                    stuck.add(equation)
                    continue
                chosen = parent
            hidden[chosen] = True
            touched.update(sums.touching[chosen])
        waiting = np.array(sorted(touched), dtype=np.int64)


def _cheapest(cells: Ints, size: Ints, cost: Ints, missing: int) -> int | None:
    """The cheapest that reaches the missing level, else the largest; ``None`` of none."""
    if not len(cells):
        return None
    enough = np.flatnonzero(size >= missing)
    if len(enough):
        return int(cells[enough[np.lexsort((cells[enough], cost[cells[enough]]))[0]]])
    return int(cells[np.lexsort((cells, -size))[0]])
