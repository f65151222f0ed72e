"""Frontiers: antichains of queries that stand for everything below them, or above them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from tabprotect.engine.arrays import Bools, Ints
from tabprotect.engine.query_space.lattice import Lattice, Query, in_order


def maximal_queries(queries: Iterable[Query]) -> tuple[Query, ...]:
    """The queries that no other one contains, larger ones first."""
    left = np.array(in_order(set(queries)), dtype=np.int64)
    kept = []
    while len(left):
        query = left[0]
        kept.append(int(query))
        left = left[(left & query) != left]
    return tuple(kept)


def minimal_queries(queries: Iterable[Query]) -> tuple[Query, ...]:
    """The queries that contain no other one, larger ones first."""
    left = np.array(in_order(set(queries))[::-1], dtype=np.int64)
    kept = []
    while len(left):
        query = left[0]
        kept.append(int(query))
        left = left[(left & query) != query]
    return tuple(in_order(kept))


@dataclass(frozen=True)
class Frontier:
    """Everything at or below its members (released), or at or above them (unreleasable).

    Attributes
    ----------
    lattice
        The query space.
    members
        The antichain, larger queries first.
    upward
        Whether it stands for everything above its members instead of below.
    """

    lattice: Lattice
    members: tuple[Query, ...]
    upward: bool

    @classmethod
    def below(cls, lattice: Lattice, queries: Iterable[Query]) -> Frontier:
        """The frontier of everything at or below some queries."""
        return cls(lattice, maximal_queries(queries), upward=False)

    @classmethod
    def above(cls, lattice: Lattice, queries: Iterable[Query]) -> Frontier:
        """The frontier of everything at or above some queries."""
        return cls(lattice, minimal_queries(queries), upward=True)

    def __contains__(self, query: object) -> bool:
        """Return True if the frontier stands for the query."""
        if not isinstance(query, int):
            return False
        if self.upward:
            return any(member & query == member for member in self.members)
        return any(member & query == query for member in self.members)

    def __iter__(self) -> Iterator[Query]:
        return iter(self.members)

    def __len__(self) -> int:
        return len(self.members)

    def add(self, *queries: Query) -> Frontier:
        """The frontier that stands for these queries too; itself if it already does."""
        new = [query for query in queries if query not in self]
        if not new:
            return self
        return Frontier(
            self.lattice,
            (minimal_queries if self.upward else maximal_queries)((*self.members, *new)),
            upward=self.upward,
        )

    def covers(self, queries: Ints) -> Bools:
        """:meth:`__contains__` for many queries (n,) at once."""
        out = np.zeros(len(queries), dtype=np.bool_)
        for member in self.members:
            out |= (queries & member) == (member if self.upward else queries)
        return out

    @cached_property
    def by_dimension(self) -> tuple[int, ...]:
        """Exact number of queries over 0, 1, ... variables that it stands for.

        They are not listed, unless it stands for what is above and variables have levels.
        """
        variables = len(self.lattice.axes)
        if self.upward and not self.lattice.plain:
            every = self.lattice.every
            dimensions = self.lattice.dimensions(every[self.covers(every)])
            return tuple(np.bincount(dimensions, minlength=variables + 1).tolist())
        full = self.lattice.full
        # Supersets of some sets are, complemented, subsets of the sets' complements.
        sets = frozenset(full & ~m for m in self.members) if self.upward else self.members
        counts = _count_below(frozenset(sets), self.lattice, {})
        padded = [*counts, *[0] * (variables + 1 - len(counts))]
        return tuple(reversed(padded)) if self.upward else tuple(padded)

    @property
    def size(self) -> int:
        """The number of queries it stands for, the empty one included."""
        return sum(self.by_dimension)


def _count_below(
    sets: frozenset[Query], lattice: Lattice, known: dict[frozenset[Query], list[int]]
) -> list[int]:
    """Queries in any of ``sets`` by dimension, split by the levels of the last variable in use."""
    if not sets:
        return []
    if sets in known:
        return known[sets]
    if max(sets) == 0:
        return [1]
    last = lattice.axis_of[max(sets).bit_length() - 1]
    axis, out = lattice.axes[last], list[int]()
    for pattern in lattice.patterns[last]:
        inside = frozenset(maximal_queries(s & ~axis for s in sets if s & pattern == pattern))
        counts = [0] * bool(pattern) + _count_below(inside, lattice, known)
        out += [0] * (len(counts) - len(out))
        for size, count in enumerate(counts):
            out[size] += count
    known[sets] = out
    return out
