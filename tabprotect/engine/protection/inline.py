"""Foreign mechanisms name no file: they state in full what a person may give as a file.

A person may name a file for a perturbation table, for cycles, groupings, statuses or cells, and its
content becomes the value. A bundle or a dossier comes from anywhere: a file name in it would make
this program read files of its reader's machine, show their content, and judge one bundle
differently on two machines. This is the only place that checks it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping

from tabprotect.engine.errors import InputError
from tabprotect.engine.formats.grouping_files import names_files
from tabprotect.engine.parameters import Kind, Parameter
from tabprotect.engine.tables.moves import MoveSet
from tabprotect.languages.said import say

_INLINE: Mapping[Kind, Callable[[object], bool]] = {
    "cycles": lambda value: isinstance(value, MoveSet),
    "perturbation": lambda value: isinstance(value, Mapping) or _is_json(value),
    "groupings": lambda value: isinstance(value, str) and not names_files(value),
    "statuses": lambda value: isinstance(value, str) and "\n" in value,
    "cells": lambda value: isinstance(value, str) and "\n" in value,
}
"""For each kind of parameter that may name a file: the test that a value names none."""

MAY_NAME_FILES = frozenset(_INLINE)
"""Kinds of parameters."""


def _is_json(value: object) -> bool:
    return isinstance(value, str) and value.lstrip().startswith("{")


def require_inline(parameters: Iterable[Parameter[object]], stated: Mapping[str, object]) -> None:
    """Refuse a foreign mechanism that names a file. No file is looked at.

    Parameters
    ----------
    parameters
        The parameters that the method declares.
    stated
        The values in the mechanism or the dossier.

    Raises
    ------
    InputError
        Naming the parameter, never its value.
    """
    for parameter in parameters:
        value = stated.get(parameter.name)
        check = _INLINE.get(parameter.kind)
        # Nothing is stated: the method's own default, which is no file.
        if check is None or value is None or value == "":
            continue
        if not check(value):
            raise InputError(
                say(
                    'the mechanism\'s "{name}" does not stand in it, but names a file or '
                    "nothing that is known",
                    parameter.name,
                ),
                hint=say("what a release rests on must be in its bundle; no file was read"),
            )
