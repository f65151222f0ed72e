"""Data frames of any kind, in and out."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from html import escape
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any, SupportsInt

import narwhals.stable.v2 as nw
import numpy as np
import numpy.typing as npt

from tabprotect.engine.arrays import Ints
from tabprotect.engine.errors import InputError
from tabprotect.engine.formats.layouts.cell_list import CellList
from tabprotect.engine.microdata.record_files import GivenRecords
from tabprotect.languages.messages import message
from tabprotect.languages.nearest import closest_match

AnyArray = np.ndarray
"""A column of any type."""

Columns = Mapping[str, AnyArray]

KINDS = ("pandas", "polars", "pyarrow", "duckdb", "dict")
"""What comes back: the kind that went in, else pandas, Polars or Arrow, the first that is installed.

A DuckDB relation comes back through Arrow: without that as a dict.
"""

ALSO = {"arrow": "pyarrow"}
"""What a kind is called, too."""


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
        """Make one from pandas, Polars, Arrow, a DuckDB relation, or anything narwhals knows.

        Raises
        ------
        InputError
            For what is no data frame.
        """
        if isinstance(native, Mapping):
            return cls({str(name): _listed(values) for name, values in native.items()}, {}, usual_kind())
        if type(native).__module__.partition(".")[0] in ("duckdb", "_duckdb"):
            # Its own way needs no further library.
            names: list[str] = native.columns  # type: ignore[attr-defined]
            rows = native.fetchall()  # type: ignore[attr-defined]
            columns = {n: [row[k] for row in rows] for k, n in enumerate(names)}
            return cls(columns, {}, "duckdb" if find_spec("pyarrow") is not None else "dict")
        try:
            frame: Any = nw.from_native(native)
        except TypeError as error:
            raise InputError(
                message("a {name} is no data frame", type(native).__name__),
                hint=message("give pandas, Polars, Arrow, a DuckDB relation, or read a file"),
                detail=str(error),
            ) from None
        if isinstance(frame, nw.LazyFrame):
            frame = frame.collect()
        kind = frame.implementation.name.lower()
        columns, orders = {}, {}
        for name in map(str, frame.columns):
            column = frame[name]
            if column.dtype in (nw.Categorical, nw.Enum):
                orders[name] = [_written(value) or "" for value in column.cat.get_categories().to_list()]
            missing = column.is_null().to_numpy()
            values = column.to_list()
            columns[name] = [None if m else v for m, v in zip(missing, values, strict=True)]
        return cls(columns, orders, kind if kind in KINDS else usual_kind())

    def records(self) -> GivenRecords:
        """The rows as records to be counted."""
        texts = {
            name: np.array([_written(value) for value in values], dtype=object)
            for name, values in self.columns.items()
        }
        return GivenRecords(texts, self.orders)

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
                    message("the frame has no column {name}", repr(name)),
                    hint=message("it has {columns}", ", ".join(self.columns)),
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
                    message("row {row}: the count is no whole number", row + 1),
                    hint=message("the column {name} must hold one in every row", repr(name)),
                )
            out.append(whole)
        try:
            return np.array(out, dtype=np.int64)
        except OverflowError:
            raise InputError(message("a count is larger than 9.2e18")) from None

    def _coded(self, name: str) -> tuple[tuple[str, ...], npt.NDArray[np.int32]]:
        numbers: dict[str, int] = {}
        codes = np.empty(len(self.columns[name]), dtype=np.int32)
        for row, value in enumerate(self.columns[name]):
            text = _written(value)
            if text is None:
                raise InputError(
                    message("row {row} has no {name}", row + 1, name),
                    hint=message("give what is missing a category of its own"),
                )
            codes[row] = numbers.setdefault(text, len(numbers))
        order = [c for c in self.orders.get(name, ()) if c in numbers]
        if len(order) < len(numbers):
            return tuple(numbers), codes
        place = np.empty(len(order), dtype=np.int32)
        place[[numbers[c] for c in order]] = np.arange(len(order), dtype=np.int32)
        return tuple(order), place[codes]


def _written(value: object) -> str | None:
    """A value as a file would have it: whole numbers without a point, none with an exponent."""
    if isinstance(value, float | np.floating):
        return None if np.isnan(value) else np.format_float_positional(value, trim="-")
    return None if value is None else str(value)


def in_rows(native: object, count: str, names: Sequence[str] | None) -> object:
    """A frame with a row for each cell, of counts that an index or keys classify; others as they are.

    Parameters
    ----------
    count
        The name that the column of counts gets.
    names
        The variables, where an index or keys do not name them.
    """
    if isinstance(native, Mapping):
        return _Dict(native, count, names).frame()
    if type(native).__module__.partition(".")[0] != "pandas":
        return native
    found: Any = native
    kind = type(native).__name__
    if kind == "DataFrame" and count not in found.columns and found.columns.names != [None]:
        # A crosstab: its columns are named after variables.
        found = found.stack(list(range(found.columns.nlevels)), future_stack=True)
        kind = "Series"
    if kind != "Series":
        return native
    called = [*(names or ())] or [
        name if name is not None else f"variable {k}" for k, name in enumerate(found.index.names, 1)
    ]
    found = found.copy()
    found.index = found.index.set_names(called)
    return found.rename(count).reset_index()


@dataclass(frozen=True)
class _Dict:
    """A dict of columns, or of counts by the categories of a cell."""

    given: Mapping[object, object]
    count: str
    names: Sequence[str] | None

    def frame(self) -> object:
        if self.count in self.given:
            columns = {str(n): _listed(v) for n, v in self.given.items()}
        else:
            cells = [key if isinstance(key, tuple) else (key,) for key in self.given]
            width = max(map(len, cells), default=0)
            if not cells or min(map(len, cells)) < width:
                raise InputError(
                    message("the keys of a dict of counts are the categories of each cell"),
                    hint=message("or give a dict of columns, of which one is {count}", self.count),
                )
            names = [*(self.names or (f"variable {k}" for k in range(1, width + 1)))]
            columns = {name: [cell[k] for cell in cells] for k, name in enumerate(names)}
            columns[self.count] = list(self.given.values())
        backend: Any = next(kind for kind in ("pandas", "polars", "pyarrow") if find_spec(kind) is not None)
        return nw.from_dict(columns, backend=backend).to_native()


def _listed(values: object) -> list[Any]:
    return list(values) if isinstance(values, Iterable) else [values]


def made(columns: Columns, kind: str) -> Any:
    """Columns as a data frame of one of ``KINDS``.

    Raises
    ------
    InputError
        For an unknown kind, or one that is not installed.
    """
    kind = ALSO.get(kind, kind)
    if kind not in KINDS:
        raise InputError(
            message("there are no frames of the kind {kind}", repr(kind)),
            hint=closest_match(kind, KINDS) or message("there are {kinds}", ", ".join(KINDS)),
        )
    lists = {name: values.tolist() for name, values in columns.items()}
    if kind == "dict":
        return lists
    if find_spec(kind) is None:
        raise InputError(
            message("{kind} is not installed", kind), hint=message("take another kind: {usual}", usual_kind())
        )
    backend: Any = "pyarrow" if kind == "duckdb" else kind
    frame = nw.from_dict(lists, backend=backend).to_native()
    if kind == "duckdb":
        # Whoever handed in a relation has loaded it; others need not wait for it.
        import duckdb

        return duckdb.from_arrow(frame)
    return frame


def usual_kind() -> str:
    """Say what comes back where nothing of a known kind went in: pandas, else Polars, else Arrow."""
    found = (kind for kind in ("pandas", "polars", "pyarrow") if find_spec(kind) is not None)
    return next(found, "dict")


SHOWN = 20
"""The rows that a notebook shows of a frame."""


class Framed:
    """A value with rows: a notebook shows the first, and Arrow's stream carries all of them."""

    if TYPE_CHECKING:

        def to_frame(self, kind: str | None = None) -> Any: ...

    def _repr_html_(self) -> str:
        columns: dict[str, list[object]] = self.to_frame("dict")
        rows = list(zip(*columns.values(), strict=True))
        return html_rows(repr(self), list(columns), rows[:SHOWN], len(rows))

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        """The rows as Arrow's PyCapsule: other libraries take them as they are."""
        return self.to_frame("pyarrow").__arrow_c_stream__(requested_schema)


def html_rows(title: str, names: Sequence[str], rows: Sequence[Sequence[object]], every: int) -> str:
    """A table of HTML with a title, and how many more rows there are."""
    head = "".join(f"<th>{escape(name)}</th>" for name in names)
    body = "".join(
        "<tr>" + "".join(f"<td>{escape(_shown(value))}</td>" for value in row) + "</tr>" for row in rows
    )
    more = f"<p>{every:,} rows, {len(rows):,} shown</p>" if every > len(rows) else ""
    return f"<p>{escape(title)}</p><table><tr>{head}</tr>{body}</table>{more}"


def _shown(value: object) -> str:
    if value is None:
        return "\u2025"
    return f"{value:.4g}" if isinstance(value, float) else str(value)
