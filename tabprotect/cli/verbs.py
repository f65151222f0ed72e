"""Declaring commands: every command by name and family, and the parser of the command line.

A family is a module below this package that holds commands. None is loaded before one of its
commands is asked for: the program answers ``--help`` without the engine.
"""

from __future__ import annotations

import argparse
import importlib
import os
import re
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NoReturn, cast

from tabprotect.cli.output import Console
from tabprotect.languages.messages import joined, message
from tabprotect.languages.nearest import closest_match
from tabprotect.languages.translation import LANGUAGES, tr, translate

COMMANDS: Mapping[str, Mapping[str, tuple[str, str]]] = {
    message("every day"): {
        "open": ("data.open", message("open the window on a table, project or bundle")),
        "tabulate": ("data.tabulate", message("count the records of a microdata file")),
        "protect": ("protecting.protect", message("protect a table and write its release bundle")),
        "verify": ("reader.verify", message("check a release bundle")),
        "infer": ("reader.infer", message("the posterior distribution of every true cell")),
    },
    message("tables and records"): {
        "examples": ("data.describe", message("list the bundled examples")),
        "describe": ("data.describe", message("list methods, their parameters and guarantees")),
        "convert": ("data.convert", message("write a table in another format")),
        "record-keys": ("data.tabulate", message("give every record a random key, for good")),
        "rules": ("data.rules", message("which sums of a magnitude table tell too much of a contributor")),
    },
    message("protecting"): {
        "protect-set": (
            "protecting.protect_set",
            message("protect several tables of the same records as one"),
        ),
        "run": ("protecting.protect", message("run a recipe")),
        "batch": ("protecting.batch", message("run many recipes, with one summary")),
        "compare": ("protecting.compare", message("compare methods by risk and utility")),
        "cycles": ("protecting.cycles", message("design and check cycle sets")),
        "ptable": ("protecting.ptable", message("make or convert a perturbation table")),
    },
    message("releases"): {
        "export": (
            "releases.export",
            message("write the public tables of a release bundle in another format"),
        ),
        "page": ("releases.page", message("the page of a release bundle, to look at in a browser")),
        "report": ("releases.report", message("a report of a release, to read and print")),
        "check": ("releases.check", message("check a table for output: flags, reasons, decisions")),
        "difference": (
            "releases.difference",
            message("what two vintages of a table, and their releases, say of the change"),
        ),
        "register": ("releases.register", message("the register of what left this house")),
        "dossier": ("releases.dossier", message("encrypted dossiers, and how long dossiers are kept")),
        "keys": ("releases.keys", message("keys to sign with, and the key of the house")),
    },
    message("what readers learn"): {
        "analyse": (
            "reader.analyse",
            message("chi-square, Cramer's V or a log-linear model over possible originals"),
        ),
        "draw": ("reader.draw", message("draw whole originals that fit a release")),
        "restore": ("reader.restore", message("make published counts additive; expected inner cells")),
        "bounds": ("reader.bounds", message("bounds of the cells, given released margins")),
        "count-tables": (
            "reader.count_tables",
            message("how many tables have these totals, or fit this release"),
        ),
        "attack": ("reader.attack", message("what can be known of published tables")),
    },
    message("margins of a big table"): {
        "widths": ("margins.released_margins", message("critical width of every table")),
        "frontier": (
            "margins.released_margins",
            message("whether margins may be released together, and what then may not"),
        ),
        "optimal": ("margins.released_margins", message("as many margins as may be released together")),
        "serve-session": ("margins.serve_session", message("answer queries about one table, with a history")),
        "serve": ("margins.serving", message("serve a table to outside users: pages, an API, one history")),
        "accounts": ("margins.serving", message("who may use a table server, and their keys")),
    },
    message("this program"): {
        "help": ("completion", message("what there is, or what a command takes")),
        "completion": ("completion", message("a script that completes commands in a shell, or a man page")),
        "selftest": ("data.selftest", message("whether this installation computes what it must")),
    },
}
"""The commands under the headings of ``--help``: the module of each, and what it does."""

FAMILIES = {name: family for group in COMMANDS.values() for name, (family, _) in group.items()}


def add_all(verbs: Verbs, chosen: str | None) -> None:
    """Mention every command, and declare the chosen one in full."""
    for heading, commands in COMMANDS.items():
        verbs.heading(heading)
        for name, (_, help) in commands.items():
            if name == chosen:
                declare(name, verbs.mention(name, help))
            else:
                verbs.overview(name, help)


