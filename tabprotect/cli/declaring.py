"""Declaring a command by what it asks: its arguments are the fields of one value."""

from __future__ import annotations

import argparse
import os
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import MISSING, replace
from pathlib import Path
from typing import Any, TypeVar, get_type_hints

from tabprotect.cli.output import Console
from tabprotect.cli.verbs import Command, UsageError
from tabprotect.engine.atomic import rehearsing
from tabprotect.engine.options import MEASURES, Measure, Option, Options, Part, options_of, parts_of
from tabprotect.engine.paths import remark_on_name, remark_on_versions
from tabprotect.languages.messages import message

T = TypeVar("T")
A = TypeVar("A", bound=Options)


SHORT = {"--out": ("-o",)}
"""Letters for options that many commands take."""


def names(text: str) -> list[str]:
    """``A,B`` as a list."""
    found = [part.strip() for part in text.split(",")]
    if not all(found):
        raise ValueError(message("not a list of names: {text}", repr(text)))
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


def _read(read: Callable[[str], object]) -> Callable[[str], object]:
    """A reader of one word, for argparse, which would keep the reason to itself."""

    def value(text: str) -> object:
        try:
            return read(text)
        except ValueError as error:
            raise argparse.ArgumentTypeError(str(error)) from None

    return value


def _taken(one: Option) -> dict[str, Any]:
    """How argparse takes an option that is no flag."""
    listed = Sequence in one.kinds
    kind: Callable[[str], object] = next((kind for kind in (int, float, Path) if kind in one.kinds), str)
    if one.choices is None and one.limited:
        kind = _read(one.check)
    if listed and not (one.repeated or one.several or one.position):
        kind = names
    if one.read is not None:
        kind = _read(one.read)
    taken: dict[str, Any] = {
        "metavar": one.metavar or None if one.choices else one.metavar or one.name.upper(),
        "type": kind,
        "default": one.default,
    }
    if one.choices is not None:
        taken["choices"] = tuple(one.choices)
    if one.naming is not None:
        taken |= {"type": _read(one.naming.read), "action": "append", "default": []}
    elif one.second or one.repeated:
        taken |= {"action": "append", "default": []}
    elif one.several:
        taken |= {"nargs": "+", "action": "extend", "default": None if one.default is None else []}
    elif one.bare is not None:
        taken |= {"nargs": "?", "const": one.bare}
    elif one.position and listed:
        taken["nargs"] = "+" if one.default is MISSING else "*"
    elif one.position and one.default is not MISSING:
        taken["nargs"] = "?"
    elif one.default is MISSING and not one.position:
        taken["required"] = True
    if one.default is MISSING:
        del taken["default"]
    return taken


def add_options(parser: argparse.ArgumentParser, asked: type[Options], within: Part | None = None) -> None:
    """The arguments of a command that follow from what is asked.

    Parameters
    ----------
    within
        The part of another request that they are.
    """
    but: Collection[str] = () if within is None else within.but
    every = [one for one in options_of(asked) if (one.shell or one.position) and one.name not in but]
    either = {one.in_place_of for one in every}
    exclusive: dict[str, argparse._ActionsContainer] = {}
    for one in every:
        title = one.group or (within.group if within is not None else "")
        group: argparse._ActionsContainer = _section(parser, title, within) if title else parser
        name = one.in_place_of or one.name
        if name in either:
            if name not in exclusive:
                exclusive[name] = group.add_mutually_exclusive_group(required=one.required)
            group = exclusive[name]
        prefix = "" if within is None else f"{within.name}."
        said: dict[str, Any] = {"dest": f"{prefix}{one.name}", "help": one.help or None}
        if within is not None and within.help is not None:
            said["help"] = within.help.get(one.name, one.help)
        if bool in one.kinds:
            flag = argparse.BooleanOptionalAction if one.default is True else "store_true"
            group.add_argument(*one.shell.split(), action=flag, default=one.default, **said)
        elif one.position:
            said["metavar"] = one.metavar or one.name
            parser.add_argument(said.pop("dest"), **{**_taken(one), **said})
        else:
            group.add_argument(*SHORT.get(one.shell, ()), *one.shell.split(), **_taken(one), **said)
    for part in parts_of(asked):
        # What a command does not offer it offers in no part of a part either.
        add_options(parser, part.kind, replace(part, but=(*part.but, *but)))


def _section(parser: argparse.ArgumentParser, title: str, part: Part | None) -> argparse._ArgumentGroup:
    found = next((group for group in parser._action_groups if group.title == title), None)
    found = found or parser.add_argument_group(title)
    if part is not None and part.about is not None and part.group == title and not found.description:
        found.description = part.about()
    return found


