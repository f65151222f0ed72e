"""The use of a set of released margins to readers. One file in ``utilities/`` = one utility."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import ClassVar

from tabprotect.engine.plain_values.encoding import Encodable
from tabprotect.engine.progress import SILENT, Progress
from tabprotect.engine.query_space.frontier import Frontier
from tabprotect.engine.query_space.graphs.chordal import JunctionTree
from tabprotect.engine.query_space.lattice import Lattice, Query
from tabprotect.engine.registry import Documented
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
        """The weight of a released sub-table by its dimension 0..K, if the utility is the sum of
        these: only such a utility can be searched for."""
        return None


class Worth:
    """The worth of cliques: the weights of all sub-tables in them.

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
        """The worth of a clique."""
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

    def of(self, tree: JunctionTree) -> float:
        """The worth of a decomposable release: that of its cliques minus that of its separators."""
        return sum(map(self, tree.cliques)) - sum(map(self, tree.separators))

    def gain(self, i: int, j: int, common: Query) -> float:
        """The gain from an edge whose ends share some neighbours: all sub-tables with both ends."""
        one, other = common | 1 << i, common | 1 << j
        return self(one | other) - self(one) - self(other) + self(common)
