"""Declaring commands: every command by name and family, and how a family declares its own.

A family is a module below this package with a function ``add``. None is loaded before one of its
commands is asked for: the program answers ``--help`` without the engine.
"""

from __future__ import annotations

import argparse
import importlib
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NoReturn

from tabprotect.cli.output import Console
from tabprotect.languages.messages import message
from tabprotect.languages.nearest import closest_match
from tabprotect.languages.translation import tr, translate

FAMILIES: Mapping[str, Mapping[str, str]] = {
    "data.open": {"open": message("open the window on a table, project or bundle")},
    "data.describe": {
        "examples": message("list the bundled examples"),
        "describe": message("list methods, their parameters and guarantees"),
    },
    "data.tabulate": {
        "tabulate": message("count the records of a microdata file"),
        "record-keys": message("give every record a random key, for good"),
    },
    "data.rules": {"rules": message("which sums of a magnitude table tell too much of a contributor")},
    "data.convert": {"convert": message("write a table in another format")},
    "releases.export": {"export": message("write the public tables of a release bundle in another format")},
    "releases.page": {"page": message("the page of a release bundle, to look at in a browser")},
    "releases.check": {"check": message("check a table for output: flags, reasons, decisions")},
    "protecting.cycles": {"cycles": message("design and check cycle sets")},
    "protecting.protect": {
        "protect": message("protect a table and write its release bundle"),
        "run": message("run a recipe"),
    },
    "protecting.protect_set": {"protect-set": message("protect several tables of the same records as one")},
    "protecting.batch": {"batch": message("run many recipes, with one summary")},
    "releases.keys": {"keys": message("keys to sign with, and the key of the house")},
    "reader.infer": {"infer": message("the posterior distribution of every true cell")},
    "reader.verify": {"verify": message("check a release bundle")},
    "reader.analyse": {
        "analyse": message("chi-square, Cramer's V or a log-linear model over possible originals")
    },
    "reader.draw": {"draw": message("draw whole originals that fit a release")},
    "releases.report": {"report": message("a report of a release, to read and print")},
    "protecting.compare": {"compare": message("compare methods by risk and utility")},
    "reader.count_tables": {
        "count-tables": message("how many tables have these totals, or fit this release")
    },
    "reader.bounds": {"bounds": message("bounds of the cells, given released margins")},
    "margins.released_margins": {
        "widths": message("critical width of every table"),
        "frontier": message("whether margins may be released together, and what then may not"),
        "optimal": message("as many margins as may be released together"),
    },
    "margins.serve_session": {"serve-session": message("answer queries about one table, with a history")},
    "margins.serving": {
        "serve": message("serve a table to outside users: pages, an API, one history"),
        "accounts": message("who may use a table server, and their keys"),
    },
    "protecting.ptable": {"ptable": message("make or convert a perturbation table")},
    "releases.register": {"register": message("the register of what left this house")},
    "releases.difference": {
        "difference": message("what two vintages of a table, and their releases, say of the change")
    },
    "reader.attack": {"attack": message("what can be known of published tables")},
    "completion": {"completion": message("a script that completes commands in a shell, or a man page")},
    "reader.restore": {"restore": message("make published counts additive; expected inner cells")},
}


def add_all(verbs: Verbs, chosen: str | None) -> None:
    """Declare every command; in full those of the family that the chosen one belongs to."""
    for family, commands in FAMILIES.items():
        if chosen in commands:
            importlib.import_module(f"{__package__}.{family}").add(verbs)
            continue
        for name in commands:
            verbs.mention(name)


Run = Callable[[argparse.Namespace, Console], int]

# What argparse says goes through gettext, which it asks for by this name.
argparse._ = tr  # type: ignore[attr-defined]


class UsageError(Exception):
    """The command line itself is wrong; ``usage`` is how it would be right."""

    def __init__(self, message: str, usage: str = "") -> None:
        super().__init__(message)
        self.message, self.usage = message, usage


