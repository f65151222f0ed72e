"""Rows of figures about the cells of a table: a posterior, or drawn originals."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType

import numpy as np
import numpy.typing as npt

from tabprotect.engine.arrays import Floats, Ints
from tabprotect.engine.formats.rows.sql_text import literal, quoted
from tabprotect.engine.tables.domain import Domain

Column = Ints | Floats

PIECE = 1 << 20
"""The bytes handed on together."""


@dataclass(frozen=True, eq=False)
class FigureRows:
    """Columns of equal length: figures, the categories of each row's cell, further figures.

    Attributes
    ----------
    domain
    cells : int64 (rows,)
        The flat cell of each row.
    before, after : int64 or float64 (rows,)
        Figures by name, before the variables and after them.
    shown : bool (rows,), by name
        The rows that have a figure; figures not named are in all rows.
    """

    domain: Domain
    cells: Ints
    after: Mapping[str, Column]
    before: Mapping[str, Column] = field(default_factory=lambda: MappingProxyType({}))
    shown: Mapping[str, npt.NDArray[np.bool_]] = field(default_factory=lambda: MappingProxyType({}))

    @property
    def header(self) -> tuple[str, ...]:
        """The names of all columns."""
        return (*self.before, *self.domain.names, *self.after)

    def rows(self) -> Iterator[list[object]]:
        """The rows one by one, ``None`` for a missing figure. For formats with few rows."""
        for at, cell in enumerate(self.cells.tolist()):
            labels = self.domain.labels(self.domain.unflat(cell))
            before, after = ([self._at(n, of, at) for n, of in part.items()]
                             for part in (self.before, self.after))  # fmt: skip
            yield [*before, *labels, *after]

    def _at(self, name: str, column: Column, at: int) -> object:
        return column[at].item() if name not in self.shown or self.shown[name][at] else None

    def copied(self, options: str) -> Iterator[bytes]:
        """A file of all rows, in pieces, as written by DuckDB's ``COPY`` with some options."""
        # Imported late: the import is a quarter of the time of a small `infer`.
        import duckdb

        columns: dict[str, npt.NDArray[np.generic]] = {"cell": self.cells}
        chosen: dict[str, str] = {}
        for number, (name, column) in enumerate([*self.before.items(), *self.after.items()]):
            chosen[name] = f"f{number}"
            columns[f"f{number}"] = column
            if name in self.shown:
                columns[f"s{number}"] = self.shown[name]
                chosen[name] = f"CASE WHEN s{number} THEN f{number} END"
        step = self.domain.size
        for axis, variable in enumerate(self.domain.variables):
            size = len(variable.categories)
            step //= size
            chosen[variable.name] = f"list_extract(${axis + 1}, cell // {step} % {size} + 1)"
        wanted = ", ".join(f"{chosen[name]} AS {quoted(name)}" for name in self.header)
        with tempfile.TemporaryDirectory() as folder, duckdb.connect() as connection:
            target = Path(folder) / "figures"
            connection.register("figures", columns)
            connection.execute(
                f"COPY (SELECT {wanted} FROM figures) TO {literal(str(target))} ({options})",
                [list(variable.categories) for variable in self.domain.variables],
            )
            with target.open("rb") as file:
                while piece := file.read(PIECE):
                    yield piece
