"""Declaring commands: each family of the command line adds its own."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from typing import NoReturn

from tabprotect.cli.arguments import UsageError
from tabprotect.cli.output import Console

Run = Callable[[argparse.Namespace, Console], int]


class Parser(argparse.ArgumentParser):
    """An argument parser whose errors are the program's."""

    def error(self, message: str) -> NoReturn:
        raise UsageError(f"{message}\n{self.format_usage().strip()}")


class Verbs:
    """Collects the commands; each gets ``--json``, ``--progress`` and ``--debug``."""

    def __init__(self, parser: argparse.ArgumentParser) -> None:
        self._verbs = parser.add_subparsers(metavar="COMMAND", parser_class=Parser)

    def add(self, name: str, run: Run, help: str) -> argparse.ArgumentParser:
        """Declare one command."""
        parser = self._verbs.add_parser(name, help=help, description=help, allow_abbrev=False)
        parser.set_defaults(run=run)
        parser.add_argument(
            "--json", action="store_true", help="one JSON object on standard output"
        )
        parser.add_argument(
            "--progress",
            action=argparse.BooleanOptionalAction,
            help="on standard error (default: when it is a terminal)",
        )
        parser.add_argument("--debug", action="store_true", help="say where an internal error was")
        return parser

    def group(self, name: str, help: str) -> Verbs:
        """Declare a command that has commands of its own."""
        parser = self._verbs.add_parser(name, help=help, description=help, allow_abbrev=False)
        parser.set_defaults(run=None, group=parser)
        return Verbs(parser)
