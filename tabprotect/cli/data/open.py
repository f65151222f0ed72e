"""``open``: the window on a file."""

from __future__ import annotations

import argparse

from tabprotect.cli.arguments import add_reading, given_reading
from tabprotect.cli.output import Console
from tabprotect.cli.verbs import Verbs
from tabprotect.cli.window import show_window
from tabprotect.languages.messages import message


def add(verbs: Verbs) -> None:
    """Declare the command."""
    opener = verbs.add("open", run_open)
    opener.add_argument(
        "table",
        metavar="TABLE",
        nargs="?",
        help=message("a file or example:NAME; without one the window begins at its start page"),
    )
    # For the test of a packaged program: paint the window into a file and quit.
    opener.add_argument("--smoke", metavar="FILE.png", help=argparse.SUPPRESS)
    add_reading(opener)


def run_open(args: argparse.Namespace, console: Console) -> int:
    """Show the window until it is closed."""
    smoke = ["--smoke", args.smoke] if args.smoke else []
    source = [args.table] if args.table else []
    return show_window([*source, *smoke], given_reading(args))
