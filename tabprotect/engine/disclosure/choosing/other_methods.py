"""Another method, where no other settings of the method that was asked for help.

What a pattern of hidden cells tells is not worked out for every table; a method whose law is stated
cell by cell is judged whole at any size. Each is tried on the table itself. Confidential.
"""

from __future__ import annotations

from functools import partial

from tabprotect.engine.belief.effort import TRIAL
from tabprotect.engine.disclosure.choosing.gate_chance import LARGE, LEAST, within_budget
from tabprotect.engine.disclosure.verdict import verdict
from tabprotect.engine.errors import TabprotectError, attempted
from tabprotect.engine.parameters import Values
from tabprotect.engine.progress import SILENT, Part, Progress
from tabprotect.engine.protection.method import Method
from tabprotect.engine.protection.problem import Problem
from tabprotect.engine.protection.remedy import Mending
from tabprotect.engine.protection.simulate import Runs, simulate, trial_coins
from tabprotect.engine.release.mechanism import Gate
from tabprotect.languages.messages import message, uncapital


def other_methods(
    method: Method, problem: Problem, limits: Gate, progress: Progress = SILENT
) -> tuple[Mending, ...]:
    """The methods that may take a method's place, as they are by default, whose trial releases pass.

    Every draw of a trial must pass, judged whole: two of a small table, one of a large one.
    """
    if not method.instead:
        return ()
    # Imported late: methods import solvers, which the first paint must not wait for.
    from tabprotect.engine.protection.registered import methods

    found = []
    for number, name in enumerate(method.instead):
        part = Part(progress, number, len(method.instead), message("trying what helps"))
        other = methods()[name]
        if other.unmet(problem) or not within_budget(other, problem.table.domain):
            continue
        values = attempted(partial(other.resolve_for, problem, {}, part))
        if not isinstance(values, TabprotectError) and _passes(other, problem, values, limits, part):
            found.append(Mending(message("Take {label} instead", uncapital(other.label)), {"method": name}))
    return tuple(found)


def _passes(method: Method, problem: Problem, values: Values, limits: Gate, progress: Progress) -> bool:
    domain = problem.table.domain
    judge = partial(verdict, policy=limits, effort=TRIAL, progress=progress)
    for trial in simulate(
        method,
        problem,
        values,
        Runs(1 if domain.size > LARGE else LEAST),
        generator=trial_coins(domain, "instead", method.name),
        progress=progress,
    ):
        if trial.refusal is not None or method.objection(trial.draft.findings):
            return False
        judged = trial.judged(judge)
        if isinstance(judged, TabprotectError) or not judged.passed:
            return False
    return True