def asked_for(asked: type[A], args: argparse.Namespace, within: str = "", **besides: object) -> A:
    """Return what the arguments of :func:`add_options` say; ``besides`` goes before.

    Raises
    ------
    UsageError
        Where an option comes too often.
    """
    values: dict[str, object] = {}
    for one in options_of(asked):
        if within + one.name not in args:
            continue
        value = getattr(args, within + one.name)
        if one.naming is not None:
            value = _collected(value, one) or None if one.default is None else _collected(value, one)
        elif one.second:
            if len(value) > 2:
                raise UsageError(message("{shell} is given twice at most", one.shell))
            value, values[one.second] = (*map(str, value), None, None)[:2]
        elif one.repeated:
            value = tuple(value) or one.default
        if isinstance(value, Path) and Path not in one.kinds:
            value = str(value)
        values[one.name] = value
    for part in parts_of(asked):
        # The command fills in what it does not ask for.
        without = {
            one.name: "" for one in options_of(part.kind) if one.name in part.but and one.default is MISSING
        }
        values[part.name] = asked_for(part.kind, args, f"{part.name}.", **without)
    return asked(**{**values, **besides})


def command(
    name: str, *, help: str = "", example: str = "", writes: bool = False
) -> Callable[[Callable[..., int | None]], Command]:
    """Declare a command by the function that runs it.

    The function takes what is asked, an :class:`Options` whose fields are the command's arguments,
    and the console; it returns an exit code other than 0.
    """

    def declare(run: Callable[..., int | None]) -> Command:
        kinds = [kind for kind in get_type_hints(run).values() if isinstance(kind, type)]
        asked = next((kind for kind in kinds if issubclass(kind, Options)), None)

        def called(args: argparse.Namespace, console: Console) -> int:
            given = [] if asked is None else [asked_for(asked, args)]
            if given and given[0].goes_with is None:
                _check_idle(given[0])
            if not getattr(args, "dry_run", False):
                with _cores(given):
                    code = run(*given, console) or 0
                for remark in filter(None, _remarks_on_output(vars(args))):
                    console.warn(message("warning: {message}", remark))
                return code
            with rehearsing() as rehearsal:
                console.rehearsal = rehearsal.files
                return run(*given, console) or 0

        def takes(parser: argparse.ArgumentParser) -> None:
            if asked is not None:
                add_options(parser, asked)

        return Command(name, called, takes, help, example, writes)

    return declare


def _cores(given: Sequence[Options]) -> AbstractContextManager[None]:
    """The cores that the work of one command may take."""
    number = getattr(given[0], "workers", None) if given else None
    if not isinstance(number, int):
        return nullcontext()
    from tabprotect.engine.workers.threads import at_most

    return at_most(number)


def _remarks_on_output(said: Mapping[str, object]) -> Iterator[str]:
    """What is to be said of the files that a command wrote: of names, and of what is confidential."""
    for out in (said.get(name) for name in ("out", "publishing.release", "publishing.dossier")):
        if isinstance(out, str | Path) and os.path.exists(out):
            yield remark_on_name(Path(out))
    out = said.get("out")
    if isinstance(out, str | Path) and os.path.isfile(out):
        confidential = "CONFIDENTIAL" in Path(out).name or not os.stat(out).st_mode & 0o077
        yield remark_on_versions(Path(out)) if confidential else ""


def _collected(pairs: list[tuple[str, object]], option: Option) -> dict[str, object]:
    """Return what a repeated option says of each name; several widths of one are a list."""
    if option.naming is None or option.naming.entry != "width":
        return once(pairs, option.shell)
    found: dict[str, list[object]] = {}
    for name, width in pairs:
        found.setdefault(name, []).append(width)
    return {name: widths[0] if len(widths) == 1 else widths for name, widths in found.items()}


def _check_idle(asked: Options) -> None:
    """Refuse options that say nothing beside the others."""
    if idle := asked.idle():
        needed = idle[0][1]
        words = ", ".join(one.word for one, other in idle if other == needed)
        raise UsageError(message("{options}: goes with {needed}", words, needed))


def check_measure(asked: Options, measure: Measure) -> None:
    """Refuse options that a table of this measure does not take, or that say nothing beside the others.

    Raises
    ------
    UsageError
        With their words.
    """
    if wrong := asked.beside(measure):
        words = ", ".join(one.word for one in wrong)
        raise UsageError(message("{options}: {why}", words, MEASURES[wrong[0].measure or measure]))
    _check_idle(asked)
