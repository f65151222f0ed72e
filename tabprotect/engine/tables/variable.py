"""A classifying variable: its categories, their labels, and the levels above them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import pairwise

import numpy as np

from tabprotect.engine.arrays import Ints
from tabprotect.engine.errors import InputError
from tabprotect.languages.messages import message

MISSING = "(missing)"
"""The category of records whose value is missing (an empty field, a Parquet null)."""

AT = "@"
"""Between a variable and one of its levels: ``region@nuts2``."""

TOTAL = "Total"
"""Category of a total, in an index and in a public table."""


@dataclass(frozen=True)
class Level:
    """Groups of a variable's categories: a step of its tree, or a grouping across it.

    Attributes
    ----------
    name
        Among the levels of its variable.
    groups
        The group of each category, in the variable's order.
    """

    name: str
    groups: tuple[str, ...]

    @cached_property
    def codes(self) -> Ints:
        """The group's number for each category, in order of first appearance, int64."""
        numbers = {group: n for n, group in enumerate(dict.fromkeys(self.groups))}
        codes = np.array([numbers[group] for group in self.groups], dtype=np.int64)
        codes.flags.writeable = False
        return codes

    def refines(self, other: Level) -> bool:
        """Return True if every group lies in one group of the other."""
        return len(set(zip(self.groups, other.groups, strict=True))) == len(set(self.groups))


TotalCode = tuple[str, str]
"""The category by which a source listed the totals over a variable, and its label or nothing."""


