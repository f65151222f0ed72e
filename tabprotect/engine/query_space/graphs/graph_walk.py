"""Walks over the decomposable releases that satisfy a threshold, one edge at a time."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from functools import cache

import numpy as np

from tabprotect.engine.arrays import Ints
from tabprotect.engine.query_space.criterion_evidence import Evidence
from tabprotect.engine.query_space.graphs.chordal import (
    Graph,
    JunctionTree,
    graph_of,
    is_complete,
    junction_tree,
    separates,
)
from tabprotect.engine.query_space.lattice import Lattice, Query


class GraphWalk(ABC):
    """A chordal graph whose cliques satisfy a threshold, and the legal steps from it.

    It starts at the one-way tables, which must satisfy the threshold: the levels of a variable are
    neighbours. A level has all neighbours that its finer levels have, so that cliques are queries.
    """

    def __init__(self, lattice: Lattice) -> None:
        self.graph: Graph = graph_of(lattice.variables, lattice.axes)
        self._coarser = lattice.coarser
        self._finer = tuple(
            sum(1 << w for w, above in enumerate(lattice.coarser) if above >> v & 1)
            for v in range(lattice.variables)
        )

    def common(self, i: int, j: int) -> Query:
        """S, the common neighbours."""
        return self.graph[i] & self.graph[j]

    def joined(self, i: int, j: int) -> bool:
        """True if ij is an edge."""
        return bool(self.graph[i] >> j & 1)

    def can_delete(self, i: int, j: int) -> bool:
        """True if the graph stays chordal without the edge, and no finer level requires it."""
        if self.graph[i] & self._finer[j] or self.graph[j] & self._finer[i]:
            return False
        return is_complete(self.graph, self.common(i, j))

    def can_add(self, i: int, j: int) -> bool:
        """True if the graph with the edge is chordal and satisfies the threshold."""
        common = self.common(i, j)
        if self._coarser[j] & ~self.graph[i] or self._coarser[i] & ~self.graph[j]:
            return False
        return (
            self._might(common | 1 << i | 1 << j) and separates(self.graph, common, i, j) and self._fits(i, j)
        )

    def toggle(self, i: int, j: int) -> None:
        """Add or remove the edge; the caller answers for legality."""
        self.graph[i] ^= 1 << j
        self.graph[j] ^= 1 << i

    def tree(self) -> JunctionTree:
        """Cliques (the released frontier) and separators."""
        tree = junction_tree(self.graph)
        assert tree is not None
        return tree

    def _might(self, clique: Query) -> bool:
        """Return False if a quick look shows that a clique alone breaks the threshold."""
        return True

    @abstractmethod
    def _fits(self, i: int, j: int) -> bool:
        """True if the release with the edge, known to be decomposable, satisfies the threshold."""


class MarginWalk(GraphWalk):
    """A walk for criteria that look at one margin at a time."""

    def __init__(self, evidence: Evidence, threshold: int) -> None:
        super().__init__(evidence.lattice)
        self._smallest = evidence.widths.smallest
        self._lattice = evidence.lattice
        self._threshold = threshold

    def _might(self, clique: Query) -> bool:
        at = clique if self._lattice.plain else self._lattice.at([clique])[0]
        return bool(self._smallest[at] >= self._threshold)

    def _fits(self, i: int, j: int) -> bool:
        return True


class WidthWalk(MarginWalk):
    """A walk for the width of bounds: an edge changes the lower bounds by four margins.

    Parameters
    ----------
    proved
        Returns True if a release satisfies the threshold; asked where crossing levels or structural
        zeros rule out a closed form.
    """

    def __init__(
        self, evidence: Evidence, threshold: int, proved: Callable[[tuple[Query, ...]], bool]
    ) -> None:
        super().__init__(evidence, threshold)
        self._proved = cache(proved)
        self._cells = evidence.cells
        n = self._cells.total
        # Lower bounds before they are cut off at zero: sum over cliques minus separators.
        self._lower: Ints = np.full(self._cells.size, n, dtype=np.int64)
        for axis in evidence.lattice.axes:
            self._lower += self._cells.counts_at(axis) - n
        self._top = int(self._lower.max())

    def _fits(self, i: int, j: int) -> bool:
        if not self._wide(i, j):
            return False
        if not self._lattice.crossing:
            return True
        super().toggle(i, j)
        cliques = self.tree().cliques
        super().toggle(i, j)
        return self._lattice.separable(cliques) or self._proved(tuple(sorted(cliques)))

    def _wide(self, i: int, j: int) -> bool:
        common = self.common(i, j)
        # Each record that the step adds to a lower bound is in the margin of S.
        if self._top + (int(self._cells.counts_at(common).max()) if common else self._cells.total) <= 0:
            return True
        lower = self._lower + self._step(i, j, common)
        near = np.flatnonzero(lower > 0)
        if not len(near):
            return True
        upper = self._cells.counts_at(common | 1 << i | 1 << j)[near]
        for clique in self.tree().cliques:
            upper = np.minimum(upper, self._cells.counts_at(clique)[near])
        return bool((upper - lower[near] >= self._threshold).all())

    def toggle(self, i: int, j: int) -> None:
        """Toggle an edge, as :meth:`GraphWalk.toggle` does."""
        change = self._step(i, j, self.common(i, j))
        if self.joined(i, j):
            self._lower -= change
        else:
            self._lower += change
        self._top = int(self._lower.max())
        super().toggle(i, j)

    def _step(self, i: int, j: int, common: Query) -> Ints:
        at = self._cells.counts_at
        one, other = common | 1 << i, common | 1 << j
        return at(one | other) - at(one) - at(other) + at(common)
