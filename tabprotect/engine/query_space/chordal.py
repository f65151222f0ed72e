"""Chordal graphs as bit sets: adjacency is a list with one set of neighbours per variable.

The independence graph of a decomposable release is chordal and its cliques are the released
frontier; cliques and separators give the closed-form bounds.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from tabprotect.engine.query_space.frontier import maximal
from tabprotect.engine.query_space.lattice import Query, bits

Graph = list[Query]


def graph_of(variables: int, queries: Iterable[Query]) -> Graph:
    """Two variables are neighbours when some query has both."""
    graph = [0] * variables
    for query in queries:
        for v in bits(query):
            graph[v] |= query
    return [neighbours & ~(1 << v) for v, neighbours in enumerate(graph)]


def is_complete(graph: Graph, query: Query) -> bool:
    """Whether all variables of a query are neighbours."""
    return all(query & ~graph[v] & ~(1 << v) == 0 for v in bits(query))


def separates(graph: Graph, separator: Query, i: int, j: int) -> bool:
    """Whether every path from i to j passes through the separator."""
    target, reached, front = 1 << j, 1 << i, 1 << i
    while front:
        spread = 0
        for v in bits(front):
            spread |= graph[v]
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
        """Complete sets of variables, the empty one included."""
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
            # The growing clique ends here, and a new one starts from what v shares with it.
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
    """The junction tree of a release, or ``None`` unless its sets are exactly the cliques of a
    chordal graph (a triangle of three pairs is chordal, but its clique is not released)."""
    frontier = maximal(queries)
    used = 0
    for query in frontier:
        used |= query
    tree = junction_tree(graph_of(variables, frontier), used)
    if tree is None or set(tree.cliques) != set(frontier):
        return None
    return tree


@dataclass(frozen=True)
class Covers:
    """For each of many releases, a decomposable release that contains it.

    Attributes
    ----------
    cliques, separators : int64 (n, K)
        Step by step of an elimination: ``sum n(cliques) - sum n(separators)`` over all steps is
        the closed form's lower bound less the total; every clique of the cover is among
        ``cliques``.
    exact : bool (n,)
        The cover is the release itself, so that its bounds are the release's own.
    """

    cliques: npt.NDArray[np.int64]
    separators: npt.NDArray[np.int64]
    exact: npt.NDArray[np.bool_]


def covers(variables: int, released: tuple[Query, ...], queries: npt.NDArray[np.int64]) -> Covers:
    """Decomposable covers of ``released`` with each query (n,) added, all at once.

    Vertices are eliminated where that joins the fewest strangers: a chordal graph stays itself.
    """
    n = len(queries)
    places = np.arange(variables, dtype=np.int64)[:, None]
    own = np.int64(1) << places
    fixed = np.array(graph_of(variables, released), dtype=np.int64)[:, None]
    graph = np.where(queries & own, fixed | queries, fixed) & ~own
    left = queries.copy()
    for query in released:
        left |= query
    cliques = np.zeros((n, variables), dtype=np.int64)
    separators = np.zeros((n, variables), dtype=np.int64)
    exact = np.ones(n, dtype=np.bool_)
    for step in range(variables):
        cost = np.empty((variables, n), dtype=np.int16)
        for v in range(variables):
            around = graph[v] & left
            strangers = np.bitwise_count(around & ~graph & ~own)
            missing = np.where(around & own, strangers, 0).sum(axis=0, dtype=np.int16)
            cost[v] = missing * 64 + np.bitwise_count(around)
        cost[(left & own) == 0] = np.iinfo(np.int16).max
        vertex = cost.argmin(axis=0)
        active: npt.NDArray[np.bool_] = left != 0
        bit: npt.NDArray[np.int64] = np.where(active, np.int64(1) << vertex, 0)
        around = np.where(active, graph[vertex, np.arange(n)] & left, 0)
        clique: npt.NDArray[np.int64] = around | bit
        exact &= ~active | (cost.min(axis=0) < 64) & _inside(clique, released, queries)
        graph |= np.where(around & own, around & ~own, 0)
        cliques[:, step], separators[:, step] = clique, around
        left = left & ~bit
    return Covers(cliques, separators, exact)


def _inside(
    cliques: npt.NDArray[np.int64], released: tuple[Query, ...], queries: npt.NDArray[np.int64]
) -> npt.NDArray[np.bool_]:
    """Whether each clique (n,) lies in one of the released sets or in its own query."""
    out: npt.NDArray[np.bool_] = (cliques & queries) == cliques
    for query in released:
        out |= (cliques & query) == cliques
    return out
