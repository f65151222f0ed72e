"""Functions whose keywords are the options of what is asked: their signature and help name each."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import fields
from pathlib import Path
from typing import Any, TypeVar

import numpy as np

from tabprotect.engine.errors import ParameterError
from tabprotect.engine.options import Option, Options, options_of
from tabprotect.languages.messages import message
from tabprotect.languages.nearest import closest_match

F = TypeVar("F", bound=Callable[..., Any])
A = TypeVar("A", bound=Options)

MARK = re.compile(r"^( *)\*\*asked\n", re.MULTILINE)
"""Where the docstring of such a function names its options."""


def keywords(asked: type[Options]) -> list[Option]:
    """The options that the library takes."""
    return [one for one in options_of(asked) if one.library]


def asks(asked: type[Options], *, rest: str = "", **usual: object) -> Callable[[F], F]:
    """Name the options in the signature and the docstring of a function that takes ``**asked``.

    Parameters
    ----------
    rest
        What else is taken by name, such as the parameters of a method.
    **usual
        What the function takes where nothing is given, if that is not the option's default.
    """

    def explain(function: F) -> F:
        taken = inspect.signature(function)
        own = [p for p in taken.parameters.values() if p.kind is not p.VAR_KEYWORD]
        last = [p for p in own if p.kind is p.KEYWORD_ONLY]
        own = [p for p in own if p.kind is not p.KEYWORD_ONLY]
        types = {field.name: field.type for field in fields(asked)}
        own += [
            inspect.Parameter(
                one.name,
                inspect.Parameter.KEYWORD_ONLY,
                default=usual.get(one.name, one.default),
                annotation=types[one.name],
            )
            for one in keywords(asked)
        ]
        every = [inspect.Parameter(rest, inspect.Parameter.VAR_KEYWORD)] if rest else []
        signature = taken.replace(parameters=[*own, *last, *every])
        # ``inspect`` and ``help`` read it.
        function.__signature__ = signature  # type: ignore[attr-defined]
        function.__doc__ = MARK.sub(lambda found: _entries(asked, found[1]), function.__doc__ or "")
        return function

    return explain


def _entries(asked: type[Options], indent: str) -> str:
    return "".join(
        message("{indent}{name}\n{indent}    {sentence}\n", indent, one.name, one.sentence)
        for one in keywords(asked)
    )


def taken(asked: type[A], given: Mapping[str, object], **besides: object) -> A:
    """The options that were given by name, as the engine holds them; ``besides`` goes before.

    Raises
    ------
    TypeError
        For a name that is no option.
    """
    known = {one.name: one for one in keywords(asked)}
    for name in given:
        if name not in known:
            asked_for = closest_match(name, known)
            raise TypeError(
                f"unexpected keyword {name!r}; {asked_for and asked_for + ' '}there are {', '.join(known)}"
            )
    if wrong := {
        name: message("must be a mapping, is {value}", repr(value))
        for name, value in given.items()
        if known[name].kinds == (Mapping,) and not isinstance(value, Mapping | None)
    }:
        raise ParameterError(wrong)
    values = {name: plain(value, known[name]) for name, value in given.items()}
    return asked(**{**values, **besides})


def plain(value: object, option: Option | None = None) -> Any:
    """A value as the engine takes it: paths as text, numbers and sequences of NumPy as Python's own."""
    if isinstance(value, np.generic | np.ndarray):
        return value.tolist()
    if isinstance(value, str | Path):
        read = None if option is None else option.read
        return str(value) if read is None else read(str(value))
    if isinstance(value, Mapping):
        return {name: plain(one) for name, one in value.items()}
    return [plain(one) for one in value] if isinstance(value, Sequence) else value
