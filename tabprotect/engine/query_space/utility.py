"""The use of a set of released margins to readers. One file in ``utilities/`` = one utility."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from typing import ClassVar

import numpy as np

from tabprotect.engine.plain_values.encoding import Encodable
from tabprotect.engine.progress import SILENT, Progress
from tabprotect.engine.query_space.frontier import Frontier
from tabprotect.engine.query_space.graphs.chordal import JunctionTree
from tabprotect.engine.query_space.graphs.graph_walk import GraphWalk
from tabprotect.engine.query_space.lattice import Lattice, Query
from tabprotect.engine.registry import Documented
from tabprotect.engine.tables.bit_sets import bits
from tabprotect.engine.tables.domain import Domain
from tabprotect.engine.tables.table import Table


class ReleaseUtility(Documented, Encodable, ABC):
    """Base of all utilities. The module's docstring is its help page."""

    name: ClassVar[str]
    label: ClassVar[str]
    json_keys = "name label help"

    @abstractmethod
    def value(self, table: Table, released: Frontier, progress: Progress = SILENT) -> float:
        """The utility of a release: larger is better, and never falls when more is released."""

    def weights(self, variables: int) -> tuple[float, ...] | None:
        """The weight of a released sub-table by its dimension 0..K, if the utility is the sum of these."""
        return None

    def worth(self, table: Table, lattice: Lattice) -> Worth:
        """What searches over decomposable releases of a table ask."""
        weights = self.weights(len(lattice.axes))
        return ValueWorth(self, table, lattice) if weights is None else SummedWorth(lattice, weights)


class ProductUtility(ReleaseUtility):
    """A sum over released sub-tables of products of numbers of their variables, each at its level."""

    @abstractmethod
    def factors(self, sizes: Mapping[Query, int]) -> Mapping[Query, int]:
        """The factor of each pattern of levels of one variable, by the number of categories of each."""

    def _factors(self, table: Table, lattice: Lattice) -> list[Mapping[Query, int]]:
        return [self.factors(sizes) for sizes in pattern_sizes(table.domain, lattice)]

    def value(self, table: Table, released: Frontier, progress: Progress = SILENT) -> float:
        lattice, every = released.lattice, released.lattice.every
        out = np.ones(len(every))
        for axis, factors in zip(lattice.axes, self._factors(table, lattice), strict=True):
            patterns = np.array(list(factors), dtype=np.int64)
            order = np.argsort(patterns)
            values = np.array(list(factors.values()), dtype=np.float64)[order]
            out *= values[np.searchsorted(patterns[order], every & axis)]
        return float(out[released.covers(every)].sum())

    def worth(self, table: Table, lattice: Lattice) -> Worth:
        return ProductWorth(lattice, self._factors(table, lattice))


def pattern_sizes(domain: Domain, lattice: Lattice) -> Iterator[dict[Query, int]]:
    """For each variable the number of categories, or of combinations of groups, of each pattern of levels."""
    for variable, patterns in zip(domain.variables, lattice.patterns, strict=True):
        found = {}
        for pattern in patterns:
            key = np.zeros(len(variable.categories), dtype=np.int64)
            for v in bits(lattice.finest(pattern)):
                level = domain.place(lattice.names[v])[1]
                codes = np.arange(len(key)) if level is None else level.codes
                key = key * len(key) + codes
            found[pattern] = len(np.unique(key))
        yield found


class Worth(ABC):
    """The worth of decomposable releases, for searches."""

    scale = 1.0
    """What one sub-table is worth, roughly: temperatures are in sub-tables."""
    costly = False
    """True if each release is looked at anew: searches try fewer."""

    @abstractmethod
    def of(self, tree: JunctionTree) -> float:
        """The worth of a decomposable release."""

    @abstractmethod
    def edge(self, walk: GraphWalk, i: int, j: int) -> float:
        """By how much a release with an edge is worth more than without it."""


class AdditiveWorth(Worth):
    """A sum over released sub-tables."""

    @abstractmethod
    def __call__(self, clique: Query) -> float:
        """The worth of a clique: of all sub-tables in it."""

    def of(self, tree: JunctionTree) -> float:
        # That of its cliques minus that of its separators.
        return sum(map(self, tree.cliques)) - sum(map(self, tree.separators))

    def edge(self, walk: GraphWalk, i: int, j: int) -> float:
        # All sub-tables with both ends.
        common = walk.common(i, j)
        one, other = common | 1 << i, common | 1 << j
        return self(one | other) - self(one) - self(other) + self(common)


class ProductWorth(AdditiveWorth):
    """The worth by a product over variables.

    Parameters
    ----------
    factors
        Of each variable the factor of each pattern of its levels.
    """

    def __init__(self, lattice: Lattice, factors: Sequence[Mapping[Query, int]]) -> None:
        # A clique holds every pattern that is part of its own.
        self._sums = [
            {own: float(sum(w for p, w in each.items() if p & own == p)) for own in each} for each in factors
        ]
        self._axes = lattice.axes
        self.scale = self(lattice.full) / lattice.size

    def __call__(self, clique: Query) -> float:
        return math.prod(
            sums[clique & axis] for axis, sums in zip(self._axes, self._sums, strict=True) if clique & axis
        )


class ValueWorth(Worth):
    """The worth by a utility that is no sum over sub-tables: each release is looked at."""

    costly = True

    def __init__(self, utility: ReleaseUtility, table: Table, lattice: Lattice) -> None:
        self._utility, self._table, self._lattice = utility, table, lattice
        self._known: dict[frozenset[Query], float] = {}
        self.scale = 1.0 / lattice.size

    def of(self, tree: JunctionTree) -> float:
        held = frozenset(tree.cliques)
        if held not in self._known:
            released = Frontier.below(self._lattice, (0, *held))
            self._known[held] = self._utility.value(self._table, released)
        return self._known[held]

    def edge(self, walk: GraphWalk, i: int, j: int) -> float:
        here = self.of(walk.tree())
        walk.toggle(i, j)
        there = self.of(walk.tree())
        walk.toggle(i, j)
        return here - there if walk.joined(i, j) else there - here


class SummedWorth(AdditiveWorth):
    """The worth by weights of sub-tables by dimension.

    Parameters
    ----------
    lattice
        The query space.
    weights
        Weight of a sub-table by the number of its variables.
    """

    def __init__(self, lattice: Lattice, weights: Sequence[float]) -> None:
        self._lattice, self._weights = lattice, weights
        self._known: dict[tuple[int, ...], float] = {}
        # Without levels only the number of variables counts; annealing asks a million times.
        self._by_size = [self._of_kinds((1,) * n) for n in range(lattice.variables + 1)]

    def __call__(self, clique: Query) -> float:
        if self._lattice.plain:
            return self._by_size[clique.bit_count()]
        kinds = tuple(
            sorted(
                sum(p & clique == p for p in patterns) - 1
                for axis, patterns in zip(self._lattice.axes, self._lattice.patterns, strict=True)
                if clique & axis
            )
        )
        if kinds not in self._known:
            self._known[kinds] = self._of_kinds(kinds)
        return self._known[kinds]

    def _of_kinds(self, kinds: tuple[int, ...]) -> float:
        """The worth of a clique whose variables can each be released in so many ways."""
        # Numbers of sub-tables by number of variables.
        counts = [1]
        for choices in kinds:
            counts = [a + choices * b for a, b in zip([*counts, 0], [0, *counts], strict=True)]
        return sum(n * w for n, w in zip(counts, self._weights, strict=False))
