"""SQL on a file that may be hostile: connections that read no other."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

import numpy as np

from tabprotect.engine.arrays import Bools, Ints
from tabprotect.engine.errors import InputError
from tabprotect.engine.foreign.answers import rows_of, text
from tabprotect.engine.foreign.limits import Limits
from tabprotect.engine.foreign.reader import Reader, RefusedFileError, lent, limits_for, stopped
from tabprotect.engine.foreign.wire import Buffer, WireError
from tabprotect.engine.formats.rows.sql_text import file_literal, literal

if TYPE_CHECKING:
    import duckdb

T = TypeVar("T")

Row = tuple[Any, ...]
"""The values of a row, as the query makes them: texts, numbers, truth values, decimals, or nothing."""

Column = Ints | Bools | np.ndarray


class QueryError(Exception):
    """An error that DuckDB raises for a query.

    Attributes
    ----------
    kind
        The name of its class in DuckDB.
    """

    def __init__(self, kind: str, said: str) -> None:
        super().__init__(said)
        self.kind = kind


class Rows(Protocol):
    """The rows that a query found."""

    def fetchone(self) -> Row | None: ...
    def fetchall(self) -> list[Row]: ...
    def fetchnumpy(self) -> Mapping[str, Column]: ...


class Connection(Protocol):
    """A connection that runs one statement after the other."""

    def execute(self, sql: str, parameters: object = None) -> Rows: ...
    def query_progress(self) -> float: ...
    def interrupt(self) -> None: ...


class ReadersConnection:
    """A connection in the reader's process: what DuckDB does with a foreign file it does there."""

    def __init__(self, reader: Reader, files: Sequence[Path], limits: Limits) -> None:
        self._reader = reader
        self._limits = limits
        self._file = files[0] if files else Path()

    def ask(
        self, do: str, of: Mapping[str, object], buffers: Sequence[Buffer] = ()
    ) -> tuple[object, Sequence[Buffer]]:
        """The reader's answer.

        Raises
        ------
        QueryError
        InputError
            If the file made the reader stop, or :meth:`interrupt` did.
        """
        try:
            return self._reader.ask(do, of, buffers, limits=self._limits)
        except WireError:
            raise stopped(self._file) from None
        except RefusedFileError as refused:
            kind, said = refused.said if type(refused.said) is list else ("", refused.said)
            raise QueryError(str(kind), str(said)) from None

    def execute(self, sql: str, parameters: object = None) -> ReadersConnection:
        """Run a statement; its rows are fetched from this connection."""
        self.ask("execute", {"sql": sql, "parameters": parameters, "register": ""})
        return self

    def register(self, name: str, columns: Sequence[Ints]) -> None:
        """Hand over a table of numbers with the columns c0, c1, ..."""
        buffers = [Buffer("i8", np.ascontiguousarray(one).tobytes()) for one in columns]
        self.ask("execute", {"sql": "SELECT 1", "parameters": None, "register": name}, buffers)

    def query_progress(self) -> float:
        """Return how far the statement is, in per cent."""
        return 100 * self._reader.done

    def interrupt(self) -> None:
        """Break off the statement; the connection is gone with it."""
        self._reader.end()

    def fetchone(self) -> Row | None:
        """The next row."""
        found, _ = self.ask("fetch", {"what": "one"})
        return None if found is None else self._row(rows_of([found], 1, None, self._file)[0])

    def fetchall(self) -> list[Row]:
        """All rows that are left."""
        found, _ = self.ask("fetch", {"what": "all"})
        return [self._row(row) for row in rows_of(found, 0, None, self._file)]

    def fetchnumpy(self) -> dict[str, Column]:
        """All rows that are left as columns of numbers, masked where they are missing."""
        names, buffers = self.ask("fetch", {"what": "numpy"})
        left = iter(buffers)
        found: dict[str, Column] = {}
        for name, masked in rows_of(names, 0, 2, self._file):
            column = _array(left, self._file)
            if masked:
                column = np.ma.MaskedArray(column, mask=_array(left, self._file))
            found[text(name, self._file)] = column
        if len({len(column) for column in found.values()}) > 1:
            raise stopped(self._file)
        return found

    def _row(self, values: Sequence[object]) -> Row:
        return tuple(
            Decimal(str(value[0])) if type(value) is list
            else text(value, self._file) if type(value) is str
            else value
            for value in values
        )  # fmt: skip


