"""Pivot placement: which variables run down the rows, across the columns, and in layers."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from tabprotect.engine.errors import InputError
from tabprotect.engine.tables.domain import Domain, Index
from tabprotect.languages.messages import message

COMFORTABLE_ROWS = 40
COMFORTABLE_COLUMNS = 24
READ_AT_ONCE = 12
"""Columns beyond which a variable goes down the rows if it has room there."""

NESTED = 3
"""The most variables that nest in rows or columns: their labels take room from the cells."""


@dataclass(frozen=True)
class Placement:
    """Variable names in nesting order: the last of ``rows`` varies fastest downwards."""

    rows: tuple[str, ...]
    columns: tuple[str, ...]
    layers: tuple[str, ...] = ()

    @classmethod
    def of(cls, domain: Domain) -> Placement:
        """A comfortable placement: as few variables in layers as the screen allows."""
        rows, columns, layers = list(domain.names[:1]), list(domain.names[1:2]), []
        high = domain.shape[0] if domain.ndim else 1
        wide = domain.shape[1] if domain.ndim > 1 else 1
        for name, size in zip(domain.names[2:], domain.shape[2:], strict=True):
            taller = len(rows) < NESTED and high * size <= COMFORTABLE_ROWS
            if taller and (high <= wide or wide * size > READ_AT_ONCE):
                rows.append(name)
                high *= size
            elif len(columns) < NESTED and wide * size <= COMFORTABLE_COLUMNS:
                columns.append(name)
                wide *= size
            elif taller:
                rows.append(name)
                high *= size
            else:
                layers.append(name)
        if (
            len(layers) == 1 == len(columns)
            and wide < domain.shape[domain.axis(layers[0])] <= COMFORTABLE_COLUMNS
        ):
            # The fewer layers the more of the table is seen.
            columns, layers = layers, columns
        return cls(tuple(rows), tuple(columns), tuple(layers))

    def check(self, domain: Domain) -> Placement:
        """Return this placement if it places every variable of the domain exactly once.

        Raises
        ------
        InputError
            Naming the variable.
        """
        placed = [*self.rows, *self.columns, *self.layers]
        for name in placed:
            domain.axis(name)
            if placed.count(name) > 1:
                raise InputError(message("the variable {name} is placed twice", repr(name)))
        for name in domain.names:
            if name not in placed:
                raise InputError(
                    message("the variable {name} is not placed", repr(name)),
                    hint=message("put it in the rows, the columns or the layers"),
                )
        return self

    def renamed(self, old: str, new: str) -> Placement:
        """The placement after a variable is renamed."""
        swap = {old: new}
        return Placement(
            *(tuple(swap.get(n, n) for n in names) for names in (self.rows, self.columns, self.layers))
        )

    def size(self, domain: Domain) -> tuple[int, int]:
        """Rows and columns of one layer of the grid."""
        return (
            math.prod(len(domain[n].categories) for n in self.rows),
            math.prod(len(domain[n].categories) for n in self.columns),
        )

    def position(self, domain: Domain, index: Sequence[int]) -> tuple[int, int]:
        """The row and column of a cell within its layer."""
        row = column = 0
        for name in self.rows:
            row = row * len(domain[name].categories) + index[domain.axis(name)]
        for name in self.columns:
            column = column * len(domain[name].categories) + index[domain.axis(name)]
        return row, column

    def cell(self, domain: Domain, row: int, column: int, *, like: Sequence[int]) -> Index:
        """The cell at a row and column, in the layer of the cell ``like``."""
        index = list(like)
        for names, number in ((self.rows, row), (self.columns, column)):
            for name in reversed(names):
                number, index[domain.axis(name)] = divmod(number, len(domain[name].categories))
        return tuple(index)
