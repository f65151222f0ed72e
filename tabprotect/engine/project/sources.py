"""Opening whatever a person names: ``example:NAME`` or a file, a table or records."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from tabprotect.engine.cycles.files import read as read_cycles
from tabprotect.engine.errors import InputError
from tabprotect.engine.progress import SILENT, Progress
from tabprotect.engine.project.examples import PREFIX, load_example
from tabprotect.engine.tables.files import read_table
from tabprotect.engine.tables.moves import MoveSet
from tabprotect.engine.tables.table import Table

if TYPE_CHECKING:
    from tabprotect.engine.microdata.tabulate import Tabulated

RECORDS = (".parquet", ".pq")
"""Files that can hold nothing but records."""


@dataclass(frozen=True)
class Opened:
    """A table with what came with it."""

    table: Table
    moves: MoveSet | None = None
    title: str = ""
    notes: tuple[str, ...] = ()


def open_table(
    source: str | Path,
    *,
    count: str | None = None,
    strip_totals: bool = False,
    fill_missing: bool = False,
    delimiter: str | None = None,
    decimal: str | None = None,
    encoding: str | None = None,
    progress: Progress = SILENT,
) -> Opened:
    """Open ``example:NAME`` or a table file (options as for ``read_table``).

    Only examples have a title: a file's name could carry a person or a place into a release.

    Raises
    ------
    InputError
        For an unknown example, records that are no table yet, or a faulty file.
    """
    if not str(source).startswith(PREFIX):
        path = Path(source)
        if path.suffix.lower() in RECORDS:
            raise _records(path.name)
        read = read_table(
            path,
            count=count,
            strip_totals=strip_totals,
            fill_missing=fill_missing,
            delimiter=delimiter,
            decimal=decimal,
            encoding=encoding,
            progress=progress,
        )
        return Opened(read.table, notes=read.notes)
    example = load_example(str(source).removeprefix(PREFIX))
    if example.microdata:
        raise _records(str(source))
    table = read_table(example.file, progress=progress).table
    moves = None
    if example.cycles is not None:
        moves = read_cycles(example.cycles, domain=table.domain)
    return Opened(table, moves, example.title)


def _records(name: str) -> InputError:
    return InputError(
        f"{name} holds records, not a table",
        hint=f"tabulate them first: tabprotect tabulate {name} --by A,B --out table.csv",
    )


def records_file(source: str | Path) -> Path:
    """The microdata file that ``example:NAME`` or a path means.

    Raises
    ------
    InputError
        For an example that is a table.
    """
    if not str(source).startswith(PREFIX):
        return Path(source)
    example = load_example(str(source).removeprefix(PREFIX))
    if not example.microdata:
        raise InputError(f"{source} is a table, not records", hint="open it as a table")
    return example.file


def tabulate_source(
    source: str | Path,
    by: Sequence[str],
    *,
    weight: str | None = None,
    record_key: str | None = None,
    design_weight: str | None = None,
    progress: Progress = SILENT,
) -> Tabulated:
    """Tabulate ``example:NAME`` or a microdata file (see ``microdata.tabulate``)."""
    # Late: DuckDB costs a tenth of the program's start.
    from tabprotect.engine.microdata.tabulate import tabulate_with_keys

    return tabulate_with_keys(
        records_file(source),
        by,
        weight=weight,
        record_key=record_key,
        design_weight=design_weight,
        progress=progress,
    )
