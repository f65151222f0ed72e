"""A project's magnitude table protected and judged."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from tabprotect.engine.bundle import public
from tabprotect.engine.disclosure.protected_magnitudes import protect_magnitudes
from tabprotect.engine.disclosure.together import checked
from tabprotect.engine.errors import InputError
from tabprotect.engine.progress import SILENT, Progress
from tabprotect.engine.project.plans import ChosenMagnitudes
from tabprotect.engine.project.project import Project
from tabprotect.engine.protection.magnitude_method import PUBLISH, MagnitudeProblem
from tabprotect.engine.protection.problem import Protected
from tabprotect.engine.protection.registered import methods
from tabprotect.engine.sensitivity.magnitude_rules import rules_of
from tabprotect.languages.messages import message


def chosen(project: Project) -> ChosenMagnitudes:
    """The magnitude table of a project, with what was chosen for it.

    Raises
    ------
    InputError
        When it has none.
    """
    if project.sums is None:
        raise InputError(
            message("the open table is none of sums"),
            hint=message("count records with a measure: tabulate RECORDS (--measure COLUMN)"),
        )
    return project.sums


def published_beside(given: object) -> tuple[str, ...]:
    """The names of what is published beside sums, as the parameter says it."""
    return () if given in (None, PUBLISH.default) else tuple(str(given).replace(" ", "").split(","))


def problem_of(project: Project, seed: int | None = None) -> MagnitudeProblem:
    """Return what is to be protected: the project's choices, with the rules of the house.

    Raises
    ------
    InputError, BundleError
        When last year's bundle cannot be read.
    """
    sums, policy = chosen(project), project.limits
    rules = (*sums.rules, *policy.rules)
    return MagnitudeProblem(
        table=sums.table,
        rules=tuple(dict.fromkeys(rules_of(rules))) if rules else (),
        weights=sums.weights,
        title=project.title,
        publish=checked(published_beside(project.parameters.get(PUBLISH.name)), sums.table),
        before=public.read(Path(sums.like)).magnitude_table if sums.like else None,
        seed=seed,
    )


def protected_sums(project: Project, seed: int | None = None, progress: Progress = SILENT) -> Protected:
    """The project's magnitude table protected by its method, and judged; nothing is refused.

    Parameters
    ----------
    seed
        In place of the key of the house, to repeat noise.

    Raises
    ------
    ParameterError, InputError
        When it cannot be protected with these parameters.
    Interrupted
    """
    method = methods("magnitudes")[project.method]
    given = {name: value for name, value in project.parameters.items() if name != PUBLISH.name}
    values, problem = method.resolve(given), problem_of(project, seed)
    return protect_magnitudes(method, problem, values, project.limits, progress)


def with_method(project: Project, method: str, parameters: Mapping[str, object]) -> Project:
    """The project with another method for its sums; what is published beside them stays."""
    beside = {name: value for name, value in project.parameters.items() if name == PUBLISH.name}
    return replace(project, method=method, parameters={**parameters, **beside})