def declare(name: str, parser: argparse.ArgumentParser) -> None:
    """Declare a command in full, with those below it."""
    module = importlib.import_module(f"{__package__}.{FAMILIES[name]}")
    found = [one for one in vars(module).values() if isinstance(one, Command)]
    below = [one for one in found if one.name.startswith(f"{name} ")]
    if below:
        parser.set_defaults(run=None, group=parser)
        verbs = Verbs(parser)
        for one in below:
            one.fill(verbs.mention(one.name.partition(" ")[2], one.help))
        return
    next(one for one in found if one.name == name).fill(parser)


Run = Callable[[argparse.Namespace, Console], int]

# What argparse says goes through gettext, which it asks for by this name.
argparse._ = tr  # type: ignore[attr-defined]


class UsageError(Exception):
    """The command line itself is wrong; ``hint`` is how it would be right."""

    def __init__(self, message: str, hint: str = "") -> None:
        super().__init__(message)
        self.message, self.hint = message, hint


class Formatter(argparse.HelpFormatter):
    """Help in the language in force, as wide as the terminal."""

    def __init__(self, prog: str, width: int | None = None) -> None:
        # As argparse finds it, by a module that loads all that unpacks archives.
        columns = os.environ.get("COLUMNS", "")
        if width is None and not (columns.isdecimal() and int(columns)):
            try:
                columns = str(os.get_terminal_size(sys.__stdout__.fileno()).columns or 80)  # type: ignore[union-attr]
            except (AttributeError, ValueError, OSError):
                columns = "80"
        super().__init__(prog, width=int(columns) - 2 if width is None else width)

    def start_section(self, heading: str | None) -> None:
        super().start_section(heading and translate(heading))

    def _format_text(self, text: str) -> str:
        # An example is a line of a shell: it is not filled.
        return f"{text}\n" if "\n" in text else super()._format_text(translate(text))

    def _get_help_string(self, action: argparse.Action) -> str | None:
        # Only argparse's own texts name what it fills in.
        said = action.help and translate(action.help)
        return said and (said if "%(" in said else said.replace("%", "%%"))


