"""The fair comparison: several methods and settings on one table, over many seeds."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from tabprotect.engine.assessment.compared_cells import default_compared
from tabprotect.engine.assessment.comparing.comparison import Comparison, Configuration
from tabprotect.engine.assessment.comparing.one_run import ComparisonRun, RunPlan, RunTask, run_once, run_seed
from tabprotect.engine.assessment.comparing.run_spec import Comparing, RunSpec, Scope
from tabprotect.engine.assessment.intruder_key import Key
from tabprotect.engine.assessment.registered import named_measures
from tabprotect.engine.errors import InfeasibleError, InputError, ParameterError, TabprotectError
from tabprotect.engine.formats.grouping_files import parse_groupings
from tabprotect.engine.parameters import Parameter, Values
from tabprotect.engine.progress import SILENT, Progress
from tabprotect.engine.protection.method import Method
from tabprotect.engine.protection.problem import Problem
from tabprotect.engine.protection.registered import methods
from tabprotect.engine.protection.subtables import GROUPINGS, MARGINS, groupings_of, publication_of
from tabprotect.engine.randomness import Randomness
from tabprotect.engine.tables.domain import Domain
from tabprotect.engine.tables.publication import Publication
from tabprotect.engine.workers.spreading import spread
from tabprotect.engine.workers.threads import LOOK
from tabprotect.languages.messages import joined, message

RUNS = 20
"""Runs of one configuration by default."""


def compare(
    problem: Problem,
    specs: Sequence[RunSpec],
    asked: Comparing,
    *,
    runs_per_method: int = RUNS,
    progress: Progress = SILENT,
) -> Comparison:
    """Release a table many times and judge every release by the same measures.

    The result depends on the seed alone, not on the number of workers. Progress reports the
    comparison of the runs so far as partial result.

    Parameters
    ----------
    specs
        Methods with parameters.
    runs_per_method
        Runs of each of them. A method without chance is run once, and its run counted so often.

    Raises
    ------
    ParameterError, InputError
        For faults in the arguments, all at once; a method that fails on the table gives a run that
        says so.
    Interrupted
        When cancelled.
    """
    if not specs:
        raise ParameterError({"run": message("nothing is to be compared")})
    if runs_per_method < 1:
        raise ParameterError({"runs_per_method": message("must be at least 1")})
    domain = problem.table.domain
    names = tuple(measure.name for measure in named_measures(asked.measures))
    key, named = Key.of(domain, asked.key, asked.sensitive), _named(domain, asked)
    configurations, values = _resolved(problem, [_with_margins(spec, asked) for spec in specs])
    made = _Asked(
        RunPlan(problem, named or default_compared(domain, _published(problem, values)), key, names),
        configurations,
        values,
        runs_per_method,
        Randomness.seeded(asked.seed),
    )
    tasks, watched = [task for task, _ in made.tasks], _Watched(progress, made.assembled)
    found = spread(run_once, tasks, workers=asked.workers, progress=watched, stage="comparing")
    return made.assembled(dict(enumerate(found)))


@dataclass(frozen=True, eq=False)
class _Asked:
    """A comparison that is to be made: ``times`` runs of every configuration."""

    plan: RunPlan
    configurations: Sequence[Configuration]
    values: Sequence[Values]
    times: int
    randomness: Randomness

    def _seed(self, configuration: int, number: int) -> int:
        text = self.configurations[configuration].spec.text
        return run_seed(self.randomness.seed, text, number)

    @cached_property
    def tasks(self) -> list[tuple[RunTask, int]]:
        """The runs to make, and how many runs each of them stands for."""
        found: list[tuple[RunTask, int]] = []
        for c, (configuration, values) in enumerate(zip(self.configurations, self.values, strict=True)):
            if configuration.error:
                continue
            method = configuration.spec.method
            random = methods()[method].is_random(values)
            times, copies = (self.times, 1) if random else (1, self.times)
            found += [
                (RunTask(self.plan, c, method, values, self._seed(c, n), n), copies) for n in range(times)
            ]
        return found

    @cached_property
    def _failed(self) -> list[ComparisonRun]:
        """Runs of the configurations that do not suit the table, with the reason."""
        nothing = dict.fromkeys(self.plan.measures)
        return [
            ComparisonRun(c, self._seed(c, number), number, nothing, error=one.error)
            for c, one in enumerate(self.configurations)
            if one.error
            for number in range(self.times)
        ]

    def assembled(self, made: Mapping[int, ComparisonRun]) -> Comparison:
        """The comparison of the runs made so far, by the number of the task."""
        runs = list(self._failed)
        for k, once in made.items():
            task, copies = self.tasks[k]
            runs += [
                replace(once, seed=self._seed(once.configuration, number), number=number)
                for number in range(task.number, task.number + copies)
            ]
        runs.sort(key=lambda r: (r.configuration, r.number))
        return Comparison(
            plan=self.plan,
            configurations=tuple(self.configurations),
            values=tuple(self.values),
            runs=tuple(runs),
            seed=self.randomness.seed,
            seed_given=self.randomness.given,
        )


def _named(domain: Domain, scope: Scope) -> Publication | None:
    """The cells that the scope names; ``None`` where it names none."""
    if scope.margins is None:
        return None
    found = parse_groupings(scope.groupings, domain) if scope.groupings else ()
    return Publication.of(domain, scope.margins, found)


class _Watched:
    """Progress that reports the comparison of the runs so far."""

    def __init__(
        self, progress: Progress, assembled: Callable[[Mapping[int, ComparisonRun]], Comparison]
    ) -> None:
        self._progress, self._assembled = progress, assembled
        self._runs, self._next = 0, 0.0
        # In every report: one that nobody has taken is not lost.
        self._shown: Comparison | None = None

    def report(self, stage: str, fraction: float, partial: object = None) -> None:
        now = time.monotonic()
        if isinstance(partial, dict) and len(partial) > self._runs and now > self._next:
            self._runs = len(partial)
            self._shown = self._assembled(partial)
            # Looking may take a tenth of the time, however many runs there are.
            self._next = now + max(LOOK, 10 * (time.monotonic() - now))
        self._progress.report(stage, fraction, self._shown)


def _with_margins(spec: RunSpec, scope: Scope) -> RunSpec:
    """Give the comparison's sub-tables to a method that takes some and was given none."""
    takes = {p.name for p in methods()[spec.method].parameters}
    given = dict(spec.given)
    for parameter, text in ((MARGINS, scope.margins), (GROUPINGS, scope.groupings)):
        if text is not None and parameter.name in takes:
            given.setdefault(parameter.name, text)
    return replace(spec, given=given)