@dataclass(frozen=True)
class Variable:
    """A classifying variable, its categories in the order of publication, and its levels.

    Attributes
    ----------
    name, categories
    coarser
        Everything the categories are grouped by, as it was declared.
    finest
        What the level of the categories themselves is called; by default as the variable.
    labels
        What each category is called in words, where it is a code; none, or one for each. Not what
        a table is compared by.
    total
        What the source listed totals by, where it had any; not what a table is compared by either.
    """

    name: str
    categories: tuple[str, ...]
    coarser: tuple[Level, ...] = ()
    finest: str = ""
    labels: tuple[str, ...] = field(default=(), compare=False)
    total: TotalCode | None = field(default=None, compare=False)

    def __post_init__(self) -> None:
        if not self.name:
            raise InputError(
                message("a variable has no name"), hint=message("name every column of the table")
            )
        if not self.categories:
            raise InputError(message("variable {name} has no categories", repr(self.name)))
        if len(set(self.categories)) != len(self.categories):
            twice = sorted({c for c in self.categories if self.categories.count(c) > 1})
            raise InputError(
                message("variable {name} has the category {twice} twice", repr(self.name), repr(twice[0])),
                hint=message("rename or merge it"),
            )
        if self.labels and len(self.labels) != len(self.categories):
            raise InputError(message("{name} has not one label for each category", repr(self.name)))
        taken = {self.finest or self.name}
        for level in self.coarser:
            if not level.name or level.name in taken:
                raise InputError(
                    message("{name} already has a level called {level}", repr(self.name), level.name)
                    if level.name
                    else message("a level of {name} has no name", repr(self.name)),
                    hint=message("give it a name of its own, such as: {name}, 4 bands", self.name),
                )
            taken.add(level.name)
            if len(level.groups) != len(self.categories) or not all(level.groups):
                raise InputError(
                    message(
                        "the level {name} does not group every category of {name2}",
                        repr(level.name),
                        repr(self.name),
                    ),
                    hint=message("name the group of every category"),
                )

    @cached_property
    def levels(self) -> tuple[Level, ...]:
        """The tree, from the coarsest level to the categories themselves.

        Of groupings that cross each other the one that was declared first stands in the tree.
        """
        tree: list[Level] = []
        for level in self.coarser:
            if all(level.refines(other) or other.refines(level) for other in tree):
                tree.append(level)
        tree.sort(key=lambda level: len(set(level.groups)))
        return (*tree, Level(self.finest or self.name, self.categories))

    @cached_property
    def across(self) -> tuple[Level, ...]:
        """The groupings beside the tree."""
        return tuple(level for level in self.coarser if level not in self.levels)

    @cached_property
    def named(self) -> dict[str, Level]:
        """Everything coarser than the categories by the name that margins use: ``region@nuts2``."""
        return {f"{self.name}{AT}{g.name}": g for g in (*self.levels[:-1], *self.across)}

    @property
    def finest_name(self) -> str:
        """Say what the categories themselves may be called in a margin: ``region@nuts3``."""
        return f"{self.name}{AT}{self.finest or self.name}"

    @cached_property
    def nodes(self) -> tuple[tuple[str, str], ...]:
        """The categories, the groups of every level and the total: level (or nothing) and name of each."""
        groups = [
            (level.name, group) for level in self.named.values() for group in dict.fromkeys(level.groups)
        ]
        return (*(("", category) for category in self.categories), *groups, ("", TOTAL))

    @cached_property
    def depths(self) -> Ints:
        """The node of each category at each depth, int64 (depths, categories).

        The categories themselves, every level of the tree from the coarsest on, groupings across
        it, the total.
        """
        base = size = len(self.categories)
        rows = [np.arange(size, dtype=np.int64)]
        for level in self.named.values():
            rows.append(level.codes + base)
            base += len(set(level.groups))
        return np.array([*rows, np.full(size, base, dtype=np.int64)], dtype=np.int64)

    @cached_property
    def steps(self) -> tuple[Ints, ...]:
        """Each way in which nodes add up: the parent of every node, -1 for those it leaves out."""
        total, across = len(self.depths) - 1, len(self.levels)
        ways = [(total, *range(1, across), 0), *((total, row, 0) for row in range(across, total))]
        out = []
        for parent, child in (pair for way in ways for pair in pairwise(way)):
            step = np.full(len(self.nodes), -1, dtype=np.int64)
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

    @cached_property
    def entries(self) -> tuple[tuple[str, str], ...]:
        """The entry of each node in an index: ``nace``, or ``nace@section`` for a level; its name."""
        return tuple(
            ((f"{self.name}{AT}{level}" if level else self.name), name) for level, name in self.nodes
        )

    def node(self, entry: str, name: str) -> int:
        """The node that an index names.

        Raises
        ------
        InputError
            When there is none, naming what there is.
        """
        if (entry, name) in self.entries:
            return self.entries.index((entry, name))
        if self.finest and entry == self.finest_name:
            return self.code(name)
        known = ", ".join(named for at, named in self.entries if at == entry)
        raise InputError(
            message("{entry} has no category {name}", entry, repr(name)),
            hint=message("it has {known}", known[:200])
            if known
            else message("it has the levels {levels}", ", ".join(self.named)),
        )

    def at(self, level: Level) -> Variable:
        """One of its levels as a variable of its own, with what is coarser still above it."""
        groups = dict.fromkeys(level.groups)
        first = [level.groups.index(group) for group in groups]
        above = tuple(
            Level(other.name, tuple(other.groups[i] for i in first))
            for other in self.coarser
            if other is not level and level.refines(other)
        )
        return Variable(f"{self.name}{AT}{level.name}", tuple(groups), above, level.name)

    def made_of(self, categories: Sequence[str], parts: Sequence[Sequence[int]]) -> Variable:
        """Return it with other categories, each of which holds some of these by number (none: a new one).

        A new category is a group of its own in every level; a level whose groups a category joins
        is left out.
        """
        levels = []
        for level in self.coarser:
            groups = [
                {level.groups[i] for i in part} or {category}
                for category, part in zip(categories, parts, strict=True)
            ]
            if all(len(held) == 1 for held in groups):
                levels.append(Level(level.name, tuple(held.pop() for held in groups)))
        labels = [
            self.labels[part[0]] if len(part) == 1 else category
            for category, part in zip(categories, parts, strict=True)
            if self.labels
        ]
        return replace(self, categories=tuple(categories), coarser=tuple(levels), labels=tuple(labels))

    def label(self, code: int) -> str:
        """Say what the category of a number is called: its label, or the category itself."""
        return (self.labels[code] if self.labels else "") or self.categories[code]

    def labelled(self, labels: Sequence[str]) -> Variable:
        """Return it with labels beside the categories; those that only repeat them are none."""
        return replace(self, labels=() if tuple(labels) == self.categories else tuple(labels))

    def renamed(self, name: str) -> Variable:
        """Return it under another name."""
        return replace(self, name=name)

    def grouped(self, *coarser: Level, finest: str = "") -> Variable:
        """The variable with these levels above its categories."""
        return replace(self, coarser=coarser, finest=finest)

    def code(self, category: str) -> int:
        """The number of a category.

        Raises
        ------
        InputError
            Naming the variable and its categories.
        """
        try:
            return self._codes[category]
        except KeyError:
            known = ", ".join(map(repr, self.categories[:8]))
            raise InputError(
                message("variable {name} has no category {category}", repr(self.name), repr(category)),
                hint=(
                    message("it has {known}, ...", known)
                    if len(self.categories) > 8
                    else message("it has {known}", known)
                ),
            ) from None

    @cached_property
    def _codes(self) -> dict[str, int]:
        return {category: code for code, category in enumerate(self.categories)}


def level_said(name: str) -> str:
    """A variable, or a level of one, as people say it alone: ``region (level of municipality)``."""
    variable, _, level = name.partition(AT)
    return message("{level} (level of {variable})", level, variable) if level else name


def spoken(names: Sequence[str]) -> str:
    """A table as people say it, by its variables and levels of them: ``district × age``."""
    return " × ".join(name.rpartition(AT)[2] for name in names)


def cell_at(key: Ints, variables: Sequence[Variable], nodes: Sequence[int]) -> int | None:
    """The number of the cell at a node of each variable among rising keys; ``None`` where there is none."""
    wanted = int(np.ravel_multi_index(tuple(nodes), tuple(len(one.nodes) for one in variables)))
    at = int(np.searchsorted(key, wanted))
    return at if at < len(key) and int(key[at]) == wanted else None


def check_totals(variables: Sequence[Variable]) -> None:
    """Refuse a category that is called as the total is.

    Raises
    ------
    InputError
    """
    for variable in variables:
        if any(name == TOTAL for _, name in variable.nodes[:-1]):
            raise InputError(
                message("{name} has a category {total}", variable.name, repr(TOTAL)),
                hint=message("totals are counted anew: leave out records of totals, or rename it"),
            )
