"""The width that decides whether the posterior can be exact.

A *step* is one cycle in one pass. The backward factor of a step depends on its own effective
coefficient and on those of the later steps that touch one of its cells (its scope). Eliminating
the coefficients one after the other, cheapest first, joins neighbours; the width is the largest
number of coefficients that remain joined to the one eliminated. Cost and memory grow as 3^width.
"""

from __future__ import annotations

import heapq
import itertools
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

from tabprotect.engine.cycles.signatures import Signatures, signatures
from tabprotect.engine.tables.moves import MoveSet

IntArray = npt.NDArray[np.int64]

GIVE_UP = 40
"""Widths beyond this are not told apart: 3^40 states are out of reach in any case."""


def later_scopes(sig: Signatures, cycles: int, passes: int = 1) -> list[tuple[int, ...]]:
    """For each step, itself and the later steps that touch one of its cells, ascending.

    Step ``p * cycles + i`` is cycle i in pass p.
    """
    near: list[set[int]] = [set() for _ in range(cycles)]
    for g in range(len(sig)):
        touching = sig.touching(g)[0].tolist()
        for i in touching:
            near[i].update(touching)
    scopes: list[tuple[int, ...]] = []
    for p in range(passes):
        for i in range(cycles):
            step = p * cycles + i
            others = (q * cycles + j for q in range(p, passes) for j in near[i])
            scopes.append((step, *sorted(s for s in others if s > step)))
    return scopes


@dataclass(frozen=True)
class Elimination:
    """An order of elimination: for each step in turn, the steps still joined to it."""

    order: tuple[int, ...]
    cliques: tuple[tuple[int, ...], ...]
    width: int


def eliminate(
    scopes: list[tuple[int, ...]], nodes: list[int], *, limit: int = GIVE_UP
) -> Elimination | None:
    """The cheaper of two orders: a sweep by number, and least degree first.

    Steps are numbered so that a sweep runs along strips and rings, where least degree first
    scatters and joins too much; on grids it is the other way round. ``None`` beyond the limit.
    """
    found = [e for e in (_eliminate(scopes, nodes, limit, sweep=s) for s in (True, False)) if e]
    return min(found, key=lambda e: sum(3.0 ** len(c) for c in e.cliques)) if found else None


def _eliminate(
    scopes: list[tuple[int, ...]], nodes: list[int], limit: int, *, sweep: bool
) -> Elimination | None:
    """One greedy elimination, O(nodes * width^2)."""
    near: dict[int, set[int]] = {v: set() for v in nodes}
    for scope in scopes:
        for v in scope:
            near[v].update(scope)
    for v in nodes:
        near[v].discard(v)
    heap = [(0 if sweep else len(near[v]), v) for v in nodes]
    heapq.heapify(heap)
    order: list[int] = []
    cliques: list[tuple[int, ...]] = []
    width = 0
    while heap:
        degree, v = heapq.heappop(heap)
        if v not in near or (not sweep and degree != len(near[v])):
            continue
        joined = near.pop(v)
        if len(joined) > limit:
            return None
        width = max(width, len(joined))
        order.append(v)
        cliques.append(tuple(sorted(joined)))
        for u in joined:
            near[u].discard(v)
            near[u].update(joined)
            near[u].discard(u)
            if not sweep:
                heapq.heappush(heap, (len(near[u]), u))
    return Elimination(tuple(order), tuple(cliques), width)


def components(sig: Signatures, cycles: int) -> IntArray:
    """The connected component of each cycle (cycles that share cells hang together)."""
    # Each touch is linked to the first touch of its group.
    rows = np.repeat(sig.cycles[sig.starts[:-1]], np.diff(sig.starts))
    columns = sig.cycles
    graph = coo_array((np.ones(len(rows)), (rows, columns)), shape=(cycles, cycles))
    _, label = connected_components(graph, directed=False)
    return label.astype(np.int64)


def elimination_width(moves: MoveSet, passes: int = 1, *, limit: int = GIVE_UP) -> int | None:
    """Width of the exact posterior (an upper bound by a greedy order); ``None`` beyond the limit.

    Components of the same structure are looked at once.
    """
    sig = signatures(moves)
    scopes = later_scopes(sig, len(moves), passes)
    label = components(sig, len(moves))
    order = np.argsort(label, kind="stable")
    bounds = np.flatnonzero(np.r_[True, np.diff(label[order]) != 0, True])
    seen: dict[tuple[tuple[int, ...], ...], int] = {}
    width = 0
    for a, b in itertools.pairwise(bounds):
        members = order[a:b].tolist()
        # All passes of a cycle side by side: the sweep meets them together.
        steps = [p * len(moves) + i for i in members for p in range(passes)]
        number = {s: k for k, s in enumerate(steps)}
        shape = tuple(tuple(number[s] for s in scopes[step]) for step in steps)
        if shape not in seen:
            found = eliminate(list(shape), list(range(len(steps))), limit=limit)
            if found is None:
                return None
            seen[shape] = found.width
        width = max(width, seen[shape])
    return width
