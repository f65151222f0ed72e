"""DuckDB on foreign CSV, Parquet and database files: a connection that reads no other file."""

from __future__ import annotations

from array import array
from collections.abc import Callable, Mapping, Sequence
from decimal import Decimal
from threading import Event, Thread
from typing import TYPE_CHECKING

from tabprotect.engine.foreign.wire import Buffer
from tabprotect.engine.foreign.worker import Answer, Refused

if TYPE_CHECKING:
    import duckdb
    import numpy as np

TELL = 0.1
"""Seconds between two words on how far a query is."""

FEW = 4096
"""The rows up to which columns are made without numpy, which takes longer to load than to make them."""

_KINDS = {"int8": "i1", "int32": "i4", "int64": "i8", "float64": "f8", "bool": "b1"}

_WHOLE = {
    **dict.fromkeys(("TINYINT", "SMALLINT", "INTEGER", "UTINYINT", "USMALLINT"), ("i", "i4")),
    **dict.fromkeys(("UINTEGER", "BIGINT"), ("q", "i8")),
}
"""SQL's types of whole numbers: the code of an array that holds them, and the buffer's kind."""

_open: list[duckdb.DuckDBPyConnection] = []
"""The connection of this process, while there is one."""


def connect(of: Mapping[str, object], buffers: Sequence[Buffer], tell: Callable[[float], None]) -> Answer:
    """Open a connection: no network, no extensions, no temporary files.

    ``paths`` are SQL strings of the files that it may touch; ``database`` is attached as ``source``;
    ``ordered`` if rows come in the order of the file; ``memory`` in bytes.
    """
    import duckdb

    close(of, buffers, tell)
    connection = duckdb.connect(
        ":memory:",
        config={
            "autoinstall_known_extensions": "false",
            "autoload_known_extensions": "false",
            "temp_directory": "",
            "preserve_insertion_order": "true" if of["ordered"] else "false",
            "memory_limit": f"{int(str(of['memory'])) // 2**20}MiB",
        },
    )
    _open.append(connection)
    paths: Sequence[str] = of["paths"]  # type: ignore[assignment]
    try:
        connection.execute(f"SET allowed_paths = [{', '.join(paths)}]::VARCHAR[]")
        if of["database"] is not None:
            connection.execute(f"ATTACH {of['database']} AS source (READ_ONLY)")
        connection.execute("SET enable_external_access = false")
        connection.execute("SET enable_progress_bar = true")
        connection.execute("SET enable_progress_bar_print = false")
        connection.execute("SET lock_configuration = true")
    except duckdb.Error as error:
        raise _refused(error) from None
    return None, ()


def _load(of: Mapping[str, object]) -> None:
    # What it takes to load it is not the file's.
    import duckdb  # noqa: F401


connect.ready = _load  # type: ignore[attr-defined]


def execute(of: Mapping[str, object], buffers: Sequence[Buffer], tell: Callable[[float], None]) -> Answer:
    """Run a statement; buffers become the table ``of["register"]``, a column each."""
    import duckdb

    connection = _open[-1]
    if of["register"]:
        import numpy as np

        connection.register(
            str(of["register"]), {f"c{n}": np.frombuffer(one.data, one.kind) for n, one in enumerate(buffers)}
        )
    ended = Event()

    def watch() -> None:
        while not ended.wait(TELL):
            tell(min(max(connection.query_progress(), 0.0), 100.0) / 100)

    watching = Thread(target=watch, daemon=True)
    watching.start()
    try:
        connection.execute(str(of["sql"]), of["parameters"])
    except duckdb.Error as error:
        raise _refused(error) from None
    finally:
        ended.set()
        watching.join()
    return None, ()


def fetch(of: Mapping[str, object], buffers: Sequence[Buffer], tell: Callable[[float], None]) -> Answer:
    """Rows of the last statement: one, all, or columns of numbers as buffers (missing ones marked)."""
    import duckdb

    connection = _open[-1]
    try:
        if of["what"] == "one":
            row = connection.fetchone()
            return None if row is None else [_plain(value) for value in row], ()
        if of["what"] == "all":
            return [[_plain(value) for value in row] for row in connection.fetchall()], ()
        types = [str(column[1]) for column in connection.description]
        few = connection.fetchmany(FEW) if all(kind in _WHOLE for kind in types) else []
        if 0 < len(few) < FEW:
            return _few([column[0] for column in connection.description], types, few)
        found = connection.fetchnumpy()
    except duckdb.Error as error:
        raise _refused(error) from None
    import numpy as np

    names, out = [], []
    for place, (name, column) in enumerate(found.items()):
        values, gone = np.ma.getdata(column), np.ma.getmaskarray(column)
        if few:
            begun = np.array([row[place] or 0 for row in few], values.dtype)
            values = np.concatenate((begun, values))
            gone = np.concatenate(([row[place] is None for row in few], gone))
        names.append([name, bool(gone.any())])
        if values.dtype.name not in _KINDS:
            values = values.astype(np.int32 if values.dtype.itemsize < 4 else np.int64)
        out.append(Buffer(_KINDS[values.dtype.name], _bytes(values)))
        if names[-1][1]:
            out.append(Buffer("b1", _bytes(gone)))
    return names, out


def _few(names: Sequence[str], types: Sequence[str], rows: Sequence[Sequence[int | None]]) -> Answer:
    """Columns of whole numbers, missing ones marked, from rows of them."""
    said, out = [], []
    for name, kind, column in zip(names, types, zip(*rows, strict=True), strict=True):
        code, buffer = _WHOLE[kind]
        out.append(Buffer(buffer, memoryview(array(code, [n or 0 for n in column])).cast("B")))
        said.append([name, None in column])
        if None in column:
            gone = bytes(n is None for n in column)
            out.append(Buffer("b1", gone))
    return said, out


def _bytes(values: np.ndarray) -> memoryview | bytes:
    import numpy as np

    return np.ascontiguousarray(values).data.cast("B") if values.size else b""


def close(of: Mapping[str, object], buffers: Sequence[Buffer], tell: Callable[[float], None]) -> Answer:
    """Forget the connection with all it has read."""
    while _open:
        _open.pop().close()
    return None, ()


def _refused(error: duckdb.Error) -> Refused:
    said = str(error).encode("utf-8", "replace").decode("utf-8")
    return Refused("query", [type(error).__name__, said[:100_000]])


def _plain(value: object) -> object:
    """A value as JSON has it; a decimal keeps its digits."""
    if value is None or type(value) in (str, int, float, bool):
        return value
    return [str(value)] if isinstance(value, Decimal) else str(value)
