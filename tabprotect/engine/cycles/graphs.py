"""Graphs of cycles: connected components, and the elimination width of a posterior.

A *step* is one cycle in one pass. The backward factor of a step depends on its own effective
coefficient and on those of the later steps that touch one of its cells (its scope). Eliminating
the coefficients one after the other, cheapest first, joins neighbours; the width is the largest
number of coefficients that remain joined to the one eliminated. Cost and memory grow as 3^width.
It decides if the posterior can be exact.

This is the one place where the cycles use scipy, which is imported late: it would be a third of the
start-up time, and the start page needs none of it.
"""

from __future__ import annotations

import heapq
from collections.abc import Mapping
from dataclasses import dataclass, replace
from weakref import WeakKeyDictionary

import numpy as np
import numpy.typing as npt

from tabprotect.engine.arrays import Ints
from tabprotect.engine.cycles.signatures import Signatures, signatures
from tabprotect.engine.equal_rows import members
from tabprotect.engine.progress import SILENT, Progress
from tabprotect.engine.tables.moves import MoveSet
from tabprotect.languages.messages import message


def components(left: npt.ArrayLike, right: npt.ArrayLike, nodes: int) -> Ints:
    """The component of each node, (nodes,), of the graph with the edges left - right.

    Components are numbered in the order of their first nodes. Each round hangs the larger of two
    roots below the smaller one and shortens all paths to the root; there are few rounds. scipy's sort
    the edges first: of a million nodes and three million edges that takes 1.8 times as long.
    """
    root = np.arange(nodes, dtype=np.int64)
    a, b = np.asarray(left, dtype=np.int64), np.asarray(right, dtype=np.int64)
    while len(a):
        np.minimum.at(root, np.maximum(a, b), np.minimum(a, b))
        while not np.array_equal(further := root[root], root):
            root = further
        a, b = root[a], root[b]
        apart = a != b
        a, b = a[apart], b[apart]
    _, label = np.unique(root, return_inverse=True)
    return label.astype(np.int64)


MAX_WIDTH = 13
"""Most coefficients joined to an eliminated one: 3^14 entries take a fifth of a second."""

MAX_HELD = 2**26
"""Most entries of all tables of one component, held between two sweeps (512 MiB)."""

MAX_WORK = 2**31
"""Most entries over all components: about a minute."""

MAX_VARIABLES = 50_000
"""Most steps of one component (one table each)."""


GIVE_UP = 40
"""Widths beyond this are not distinguished: 3^40 states are out of reach anyway."""


def later_scopes(
    sig: Signatures, cycles: int, passes: int = 1, progress: Progress = SILENT
) -> list[tuple[int, ...]]:
    """Return for each step, itself and the later steps that touch one of its cells, ascending.

    Step ``p * cycles + i`` is cycle i in pass p.
    """
    near: list[set[int]] = [set() for _ in range(cycles)]
    for g in range(len(sig)):
        if g % 1024 == 0:
            progress.report(message("planning the posterior"), 0.0)
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


LOOKED_AT = 64
"""Cycles whose scopes are looked at before all are."""


