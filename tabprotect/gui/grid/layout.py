"""Which cell stands where: a k-way table unfolded into rows and columns of one layer."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from tabprotect.engine.arrays import Arrays, Bools, Ints
from tabprotect.engine.project.placement import Placement
from tabprotect.engine.tables.domain import Domain, Index
from tabprotect.languages.messages import joined, message


@dataclass(frozen=True, eq=False)
class Layout:
    """One layer of a table as a grid, all of it or only some rows and columns.

    Attributes
    ----------
    domain, placement
        The table's variables and where they stand.
    layer
        A cell index; its entries for the layer variables say which layer is shown.
    rows, columns
        Grid lines that are shown (sorted numbers); ``None`` for all.
    """

    domain: Domain
    placement: Placement
    layer: Index
    rows: Ints | None = None
    columns: Ints | None = None

    @cached_property
    def full_shape(self) -> tuple[int, int]:
        """Rows and columns of the layer before any filter."""
        return self.placement.size(self.domain)

    @cached_property
    def shape(self) -> tuple[int, int]:
        """Rows and columns that are shown."""
        high, wide = self.full_shape
        return (
            high if self.rows is None else len(self.rows),
            wide if self.columns is None else len(self.columns),
        )

    def flat(self, array: Arrays) -> Arrays:
        """An array of the table's shape as the full layer, (rows, columns), a view if possible."""
        layers = self.placement.layers
        part = array[
            tuple(self.layer[a] if n in layers else slice(None) for a, n in enumerate(self.domain.names))
        ]
        rest = [n for n in self.domain.names if n not in self.placement.layers]
        order = [rest.index(n) for n in (*self.placement.rows, *self.placement.columns)]
        return part.transpose(order).reshape(self.full_shape)

    def shown(self, grid: Arrays) -> Arrays:
        """The shown rows and columns of a full layer."""
        if self.rows is not None:
            grid = grid[self.rows]
        return grid if self.columns is None else grid[:, self.columns]

    def index(self, row: int, column: int) -> Index:
        """The table's cell at a shown row and column."""
        r = row if self.rows is None else int(self.rows[row])
        c = column if self.columns is None else int(self.columns[column])
        return self.placement.cell(self.domain, r, c, like=self.layer)

    def position(self, index: Index) -> tuple[int, int] | None:
        """Return where a cell is shown; ``None`` when it is filtered away or in another layer."""
        if not self.same_layer(index):
            return None
        at: list[int] = []
        for number, lines in zip(
            self.placement.position(self.domain, index), (self.rows, self.columns), strict=True
        ):
            if lines is not None:
                found = int(np.searchsorted(lines, number))
                if found >= len(lines) or lines[found] != number:
                    return None
                number = found
            at.append(number)
        return at[0], at[1]

    def same_layer(self, index: Index) -> bool:
        """Return True if a cell lies in the shown layer."""
        return all(
            index[self.domain.axis(n)] == self.layer[self.domain.axis(n)] for n in self.placement.layers
        )

    def only(self, wanted: Bools) -> Layout:
        """Only rows and columns with a wanted cell; ``wanted`` has the table's shape."""
        grid = self.flat(wanted)
        return Layout(
            self.domain,
            self.placement,
            self.layer,
            np.flatnonzero(grid.any(axis=1)).astype(np.int64),
            np.flatnonzero(grid.any(axis=0)).astype(np.int64),
        )

    def codes(self, line: int, *, down: bool) -> tuple[int, ...]:
        """Category numbers of a shown row (``down``) or column, one per nested variable."""
        lines = self.rows if down else self.columns
        number = line if lines is None else int(lines[line])
        out: list[int] = []
        for name in reversed(self.placement.rows if down else self.placement.columns):
            number, code = divmod(number, len(self.domain[name].categories))
            out.append(code)
        return tuple(reversed(out))

    def labels(self, line: int, *, down: bool) -> tuple[str, ...]:
        """Categories of a shown row (``down``) or column, one per nested variable."""
        names = self.placement.rows if down else self.placement.columns
        return tuple(
            self.domain[n].categories[code]
            for n, code in zip(names, self.codes(line, down=down), strict=True)
        )

    def words(self, line: int, *, down: bool) -> str:
        """A row's or column's categories with what they are called, where they are codes."""
        names = self.placement.rows if down else self.placement.columns
        found = []
        for name, code in zip(names, self.codes(line, down=down), strict=True):
            variable = self.domain[name]
            category, label = variable.categories[code], variable.label(code)
            found.append(category if label == category else message("{category} ({label})", category, label))
        return joined(found, ", ") or "all"

    def label(self, line: int, *, down: bool) -> str:
        """A row's or column's labels in one line."""
        return joined(self.labels(line, down=down), ", ") or "all"
