"""All commands by name, for recipes and saved projects. Other code imports the command itself."""

from __future__ import annotations

from tabprotect.engine.errors import InputError
from tabprotect.engine.project.command import Arguments, Command
from tabprotect.engine.project.verbs import (
    category_verbs,
    compare_verbs,
    cycle_verbs,
    level_verbs,
    magnitude_verbs,
    publish_verbs,
    query_verbs,
    release_verbs,
    set_verbs,
    table_verbs,
)
from tabprotect.languages.messages import message

COMMANDS: dict[str, Command[...]] = {
    found.name: found
    for verbs in (
        table_verbs,
        category_verbs,
        level_verbs,
        cycle_verbs,
        release_verbs,
        publish_verbs,
        set_verbs,
        query_verbs,
        compare_verbs,
        magnitude_verbs,
    )
    for found in vars(verbs).values()
    if isinstance(found, Command)
}


ALSO: dict[str, tuple[str, dict[str, str]]] = {"publish_set": ("publish", {"folder": "release"})}
"""Aliases of commands in recipes and saved projects, with the names of their arguments."""


def spelled(name: str, given: Arguments) -> tuple[Command[...], dict[str, object]]:
    """The command and arguments that a recipe or saved project means by a name and its arguments.

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
        For an unknown name.
    """
    try:
        return COMMANDS[name]
    except KeyError:
        raise InputError(
            message("there is no command {name}", repr(name)),
            hint=message("there are {COMMANDS}", ", ".join(COMMANDS)),
        ) from None