def _resolved(problem: Problem, specs: Sequence[RunSpec]) -> tuple[list[Configuration], list[Values]]:
    """Every specification completed and checked.

    Raises
    ------
    ParameterError
        With the wrong parameters of all of them.
    """
    configurations: list[Configuration] = []
    values: list[Values] = []
    wrong: dict[str, str] = {}
    for spec in specs:
        method = methods()[spec.method]
        found = Values({})
        error = ""
        try:
            error = joined(method.unmet(problem).values(), "; ")
            found = method.resolve_for(problem, spec.given)
        except ParameterError as fault:
            # A fault in what was not given is the table's, or that of a parameter left out.
            if set(fault.fields) <= set(spec.given):
                wrong |= {
                    message("{text}: {name}", spec.text, name): why for name, why in fault.fields.items()
                }
            error = error or str(fault)
        except (InputError, InfeasibleError) as fault:
            error = f"{fault}" + (message(" ({hint})", fault.hint) if fault.hint else "")
        configurations.append(Configuration(spec, _plain(method, spec, found), error))
        values.append(found)
    if wrong:
        raise ParameterError(wrong)
    if all(configuration.error for configuration in configurations):
        raise ParameterError({c.label: c.error for c in configurations})
    return configurations, values


def _plain(method: Method, spec: RunSpec, values: Values) -> dict[str, object]:
    """Parameters as JSON values."""

    def plain(parameter: Parameter[object]) -> object:
        value = values.get(parameter.name)
        if value is None or isinstance(value, (bool, int, float, str)):
            return value
        given = spec.given.get(parameter.name)
        return None if given is None else str(given)

    return {parameter.name: plain(parameter) for parameter in method.parameters}


def _published(problem: Problem, values: Sequence[Values]) -> list[Publication]:
    """The sub-tables that parameters name."""
    found = []
    for chosen_values in values:
        try:
            if MARGINS.name in chosen_values:
                found.append(publication_of(problem.table.domain, chosen_values))
            elif groups := groupings_of(problem.table.domain, chosen_values):
                names = tuple(
                    next((g.name for g in groups if g.of == name), name)
                    for name in problem.table.domain.names
                )
                found.append(Publication(problem.table.domain, (names,), groups))
        except TabprotectError:
            continue
    return found
