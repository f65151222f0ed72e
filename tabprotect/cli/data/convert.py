"""``convert``: a table in another format."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path

from tabprotect.cli.arguments import MAGNITUDES, STREAM, TableReading, keep_apart, open_source, to_stream
from tabprotect.cli.declaring import check_measure, command
from tabprotect.cli.output import Console
from tabprotect.cli.verbs import UsageError
from tabprotect.engine.formats.database_writing import write_to_database
from tabprotect.engine.formats.format import Format
from tabprotect.engine.formats.registered import format_names
from tabprotect.engine.formats.table_writing import format_to_write, write_table
from tabprotect.engine.magnitudes.files.sniffing import is_magnitudes
from tabprotect.engine.options import Options, option_field, part, position
from tabprotect.engine.project.options import Judging
from tabprotect.engine.tables.table import Table
from tabprotect.languages.messages import message


@dataclass(frozen=True, kw_only=True)
class Convert(Options):
    """Arguments of ``convert``."""

    table: str = position(
        metavar="TABLE", help=message("a file, a project, example:NAME, or - for standard input")
    )
    format: str | None = option_field(
        None, choices=format_names(), help=message("where the name of the file does not say it")
    )
    out: Path | None = option_field(
        None,
        required=True,
        metavar="FILE",
        help=message("the same counts, CONFIDENTIAL; - for standard output"),
    )
    to: str | None = option_field(
        None,
        in_place_of="out",
        metavar="URL",
        help=message("a new table of a database: postgresql://host/base/table, CONFIDENTIAL"),
    )
    counts: bool = option_field(
        False, help=message("of a magnitude table: the count table of the same records")
    )
    judging: Judging = part(Judging, group=MAGNITUDES)
    reading: TableReading = part(TableReading)


def _magnitudes(asked: Convert, console: Console) -> int:
    """Write the sums with their numbers of units and contributors; who they are stays behind."""
    # Late: tables of counts, which are most, do not wait for it.
    from tabprotect.engine.magnitudes.files.table_files import read_magnitudes
    from tabprotect.engine.project.magnitude_writing import write_magnitudes
    from tabprotect.engine.sensitivity.magnitude_rules import rules_of

    # The counts of its records are written as any table of counts.
    options = replace(asked.reading.options, strict=False) if asked.counts else asked.reading.options
    check_measure(replace(asked, reading=replace(asked.reading, options=options)), "magnitudes")
    if asked.out is None:
        raise UsageError(message("a magnitude table is written as a file: --out NAME.csv"))
    if asked.counts:
        if asked.judging.given:
            raise UsageError(message("{options}: goes with the sums, not with --counts", "--rule, --weights"))
        return _counts(asked, asked.out, console)
    keep_apart([asked.table], [asked.out])
    rules = rules_of(asked.judging.rules) if asked.judging.rule else ()
    written = write_magnitudes(
        read_magnitudes(Path(asked.table)), asked.out, asked.format, rules, weights=asked.judging.reading
    )
    for note in written.notes:
        console.say(note)
    data = {
        "out": str(asked.out),
        "format": written.format,
        "cells": written.cells,
        "limits": written.notes,
        "confidential": True,
    }
    said = message("{out}: {cells:,} sums with totals. CONFIDENTIAL: true sums.", asked.out, written.cells)
    console.result(data, [said])
    return 0


def _counts(asked: Convert, out: Path, console: Console) -> int:
    """Write the counts of the records that were summed."""
    from tabprotect.engine.magnitudes.files.table_files import read_magnitudes

    keep_apart([asked.table], [out])
    table = read_magnitudes(Path(asked.table)).units
    kind = format_to_write(out, asked.format)
    for note in (
        *kind.loses(table.domain),
        *write_table(table, out, kind, strict=asked.reading.options.strict),
    ):
        console.say(note)
    return _report(table, out, kind, console)


@command("convert", example="tabprotect convert example:czech-autoworkers --out czech.px")
def run(asked: Convert, console: Console) -> int:
    """Write the table; what the format leaves out is said before."""
    if is_magnitudes(Path(asked.table)):
        return _magnitudes(asked, console)
    check_measure(asked, "counts")
    if asked.out is None:
        return _to_database(asked, str(asked.to), console)
    if asked.counts:
        raise UsageError(message("this is a table of counts already: leave --counts out"))
    streams = str(asked.out) == STREAM
    keep_apart([asked.table], [None if streams else asked.out])
    kind = format_to_write(asked.out, asked.format)
    project = open_source(asked.table, asked.reading, console).project
    for note in (*project.notes, *kind.loses(project.domain)):
        console.say(note)
    if streams:
        return to_stream(project.original, kind, asked.reading.options.strict, console)
    for note in write_table(project.original, asked.out, kind, strict=asked.reading.options.strict):
        console.say(note)
    return _report(project.original, asked.out, kind, console)


def _report(table: Table, out: Path, kind: Format, console: Console) -> int:
    """Return what was written."""
    domain = table.domain
    data = {
        "out": str(out),
        "format": kind.name,
        "variables": domain.names,
        "shape": domain.shape,
        "limits": kind.loses(domain),
        "confidential": True,
    }
    said = message(
        "{out}: {label}, {str}. CONFIDENTIAL: true counts.",
        out,
        kind.label,
        " x ".join(map(str, domain.shape)),
    )
    console.result(data, [said])
    return 0


def _to_database(asked: Convert, url: str, console: Console) -> int:
    project = open_source(asked.table, asked.reading, console).project
    for note in project.notes:
        console.say(note)
    name = write_to_database(project.original, url)
    domain = project.original.domain
    data = {"table": name, "variables": domain.names, "shape": domain.shape, "confidential": True}
    console.result(
        data, [message("{name}: {n:,} rows in the database. CONFIDENTIAL: true counts.", name, domain.size)]
    )
    return 0
