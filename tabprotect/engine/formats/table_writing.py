"""Writing a table of counts as a file of any registered format."""

from __future__ import annotations

import gzip
from pathlib import Path

from tabprotect.engine.atomic import write_bytes
from tabprotect.engine.errors import InputError, in_file
from tabprotect.engine.formats.format import Format
from tabprotect.engine.formats.registered import TEXT, by_suffix, foreign, named
from tabprotect.engine.tables.cube import Cube
from tabprotect.engine.tables.table import Table
from tabprotect.languages.messages import joined, message


def format_to_write(path: Path, name: str | None = None) -> Format:
    """The format in which a file is to be written: the named one, else the one of its suffix.

    Raises
    ------
    InputError
        For a format that is read only, a file called what is not written, or a compressed file that is
        not text.
    ParameterError
        For an unknown name.
    """
    kind = named(name) if name is not None else by_suffix(path) or named(TEXT)
    if not kind.writes:
        raise InputError(
            message("tables are not written as {label}", kind.label),
            file=path,
            hint=message("choose another format: --format NAME"),
        )
    called = by_suffix(path)
    suffix = path.suffix.lower()
    if called is not None and suffix in called.only_read:
        raise InputError(
            message("{suffix} files are read, not written", suffix),
            file=path,
            hint=message("write {others}", joined(_written(called), " ")),
        )
    other = foreign(path, b"") if called is None else None
    if other is not None:
        raise InputError(
            message("{label} is not written", other.label),
            file=path,
            hint=message("call it what it is, such as {name}", path.with_suffix(kind.suffixes[0]).name),
        )
    if path.suffix.lower() == ".gz" and kind.name != TEXT:
        raise InputError(message("only text is compressed"), file=path, hint=message("leave out .gz"))
    return kind


def _written(kind: Format) -> list[str]:
    return [suffix for suffix in kind.suffixes if suffix not in kind.only_read and suffix != ".gz"]


def write_table(table: Table, path: Path, kind: Format, *, strict: bool = True) -> list[str]:
    """Write a confidential table, whole or not at all, readable by its owner alone (mode 0600).

    Parameters
    ----------
    strict
        False to replace texts that the format cannot hold.

    Returns
    -------
    list of str
        What was replaced.

    Raises
    ------
    InputError
        If the format cannot carry the table, or the file cannot be written.
    """
    with in_file(path):
        domain, notes = kind.held(table.domain, strict=strict)
        table = table.on(domain)
        data = kind.write(table)
        beside = kind.beside(Cube(table), path)
    if path.suffix.lower() == ".gz":
        # Without the time: the same bytes for the same table.
        data = gzip.compress(data, mtime=0)
    for name, more in beside.items():
        write_bytes(path.with_name(name), more, private=True)
    write_bytes(path, data, private=True)
    return notes
