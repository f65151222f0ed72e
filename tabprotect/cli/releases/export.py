"""``export``: the public tables of a release bundle in another format."""

from __future__ import annotations

import argparse
from collections.abc import Mapping, Sequence
from pathlib import Path

from tabprotect.cli.arguments import keep_apart
from tabprotect.cli.output import Console
from tabprotect.cli.verbs import UsageError, Verbs
from tabprotect.engine.bundle import verify as bundle
from tabprotect.engine.bundle.tables.cube import TOTAL
from tabprotect.engine.bundle.tables.export import STREAM, export, export_cube
from tabprotect.engine.formats.format import Format
from tabprotect.engine.formats.registered import format_names
from tabprotect.engine.formats.table_writing import format_to_write
from tabprotect.languages.messages import joined, message, plural


def add(verbs: Verbs) -> None:
    """Declare the command."""
    command = verbs.add("export", run)
    command.add_argument("release", type=Path, metavar="RELEASE.zip")
    command.add_argument(
        "--format", choices=format_names(), help=message("where the name of the file does not say it")
    )
    command.add_argument(
        "--out",
        type=Path,
        required=True,
        metavar="FILE",
        help=message(
            "one cube with its totals; apart: the main table, others as FILE_2, FILE_3, ...; "
            "- for standard output"
        ),
    )
    command.add_argument(
        "--apart", action="store_true", help=message("a file for each table, without totals among its cells")
    )
    command.add_argument(
        "--total-code",
        metavar="T",
        help=message("the category of totals (default: the source's own, else {code})", TOTAL[0]),
    )
    command.add_argument(
        "--strict",
        action="store_true",
        help=message("refuse quotation marks that the format cannot hold, which become typographic"),
    )


def run(args: argparse.Namespace, console: Console) -> int:
    """Write the tables; what the format leaves out is said before."""
    keep_apart([args.release], [None if args.out == STREAM else args.out])
    if args.apart and args.out == STREAM:
        raise UsageError(message("several files do not go to standard output"))
    kind = format_to_write(args.out, args.format)
    verified = bundle.verify(args.release, judge=False, progress=console)
    release = verified.release
    for remark in verified.remarks:
        console.say(remark)
    if release.magnitudes and args.apart:
        raise UsageError(message("magnitudes are one cube with their totals: leave --apart out"))
    if not release.magnitudes and (args.apart or not kind.cube):
        return _apart(args, kind, verified, console)
    made = export_cube(release, args.out, kind, total_code=args.total_code, strict=args.strict)
    for note in made.notes:
        console.say(note)
    if args.out == STREAM:
        return 0
    table = {"out": str(args.out), "variables": list(made.variables), "suppressed": made.hidden}
    data = _said(args, kind, verified, [table], made.notes)
    if release.magnitudes:
        data["measure"] = release.magnitude_table.measure
    data |= {"shape": list(made.shape), "total_codes": dict(made.totals)}
    console.result(data, [_line(args.out, kind, made.variables, made.hidden)])
    return 0


def _apart(args: argparse.Namespace, kind: Format, verified: bundle.Verification, console: Console) -> int:
    """Write a file for each table."""
    release = verified.release
    lost = [s for published in release.tables for s in kind.loses(published.table.domain)]
    limits = list(dict.fromkeys(lost))
    for limit in limits:
        console.say(limit)
    written = export(release, args.out, kind, strict=args.strict)
    hidden = [int(published.hidden.sum()) for published in release.tables]
    tables: list[dict[str, object]] = [
        {"out": str(path), "variables": list(names), "suppressed": count}
        for (path, names), count in zip(written.items(), hidden, strict=True)
    ]
    lines = [
        _line(path, kind, names, count) for (path, names), count in zip(written.items(), hidden, strict=True)
    ]
    console.result(_said(args, kind, verified, tables, limits), lines)
    return 0


def _said(
    args: argparse.Namespace,
    kind: Format,
    verified: bundle.Verification,
    tables: Sequence[Mapping[str, object]],
    limits: Sequence[str],
) -> dict[str, object]:
    return {
        "out": str(args.out),
        "format": kind.name,
        "title": verified.release.title,
        "tables": list(tables),
        "limits": list(limits),
        "remarks": list(verified.remarks),
        "confidential": False,
    }


def _line(path: Path, kind: Format, names: Sequence[str], hidden: int) -> str:
    line = message("{path}: {label}, {names}", path, kind.label, joined(names, ", "))
    if not hidden:
        return line
    return line + plural(hidden, ", {count:,} hidden cell marked", ", {count:,} hidden cells marked", hidden)
