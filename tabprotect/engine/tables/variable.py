"""A classifying variable: its categories, their labels, and the levels above them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np

from tabprotect.engine.arrays import Ints
from tabprotect.engine.errors import InputError
from tabprotect.languages.messages import message

MISSING = "(missing)"
"""The category of records whose value is missing (an empty field, a Parquet null)."""

AT = "@"
"""Between a variable and one of its levels: ``region@nuts2``."""


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
