"""One run of a comparison: a method releases the table once, and every measure judges it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import partial

import numpy as np

from tabprotect.engine.assessment.assessed_release import AssessedRelease
from tabprotect.engine.assessment.figure import Figure
from tabprotect.engine.assessment.intruder_key import Key
from tabprotect.engine.assessment.registered import named_measures
from tabprotect.engine.belief.effort import COMPARED_RUNS
from tabprotect.engine.errors import TabprotectError, attempted
from tabprotect.engine.parameters import Values
from tabprotect.engine.progress import SILENT, Progress
from tabprotect.engine.protection.method import Method
from tabprotect.engine.protection.problem import Problem
from tabprotect.engine.protection.registered import methods
from tabprotect.engine.protection.simulate import Runs, Trial, simulate, trial_seed
from tabprotect.engine.randomness import Randomness
from tabprotect.engine.release.release import Release
from tabprotect.engine.tables.publication import Publication
from tabprotect.languages.messages import message

DIGITS = 12
"""Significant digits of a figure: the last bits depend on the machine and on who shares it."""


@dataclass(frozen=True)
class ComparisonRun:
    """One method, one seed, and the figures of the measures. Confidential.

    Attributes
    ----------
    configuration
        Number of the run specification it belongs to.
    seed
        Replays the release: ``protect`` with the same parameters and this seed gives the same.
    number
        Which run of its configuration it is, from 0 up.
    values
        Measure -> figure; ``None`` where there is none.
    reasons
        Measure -> why there is none, or why the true one may be larger.
    error
        Why the method failed on the table; empty where it did not.
    """

    configuration: int
    seed: int = field(repr=False)
    number: int = 0
    values: Mapping[str, float | None] = field(default_factory=dict)
    reasons: Mapping[str, str] = field(default_factory=dict)
    error: str = ""


@dataclass(frozen=True, eq=False)
class RunPlan:
    """The data shared by all runs of a comparison. Confidential.

    Attributes
    ----------
    compared
        The cells that are compared.
    measures
        Names of the measures.
    """

    problem: Problem
    compared: Publication
    key: Key
    measures: tuple[str, ...]


@dataclass(frozen=True, eq=False)
class RunTask:
    """One run to make.

    Attributes
    ----------
    method
        Registered name.
    values
        Resolved parameters.
    number
        Which run of its configuration it is, from 0 up.
    """

    plan: RunPlan
    configuration: int
    method: str
    values: Values
    seed: int = field(repr=False)
    number: int = 0


def run_seed(seed: int, text: str, number: int) -> int:
    """The seed of one run of a comparison: it does not change when other runs are added.

    Parameters
    ----------
    seed
        The comparison's seed.
    text
        The run specification.
    """
    return trial_seed("compared\n", seed, text, number)


def release_once(
    problem: Problem, method: Method, values: Values, seed: int, progress: Progress = SILENT
) -> Trial:
    """The trial of a run; ``protect`` with this seed gives the same release."""
    generator = Randomness.seeded(seed).generator()
    (trial,) = simulate(method, problem, values, Runs(1, faults=True), generator=generator, progress=progress)
    return trial


def repeats_itself(problem: Problem, method: Method, values: Values) -> bool:
    """Return True if a second release of the same table must equal the first one."""
    kept = problem.record_keys is not None and "consistent" in method.promised(values)
    return kept or not method.is_random(values)


def assessed_release(task: RunTask, release: Release, progress: Progress = SILENT) -> AssessedRelease:
    """A release with the data of all measures, the second release included."""
    plan, method = task.plan, methods()[task.method]
    second = None
    wanted = any("second_release" in measure.needs for measure in named_measures(plan.measures))
    if wanted and not repeats_itself(plan.problem, method, task.values):
        again = trial_seed("again\n", task.seed)
        second = release_once(plan.problem, method, task.values, again, progress).release
    return AssessedRelease(
        problem=plan.problem,
        release=release,
        compared=plan.compared,
        key=plan.key,
        second=second,
        second_is_new=second is not None,
        affords_joined=task.number < COMPARED_RUNS,
        progress=progress,
    )


def run_once(task: RunTask, progress: Progress = SILENT) -> ComparisonRun:
    """Release once and measure; a method that fails gives a run that says so.

    Raises
    ------
    Interrupted
        When cancelled.
    """
    plan, method = task.plan, methods()[task.method]
    trial = release_once(plan.problem, method, task.values, task.seed, progress)
    case = trial.judged(partial(assessed_release, task, progress=progress), faults=True)
    if isinstance(case, TabprotectError):
        nothing = dict.fromkeys(plan.measures)
        error = f"{case}" + (message(" ({hint})", case.hint) if case.hint else "")
        return ComparisonRun(task.configuration, task.seed, task.number, nothing, error=error)
    values: dict[str, float | None] = {}
    reasons: dict[str, str] = {}
    for measure in named_measures(plan.measures):
        progress.report(measure.label, 0.0)
        # A fault of one measure costs that figure, not the run.
        figure = attempted(partial(measure.assess, case), faults=True)
        if isinstance(figure, TabprotectError):
            figure = Figure(None, reason=str(figure))
        values[measure.name] = _tidy(figure.value)
        if values[measure.name] is None:
            reasons[measure.name] = figure.reason or message("it is not finite")
        elif figure.reason:
            reasons[measure.name] = figure.reason
    return ComparisonRun(task.configuration, task.seed, task.number, values, reasons)


def _tidy(value: float | None) -> float | None:
    return None if value is None or not np.isfinite(value) else float(f"{value:.{DIGITS}g}")
