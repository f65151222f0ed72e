"""Named variables with their categories: the axes of every table."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np

from tabprotect.engine.arrays import Bools, Ints
from tabprotect.engine.budgets import DOMAIN_CATEGORIES as MAX_CATEGORIES
from tabprotect.engine.budgets import DOMAIN_CELLS as MAX_CELLS
from tabprotect.engine.budgets import DOMAIN_PROJECTIONS as PROJECTIONS
from tabprotect.engine.errors import InputError
from tabprotect.engine.tables.structural import StructuralZeros, held_by, holds, restated, stated

Index = tuple[int, ...]
"""A cell as one category number per variable."""


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
        """Whether every group lies in one group of the other."""
        return len(set(zip(self.groups, other.groups, strict=True))) == len(set(self.groups))


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
    """

    name: str
    categories: tuple[str, ...]
    coarser: tuple[Level, ...] = ()
    finest: str = ""
    labels: tuple[str, ...] = field(default=(), compare=False)

    def __post_init__(self) -> None:
        if not self.name:
            raise InputError("a variable has no name", hint="name every column of the table")
        if not self.categories:
            raise InputError(f"variable {self.name!r} has no categories")
        if len(set(self.categories)) != len(self.categories):
            twice = sorted({c for c in self.categories if self.categories.count(c) > 1})
            raise InputError(
                f"variable {self.name!r} has the category {twice[0]!r} twice",
                hint="rename or merge it",
            )
        if self.labels and len(self.labels) != len(self.categories):
            raise InputError(f"{self.name!r} has not one label for each category")
        taken = {self.finest or self.name}
        for level in self.coarser:
            if not level.name or level.name in taken:
                raise InputError(
                    f"{self.name!r} has two levels called {level.name!r}"
                    if level.name
                    else f"a level of {self.name!r} has no name",
                    hint="give every level a name of its own",
                )
            taken.add(level.name)
            if len(level.groups) != len(self.categories) or not all(level.groups):
                raise InputError(
                    f"the level {level.name!r} does not group every category of {self.name!r}",
                    hint="name the group of every category",
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
        """What the categories themselves may be called in a margin: ``region@nuts3``."""
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
        """With other categories, each of which holds some of these by number (none: a new one).

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
        return Variable(self.name, tuple(categories), tuple(levels), self.finest, tuple(labels))

    def label(self, code: int) -> str:
        """What the category of a number is called: its label, or the category itself."""
        return (self.labels[code] if self.labels else "") or self.categories[code]

    def labelled(self, labels: Sequence[str]) -> Variable:
        """With labels beside the categories; those that only repeat them are none."""
        return replace(self, labels=() if tuple(labels) == self.categories else tuple(labels))

    def renamed(self, name: str) -> Variable:
        """Under another name."""
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
                f"variable {self.name!r} has no category {category!r}",
                hint=f"it has {known}{', ...' if len(self.categories) > 8 else ''}",
            ) from None

    @cached_property
    def _codes(self) -> dict[str, int]:
        return {category: code for code, category in enumerate(self.categories)}


@dataclass(frozen=True)
class Domain:
    """An ordered set of variables; the last one varies fastest (C order).

    Attributes
    ----------
    variables
    structural
        The cells in which nobody can be: public knowledge, as the categories are.
    wide
        Whether there may be more cells than a key can number (see ``wide_table``).
    """

    variables: tuple[Variable, ...]
    structural: tuple[StructuralZeros, ...] = ()
    wide: bool = False

    def __post_init__(self) -> None:
        names = self.names
        if len(set(names)) != len(names):
            twice = sorted({n for n in names if names.count(n) > 1})
            raise InputError(f"the variable {twice[0]!r} occurs twice", hint="rename one of them")
        if self.size > MAX_CELLS and not self.wide:
            raise InputError(
                f"a table of {' x '.join(map(str, self.shape))} has more than 2^62 cells",
                hint="leave out a variable or merge categories",
            )
        for zero in self.structural:
            stated(dict(zero.where), self.categories)

    @classmethod
    def of(cls, categories: dict[str, Sequence[str]]) -> Domain:
        """From ``{"age": ["young", "old"], ...}``."""
        return cls(tuple(Variable(n, tuple(c)) for n, c in categories.items()))

    @classmethod
    def of_shape(cls, shape: Sequence[int], names: Sequence[str] | None = None) -> Domain:
        """Generic names: variables A, B, ..., categories a1, a2, ..."""
        # Before any label is made: a shape may come from a file.
        if sum(shape) > MAX_CATEGORIES:
            raise InputError(f"{sum(shape):,} categories are more than {MAX_CATEGORIES:,}")
        if names is None:
            names = [chr(65 + k) if k < 26 else f"V{k + 1}" for k in range(len(shape))]
        return cls(
            tuple(
                Variable(name, tuple(f"{name.lower()}{i + 1}" for i in range(size)))
                for name, size in zip(names, shape, strict=True)
            )
        )

    @cached_property
    def names(self) -> tuple[str, ...]:
        """The variables' names in order."""
        return tuple(v.name for v in self.variables)

    @property
    def categories(self) -> dict[str, tuple[str, ...]]:
        """By variable."""
        return {v.name: v.categories for v in self.variables}

    @cached_property
    def shape(self) -> tuple[int, ...]:
        """Number of categories of each variable."""
        return tuple(len(v.categories) for v in self.variables)

    @cached_property
    def size(self) -> int:
        """Number of cells (an exact int)."""
        return math.prod(self.shape)

    @property
    def ndim(self) -> int:
        """Number of variables."""
        return len(self.variables)

    def axis(self, name: str) -> int:
        """The axis of a variable.

        Raises
        ------
        InputError
            For a variable the table does not have.
        """
        try:
            return self.names.index(name)
        except ValueError:
            raise InputError(
                f"the table has no variable {name!r}", hint=f"it has {', '.join(self.names)}"
            ) from None

    def __getitem__(self, name: str) -> Variable:
        """A variable, or one of its levels as a variable (``region@nuts2``)."""
        axis, level = self.place(name)
        return self.variables[axis] if level is None else self.variables[axis].at(level)

    @cached_property
    def _places(self) -> dict[str, tuple[int, int, Level | None]]:
        places: dict[str, tuple[int, int, Level | None]] = {}
        for axis, variable in enumerate(self.variables):
            for number, (name, level) in enumerate(variable.named.items(), 1):
                places[name] = axis, number, level
            if variable.coarser or variable.finest:
                places[variable.finest_name] = axis, 0, None
        # A variable's own name goes first, whatever signs it has.
        return places | {name: (axis, 0, None) for axis, name in enumerate(self.names)}

    def place(self, name: str) -> tuple[int, Level | None]:
        """The axis that a name stands for, and the level of it (none: the categories themselves).

        Raises
        ------
        InputError
            For a variable or a level that the table does not have.
        """
        if name not in self._places:
            known = (*self.names, *(n for v in self.variables for n in v.named))
            raise InputError(
                f"the table has no variable {name!r}", hint=f"it has {', '.join(known)}"
            )
        axis, _, level = self._places[name]
        return axis, level

    def order(self, name: str) -> tuple[int, int]:
        """What margins' names are sorted by: the axis, then the categories before the levels."""
        self.place(name)
        return self._places[name][:2]

    @cached_property
    def known_names(self) -> tuple[str, ...]:
        """All that a margin may name: variables, their levels, and the finest levels by name."""
        return tuple(self._places)

    def axis_of(self, name: str) -> int:
        """The axis that a variable, or a level of it, stands on."""
        return self.place(name)[0]

    def tells(self, finer: Iterable[str], name: str) -> bool:
        """Whether the categories of some names (variables or levels) tell that of another."""
        axis, level = self.place(name)
        for other, known in map(self.place, finer):
            if axis == other and (known is None or (level is not None and known.refines(level))):
                return True
        return False

    def tidy(self, names: Iterable[str]) -> tuple[str, ...]:
        """A margin in this domain's order, each name once, levels beside a finer one left out.

        Raises
        ------
        InputError
            For a name the table does not have.
        """
        kept: list[str] = []
        for name in sorted(dict.fromkeys(names), key=self.order):
            # Of two that tell each other the first stands.
            if not self.tells(kept, name):
                kept = [*(other for other in kept if not self.tells([name], other)), name]
        return tuple(self.names[self.axis_of(n)] if self._places[n][1] == 0 else n for n in kept)

    def project(self, names: Iterable[str]) -> Domain:
        """The domain of a margin; the order is this domain's, whatever order is asked."""
        asked, known = tuple(names), self._projected
        if asked not in known:
            if len(known) >= PROJECTIONS:
                known.clear()
            known[asked] = self.over(tuple(self[name] for name in self.tidy(asked)))
        return known[asked]

    @cached_property
    def _projected(self) -> dict[tuple[str, ...], Domain]:
        """Those asked for before: the margins of many tables over one domain share theirs."""
        return {}

    def over(self, variables: Sequence[Variable]) -> Domain:
        """Some variables as a domain, with the structural zeros that are told by them.

        They are this domain's, levels of them as variables (``region@nuts2``), or others, of which
        nothing is known.
        """
        return Domain(tuple(variables), restated(self.structural, self._parts(variables)))

    def _parts(
        self, variables: Sequence[Variable]
    ) -> list[tuple[str, str, list[tuple[str, frozenset[str]]]]]:
        parts = []
        for variable in variables if self.structural else ():
            axis, level = self.place(variable.name) if variable.name in self._places else (-1, None)
            if axis < 0:
                continue
            own = self.variables[axis]
            groups = own.categories if level is None else level.groups
            if variable.categories != tuple(dict.fromkeys(groups)):
                continue
            held: dict[str, set[str]] = {}
            for category, group in zip(own.categories, groups, strict=True):
                held.setdefault(group, set()).add(category)
            made = [(c, frozenset(held[c])) for c in variable.categories]
            parts.append((variable.name, own.name, made))
        return parts

    def structural_cells(self, keys: Ints | None = None) -> Bools:
        """Which flat cells are structural zeros, bool (keys,); of all cells where none are given."""
        if keys is None:
            keys = np.arange(self.size if self.structural else 0, dtype=np.int64)
            if not self.structural:
                return np.zeros(self.size, dtype=np.bool_)
        return holds(self.structural, self.categories, keys)

    def with_structural(self, zeros: Iterable[StructuralZeros]) -> Domain:
        """The domain with these structural zeros and no others."""
        known = self.categories
        return replace(
            self, structural=tuple(dict.fromkeys(stated(dict(z.where), known) for z in zeros))
        )

    @property
    def has_levels(self) -> bool:
        """Whether any variable has groups of categories."""
        return any(v.coarser or v.finest for v in self.variables)

    def with_variable(
        self,
        variable: Variable,
        *,
        instead_of: str = "",
        parts: Sequence[Sequence[int]] | None = None,
    ) -> Domain:
        """The domain with another variable of the same name, or in the place of another one.

        Parameters
        ----------
        parts
            What its categories hold of the old one's, by number; not needed where they are the same.
            Structural zeros of which that is not known are left out.
        """
        axis = self.axis(instead_of or variable.name)
        old = self.variables[axis]
        variables = (*self.variables[:axis], variable, *self.variables[axis + 1 :])
        if not self.structural:
            return Domain(variables)
        held = held_by(variable.categories, old.categories, parts)
        made = [
            (
                new.name,
                was.name,
                held if new is variable else [(c, frozenset({c})) for c in new.categories],
            )
            for new, was in zip(variables, self.variables, strict=True)
        ]
        return Domain(variables, restated(self.structural, made))

    def labels(self, index: Sequence[int]) -> tuple[str, ...]:
        """The categories of a cell."""
        return tuple(v.categories[i] for v, i in zip(self.variables, index, strict=True))

    def index(self, labels: Sequence[str]) -> Index:
        """The cell of categories."""
        return tuple(v.code(c) for v, c in zip(self.variables, labels, strict=True))

    def flat(self, index: Sequence[int]) -> int:
        """Mixed-radix key of a cell."""
        key = 0
        for i, size in zip(index, self.shape, strict=True):
            if not 0 <= i < size:
                raise InputError(f"the table has no cell {tuple(index)}")
            key = key * size + i
        return key

    def unflat(self, key: int) -> Index:
        """The cell of a mixed-radix key."""
        index = []
        for size in reversed(self.shape):
            key, i = divmod(int(key), size)
            index.append(i)
        return tuple(reversed(index))

    def project_keys(self, keys: Ints, names: Iterable[str]) -> Ints:
        """Keys of the margin's cells that the cells ``keys`` are added into."""
        margin = self.tidy(names)
        out = np.zeros(len(keys), dtype=np.int64)
        strides = [math.prod(self.shape[axis + 1 :]) for axis in range(self.ndim)]
        for name in margin:
            axis, level = self.place(name)
            code = (keys // strides[axis]) % self.shape[axis]
            if level is None:
                out *= self.shape[axis]
                out += code
            else:
                codes = level.codes
                out *= int(codes.max()) + 1
                out += codes[code]
        return out

    def cell_text(self, index: Sequence[int]) -> str:
        """A cell for people: ``(v1, w2)``."""
        return f"({', '.join(self.labels(index))})"
