"""``export``: the public tables of a release bundle in another format."""

from __future__ import annotations

import argparse
from pathlib import Path

from tabprotect.cli.arguments import keep_apart
from tabprotect.cli.output import Console
from tabprotect.cli.verbs import Verbs
from tabprotect.engine.bundle import verify as bundle
from tabprotect.engine.bundle.export import export
from tabprotect.engine.formats.registered import format_names
from tabprotect.engine.formats.table_writing import format_to_write
from tabprotect.languages.said import joined, plural, say


def add(verbs: Verbs) -> None:
    """Declare the command."""
    command = verbs.add("export", run)
    command.add_argument("release", type=Path, metavar="RELEASE.zip")
    command.add_argument(
        "--format", choices=format_names(), help=say("where the name of the file does not say it")
    )
    command.add_argument(
        "--out",
        type=Path,
        required=True,
        metavar="FILE",
        help=say("the main table; further ones stand beside it as FILE_2, FILE_3, ..."),
    )


def run(args: argparse.Namespace, console: Console) -> int:
    """Write the tables; what the format leaves out is said before."""
    keep_apart([args.release], [args.out])
    kind = format_to_write(args.out, args.format)
    verified = bundle.verify(args.release, judge=False, progress=console)
    release = verified.release
    lost = [s for published in release.tables for s in kind.loses(published.table.domain)]
    limits = [*kind.limits, *dict.fromkeys(lost)]
    for sentence in (*limits, *verified.remarks):
        console.say(sentence)
    written = export(release, args.out, kind)
    hidden = [int(published.hidden.sum()) for published in release.tables]
    tables = [
        {"out": str(path), "variables": list(names), "suppressed": count}
        for (path, names), count in zip(written.items(), hidden, strict=True)
    ]
    data = {
        "out": str(args.out),
        "format": kind.name,
        "title": release.title,
        "tables": tables,
        "limits": limits,
        "remarks": list(verified.remarks),
        "confidential": False,
    }
    lines = [
        say("{path}: {label}, {names}", path, kind.label, joined(names, ", "))
        + (
            plural(
                count,
                ", {count:,} suppressed count marked",
                ", {count:,} suppressed counts marked",
                count,
            )
            if count
            else ""
        )
        for (path, names), count in zip(written.items(), hidden, strict=True)
    ]
    console.result(data, lines)
    return 0
