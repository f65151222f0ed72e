"""The chance that a project's mechanism passes the gate, before it runs. Confidential."""

from __future__ import annotations

from tabprotect.engine.disclosure.gate_chance import Chance, chance, mendings, remedies
from tabprotect.engine.errors import Suggestion
from tabprotect.engine.parameters import Values
from tabprotect.engine.progress import SILENT, Progress
from tabprotect.engine.project.project import Project
from tabprotect.engine.protection.method import Method
from tabprotect.engine.protection.problem import Problem
from tabprotect.engine.release.stated_gate import Gate


def foreseen(
    project: Project, progress: Progress = SILENT
) -> tuple[Chance, tuple[Suggestion, ...]]:
    """The chance that a draw passes, on synthetic tables and on this one; if it is unlikely, what to
    do instead.

    Raises
    ------
    TabprotectError
        When the parameters do not fit the table.
    """
    found = chance(*_judged_by(project), progress=progress)
    return found, what_helps(project, progress) if found.unlikely else ()


def what_helps(project: Project, progress: Progress = SILENT) -> tuple[Suggestion, ...]:
    """Settings of the same method whose releases pass more often, best first.

    If the method's own criterion objects to the result, settings that meet the criterion.

    Raises
    ------
    TabprotectError
        When the parameters do not fit the table.
    """
    ways = mendings if project.objection else remedies
    return ways(*_judged_by(project), progress)


def _judged_by(project: Project) -> tuple[Method, Problem, Values, Gate]:
    method, problem = project.protection, project.problem
    values = method.resolve_for(problem, project.given)
    limits = project.limits.limits(problem.at_risk, random=method.is_random(values))
    return method, problem, values, limits
