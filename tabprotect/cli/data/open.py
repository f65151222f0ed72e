"""``open``: the window on a file."""

from __future__ import annotations

from argparse import SUPPRESS
from dataclasses import dataclass

from tabprotect.cli.arguments import TableReading
from tabprotect.cli.declaring import command
from tabprotect.cli.output import Console
from tabprotect.cli.window import show_window
from tabprotect.engine.options import Options, option_field, part, position
from tabprotect.languages.messages import message


@dataclass(frozen=True, kw_only=True)
class Open(Options):
    """Arguments of ``open``."""

    table: str | None = position(
        None,
        metavar="TABLE",
        help=message("a file or example:NAME; without one the window begins at its start page"),
    )
    # For the test of a packaged program: paint the window into a file and quit.
    smoke: str | None = option_field(None, metavar="FILE.png", help=SUPPRESS)
    reading: TableReading = part(TableReading)


@command("open", example="tabprotect open example:duncan-roehrig-4x4")
def run_open(asked: Open, console: Console) -> int:
    """Show the window until it is closed."""
    smoke = ["--smoke", asked.smoke] if asked.smoke else []
    source = [asked.table] if asked.table else []
    return show_window([*source, *smoke], asked.reading.named)
