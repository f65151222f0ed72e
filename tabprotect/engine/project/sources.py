"""Opening a source: ``example:NAME`` or a file, of a table or of records."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from tabprotect.engine.cycles.cycle_files import read as read_cycles
from tabprotect.engine.errors import InputError, RecordsError
from tabprotect.engine.formats.reading_options import Reading
from tabprotect.engine.formats.table_reading import read_table
from tabprotect.engine.progress import SILENT, Progress
from tabprotect.engine.project.examples import PREFIX, load_example
from tabprotect.engine.tables.kept_total import KeptTotal
from tabprotect.engine.tables.moves import MoveSet
from tabprotect.engine.tables.table import Table
from tabprotect.languages.said import say


@dataclass(frozen=True)
class Opened:
    """A table with everything that came with it."""

    table: Table
    moves: MoveSet | None = None
    title: str = ""
    notes: tuple[str, ...] = ()
    kept_totals: tuple[KeptTotal, ...] = ()


def open_table(
    source: str | Path,
    reading: Reading | None = None,
    *,
    signed: bool = False,
    progress: Progress = SILENT,
) -> Opened:
    """Open ``example:NAME`` or a table file.

    Only examples have a title: a file's name could carry a person or a place into a release. With
    ``signed`` the counts of a file may be negative, as a mechanism may publish them.

    Raises
    ------
    InputError
        For an unknown example or a faulty file.
    RecordsError
        For records that are no table yet.
    """
    if not str(source).startswith(PREFIX):
        read = read_table(source, reading, signed=signed, progress=progress)
        return Opened(read.table, notes=read.notes, kept_totals=read.kept)
    example = load_example(str(source).removeprefix(PREFIX))
    if example.microdata:
        raise RecordsError(
            say("{source} holds records, not a table", source),
            hint=say(
                "tabulate them first: tabprotect tabulate {source} --by A,B --out table.csv", source
            ),
        )
    table = read_table(example.file, progress=progress).table
    moves = None
    if example.cycles is not None:
        moves = read_cycles(example.cycles, domain=table.domain)
    return Opened(table, moves, example.title)


def records_file(source: str | Path) -> Path | str:
    """The records file of ``example:NAME``, or the path or URL as given.

    Raises
    ------
    InputError
        For an example that is a table.
    """
    if not str(source).startswith(PREFIX):
        return source
    example = load_example(str(source).removeprefix(PREFIX))
    if not example.microdata:
        raise InputError(
            say("{source} is a table, not records", source), hint=say("open it as a table")
        )
    return example.file
