"""DuckDB on a file that may be hostile: names and paths as SQL, and a connection that reads no other."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import duckdb


def quoted(name: str) -> str:
    """A name as an SQL identifier."""
    return '"' + name.replace('"', '""') + '"'


def literal(text: str) -> str:
    """A text as an SQL string."""
    return "'" + text.replace("'", "''") + "'"


def file_literal(path: Path) -> str:
    """A path as DuckDB's glob pattern that matches nothing else, as an SQL string."""
    return literal(re.sub(r"([*?\[])", r"[\1]", str(path.absolute())))


@contextmanager
def connected(
    *paths: Path, ordered: bool = False, database: Path | None = None
) -> Iterator[duckdb.DuckDBPyConnection]:
    """A connection that may read only the given files: no network, no extensions, no temporary files.

    Parameters
    ----------
    ordered
        True if rows must come in the order of the file.
    database
        A DuckDB file, attached as ``source``.
    """
    # Imported late: DuckDB takes a tenth of the program's start.
    import duckdb

    connection = duckdb.connect(
        ":memory:",
        config={
            "autoinstall_known_extensions": "false",
            "autoload_known_extensions": "false",
            "temp_directory": "",
            "preserve_insertion_order": "true" if ordered else "false",
        },
    )
    try:
        # DuckDB compares whole paths: both the pattern and the files it matches.
        names = [name for p in paths for name in (literal(str(p.absolute())), file_literal(p))]
        connection.execute(f"SET allowed_paths = [{', '.join(names)}]::VARCHAR[]")
        if database is not None:
            connection.execute(f"ATTACH {literal(str(database.absolute()))} AS source (READ_ONLY)")
        connection.execute("SET enable_external_access = false")
        connection.execute("SET enable_progress_bar = true")
        connection.execute("SET enable_progress_bar_print = false")
        connection.execute("SET lock_configuration = true")
        yield connection
    finally:
        connection.close()