class Formatter(argparse.HelpFormatter):
    """Help in the language in force."""

    def start_section(self, heading: str | None) -> None:
        super().start_section(heading and translate(heading))

    def _format_text(self, text: str) -> str:
        return super()._format_text(translate(text))

    def _get_help_string(self, action: argparse.Action) -> str | None:
        return action.help and translate(action.help)


class Parser(argparse.ArgumentParser):
    """An argument parser whose errors are the program's."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **{"formatter_class": Formatter} | kwargs)

    def error(self, message: str) -> NoReturn:
        raise UsageError(message, self.format_usage().strip())

    def parse_args(  # type: ignore[override]
        self, args: Sequence[str] | None = None, namespace: argparse.Namespace | None = None
    ) -> argparse.Namespace:
        """As argparse, with the option that a mistyped one was meant to be."""
        found, unknown = self.parse_known_args(args, namespace)
        # Without a command no option of one is known: what is missing is the command.
        if unknown and getattr(found, "group", None) is not None and found.run is None:
            return found
        if unknown:
            words = [word for word in unknown if word.startswith("-")] or unknown
            near = closest_match(words[0].partition("=")[0], self._every_option())
            raise UsageError(
                tr("unrecognized arguments: %s") % " ".join(unknown) + (f"; {near}" if near else ""),
                self.format_usage().strip(),
            )
        return found

    def only(self, args: argparse.Namespace, *taken: str, why: str) -> None:
        """Refuse options that go without effect.

        Parameters
        ----------
        taken
            The names of the arguments that have one.
        why
            What the others go with.

        Raises
        ------
        UsageError
            Naming every option that was given in vain.
        """
        known = {*taken, "help", "json", "progress", "debug"}
        given = (
            action.option_strings[0]
            for action in self._actions
            if action.option_strings
            and action.dest not in known
            and getattr(args, action.dest) != self.get_default(action.dest)
        )
        if named := ", ".join(given):
            raise UsageError(message("{options}: {why}", named, why), self.format_usage().strip())

    def _every_option(self) -> list[str]:
        """The options of this parser and of the commands below it."""
        found = list(self._option_string_actions)
        for action in self._actions:
            if isinstance(action, argparse._SubParsersAction):
                for below in action.choices.values():
                    found += below._every_option()
        return found

    def _check_value(self, action: argparse.Action, value: object) -> None:
        if action.choices is None or value in action.choices:
            return
        known = [str(choice) for choice in action.choices]
        near = closest_match(str(value), known)
        said = tr("invalid choice: %(value)r (choose from %(choices)s)") % {
            "value": value,
            "choices": ", ".join(map(repr, known)),
        }
        raise argparse.ArgumentError(action, f"{near} {said}" if near else said)

    def parse_known_args(  # type: ignore[override]
        self, args: Sequence[str] | None = None, namespace: argparse.Namespace | None = None
    ) -> tuple[argparse.Namespace, list[str]]:
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

    def __init__(self, parser: argparse.ArgumentParser, help: Mapping[str, str] | None = None) -> None:
        self._verbs = parser.add_subparsers(metavar="COMMAND", parser_class=Parser)
        self._help = help or {}

    def mention(self, name: str, help: str = "") -> argparse.ArgumentParser:
        """A command for the overview, which cannot be run yet."""
        said = help or self._help[name]
        return self._verbs.add_parser(name, help=said, description=said, allow_abbrev=False)

    def add(self, name: str, run: Run, help: str = "") -> argparse.ArgumentParser:
        """Declare one command."""
        parser = self.mention(name, help)
        parser.set_defaults(run=run, parser=parser)
        parser.add_argument("--json", action="store_true", help=message("one JSON object on standard output"))
        parser.add_argument(
            "--progress",
            action=argparse.BooleanOptionalAction,
            help=message("on standard error (default: when it is a terminal)"),
        )
        parser.add_argument("--debug", action="store_true", help=message("say where an internal error was"))
        return parser

    def group(self, name: str) -> Verbs:
        """Declare a command that has commands of its own."""
        parser = self.mention(name)
        parser.set_defaults(run=None, group=parser)
        return Verbs(parser)
