"""Argument types and options that several commands share."""

from __future__ import annotations

import argparse
import os
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from tabprotect.cli.streams import as_file
from tabprotect.cli.verbs import UsageError
from tabprotect.engine.decoding import natural
from tabprotect.engine.formats.reading_options import Reading
from tabprotect.engine.formats.registered import format_names
from tabprotect.engine.options import Naming, Option, Options, options_of
from tabprotect.engine.progress import Progress
from tabprotect.engine.project.examples import PREFIX
from tabprotect.languages.messages import joined, message

if TYPE_CHECKING:
    from tabprotect.engine.project.history import History

T = TypeVar("T")
A = TypeVar("A", bound=Options)


def keep_apart(inputs: Iterable[Path | str | None], outputs: Iterable[Path | None]) -> None:
    """Refuse to write over what is read: the original would be gone.

    Raises
    ------
    UsageError
        Naming the file.
    """
    read = {os.path.realpath(p) for p in inputs if p is not None and not str(p).startswith(PREFIX)}
    for path in outputs:
        if path is not None and os.path.realpath(path) in read:
            raise UsageError(message("{path} would be overwritten: it is what the command reads", path))


def positive(text: str) -> int:
    """A whole number of at least 1."""
    if natural(text) is None or int(text) < 1:
        raise argparse.ArgumentTypeError(message("must be a whole number of at least 1: {text}", repr(text)))
    return int(text)


def names(text: str) -> list[str]:
    """``A,B`` as a list."""
    found = [part.strip() for part in text.split(",")]
    if not all(found):
        raise argparse.ArgumentTypeError(message("not a list of names: {text}", repr(text)))
    return found


def shape_sizes(text: str) -> list[int]:
    """``4,4`` as a shape."""
    try:
        found = [int(part) for part in text.replace("x", ",").split(",")]
    except ValueError:
        raise argparse.ArgumentTypeError(message("not a shape such as 4,4: {text}", repr(text))) from None
    if min(found) < 1:
        raise argparse.ArgumentTypeError(message("a size is below 1: {text}", repr(text)))
    return found


def once(pairs: Iterable[tuple[str, T]], option: str) -> dict[str, T]:
    """Return what an option that may be repeated says of each name.

    Raises
    ------
    UsageError
        For a name that comes twice.
    """
    found: dict[str, T] = {}
    for name, value in pairs:
        if name in found:
            raise UsageError(message("{option} names {name} twice", option, name))
        found[name] = value
    return found


def setting(text: str) -> tuple[str, str]:
    """``NAME=VALUE``."""
    name, value = _named(Naming())(text)
    return name, str(value)


def cell_list(text: str) -> list[tuple[int, ...]]:
    """``0,1;2,3`` as cell indices; ``all`` as an empty list."""
    if text == "all":
        return []
    try:
        return [tuple(int(i) for i in cell.split(",")) for cell in text.split(";")]
    except ValueError:
        raise argparse.ArgumentTypeError(message("not cells such as 0,1;2,3: {text}", repr(text))) from None


def _named(naming: Naming) -> Callable[[str], tuple[str, object]]:
    def read(text: str) -> tuple[str, object]:
        try:
            return naming.read(text)
        except ValueError as error:
            raise argparse.ArgumentTypeError(str(error)) from None

    return read


def add_options(
    parser: argparse._ActionsContainer,
    asked: type[Options],
    *,
    but: Collection[str] = (),
    help: Mapping[str, str] | None = None,
) -> None:
    """The arguments of a command that follow from what is asked.

    Parameters
    ----------
    but
        Options that this command does not offer, or in other words.
    help
        What is said of an option instead.
    """
    every = [one for one in options_of(asked) if one.shell and one.name not in but]
    either = {one.instead_of for one in every} - {""}
    groups = {name: parser.add_mutually_exclusive_group() for name in either}
    for one in every:
        group = groups.get(one.instead_of or one.name, parser)
        said: dict[str, Any] = {"dest": one.name, "help": (help or {}).get(one.name, one.help)}
        if bool in one.kinds:
            group.add_argument(one.shell, action="store_true", **said)
            continue
        kind = int if int in one.kinds else Path if one.file else str
        read = one.read or (names if Sequence in one.kinds else kind)
        said |= {"metavar": one.metavar or None, "type": read, "default": one.default}
        if one.naming is not None:
            said |= {"type": _named(one.naming), "action": "append", "default": []}
        elif one.second or one.repeated:
            said |= {"type": str if one.repeated else read, "action": "append", "default": []}
        group.add_argument(one.shell, **said)


def asked_for(asked: type[A], args: argparse.Namespace, **besides: object) -> A:
    """Return what the arguments of :func:`add_options` say; ``besides`` goes before.

    Raises
    ------
    UsageError
        Where an option comes too often.
    """
    values: dict[str, object] = {}
    for one in options_of(asked):
        if one.name not in args:
            continue
        value = getattr(args, one.name)
        if one.naming is not None:
            value = _collected(value, one) or None
        elif one.repeated:
            value = value or None
        elif one.second:
            if len(value) > 2:
                raise UsageError(message("{shell} is given twice at most", one.shell))
            value, values[one.second] = (*map(str, value), None, None)[:2]
        values[one.name] = str(value) if isinstance(value, Path) else value
    return asked(**{**values, **besides})


def _collected(pairs: list[tuple[str, object]], option: Option) -> dict[str, object]:
    """Return what a repeated option says of each name; several widths of one are a list."""
    if option.naming is None or option.naming.entry != "width":
        return once(pairs, option.shell)
    found: dict[str, list[object]] = {}
    for name, width in pairs:
        found.setdefault(name, []).append(width)
    return {name: widths[0] if len(widths) == 1 else widths for name, widths in found.items()}


def add_reading(parser: argparse.ArgumentParser) -> None:
    """The options of every command that reads a table."""
    group = parser.add_argument_group(
        message("reading the table"),
        message("formats: {format_names}; see resources/docs/formats.md", joined(format_names(), ", ")),
    )
    add_options(group, Reading)
    group.add_argument(
        "--reading",
        type=Path,
        metavar="FILE.toml",
        help=message("these options from a file; those of the command line go before"),
    )


def given_reading(args: argparse.Namespace) -> dict[str, object]:
    """Return what the options of :func:`add_reading` say of reading a table."""
    named = {} if args.reading is None else Reading.file(args.reading)
    return {**named, **asked_for(Reading, args).given}


def open_source(args: argparse.Namespace, progress: Progress) -> History:
    """The table that ``args.table`` means, read as its options say."""
    # Readers of releases, who open no project, do not wait for the commands of projects.
    from tabprotect.engine.project.workflow import opened

    reading = Reading.of(given_reading(args))
    with as_file(args.table) as table:
        return opened(table, reading, progress)


def add_published(command: argparse.ArgumentParser) -> None:
    """Declare how a file of published counts is read."""
    # Late: few commands read one.
    from tabprotect.engine.formats.published_rows import TOTAL
    from tabprotect.engine.formats.statuses import COUNT

    command.add_argument("--count", default=COUNT, metavar="COLUMN", help=message("the column of the counts"))
    command.add_argument(
        "--total", default=TOTAL, metavar="CODE", help=message("the code of a variable that is summed over")
    )
    command.add_argument(
        "--groupings",
        default="",
        metavar="TEXT",
        help=message("columns that group the codes of others: eu:geo=Spain>EU,Iceland>no, or a file"),
    )