def surely_wider(sig: Signatures, cycles: int, passes: int = 1, *, limit: int) -> bool:
    """Return True if a few scopes of :func:`later_scopes` tell that the width is over a limit.

    The steps of a scope are all joined: where one is too long, nothing else need be found out.
    """
    touched = np.diff(sig.starts)
    if int(touched.max(initial=0)) * passes > limit + 1:
        return True
    if not cycles:
        return False
    each = -(-cycles // LOOKED_AT)
    entries = np.flatnonzero(sig.cycles % each == 0)
    owner = np.searchsorted(sig.starts, entries, "right") - 1
    for i in range(0, cycles, each):
        groups = owner[sig.cycles[entries] == i].tolist()
        near = {j for g in groups for j in sig.touching(g)[0].tolist()} | {i}
        if sum(j >= i for j in near) + (passes - 1) * len(near) > limit + 1:
            return True
    return False


@dataclass(frozen=True)
class EliminationOrder:
    """An order of elimination: for each step in turn, the steps still joined to it.

    ``levels`` is the number of values of each coefficient.
    """

    order: tuple[int, ...]
    cliques: tuple[tuple[int, ...], ...]
    width: int
    levels: int = 3

    @property
    def axes(self) -> tuple[tuple[int, ...], ...]:
        """Each node with those it is joined to when it goes, in the order in which they go."""
        position = {v: k for k, v in enumerate(self.order)}
        return tuple(
            (v, *sorted(clique, key=position.__getitem__))
            for v, clique in zip(self.order, self.cliques, strict=True)
        )

    @property
    def held(self) -> int:
        """Entries of all its tables."""
        return sum(self.levels ** (1 + len(clique)) for clique in self.cliques)


def eliminate(
    scopes: list[tuple[int, ...]],
    nodes: list[int],
    *,
    limit: int = GIVE_UP,
    levels: int = 3,
    progress: Progress = SILENT,
) -> EliminationOrder | None:
    """The cheaper of two orders: a sweep by number, and least degree first.

    Steps are numbered so that a sweep runs along strips and rings, where least degree first
    scatters and joins too much; on grids it is the other way round. ``None`` beyond the limit.
    """
    # The steps of a scope are all joined, so the first of them to be eliminated has the others.
    if max(map(len, scopes), default=0) > limit + 1:
        return None
    near: dict[int, set[int]] = {v: set() for v in nodes}
    for number, scope in enumerate(scopes):
        if number % 1024 == 0:
            progress.report(message("planning the posterior"), 0.0)
        for v in scope:
            near[v].update(scope)
    for v in nodes:
        near[v].discard(v)
    found = [_eliminate(near, limit, progress, sweep=s) for s in (True, False)]
    fit = (replace(e, levels=levels) for e in found if e is not None)
    return min(fit, key=lambda e: e.held, default=None)


def _eliminate(
    joined_by: Mapping[int, set[int]], limit: int, progress: Progress, *, sweep: bool
) -> EliminationOrder | None:
    """One greedy elimination, O(nodes * width^2)."""
    near = {v: set(others) for v, others in joined_by.items()}
    heap = [(0 if sweep else len(others), v) for v, others in near.items()]
    heapq.heapify(heap)
    order: list[int] = []
    cliques: list[tuple[int, ...]] = []
    width = 0
    while heap:
        if len(order) % 256 == 0:
            progress.report(message("planning the posterior"), len(order) / len(joined_by))
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
    return EliminationOrder(tuple(order), tuple(cliques), width)


def cycle_components(sig: Signatures, cycles: int) -> Ints:
    """The connected component of each cycle (cycles that share cells are connected)."""
    known = _FOUND.setdefault(sig, {})
    if cycles not in known:
        # Each touch is linked to the first touch of its group.
        first = np.repeat(sig.cycles[sig.starts[:-1]], np.diff(sig.starts))
        known[cycles] = components(first, sig.cycles, cycles)
        known[cycles].flags.writeable = False
    return known[cycles]


_FOUND: WeakKeyDictionary[Signatures, dict[int, Ints]] = WeakKeyDictionary()


def repeated(moves: MoveSet) -> int:
    """Return how often every cycle of a list is repeated in place, right after itself; 1 if it is not."""
    lengths = np.diff(moves.starts)
    count = len(lengths)
    again = np.zeros(count, dtype=np.bool_)

    def same(i: int) -> bool:
        a, b, c = moves.starts[i : i + 3].tolist()
        return np.array_equal(moves.cells[a:b], moves.cells[b:c]) and np.array_equal(
            moves.signs[a:b], moves.signs[b:c]
        )

    # Lists are long: one that does not begin with a repetition is not repeated throughout.
    if count < 2 or not same(0):
        return 1
    for i in np.flatnonzero(lengths[1:] == lengths[:-1]).tolist():
        again[i + 1] = same(i)
    runs = np.diff(np.flatnonzero(np.r_[~again, True]))
    return int(np.gcd.reduce(runs))


@dataclass(frozen=True)
class Cost:
    """The cost of an exact posterior.

    Attributes
    ----------
    width
        Width of the worst component.
    held
        Entries that the worst component holds at once.
    work
        Entries over all components.
    variables
        Steps of the largest component.
    """

    width: int
    held: int
    work: int
    variables: int

    @property
    def affordable(self) -> bool:
        """True if the posterior is computed exactly."""
        return (
            self.width <= MAX_WIDTH
            and self.held <= MAX_HELD
            and self.work <= MAX_WORK
            and self.variables <= MAX_VARIABLES
        )


def elimination_cost(
    moves: MoveSet, passes: int = 1, *, limit: int = GIVE_UP, progress: Progress = SILENT
) -> Cost | None:
    """Cost of the exact posterior by a greedy order; ``None`` beyond the width limit.

    Components of the same structure are examined once; a cycle that is repeated in place is one
    coefficient with more values.
    """
    repeats = repeated(moves)
    levels = 2 * repeats + 1
    moves = moves.take(np.arange(0, len(moves), repeats))
    sig = signatures(moves)
    if surely_wider(sig, len(moves), passes, limit=limit):
        return None
    scopes = later_scopes(sig, len(moves), passes, progress)
    label = cycle_components(sig, len(moves))
    parts = int(label.max(initial=-1)) + 1
    seen: dict[tuple[tuple[int, ...], ...], EliminationOrder] = {}
    width = held = work = variables = 0
    for done, cycles in enumerate(members(label, parts)):
        progress.report(message("planning the posterior"), done / parts)
        # All passes of a cycle side by side: the sweep meets them together.
        steps = [p * len(moves) + i for i in cycles.tolist() for p in range(passes)]
        number = {s: k for k, s in enumerate(steps)}
        shape = tuple(tuple(number[s] for s in scopes[step]) for step in steps)
        if shape not in seen:
            nodes = list(range(len(steps)))
            found = eliminate(list(shape), nodes, limit=limit, levels=levels, progress=progress)
            if found is None:
                return None
            seen[shape] = found
        one = seen[shape]
        width, held = max(width, one.width), max(held, one.held)
        work += one.held
        variables = max(variables, len(steps))
    return Cost(width, held, work, variables)
