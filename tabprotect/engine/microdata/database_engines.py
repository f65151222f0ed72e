"""Records in a database engine (PostgreSQL, Spark, ...), which groups them and returns the groups.

Records are read only by one GROUP BY in the engine that holds them, through Ibis. The number of
categories is checked first. Weights and record keys are added up there as decimals.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from concurrent.futures import TimeoutError as NotYet
from contextlib import contextmanager
from decimal import Decimal
from pathlib import Path
from typing import Protocol, cast

import numpy as np

from tabprotect.engine.budgets import MOST_GROUPS
from tabprotect.engine.errors import InputError, TabprotectError
from tabprotect.engine.formats.format import RecordsFile
from tabprotect.engine.formats.layouts.cell_list import check_categories
from tabprotect.engine.formats.rows.sql import in_memory
from tabprotect.engine.formats.rows.sql_text import quoted
from tabprotect.engine.microdata.coding import AddedUp
from tabprotect.engine.microdata.places import split_url
from tabprotect.engine.microdata.record_files import MicrodataFile
from tabprotect.engine.microdata.record_keys import key_range
from tabprotect.engine.progress import SILENT, Progress
from tabprotect.engine.randomness import KEY_MODULUS
from tabprotect.engine.tables.design_weights import SCALE
from tabprotect.languages.messages import message, plural

POLL = 0.1
"""Seconds between two checks for cancellation."""

AGAIN = {
    "n": "CAST(sum({}) AS DECIMAL(38, 9))",
    "unread": "sum({})",
    "least": "min({})",
    "example": "any_value({})",
    "weightsum": "CAST(sum({}) AS BIGINT)",
    "keysum": "CAST(sum({}) AS BIGINT)",
}
"""The aggregates that combine the sums of groups."""

MARK = "tabprotect:"
"""The prefix of the names of sums, with which no user's column begins."""


class DataType(Protocol):
    """The type of a column."""

    def is_integer(self) -> bool: ...
    def is_numeric(self) -> bool: ...


class Value(Protocol):
    """A column of a table, or a figure of one, as an expression of Ibis."""

    def type(self) -> DataType: ...
    def cast(self, kind: str) -> Value: ...
    def isnull(self) -> Value: ...
    def nunique(self) -> Value: ...
    def sum(self) -> Value: ...
    def min(self) -> Value: ...
    def max(self, *, where: Value | None = None) -> Value: ...
    def round(self) -> Value: ...
    def floor(self) -> Value: ...
    def __sub__(self, other: Value) -> Value: ...
    def __mul__(self, factor: int) -> Value: ...
    def __lt__(self, bound: int) -> Value: ...


class ArrowTable(Protocol):
    """A table of Arrow."""

    def to_pydict(self) -> dict[str, list[object]]: ...


class Rows(Protocol):
    """Rows of figures, as an expression of Ibis."""

    def limit(self, most: int) -> Rows: ...
    def to_pyarrow(self) -> ArrowTable: ...


class Grouped(Protocol):
    """Records by group, as an expression of Ibis."""

    def aggregate(self, **asked: Value) -> Rows: ...


class Records(Grouped, Protocol):
    """The records of an engine, as an expression of Ibis."""

    @property
    def columns(self) -> Sequence[str]: ...
    def __getitem__(self, name: str) -> Value: ...
    def count(self) -> Value: ...
    def group_by(self, **values: Value) -> Grouped: ...


@contextmanager
def engine_table(source: str) -> Iterator[Records]:
    """The Ibis table of a URL.

    Raises
    ------
    InputError
        If Ibis or its backend for this engine is not installed, or the engine cannot be reached.
    """
    url, name = split_url(source)
    try:
        # Imported late: an extra, and slow to import.
        import ibis
    except ImportError:
        raise InputError(
            message("records behind a URL are read through ibis-framework, which is not installed"),
            hint=message("install it with: pip install 'tabprotect[engines]'"),
        ) from None
    schema, _, table = name.rpartition(".")
    try:
        connection = ibis.connect(url)
    # Every engine has its own errors.
    except Exception as error:
        raise _unreachable(url, error) from None
    try:
        yield cast(Records, connection.table(table, database=schema or None))
    except TabprotectError:
        raise
    except Exception as error:
        raise _unreachable(url, error) from None
    finally:
        connection.disconnect()


