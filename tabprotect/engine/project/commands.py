"""All commands by name, and the one way to run them.

Every click and every command line goes through :func:`apply`, so that both give the same bytes.
"""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from dataclasses import dataclass, field

from tabprotect.engine.errors import InputError
from tabprotect.engine.project.command import Command, Context, whole
from tabprotect.engine.project.project import Changes, Project, changes
from tabprotect.engine.project.verbs import (
    compare_verbs,
    cycle_verbs,
    query_verbs,
    release_verbs,
    table_verbs,
)
from tabprotect.engine.randomness import Randomness

COMMANDS: dict[str, Command] = {
    verb.name: verb
    for verb in (
        *table_verbs.VERBS,
        *cycle_verbs.VERBS,
        *release_verbs.VERBS,
        *query_verbs.VERBS,
        *compare_verbs.VERBS,
    )
}


@dataclass(frozen=True)
class Applied:
    """What a command did.

    Attributes
    ----------
    project
        The project after it.
    changes
        What is different now.
    label
        The named step, for people.
    seed
        The seed that was drawn or given, after ``protect`` and after ``tabulate`` with drawn
        record keys. Confidential.
    """

    project: Project
    changes: Changes
    label: str
    seed: int | None = field(default=None, repr=False)


def command(name: str) -> Command:
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
            f"there is no command {name!r}", hint=f"there are {', '.join(COMMANDS)}"
        ) from None


def apply(
    project: Project,
    name: str,
    arguments: Mapping[str, object] | None = None,
    *,
    context: Context | None = None,
) -> Applied:
    """Run one command.

    Raises
    ------
    TabprotectError
        As the command says; the given project is untouched in any case.
    """
    verb = command(name)
    given = dict(arguments or {})
    context = context or Context()
    try:
        inspect.signature(verb.run).bind(project, context, **given)
    except TypeError as error:
        raise InputError(f"{name}: {error}") from None
    seed = None
    if name == "tabulate" and given.get("draw_keys") is True:
        # Drawn here: no project keeps this seed, only the trail does.
        if given.get("key_seed") is None:
            given["key_seed"] = Randomness.fresh().seed
        seed = whole(given["key_seed"], "key_seed")
    after = verb.run(project, context, **given)
    if name == "protect" and after.protected is not None:
        seed = after.protected.record.seed
    return Applied(after, changes(project, after), verb.label(project, given), seed)
