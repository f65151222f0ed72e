"""Declaring commands: each family of the command line adds its own."""

from __future__ import annotations

import argparse
import re
from collections.abc import Callable, Mapping
from typing import Any, NoReturn

from tabprotect.cli.output import Console
from tabprotect.languages.speaking import told

Run = Callable[[argparse.Namespace, Console], int]


class UsageError(Exception):
    """The command line itself is wrong."""


class Formatter(argparse.HelpFormatter):
    """Help in the language in force."""

    def add_usage(self, usage, actions, groups, prefix=None):  # type: ignore[no-untyped-def]
        super().add_usage(
            usage, actions, groups, told("usage:") + " " if prefix is None else prefix
        )

    def start_section(self, heading: str | None) -> None:
        super().start_section(heading and told(heading))

    def _format_text(self, text: str) -> str:
        return super()._format_text(told(text))

    def _get_help_string(self, action: argparse.Action) -> str | None:
        return action.help and told(action.help)


class Parser(argparse.ArgumentParser):
    """An argument parser whose errors are the program's."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **{"formatter_class": Formatter} | kwargs)

    def error(self, message: str) -> NoReturn:
        raise UsageError(f"{message}\n{self.format_usage().strip()}")

    def parse_known_args(self, args: Any = None, namespace: Any = None) -> Any:
        """As argparse, but what follows an option that takes a value is one: ``--marks "-=zero"``."""
        words: list[str] = []
        for word in args or ():
            before = self._option_string_actions.get(words[-1]) if words else None
            value = before is not None and before.nargs is None
            if value and re.match("-[^-]|-$", word) and word not in self._option_string_actions:
                words[-1] += f"={word}"
            else:
                words.append(word)
        return super().parse_known_args(words, namespace)


class Verbs:
    """Collects the commands; each gets ``--json``, ``--progress`` and ``--debug``.

    Parameters
    ----------
    help
        What ``--help`` says of each command that is not declared with a sentence of its own.
    """

    def __init__(
        self, parser: argparse.ArgumentParser, help: Mapping[str, str] | None = None
    ) -> None:
        self._verbs = parser.add_subparsers(metavar="COMMAND", parser_class=Parser)
        self._help = help or {}

    def mention(self, name: str, help: str = "") -> argparse.ArgumentParser:
        """A command for the overview, which cannot be run yet."""
        said = help or self._help[name]
        return self._verbs.add_parser(name, help=said, description=said, allow_abbrev=False)

    def add(self, name: str, run: Run, help: str = "") -> argparse.ArgumentParser:
        """Declare one command."""
        parser = self.mention(name, help)
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

    def group(self, name: str) -> Verbs:
        """Declare a command that has commands of its own."""
        parser = self.mention(name)
        parser.set_defaults(run=None, group=parser)
        return Verbs(parser)
