"""Chordal graphs as bit sets: adjacency is a list with one set of neighbours per variable.

The independence graph of a decomposable release is chordal and its cliques are the released
frontier; cliques and separators give the closed-form bounds.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from tabprotect.engine.arrays import Arrays, Bools, Ints
from tabprotect.engine.query_space.frontier import maximal_queries
from tabprotect.engine.query_space.lattice import Query
from tabprotect.engine.tables.bit_sets import bits, union

Graph = list[Query]


def graph_of(variables: int, queries: Iterable[Query]) -> Graph:
    """The graph in which two variables are neighbours if some query has both."""
    graph = [0] * variables
    for query in queries:
        for v in bits(query):
            graph[v] |= query
    return [neighbours & ~(1 << v) for v, neighbours in enumerate(graph)]


def is_complete(graph: Graph, query: Query) -> bool:
    """Return True if all variables of a query are neighbours of each other."""
    left = query
    while left:
        low = left & -left
        if query & ~graph[low.bit_length() - 1] & ~low:
            return False
        left ^= low
    return True


def separates(graph: Graph, separator: Query, i: int, j: int) -> bool:
    """Return True if every path from i to j passes through the separator."""
    target, reached, front = 1 << j, 1 << i, 1 << i
    while front:
        spread = 0
        while front:
            low = front & -front
            spread |= graph[low.bit_length() - 1]
            front ^= low
        front = spread & ~reached & ~separator
        if front & target:
            return False
        reached |= front
    return True


@dataclass(frozen=True)
class JunctionTree:
    """Cliques, and the separators between them with multiplicity, the empty one included."""

    cliques: tuple[Query, ...]
    separators: tuple[Query, ...]

    @property
    def released(self) -> int:
        """Number of complete sets of variables, the empty one included."""
        return sum(1 << c.bit_count() for c in self.cliques) - sum(
            1 << s.bit_count() for s in self.separators
        )


def junction_tree(graph: Graph, within: Query | None = None) -> JunctionTree | None:
    """Cliques and separators by maximum cardinality search; ``None`` if not chordal.

    ``within`` restricts the graph to some variables (all by default).
    """
    left = (1 << len(graph)) - 1 if within is None else within
    visited = 0
    cliques: list[Query] = []
    separators: list[Query] = []
    clique = 0
    while left:
        v = max(bits(left), key=lambda u: (graph[u] & visited).bit_count())
        earlier = graph[v] & visited
        if not is_complete(graph, earlier):
            return None
        if earlier != clique or not visited:
            # The growing clique ends here; a new one starts from what v shares with it.
            if visited:
                cliques.append(clique)
                separators.append(earlier)
            clique = earlier
        clique |= 1 << v
        visited |= 1 << v
        left &= ~(1 << v)
    cliques.append(clique)
    return JunctionTree(tuple(cliques), tuple(separators))


def decomposable(variables: int, queries: Iterable[Query]) -> JunctionTree | None:
    """The junction tree of a release; ``None`` unless its sets are exactly the cliques of a
    chordal graph (a triangle of three pairs is chordal, but its clique is not released)."""
    frontier = maximal_queries(queries)
    tree = junction_tree(graph_of(variables, frontier), union(frontier))
    return None if tree is None or set(tree.cliques) != set(frontier) else tree


@dataclass(frozen=True)
class Covers:
    """For each of many releases, a decomposable release that contains it.

    Attributes
    ----------
    cliques, separators : int64 (n, K)
        Step by step of an elimination: ``sum n(cliques) - sum n(separators)`` over all steps is
        the lower bound of the closed form before the total is subtracted; every clique of the cover
        is among ``cliques``.
    exact : bool (n,)
        Whether the cover is the release itself, so that its bounds are the release's own.
    """

    cliques: Ints
    separators: Ints
    exact: Bools


def covers(
    variables: int, released: tuple[Query, ...], queries: Ints, crossing: Sequence[Query] = ()
) -> Covers:
    """Decomposable covers of ``released`` with each query (n,) added, all at once.

    Released parts of a set in ``crossing`` are covered together: each tells about the others.

    Vertices are eliminated in order of least fill-in: a chordal graph stays itself.
    """
    n = len(queries)
    # The narrowest type that holds a query: fewer bytes are faster.
    kind: Any = np.uint16 if variables <= 16 else np.uint32 if variables <= 32 else np.int64
    own = (1 << np.arange(variables)).astype(kind)[:, None]
    added = queries.astype(kind)
    fixed = np.array(graph_of(variables, released), dtype=kind)[:, None]
    used = added | kind(np.bitwise_or.reduce(np.array([0, *released])))
    around = np.where(added & own, fixed | added, fixed) & ~own
    for axis in crossing:
        part = used & kind(axis)
        around = np.where(part & own, around | part, around) & ~own
    strangers = _strangers(around, own)
    cliques = np.zeros((variables, n), dtype=np.int64)
    separators = np.zeros((variables, n), dtype=np.int64)
    exact = np.ones(n, dtype=np.bool_)
    columns = np.arange(n)
    # The cost and, in its last bits, the number of the vertex: one sweep finds the minimum.
    number = np.arange(variables, dtype=np.int32)[:, None]
    left = used
    for step in range(variables):
        degree = np.bitwise_count(around)
        cost = (strangers * 64 + degree) * 64 + number
        cost[(left & own) == 0] = np.iinfo(np.int32).max
        cheapest = cost.min(axis=0)
        active: Bools = left != 0
        if not active.any():
            break
        vertex = np.where(active, cheapest & 63, 0)
        bit = np.where(active, kind(1) << vertex.astype(kind), kind(0))
        met = np.where(active, around[vertex, columns], kind(0))
        clique = met | bit
        joins = active & (cheapest >= 64 * 64)
        exact &= ~joins & _inside(clique, released, added)
        cliques[step], separators[step] = clique, met
        left = left & ~bit
        # The neighbours lose the vertex, and with it the pairs it formed with neighbours of theirs
        # that it does not know.
        touched = (met & own) != 0
        lost = np.bitwise_count(around & ~clique).astype(np.int32)
        strangers -= np.where(touched, 2 * lost, 0)
        around = np.where(touched, around & ~bit, around)
        if joins.any():
            met = met[joins]
            around[:, joins] |= np.where(touched[:, joins], met & ~own, kind(0))
            strangers[:, joins] = _strangers(around[:, joins], own)
    return Covers(cliques.T, separators.T, exact)


def _strangers(around: Arrays, own: Arrays) -> npt.NDArray[np.int32]:
    """Numbers of ordered pairs of a vertex's neighbours that are not joined themselves, (K, n)."""
    apart = ~(around | own)
    out = np.empty(around.shape, dtype=np.int32)
    for v, near in enumerate(around):
        pairs = np.bitwise_count(near & apart)
        out[v] = np.where(near & own, pairs, np.uint8(0)).sum(axis=0, dtype=np.int32)
    return out


def _inside(cliques: Arrays, released: tuple[Query, ...], queries: Arrays) -> Bools:
    """Return True for each clique (n,) that lies in a released set or in its own query."""
    out: Bools = (cliques & queries) == cliques
    for query in released:
        out |= (cliques & cliques.dtype.type(query)) == cliques
    return out
