"""Data frames of any kind, in and out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from typing import Any, SupportsInt

import narwhals.stable.v2 as nw
import numpy as np
import numpy.typing as npt

from tabprotect.engine.arrays import Ints
from tabprotect.engine.errors import InputError
from tabprotect.engine.formats.layouts.cell_list import CellList
from tabprotect.languages.said import say

AnyArray = np.ndarray
"""A column of any type."""

Columns = Mapping[str, AnyArray]

KINDS = ("pandas", "polars", "pyarrow", "duckdb", "dict")
"""What comes back: the kind that went in, else Arrow where it is installed, else a dict.

A DuckDB relation comes back through Arrow: without that as a dict.
"""


@dataclass(frozen=True)
class Frame:
    """A data frame that was handed in, whatever its kind.

    Attributes
    ----------
    columns
        Name -> values; ``None`` where one is missing.
    orders
        The categories of columns whose type orders them.
    kind
        One of ``KINDS``: what is handed back is of the same kind.
    """

    columns: Mapping[str, list[object]]
    orders: Mapping[str, list[str]]
    kind: str

    @classmethod
    def of(cls, native: object) -> Frame:
        """From pandas, Polars, Arrow, a DuckDB relation, or anything narwhals knows.

        Raises
        ------
        InputError
            For what is no data frame.
        """
        if type(native).__module__.partition(".")[0] in ("duckdb", "_duckdb"):
            # Its own way needs no further library.
            names: list[str] = native.columns  # type: ignore[attr-defined]
            rows = native.fetchall()  # type: ignore[attr-defined]
            columns = {n: [row[k] for row in rows] for k, n in enumerate(names)}
            return cls(columns, {}, "duckdb" if usual_kind() == "pyarrow" else "dict")
        try:
            frame: Any = nw.from_native(native)
        except TypeError as error:
            raise InputError(
                say("a {name} is no data frame", type(native).__name__),
                hint=say("give pandas, Polars, Arrow, a DuckDB relation, or read a file"),
                detail=str(error),
            ) from None
        if isinstance(frame, nw.LazyFrame):
            frame = frame.collect()
        kind = frame.implementation.name.lower()
        columns, orders = {}, {}
        for name in map(str, frame.columns):
            column = frame[name]
            if column.dtype in (nw.Categorical, nw.Enum):
                orders[name] = [str(value) for value in column.cat.get_categories().to_list()]
            missing = column.is_null().to_numpy()
            values = column.to_list()
            columns[name] = [None if m else v for m, v in zip(missing, values, strict=True)]
        return cls(columns, orders, kind if kind in KINDS else usual_kind())

    def cells(self, count: str, by: Sequence[str]) -> CellList:
        """The rows as cells of a table.

        Categories are texts, in order of first appearance, or in the order of the column's type
        where that orders them.

        Raises
        ------
        InputError
            For a missing column, a missing value, or a count that is no whole number.
        """
        for name in (*by, count):
            if name not in self.columns:
                raise InputError(
                    say("the frame has no column {name}", repr(name)),
                    hint=say("it has {columns}", ", ".join(self.columns)),
                )
        coded = [self._coded(name) for name in by]
        return CellList(
            tuple(by),
            tuple(known for known, _ in coded),
            tuple(codes for _, codes in coded),
            self._counts(count),
            lambda row: row + 1,
        )

    def _counts(self, name: str) -> Ints:
        out = []
        for row, value in enumerate(self.columns[name]):
            try:
                whole = int(value) if isinstance(value, SupportsInt) else None
            except (TypeError, ValueError, OverflowError):
                whole = None
            if whole is None or whole != value:
                raise InputError(
                    say("row {row}: the count is no whole number", row + 1),
                    hint=say("the column {name} must hold one in every row", repr(name)),
                )
            out.append(whole)
        try:
            return np.array(out, dtype=np.int64)
        except OverflowError:
            raise InputError(say("a count is larger than 9.2e18")) from None

    def _coded(self, name: str) -> tuple[tuple[str, ...], npt.NDArray[np.int32]]:
        numbers: dict[str, int] = {}
        codes = np.empty(len(self.columns[name]), dtype=np.int32)
        for row, value in enumerate(self.columns[name]):
            if value is None:
                raise InputError(
                    say("row {row} has no {name}", row + 1, name),
                    hint=say("give what is missing a category of its own"),
                )
            codes[row] = numbers.setdefault(str(value), len(numbers))
        order = [c for c in self.orders.get(name, ()) if c in numbers]
        if len(order) < len(numbers):
            return tuple(numbers), codes
        place = np.empty(len(order), dtype=np.int32)
        place[[numbers[c] for c in order]] = np.arange(len(order), dtype=np.int32)
        return tuple(order), place[codes]


def made(columns: Columns, kind: str) -> Any:
    """Columns as a data frame of one of ``KINDS``."""
    lists = {name: values.tolist() for name, values in columns.items()}
    if kind == "dict":
        return lists
    backend: Any = "pyarrow" if kind == "duckdb" else kind
    frame = nw.from_dict(lists, backend=backend).to_native()
    if kind == "duckdb":
        # Whoever handed in a relation has loaded it; others need not wait for it.
        import duckdb

        return duckdb.from_arrow(frame)
    return frame


def usual_kind() -> str:
    """What comes back where nothing of a known kind went in."""
    return "pyarrow" if find_spec("pyarrow") is not None else "dict"