def _unreachable(url: str, error: Exception) -> InputError:
    return InputError(
        message("the engine {partition} does not answer as it should", url.partition(":")[0]),
        hint=message("check its address, your rights, and the names of table and columns"),
        detail=message("{name}: {error}", type(error).__name__, str(error)[:500]),
    )


def _answered(expression: Rows, stage: str, progress: Progress) -> dict[str, list[object]]:
    """The rows of an expression by column; after cancellation the engine ends by itself."""
    pool = ThreadPoolExecutor(1, thread_name_prefix="engine")
    try:
        future = pool.submit(lambda: expression.to_pyarrow().to_pydict())
        while True:
            try:
                return future.result(timeout=POLL)
            except NotYet:
                progress.report(stage, 0.0)
    finally:
        pool.shutdown(wait=False, cancel_futures=True)


def _figures(
    table: Records, asked: Mapping[str, Value], stage: str, progress: Progress
) -> dict[str, int | Decimal | None]:
    """Numbers about all records, by name; ``None`` where there are no records."""
    found = _answered(table.aggregate(**asked), stage, progress)
    return {name: cast(int | Decimal | None, values[0]) for name, values in found.items()}


def engine_columns(source: str, progress: Progress) -> list[tuple[str, str, int, int, bool, int]]:
    """The name, kind, and exact numbers of categories and missing values of every column; and of records."""
    with engine_table(source) as table:
        names = list(table.columns)
        asked = {"rows": table.count()}
        for number, name in enumerate(names):
            asked[f"d{number}"] = table[name].nunique()
            asked[f"m{number}"] = table[name].isnull().sum()
        found = _figures(table, asked, message("looking at the variables"), progress)
        kinds = [_kind(table[name].type()) for name in names]
        return [
            (
                *(name, kinds[n], int(found[f"d{n}"] or 0), int(found[f"m{n}"] or 0)),
                *(True, int(found["rows"] or 0)),
            )
            for n, name in enumerate(names)
        ]


def _kind(type_: DataType) -> str:
    if type_.is_integer():
        return "integer"
    return "real" if type_.is_numeric() else "text"


@contextmanager
def grouped_records(
    source: str, by: Sequence[str], also: AddedUp, progress: Progress = SILENT
) -> Iterator[MicrodataFile]:
    """The groups of records behind a URL, as rows for DuckDB.

    Raises
    ------
    InputError
        If the engine fails, and for more groups than can be handed over.
    """
    with engine_table(source) as table:
        missing = [name for name in (*by, *also.names) if name not in table.columns]
        if missing:
            raise InputError(
                message("the table has no column {missing}", repr(missing[0])),
                hint=message("it has {columns}", ", ".join(table.columns)),
            )
        _look_first(table, by, progress)
        asked = _measures(table, also.weight)
        low, high, end = 0, 0, KEY_MODULUS
        if also.design_weight is not None:
            low, high = _weight_ends(table, also.design_weight, progress)
            millionths = (_number(table, also.design_weight) * SCALE).round().cast("int64")
            asked[f"{MARK}weightsum"] = millionths.sum()
        if also.record_key is not None:
            keys, end = _key(table, also.record_key, progress)
            asked[f"{MARK}keysum"] = keys.sum().cast("decimal(38, 0)")
        values = {f"v{n}": table[name].cast("string") for n, name in enumerate(by)}
        groups = table.group_by(**values).aggregate(**asked)
        rows = _answered(groups.limit(MOST_GROUPS + 1), message("counting the records"), progress)
    groups_of = {name: rows[f"v{n}"] for n, name in enumerate(by)}
    groups_of |= {name: rows[name] for name in asked}
    with handed_over(source, groups_of, also, (low, high), end) as made:
        yield made


