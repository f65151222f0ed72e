"""Opening a source: ``example:NAME`` or a file, of a table or of records that are added up."""

from __future__ import annotations

from dataclasses import dataclass, fields
from pathlib import Path
from typing import TYPE_CHECKING

from tabprotect.engine.cycles.cycle_files import read as read_cycles
from tabprotect.engine.errors import InputError, ParameterError, RecordsError
from tabprotect.engine.formats.reading_options import Reading
from tabprotect.engine.formats.table_reading import read_table
from tabprotect.engine.formats.totals.settled_totals import NONE
from tabprotect.engine.paths import is_url
from tabprotect.engine.progress import SILENT, Progress
from tabprotect.engine.project.examples import PREFIX, load_example
from tabprotect.engine.project.options import MagnitudeTabulation, Tabulation
from tabprotect.engine.tables.kept_total import KeptTotal
from tabprotect.engine.tables.moves import MoveSet
from tabprotect.engine.tables.table import Table
from tabprotect.languages.messages import message

if TYPE_CHECKING:
    from tabprotect.engine.magnitudes.tables.magnitude_table import MagnitudeTable
    from tabprotect.engine.microdata.coding import Codings
    from tabprotect.engine.microdata.record_files import GivenRecords


AS_IT_IS = Reading(totals=NONE)
"""How the table of an example is read: all of inner cells."""


def sums_not_counts(measure: str) -> InputError:
    """The error for a table of sums where nobody said that sums are meant."""
    return InputError(
        message("this is a table of sums, and nobody said that sums are meant"),
        hint=message("say which: --measure {measure}", measure or "NAME"),
    )


def counts_not_sums(measure: str) -> InputError:
    """The error for a table of counts where sums are meant."""
    return InputError(
        message("the table holds counts, and no sums of {measure}", repr(measure)),
        hint=message("leave the measure out: --measure"),
    )


def of_measure(table: MagnitudeTable, measure: str) -> MagnitudeTable:
    """The table, where it sums this measure.

    Raises
    ------
    InputError
        Where it sums another.
    """
    if table.measure != measure:
        raise InputError(
            message("the table sums {found}, not {measure}", repr(table.measure), repr(measure)),
            hint=message("say which: --measure {found}", table.measure),
        )
    return table


def summed(path: Path, measure: str) -> MagnitudeTable:
    """The table of sums of a measure in a file.

    Raises
    ------
    InputError
        For a table of counts, and for one of another measure.
    """
    # Late: most sources hold counts.
    from tabprotect.engine.magnitudes.files.sniffing import is_magnitudes
    from tabprotect.engine.magnitudes.files.table_files import read_magnitudes

    if not is_magnitudes(path):
        raise counts_not_sums(measure)
    return of_measure(read_magnitudes(path), measure)


@dataclass(frozen=True)
class Opened:
    """A table with everything that came with it."""

    table: Table
    moves: MoveSet | None = None
    title: str = ""
    notes: tuple[str, ...] = ()
    kept_totals: tuple[KeptTotal, ...] = ()
    statuses: str = ""


def open_table(
    source: str | Path, reading: Reading | None = None, *, signed: bool = False, progress: Progress = SILENT
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
        return Opened(read.table, notes=read.notes, kept_totals=read.kept, statuses=read.statuses)
    example = load_example(str(source).removeprefix(PREFIX))
    if reading is not None and (given := reading.given):
        raise ParameterError(dict.fromkeys(given, message("an example is opened as it is")))
    if example.microdata:
        raise RecordsError(
            message("{source} holds records, not a table", source),
            hint=message(
                "tabulate them first: tabprotect tabulate {source} --by A,B --out table.csv", source
            ),
        )
    table = read_table(example.file, AS_IT_IS, progress=progress).table
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
            message("{source} is a table, not records", source), hint=message("open it as a table")
        )
    return example.file


def absolute(source: str) -> str:
    """The absolute path, so that a recipe run elsewhere still means the same file."""
    kept = source.startswith(PREFIX) or is_url(source)
    return source if kept else str(Path(source).absolute())


def codings_of(asked: Tabulation) -> Codings:
    """Return how variables are coded while records are counted."""
    # Late: who protects a table does not wait for what counts records.
    from tabprotect.engine.microdata.coding import Codings

    return Codings(
        asked.bands or {},
        asked.cuts or {},
        asked.code_lists or {},
        asked.levels or {},
        asked.level_names or {},
        asked.mapping or {},
        asked.order,
    )


def magnitudes_tabulated(
    asked: MagnitudeTabulation, progress: Progress, records: GivenRecords | None = None
) -> MagnitudeTable:
    """The sums of a measure over records in memory, or in ``asked.source``, with their contributors."""
    # Late: DuckDB takes a tenth of the program's start.
    from tabprotect.engine.magnitudes.files.top_tables import names_largest, read_top_table
    from tabprotect.engine.magnitudes.tables.described_columns import described
    from tabprotect.engine.magnitudes.tables.tabulating import MeasuredColumns, tabulate_magnitudes

    names = {field.name for field in fields(MeasuredColumns)} - {"asks"}
    columns, codings = MeasuredColumns(**{name: getattr(asked, name) for name in names}), codings_of(asked)
    if records is not None:
        return tabulate_magnitudes(records, tuple(asked.by), columns, codings=codings, progress=progress)
    source = records_file(absolute(asked.source))
    if names_largest(Path(source)):
        table, notes = read_top_table(Path(source), asked.measure)
        for note in notes:
            progress.report(note, 0.0)
        if asked.by and list(asked.by) != [v.name for v in table.variables]:
            raise InputError(
                message("the table is one by {names}", ", ".join(v.name for v in table.variables)),
                hint=message("leave the variables out (--by), or tabulate the records"),
            )
        return table
    return tabulate_magnitudes(
        source, tuple(asked.by), described(source, columns), codings=codings, progress=progress
    )
