"""The places of records: a file, a folder, a pattern, a table of a database, or a URL."""

from __future__ import annotations

import glob
import re

# Of a name that no file can have these say no; the methods of paths raise.
from os.path import exists, isdir
from pathlib import Path
from urllib.parse import urlsplit

from tabprotect.engine.budgets import MOST_FILES
from tabprotect.engine.errors import InputError
from tabprotect.engine.formats.registered import format_of
from tabprotect.engine.formats.rows.sql import Connection
from tabprotect.engine.formats.rows.sql_text import quoted
from tabprotect.engine.paths import check_file, is_file
from tabprotect.languages.messages import message

_PATTERN = re.compile(r"[*?\[]")
_DATABASE = b"DUCK"

CLUSTER = "dask://"
"""The prefix of sources counted by the workers of a Dask scheduler: ``dask://host:8786/folder``."""


def is_cluster(source: str) -> bool:
    """Return True if the records are files counted by the workers of a cluster."""
    return source.startswith(CLUSTER)


def split_cluster(source: str) -> tuple[str, str]:
    """The address of a scheduler, and the path of files as seen both by its workers and here.

    Raises
    ------
    InputError
        If one of them is not named.
    """
    address, slash, path = source.removeprefix(CLUSTER).partition("/")
    if not slash or not address:
        raise InputError(
            message("the source names no scheduler or no files"),
            hint="for example dask://host:8786/shared/people/*.parquet",
        )
    return address, f"/{path}"


def split_url(source: str) -> tuple[str, str]:
    """The URL of an engine and the name of a table.

    Raises
    ------
    InputError
        If no table is named, or the URL has a password: sources are kept in projects.
    """
    url, _, table = source.partition("#")
    if not table:
        raise InputError(
            message("the source names no table"), hint="for example postgresql://host/base#people"
        )
    if urlsplit(url).password:
        raise InputError(
            message("a password stands in the source, which is kept in projects and recipes"),
            hint=message("leave it out: PostgreSQL takes it from PGPASSWORD or ~/.pgpass"),
        )
    return url, table


def files_of(source: str) -> tuple[list[Path], str]:
    """The files of a source, sorted, and the table it names in a database.

    Raises
    ------
    InputError
        For a folder or a pattern without a file, or files of several formats.
    """
    path = Path(source)
    if isdir(path):
        every = [p for p in sorted(path.rglob("*")) if is_file(p) and not p.name.startswith(".")]
        files = [p for p in every if not _hidden(p, path)]
    elif exists(path) or not _PATTERN.search(source):
        if not exists(path) and "#" in source:
            file, _, table = source.rpartition("#")
            check_file(Path(file))
            return [Path(file)], table
        check_file(path)
        return [path], ""
    else:
        found = glob.iglob(source, recursive=True)
        files = sorted(p for p in map(Path, found) if is_file(p))
    if not files:
        raise InputError(
            message("no file is there"), file=source, hint=message("check the folder, or the pattern")
        )
    if len(files) > MOST_FILES:
        raise InputError(
            message("more than {MOST_FILES:,} files", MOST_FILES), file=source, hint=message("name fewer")
        )
    kinds = {format_of(file).name: file for file in files}
    if len(kinds) > 1:
        raise InputError(
            message("the files are of several formats: {kinds}", ", ".join(sorted(kinds))),
            file=source,
            hint=message('name those of one, for example "folder/*.parquet"'),
        )
    return files, ""


def _hidden(path: Path, folder: Path) -> bool:
    """Return True for files that engines skip: ``_SUCCESS``, ``_metadata``, those in hidden folders."""
    return any(part.startswith((".", "_")) for part in path.relative_to(folder).parts)


def is_database(path: Path) -> bool:
    """Return True if a file is a DuckDB database."""
    with path.open("rb") as file:
        return file.read(12)[8:] == _DATABASE


def table_of(connection: Connection, path: Path, name: str) -> str:
    """A table of the attached database as SQL; its only table if none is named.

    Raises
    ------
    InputError
        Naming the tables it has.
    """
    rows = connection.execute(
        "SELECT table_schema, table_name FROM information_schema.tables "
        "WHERE table_catalog = 'source' ORDER BY ALL"
    ).fetchall()
    wanted = [r for r in rows if not name or name in (r[1], f"{r[0]}.{r[1]}")]
    if len(wanted) != 1:
        listed = ", ".join(r[1] if r[0] == "main" else f"{r[0]}.{r[1]}" for r in rows[:20])
        raise InputError(
            message("the database has no table {name}", repr(name))
            if name
            else message("the database has {rows} tables", len(rows)),
            file=path,
            hint=message("say which: {name}#TABLE; there are {listed}", path.name, listed),
        )
    return f"source.{quoted(wanted[0][0])}.{quoted(wanted[0][1])}"