@contextmanager
def handed_over(
    source: str, rows: Mapping[str, Sequence[object]], also: AddedUp, ends: tuple[int, int], key_range: int
) -> Iterator[MicrodataFile]:
    """Load groups of records as rows for DuckDB.

    Parameters
    ----------
    rows
        The values of each group by variable, and the sums by names that begin with ``MARK``.
    also
        Columns of weights and keys, of which only the names are known.
    ends
        The smallest and the largest design weight, in millionths.
    key_range
        What record keys lie below.

    Raises
    ------
    InputError
        For more groups than can be handed over.
    """
    if len(next(iter(rows.values()))) > MOST_GROUPS:
        raise InputError(
            message("there are more than {MOST_GROUPS:,} groups of records", MOST_GROUPS),
            hint=message("tabulate by fewer variables, or by coarser ones"),
        )
    columns = {
        name: np.array(
            [None if v is None else str(v) for v in values] if name.startswith(MARK) else values, dtype=object
        )
        for name, values in rows.items()
    }
    size = len(next(iter(columns.values())))
    columns |= {name: np.array([""] * size, dtype=object) for name in also.names}
    with in_memory() as connection:
        connection.register("groups", columns)
        typed = ", ".join(
            f"CAST({quoted(name)} AS DECIMAL(38, 9)) AS {quoted(name)}"
            if name.startswith(MARK) and not name.endswith("example") else quoted(name)
            for name in columns
        )  # fmt: skip
        made = MicrodataFile(Path(source), connection, RecordsFile(f"(SELECT {typed} FROM groups)"))
        marked = [name.removeprefix(MARK) for name in rows if name.startswith(MARK)]
        made.summed = {n: f"{AGAIN[n].format(quoted(MARK + n))} AS {n}" for n in marked}
        made.weights, made.key_range = ends, key_range
        yield made


def _look_first(table: Records, by: Sequence[str], progress: Progress) -> None:
    """Check the exact number of categories of each variable before anything is grouped."""
    asked = {f"d{n}": table[name].nunique() for n, name in enumerate(by)}
    found = _figures(table, asked, message("looking at the variables"), progress)
    for n, name in enumerate(by):
        check_categories(name, int(found[f"d{n}"] or 0))


def _number(table: Records, name: str, scale: int = 9) -> Value:
    return table[name].cast(f"decimal(38, {scale})")


def _measures(table: Records, weight: str | None) -> dict[str, Value]:
    """The sums that the engine computes."""
    if weight is None:
        return {f"{MARK}n": table.count()}
    number = _number(table, weight)
    text = table[weight].cast("string")
    return {
        f"{MARK}n": number.sum(),
        f"{MARK}unread": table[weight].isnull().sum(),
        f"{MARK}least": number.min(),
        f"{MARK}example": text.max(where=number < 0),
    }


def _weight_ends(table: Records, name: str, progress: Progress) -> tuple[int, int]:
    number = _number(table, name)
    asked = {"low": number.min(), "high": number.max(), "gone": table[name].isnull().sum()}
    found = _figures(table, asked, message("looking at the weights"), progress)
    low, high = found["low"], found["high"]
    if found["gone"] or low is None or high is None or low < 0 or high > 10**9:
        raise InputError(
            message("{name}: a design weight is no number from 0 to 10^9", name),
            hint=message("every record needs its weight, of 0 or more"),
        )
    return round(low * SCALE), round(high * SCALE)


def _key(table: Records, name: str, progress: Progress) -> tuple[Value, int]:
    """A record key as a whole number, and what all lie below, after a check of all keys."""
    # The same number of places as for records read here, so that rounding and keys agree.
    number = _number(table, name, 19)
    asked = {
        "low": number.min(), "high": number.max(), "gone": table[name].isnull().sum(),
        "broken": (number - number.floor()).max(), "records": table.count(),
    }  # fmt: skip
    found = _figures(table, asked, message("looking at the record keys"), progress)
    hint = message("record keys are fractions from 0 up to below 1, or whole numbers below 10^8")
    if gone := int(found["gone"] or 0):
        raise InputError(
            plural(
                gone,
                "{name}: {found:,} record has no key",
                "{name}: {found:,} records have no key",
                name,
                gone,
            ),
            hint=hint,
        )
    low, high, broken = found["low"], found["high"], bool(found["broken"])
    if low is not None and high is not None:
        if low < 0 or high >= (1 if broken else KEY_MODULUS):
            raise InputError(message("{name}: a record key lies outside its range", name), hint=hint)
        if low == high:
            raise InputError(message("{name}: all record keys are the same", name), hint=hint)
    if broken or low is None or high is None:
        return (number * KEY_MODULUS).round().cast("int64"), KEY_MODULUS
    return number.cast("int64"), key_range(name, int(found["records"] or 0), (int(low), int(high)))
