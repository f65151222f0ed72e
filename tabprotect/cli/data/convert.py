"""``convert``: a table in another format."""

from __future__ import annotations

import argparse
from pathlib import Path

from tabprotect.cli.arguments import add_reading, keep_apart, open_source
from tabprotect.cli.output import Console
from tabprotect.cli.verbs import Verbs
from tabprotect.engine.formats.registered import format_names
from tabprotect.engine.formats.table_writing import format_to_write, write_table
from tabprotect.languages.said import say


def add(verbs: Verbs) -> None:
    """Declare the command."""
    command = verbs.add("convert", run)
    command.add_argument("table", metavar="TABLE", help=say("a file, a project, or example:NAME"))
    command.add_argument(
        "--format", choices=format_names(), help=say("where the name of the file does not say it")
    )
    command.add_argument(
        "--out", type=Path, required=True, metavar="FILE", help=say("the same counts, CONFIDENTIAL")
    )
    add_reading(command)


def run(args: argparse.Namespace, console: Console) -> int:
    """Write the table; what the format leaves out is said before."""
    keep_apart([args.table], [args.out])
    kind = format_to_write(args.out, args.format)
    project = open_source(args, console).project
    lost = kind.loses(project.domain)
    for note in (*project.notes, *lost):
        console.say(note)
    for note in write_table(project.original, args.out, kind, strict=args.strict):
        console.say(note)
    domain = project.original.domain
    data = {
        "out": str(args.out),
        "format": kind.name,
        "variables": list(domain.names),
        "shape": list(domain.shape),
        "limits": lost,
        "confidential": True,
    }
    said = say(
        "{out}: {label}, {str}. CONFIDENTIAL: true counts.",
        args.out,
        kind.label,
        " x ".join(map(str, domain.shape)),
    )
    console.result(data, [said])
    return 0
