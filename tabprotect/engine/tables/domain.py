"""Named variables with their categories: the axes of every table."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from tabprotect.engine.arrays import Ints
from tabprotect.engine.budgets import DOMAIN_CATEGORIES as MAX_CATEGORIES
from tabprotect.engine.budgets import DOMAIN_CELLS as MAX_CELLS
from tabprotect.engine.errors import InputError

Index = tuple[int, ...]
"""A cell as one category number per variable."""


@dataclass(frozen=True)
class Variable:
    """A classifying variable and its categories, in the order of publication."""

    name: str
    categories: tuple[str, ...]

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
    """An ordered set of variables; the last one varies fastest (C order)."""

    variables: tuple[Variable, ...]

    def __post_init__(self) -> None:
        names = self.names
        if len(set(names)) != len(names):
            twice = sorted({n for n in names if names.count(n) > 1})
            raise InputError(f"the variable {twice[0]!r} occurs twice", hint="rename one of them")
        if self.size > MAX_CELLS:
            raise InputError(
                f"a table of {' x '.join(map(str, self.shape))} has more than 2^62 cells",
                hint="leave out a variable or merge categories",
            )

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
        return self.variables[self.axis(name)]

    def project(self, names: Iterable[str]) -> Domain:
        """The domain of a margin; the order is this domain's, whatever order is asked."""
        axes = sorted({self.axis(name) for name in names})
        return Domain(tuple(self.variables[a] for a in axes))

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
        wanted = set(names)
        out = np.zeros(len(keys), dtype=np.int64)
        stride = self.size
        for variable, size in zip(self.variables, self.shape, strict=True):
            stride //= size
            if variable.name in wanted:
                out *= size
                out += (keys // stride) % size
        return out

    def cell_text(self, index: Sequence[int]) -> str:
        """A cell for people: ``(v1, w2)``."""
        return f"({', '.join(self.labels(index))})"
