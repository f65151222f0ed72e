"""Argument types and options that several commands share."""

from __future__ import annotations

import argparse
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from tabprotect.cli.verbs import UsageError
from tabprotect.engine.formats.reading_options import Reading, options, takes_number
from tabprotect.engine.formats.registered import format_names
from tabprotect.engine.progress import Progress
from tabprotect.engine.project.opening.examples import PREFIX

if TYPE_CHECKING:
    from tabprotect.engine.project.history import History

T = TypeVar("T")


def keep_apart(inputs: Iterable[Path | str | None], outputs: Iterable[Path | None]) -> None:
    """Refuse to write over what is read: the original would be gone.

    Raises
    ------
    UsageError
        Naming the file.
    """
    read = {Path(p).resolve() for p in inputs if p is not None and not str(p).startswith(PREFIX)}
    for path in outputs:
        if path is not None and path.resolve() in read:
            raise UsageError(f"{path} would be overwritten: it is what the command reads")


def positive(text: str) -> int:
    """A whole number of at least 1."""
    if not text.isdigit() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"must be a whole number of at least 1: {text!r}")
    return int(text)


def names(text: str) -> list[str]:
    """``A,B`` as a list."""
    found = [part.strip() for part in text.split(",")]
    if not all(found):
        raise argparse.ArgumentTypeError(f"not a list of names: {text!r}")
    return found


def shape_sizes(text: str) -> list[int]:
    """``4,4`` as a shape."""
    try:
        found = [int(part) for part in text.replace("x", ",").split(",")]
    except ValueError:
        raise argparse.ArgumentTypeError(f"not a shape such as 4,4: {text!r}") from None
    if min(found) < 1:
        raise argparse.ArgumentTypeError(f"a size is below 1: {text!r}")
    return found


def band(text: str) -> tuple[str, int]:
    """``age:5``."""
    name, _, width = text.rpartition(":")
    if not name.strip():
        raise argparse.ArgumentTypeError(f"not of the form VARIABLE:WIDTH: {text!r}")
    return name.strip(), positive(width.strip())


def cut(text: str) -> tuple[str, list[int]]:
    """``age:0,15,65``."""
    name, _, points = text.rpartition(":")
    try:
        found = [int(point) for point in points.split(",")]
    except ValueError:
        found = []
    if not name.strip() or not found:
        raise argparse.ArgumentTypeError(f"not of the form VARIABLE:CUT,CUT,...: {text!r}")
    return name.strip(), found


def levels(text: str) -> tuple[str, list[str]]:
    """``nuts1,nuts2,nuts3=nuts``."""
    columns, equals, name = text.rpartition("=")
    if not equals or not name.strip():
        raise argparse.ArgumentTypeError(f"not of the form COLUMN,COLUMN,...=NAME: {text!r}")
    return name.strip(), names(columns)


def level_names(text: str) -> tuple[str, list[str]]:
    """``region=country,nuts1``."""
    name, value = setting(text)
    return name, names(value)


def once(pairs: Iterable[tuple[str, T]], option: str) -> dict[str, T]:
    """What an option that may be repeated says of each name.

    Raises
    ------
    UsageError
        For a name that comes twice.
    """
    found: dict[str, T] = {}
    for name, value in pairs:
        if name in found:
            raise UsageError(f"{option} names {name} twice")
        found[name] = value
    return found


def setting(text: str) -> tuple[str, str]:
    """``NAME=VALUE``."""
    name, equals, value = text.partition("=")
    if not equals or not name.strip():
        raise argparse.ArgumentTypeError(f"not of the form NAME=VALUE: {text!r}")
    return name.strip(), value.strip()


def cell_list(text: str) -> list[tuple[int, ...]]:
    """``0,1;2,3`` as cell indices; ``all`` as an empty list."""
    if text == "all":
        return []
    try:
        return [tuple(int(i) for i in cell.split(",")) for cell in text.split(";")]
    except ValueError:
        raise argparse.ArgumentTypeError(f"not cells such as 0,1;2,3: {text!r}") from None


def add_reading(parser: argparse.ArgumentParser) -> None:
    """The options of every command that reads a table."""
    group = parser.add_argument_group(
        "reading the table", f"formats: {', '.join(format_names())}; see resources/docs/formats.md"
    )
    for option in options():
        said, name = option.metadata, "--" + option.name.replace("_", "-")
        if isinstance(option.default, bool):
            group.add_argument(name, action="store_true", help=said["help"])
        elif takes_number(option):
            group.add_argument(name, type=int, metavar=said["metavar"], help=said["help"])
        else:
            group.add_argument(name, metavar=said["metavar"], help=said["help"])

    group.add_argument(
        "--reading",
        type=Path,
        metavar="FILE.toml",
        help="these options from a file; those of the command line go before",
    )


def given_reading(args: argparse.Namespace) -> dict[str, object]:
    """What the options of :func:`add_reading` say of reading a table."""
    named = {} if args.reading is None else Reading.file(args.reading)
    said = Reading(**{option.name: getattr(args, option.name) for option in options()}).given
    return {**named, **said}


def open_source(args: argparse.Namespace, progress: Progress) -> History:
    """The table that ``args.table`` means, read as its options say."""
    # Readers of releases, who open no project, do not wait for the commands of projects.
    from tabprotect.engine.project.in_one_go import opened

    return opened(args.table, Reading.of(given_reading(args)), progress)
