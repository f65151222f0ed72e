"""What the gate would make of a project's mechanism, before it runs. Confidential."""

from __future__ import annotations

from tabprotect.engine.disclosure.before import Chance, chance, mendings, remedies
from tabprotect.engine.errors import Suggestion
from tabprotect.engine.progress import SILENT, Progress
from tabprotect.engine.project.project import Project


def foreseen(
    project: Project, progress: Progress = SILENT
) -> tuple[Chance, tuple[Suggestion, ...]]:
    """How likely a draw is to pass, on synthetic tables and on this one; where it is unlikely, what
    to do instead.

    Raises
    ------
    TabprotectError
        When the parameters do not fit the table.
    """
    method, problem = project.protection, project.problem
    values = method.resolve_for(problem, project.given)
    limits = project.limits.limits(problem.at_risk, random=method.is_random(values))
    found = chance(method, problem, values, limits, progress=progress)
    return found, what_helps(project, progress) if found.unlikely else ()


def what_helps(project: Project, progress: Progress = SILENT) -> tuple[Suggestion, ...]:
    """Settings of the same method whose releases pass more often, best first.

    Where the method objects to what was protected by a criterion of its own, settings that meet it.

    Raises
    ------
    TabprotectError
        When the parameters do not fit the table.
    """
    method, problem = project.protection, project.problem
    values = method.resolve_for(problem, project.given)
    limits = project.limits.limits(problem.at_risk, random=method.is_random(values))
    ways = mendings if project.objection else remedies
    return ways(method, problem, values, limits, progress)