def _array(buffers: Iterator[Buffer], file: Path) -> np.ndarray:
    one = next(buffers, None)
    if one is None:
        raise stopped(file)
    found = np.frombuffer(one.data, one.kind if one.kind != "b1" else np.uint8)
    return found if one.kind != "b1" else found != 0


@contextmanager
def connected(
    *paths: Path, ordered: bool = False, database: Path | None = None, written: Path | None = None
) -> Iterator[ReadersConnection]:
    """A connection that may read only the given files: no network, no extensions, no temporary files.

    It is in the reader's process, and so is everything that DuckDB makes of the files.

    Parameters
    ----------
    ordered
        True if rows must come in the order of the file.
    database
        A DuckDB file, attached as ``source``.
    written
        A file that may be written.
    """
    files = [*paths, *([database] if database is not None else [])]
    # DuckDB compares whole paths: both the pattern and the files it matches.
    names = [name for p in paths for name in (literal(str(p.absolute())), file_literal(p))]
    names += [literal(str(written.absolute()))] if written is not None else []
    size = sum(path.stat().st_size for path in files)
    limits = limits_for(size, written=-1 if written is not None else 0)
    with lent(size) as reader:
        connection = ReadersConnection(reader, files, limits)
        attached = None if database is None else literal(str(database.absolute()))
        connection.ask(
            "connect",
            {"paths": names, "ordered": ordered, "database": attached, "memory": limits.memory * 3 // 4},
        )
        try:
            yield connection
        finally:
            if reader.alive:
                try:
                    connection.ask("close", {})
                except (InputError, QueryError):
                    reader.end()


class OwnConnection:
    """A connection in this process, for columns that have been read and checked: no file, no network."""

    def __init__(self, connection: duckdb.DuckDBPyConnection) -> None:
        # Imported late: DuckDB takes a tenth of the program's start.
        import duckdb

        self._refusal = duckdb.Error
        self._connection = connection

    def _with_query_errors(self, work: Callable[[], T]) -> T:
        try:
            return work()
        except self._refusal as error:
            raise QueryError(type(error).__name__, str(error)) from None

    def execute(self, sql: str, parameters: object = None) -> OwnConnection:
        """Run a statement; its rows are fetched from this connection."""
        self._with_query_errors(lambda: self._connection.execute(sql, parameters))
        return self

    def fetchone(self) -> Row | None:
        """The next row."""
        return self._with_query_errors(self._connection.fetchone)

    def fetchall(self) -> list[Row]:
        """All rows that are left."""
        return self._with_query_errors(self._connection.fetchall)

    def fetchnumpy(self) -> Mapping[str, Column]:
        """All rows that are left as columns of numbers, masked where they are missing."""
        return self._with_query_errors(self._connection.fetchnumpy)

    def register(self, name: str, columns: Mapping[str, np.ndarray]) -> None:
        """Make columns a table."""
        self._connection.register(name, dict(columns))

    def query_progress(self) -> float:
        """Return how far the statement is, in per cent."""
        return self._connection.query_progress()

    def interrupt(self) -> None:
        """Break off the statement."""
        self._connection.interrupt()


@contextmanager
def in_memory() -> Iterator[OwnConnection]:
    """A connection for columns at hand."""
    # Late, as above.
    import duckdb

    settings: dict[str, str | bool | int | float | list[str]] = {
        "autoinstall_known_extensions": "false",
        "autoload_known_extensions": "false",
        "temp_directory": "",
        "preserve_insertion_order": "false",
    }
    with duckdb.connect(":memory:", config=settings) as connection:
        connection.execute("SET enable_external_access = false")
        connection.execute("SET enable_progress_bar = true")
        connection.execute("SET enable_progress_bar_print = false")
        connection.execute("SET lock_configuration = true")
        yield OwnConnection(connection)
