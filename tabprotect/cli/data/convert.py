"""``convert``: a table in another format."""

from __future__ import annotations

import argparse
from pathlib import Path

from tabprotect.cli.arguments import add_reading, keep_apart, open_source
from tabprotect.cli.output import Console
from tabprotect.cli.rule_options import add_rules
from tabprotect.cli.streams import STREAM, to_stream
from tabprotect.cli.verbs import UsageError, Verbs
from tabprotect.engine.formats.database_writing import write_to_database
from tabprotect.engine.formats.format import Format
from tabprotect.engine.formats.registered import format_names
from tabprotect.engine.formats.table_writing import format_to_write, write_table
from tabprotect.engine.magnitudes.files.sniffing import is_magnitudes
from tabprotect.engine.tables.table import Table
from tabprotect.languages.messages import message


def add(verbs: Verbs) -> None:
    """Declare the command."""
    command = verbs.add("convert", run)
    command.add_argument(
        "table", metavar="TABLE", help=message("a file, a project, example:NAME, or - for standard input")
    )
    command.add_argument(
        "--format", choices=format_names(), help=message("where the name of the file does not say it")
    )
    out = command.add_mutually_exclusive_group(required=True)
    out.add_argument(
        "--out",
        type=Path,
        metavar="FILE",
        help=message("the same counts, CONFIDENTIAL; - for standard output"),
    )
    out.add_argument(
        "--to",
        metavar="URL",
        help=message("a new table of a database: postgresql://host/base/table, CONFIDENTIAL"),
    )
    command.add_argument(
        "--counts",
        action="store_true",
        help=message("of a magnitude table: the count table of the same records"),
    )
    add_rules(command.add_argument_group(message("magnitude tables")))
    add_reading(command)


def _magnitudes(args: argparse.Namespace, console: Console) -> int:
    """Write the sums with their numbers of units and contributors; who they are stays behind."""
    # Late: tables of counts, which are most, do not wait for it.
    from tabprotect.engine.magnitudes.files.table_files import read_magnitudes
    from tabprotect.engine.project.magnitudes.magnitude_writing import write_sums
    from tabprotect.engine.sensitivity.magnitude_rules import rules_of

    if args.counts:
        return _counts(args, console)
    if args.to is not None:
        raise UsageError(message("a magnitude table is written as a file: --out NAME.csv"))
    keep_apart([args.table], [args.out])
    rules = rules_of(args.rules) if args.rules else ()
    written = write_sums(
        read_magnitudes(Path(args.table)), args.out, args.format, rules, weights=args.weights
    )
    for note in written.notes:
        console.say(note)
    data = {
        "out": str(args.out),
        "format": written.format,
        "cells": written.cells,
        "limits": written.notes,
        "confidential": True,
    }
    said = message("{out}: {cells:,} sums with totals. CONFIDENTIAL: true sums.", args.out, written.cells)
    console.result(data, [said])
    return 0


def _counts(args: argparse.Namespace, console: Console) -> int:
    """Write the counts of the records that were summed."""
    from tabprotect.engine.magnitudes.files.table_files import read_magnitudes

    if args.out is None:
        raise UsageError(message("the counts are written as a file: --out NAME.csv"))
    keep_apart([args.table], [args.out])
    table = read_magnitudes(Path(args.table)).units
    kind = format_to_write(args.out, args.format)
    for note in (*kind.loses(table.domain), *write_table(table, args.out, kind, strict=args.strict)):
        console.say(note)
    return _told(table, args.out, kind, console)


def run(args: argparse.Namespace, console: Console) -> int:
    """Write the table; what the format leaves out is said before."""
    if is_magnitudes(Path(args.table)):
        return _magnitudes(args, console)
    if args.rules:
        raise UsageError(message("rules of contributors go with magnitude tables: tabulate --measure"))
    if args.to is not None:
        return _to_database(args, console)
    if args.counts:
        raise UsageError(message("this is a table of counts already: leave --counts out"))
    streams = str(args.out) == STREAM
    keep_apart([args.table], [None if streams else args.out])
    kind = format_to_write(args.out, args.format)
    project = open_source(args, console).project
    for note in (*project.notes, *kind.loses(project.domain)):
        console.say(note)
    if streams:
        return to_stream(project.original, kind, args.strict, console)
    for note in write_table(project.original, args.out, kind, strict=args.strict):
        console.say(note)
    return _told(project.original, args.out, kind, console)


def _told(table: Table, out: Path, kind: Format, console: Console) -> int:
    """Return what was written."""
    domain = table.domain
    data = {
        "out": str(out),
        "format": kind.name,
        "variables": list(domain.names),
        "shape": list(domain.shape),
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


def _to_database(args: argparse.Namespace, console: Console) -> int:
    project = open_source(args, console).project
    for note in project.notes:
        console.say(note)
    name = write_to_database(project.original, args.to)
    domain = project.original.domain
    data = {"table": name, "variables": list(domain.names), "shape": list(domain.shape), "confidential": True}
    console.result(
        data, [message("{name}: {n:,} rows in the database. CONFIDENTIAL: true counts.", name, domain.size)]
    )
    return 0
