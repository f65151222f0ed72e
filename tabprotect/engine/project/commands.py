"""All commands by name: for recipes and saved projects. Whoever knows a command imports it."""

from __future__ import annotations

from tabprotect.engine.errors import InputError
from tabprotect.engine.project.command import Arguments, Command
from tabprotect.engine.project.verbs import (
    category_verbs,
    compare_verbs,
    cycle_verbs,
    level_verbs,
    query_verbs,
    release_verbs,
    set_verbs,
    table_verbs,
)
from tabprotect.languages.said import say

COMMANDS: dict[str, Command[...]] = {
    found.name: found
    for verbs in (
        table_verbs,
        category_verbs,
        level_verbs,
        cycle_verbs,
        release_verbs,
        set_verbs,
        query_verbs,
        compare_verbs,
    )
    for found in vars(verbs).values()
    if isinstance(found, Command)
}


ALSO: dict[str, tuple[str, dict[str, str]]] = {"publish_set": ("publish", {"folder": "release"})}
"""Words of recipes and saved projects that say the same as others, with their arguments' names."""


def spelled(name: str, given: Arguments) -> tuple[Command[...], dict[str, object]]:
    """A command and its arguments, as a recipe or a saved project says them.

    Raises
    ------
    InputError
        For an unknown command.
    """
    now, renamed = ALSO.get(name, (name, {}))
    return named(now), {renamed.get(key, key): value for key, value in given.items()}


def named(name: str) -> Command[...]:
    """A command by its name.

    Raises
    ------
    InputError
        For an unknown one.
    """
    try:
        return COMMANDS[name]
    except KeyError:
        raise InputError(
            say("there is no command {name}", name=repr(name)),
            hint=say("there are {COMMANDS}", COMMANDS=", ".join(COMMANDS)),
        ) from None
