"""Variables of recipes: ``${name}`` in any text of a step, set when the recipe is run.

A recipe may give their defaults in a table ``[variables]``.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from tabprotect.engine.errors import InputError, ParameterError

_NUMBER = re.compile(r"-?(0|[1-9][0-9]{0,17})([.][0-9]+)?")
_NAME = re.compile(r"\$\{([A-Za-z_][A-Za-z0-9_-]*)\}")


class Alone(str):
    """The value of a step's text that consisted of one variable alone."""


def given_variables(defaults: object, settings: Mapping[str, str]) -> dict[str, str]:
    """The variables of a recipe: as set, else its own defaults.

    Raises
    ------
    InputError
        If ``[variables]`` is no table of texts and numbers.
    """
    if not isinstance(defaults, dict) or any(
        isinstance(v, bool) or not isinstance(v, str | int | float) for v in defaults.values()
    ):
        raise InputError("[variables] must give each variable a text or a number")
    return {**{name: str(value) for name, value in defaults.items()}, **settings}


def filled(steps: object, values: Mapping[str, str]) -> object:
    """Steps with every ``${name}`` replaced; a text of one variable alone becomes :class:`Alone`.

    Raises
    ------
    ParameterError
        Naming all variables that are not set, and all values that no step uses.
    """
    used: set[str] = set()

    def fill(value: object) -> object:
        if isinstance(value, dict):
            return {key: fill(inner) for key, inner in value.items()}
        if isinstance(value, list):
            return [fill(inner) for inner in value]
        if not isinstance(value, str):
            return value
        used.update(_NAME.findall(value))
        alone = _NAME.fullmatch(value)
        text = _NAME.sub(lambda found: values.get(found[1], found[0]), value)
        return Alone(text) if alone else text

    out = fill(steps)
    wrong = dict.fromkeys(sorted(used - set(values)), "not set: --set NAME=VALUE")
    wrong |= dict.fromkeys(sorted(set(values) - used), "the recipe has no such variable")
    if wrong:
        raise ParameterError(wrong)
    return out


def settled(value: object, *, text: bool) -> object:
    """The value of a step's argument: a variable alone becomes a number if it looks like one and may be.

    Parameters
    ----------
    text
        True if the command takes text there.
    """
    if isinstance(value, dict):
        return {key: settled(inner, text=text) for key, inner in value.items()}
    if isinstance(value, list):
        return [settled(inner, text=text) for inner in value]
    if not isinstance(value, Alone):
        return value
    if text or not _NUMBER.fullmatch(value):
        return str(value)
    return float(value) if "." in value else int(value)