class Parser(argparse.ArgumentParser):
    """An argument parser whose errors are the program's."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **{"formatter_class": Formatter} | kwargs)

    def error(self, message: str) -> NoReturn:
        # An option that is not known may be the one that is missed: it is told first.
        options = (word.partition("=")[0] for word in self._asked if word[:2] == "--")
        if unknown := [word for word in options if word not in ("--", *self._every_option())]:
            raise self._unknown(unknown)
        raise UsageError(message, self.example or self.more)

    @property
    def example(self) -> str:
        """A command line that works, as a hint; empty where there is none."""
        line = (self.epilog or "").partition("\n  ")[2]
        return line and message("for example: {line}", line)

    @property
    def more(self) -> str:
        """The command line that says what this command takes."""
        return message("{command} --help says what it takes", self.prog)

    def _unknown(self, words: Sequence[str]) -> UsageError:
        near = closest_match(words[0].partition("=")[0], self._every_option())
        return UsageError(
            message("{command} takes no {words}", self.prog, " ".join(words)), near or self.more
        )

    def parse_args(  # type: ignore[override]
        self, args: Sequence[str] | None = None, namespace: argparse.Namespace | None = None
    ) -> argparse.Namespace:
        """As argparse, with the option that a mistyped one was meant to be."""
        found, unknown = self.parse_known_args(args, namespace)
        # Without a command no option of one is known: what is missing is the command.
        if unknown and getattr(found, "group", None) is not None and found.run is None:
            return found
        if unknown:
            used = getattr(found, "parser", self)
            raise used._unknown([word for word in unknown if word.startswith("-")] or unknown)
        return found

    def _every_option(self) -> list[str]:
        """The options of this parser and of the commands below it."""
        found = list(self._option_string_actions)
        for action in self._actions:
            if isinstance(action, argparse._SubParsersAction):
                for below in action.choices.values():
                    found += [] if below is self else below._every_option()
        return found

    def _check_value(self, action: argparse.Action, value: object) -> None:
        if action.choices is None or value in action.choices:
            return
        known = [str(choice) for choice in action.choices]
        if isinstance(action, argparse._SubParsersAction):
            near = closest_match(str(value), known)
            raise UsageError(message("{prog} has no command {value}", self.prog, value), near or self.more)
        name = argparse._get_action_name(action)
        raise UsageError(
            message("{name} is one of {known}, and not {value}", name, joined(known, ", "), repr(value)),
            closest_match(str(value), known) or self.more,
        )

    def parse_known_args(  # type: ignore[override]
        self, args: Sequence[str] | None = None, namespace: argparse.Namespace | None = None
    ) -> tuple[argparse.Namespace, list[str]]:
        """As argparse, but what follows an option that takes a value is one: ``--marks "-=zero"``."""
        words: list[str] = []
        self._asked = list(args or ())
        for word in self._asked:
            before = self._option_string_actions.get(words[-1]) if words else None
            value = before is not None and before.nargs is None
            if value and re.match("-[^-]|-$", word) and word not in self._option_string_actions:
                words[-1] += f"={word}"
            else:
                words.append(word)
        return super().parse_known_args(words, namespace)


@dataclass(frozen=True, eq=False)
class Command:
    """One command of the program.

    Attributes
    ----------
    name
        Its word; of one below another both words.
    takes
        Declares what it takes.
    example
        A command line that works, for the help.
    writes
        Whether it keeps something without ``--out``.
    """

    name: str
    run: Run
    takes: Callable[[argparse.ArgumentParser], None]
    help: str = ""
    example: str = ""
    writes: bool = False

    def fill(self, parser: argparse.ArgumentParser) -> None:
        """Declare what it takes, with what every command takes, and ``--dry-run`` if it writes."""
        parser.set_defaults(run=self.run, parser=parser)
        self.takes(parser)
        group = parser.add_argument_group(message("every command"))
        group.add_argument("--json", action="store_true", help=message("one JSON object on standard output"))
        group.add_argument(
            "--progress",
            action=argparse.BooleanOptionalAction,
            help=message("on standard error (default: when it is a terminal)"),
        )
        group.add_argument(
            *("-q", "--quiet"), action="store_true", help=message("say the result, warnings and errors only")
        )
        group.add_argument(
            *("-v", "--verbose", "--debug"),
            action="store_true",
            help=message("say each step with its second, and all of an error"),
        )
        if self.writes or "--out" in parser._option_string_actions:
            group.add_argument(
                *("-n", "--dry-run"),
                action="store_true",
                help=message("do all of it, say what would be written, and keep nothing"),
            )
        parser.usage = " ".join(["%(prog)s [OPTIONS]", *_wanted(parser)])
        heading = translate(message("Example:"))
        parser.epilog = self.example and f"{heading}\n  {self.example}"


def _wanted(parser: argparse.ArgumentParser) -> Iterator[str]:
    """What a command line has to say besides options."""
    formatter = parser.formatter_class(prog="")
    for action in sorted(parser._actions, key=lambda action: not action.option_strings):
        taken = formatter._format_args(action, action.dest.upper())
        if action.required and action.option_strings:
            yield f"{action.option_strings[-1]} {taken}"
        elif not action.option_strings:
            yield taken


class Verbs:
    """The commands of the program, or those below a command."""

    def __init__(self, parser: argparse.ArgumentParser) -> None:
        self._parser = parser
        self._verbs = parser.add_subparsers(metavar="COMMAND", parser_class=Parser)

    def heading(self, text: str) -> None:
        """Begin a group of commands in the help, which lists none elsewhere then."""
        self._parser._positionals._group_actions.clear()
        group = self._parser.add_argument_group(text)
        self._verbs._choices_actions = group._group_actions

    def overview(self, name: str, help: str) -> None:
        """A command for the overview alone: a parser of each would be a sixth of the start."""
        self._verbs._choices_actions.append(self._verbs._ChoicesPseudoAction(name, (), help))
        self._verbs._name_parser_map.setdefault(name, cast(Parser, self._parser))

    def mention(self, name: str, help: str) -> argparse.ArgumentParser:
        """A command for the overview, which cannot be run yet."""
        return self._verbs.add_parser(name, help=help, description=help, allow_abbrev=False)


class _Licences(argparse.Action):
    """Print every licence and end, as ``--version`` does."""

    def __call__(self, parser: argparse.ArgumentParser, *_: object) -> None:
        # Late: few ask, and it reads the metadata of every package.
        from tabprotect.licences import text

        sys.stdout.write(text())
        parser.exit()


def whole(chosen: str | None = None) -> Parser:
    """The command line: every command by name, and those of the chosen one's family in full."""
    top = Parser(
        prog="tabprotect",
        description=message("Protect tables of counts and magnitudes; without a command the window opens."),
        allow_abbrev=False,
    )
    top.add_argument(
        "--version", action="store_true", help=message("show the version and how much of it is compiled")
    )
    top.add_argument(
        "--licences", action=_Licences, nargs=0, help=message("of the program and of all that it is made of")
    )
    top.add_argument(
        "--language",
        metavar="|".join(LANGUAGES),
        help=message("of what is said, not of JSON; for every command (default: the environment's)"),
    )
    top.set_defaults(run=None, group=None)
    add_all(Verbs(top), chosen)
    return top
