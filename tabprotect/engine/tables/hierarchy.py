"""A classifying variable as an axis of a table of sums: its categories, their groups, its total."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise

import numpy as np

from tabprotect.engine.arrays import Ints
from tabprotect.engine.errors import InputError
from tabprotect.engine.tables.variable import AT, Variable
from tabprotect.languages.messages import message

TOTAL = "Total"
"""Category of a total, in an index and in a public table."""


@dataclass(frozen=True, eq=False)
class Axis:
    """The nodes of a variable: its categories, then the groups of every level, then the total."""

    variable: Variable

    @cached_property
    def nodes(self) -> tuple[tuple[str, str], ...]:
        """The level (empty for the categories and the total) and the name of each node."""
        out = [("", category) for category in self.variable.categories]
        for level in (*self.variable.levels[:-1], *self.variable.across):
            out += [(level.name, group) for group in dict.fromkeys(level.groups)]
        return (*out, ("", TOTAL))

    @property
    def size(self) -> int:
        """Return how many nodes there are."""
        return len(self.nodes)

    @cached_property
    def depths(self) -> Ints:
        """The node of each category at each depth, int64 (depths, categories).

        The categories themselves, every level of the tree from the coarsest on, groupings across
        it, the total.
        """
        size = len(self.variable.categories)
        rows, base = [np.arange(size, dtype=np.int64)], size
        for level in (*self.variable.levels[:-1], *self.variable.across):
            rows.append(level.codes + base)
            base += len(set(level.groups))
        return np.array([*rows, np.full(size, base, dtype=np.int64)], dtype=np.int64)

    @cached_property
    def steps(self) -> tuple[Ints, ...]:
        """Each way in which nodes add up: the parent of every node, -1 for those it leaves out."""
        tree = [len(self.depths) - 1, *range(1, len(self.variable.levels)), 0]
        pairs = list(pairwise(tree))
        for extra in range(len(self.variable.across)):
            row = len(self.variable.levels) + extra
            pairs += [(len(self.depths) - 1, row), (row, 0)]
        out = []
        for parent, child in pairs:
            step = np.full(self.size, -1, dtype=np.int64)
            step[self.depths[child]] = self.depths[parent]
            out.append(step)
        return tuple(out)

    @cached_property
    def written(self) -> tuple[str, ...]:
        """Each node as a public table names it: alone where that is clear, else with its level."""
        names = [name for _, name in self.nodes]
        return tuple(
            f"{name}{AT}{level}" if level and names.count(name) > 1 else name for level, name in self.nodes
        )

    def key(self, node: int) -> tuple[str, str]:
        """The entry of a node in an index: ``nace``, or ``nace@section`` for a level; its name."""
        level, name = self.nodes[node]
        return (f"{self.variable.name}{AT}{level}" if level else self.variable.name), name

    def node(self, entry: str, name: str) -> int:
        """The node that an index names.

        Raises
        ------
        InputError
            When there is none, naming what there is.
        """
        for number in range(self.size):
            if self.key(number) == (entry, name):
                return number
        if self.variable.finest and (entry, name) == (self.variable.finest_name, name):
            return self.variable.code(name)
        known = ", ".join(named for level, named in self.nodes if self._entry(level) == entry)
        raise InputError(
            message("{entry} has no category {name}", entry, repr(name)),
            hint=message("it has {known}", known[:200])
            if known
            else message("it has the levels {levels}", ", ".join(self.variable.named)),
        )

    def _entry(self, level: str) -> str:
        return f"{self.variable.name}{AT}{level}" if level else self.variable.name


def cell_at(key: Ints, axes: Sequence[Axis], nodes: Sequence[int]) -> int | None:
    """The number of the cell at a node of each axis among rising keys; ``None`` where there is none."""
    wanted = int(np.ravel_multi_index(tuple(nodes), tuple(axis.size for axis in axes)))
    at = int(np.searchsorted(key, wanted))
    return at if at < len(key) and int(key[at]) == wanted else None


def check_totals(axes: Sequence[Axis]) -> None:
    """Refuse a category that is called as the total is.

    Raises
    ------
    InputError
    """
    for axis in axes:
        if any(name == TOTAL for _, name in axis.nodes[:-1]):
            raise InputError(
                message("{name} has a category {total}", axis.variable.name, repr(TOTAL)),
                hint=message("totals are counted anew: leave out records of totals, or rename it"),
            )
