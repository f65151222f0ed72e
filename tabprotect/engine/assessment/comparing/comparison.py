"""The result of a comparison: runs, their spread over the seeds, the Pareto front. Confidential."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from tabprotect.engine.assessment.assessed_release import AssessedRelease
from tabprotect.engine.assessment.comparing.one_run import (
    ComparisonRun,
    RunPlan,
    RunTask,
    assessed_release,
    release_once,
)
from tabprotect.engine.assessment.comparing.over_seeds import Spread, front
from tabprotect.engine.assessment.comparing.run_spec import RunSpec
from tabprotect.engine.assessment.figure import Figure
from tabprotect.engine.assessment.measure import Measure
from tabprotect.engine.assessment.registered import measures, named_measures
from tabprotect.engine.errors import ParameterError
from tabprotect.engine.formats.text.csv_rows import csv_rows
from tabprotect.engine.parameters import Values
from tabprotect.engine.progress import SILENT, Progress
from tabprotect.engine.protection.registered import methods
from tabprotect.engine.release.release import Release
from tabprotect.languages.messages import message

RISK, UTILITY = "risk_fbeta", "hellinger_expected"
"""The default axes of the risk-utility map: both judge what can be inferred from a release, so that
tables with suppressed or missing cells compare with perturbed ones."""


@dataclass(frozen=True)
class Configuration:
    """One method with one set of parameters, as it is compared.

    Attributes
    ----------
    spec
        The run specification as given, with the comparison's margins.
    parameters
        All resolved parameters as plain JSON values; others (a cycle set) as they were given.
    error
        Why it cannot be run on this table; empty where it can.
    """

    spec: RunSpec
    parameters: Mapping[str, object] = field(default_factory=dict)
    error: str = ""

    @property
    def label(self) -> str:
        """The label for a list: the method and the given parameters."""
        return self.spec.text


@dataclass(frozen=True, eq=False)
class Comparison:
    """The figures of many runs. Confidential: every figure depends on the original.

    Attributes
    ----------
    plan
        The table, the cells that are compared, the measures.
    configurations
        The compared methods with their parameters.
    values
        Resolved parameters of each configuration.
    runs
        Configuration after configuration.
    seed, seed_given
        The comparison's seed, from which every run's follows, and whether it was given.
    """

    plan: RunPlan
    configurations: tuple[Configuration, ...]
    values: tuple[Values, ...] = field(repr=False)
    runs: tuple[ComparisonRun, ...]
    seed: int = field(repr=False)
    seed_given: bool

    @cached_property
    def measures(self) -> tuple[Measure, ...]:
        """The measures, utility before risk."""
        return named_measures(self.plan.measures)

    def figures(self, configuration: int, measure: str) -> list[float | None]:
        """One measure over the runs of a configuration."""
        return [r.values[measure] for r in self.runs if r.configuration == configuration]

    @cached_property
    def summaries(self) -> tuple[Mapping[str, Spread | None], ...]:
        """Measure -> its spread over the seeds, for each configuration."""
        return tuple(
            {m.name: Spread.of(self.figures(c, m.name)) for m in self.measures}
            for c in range(len(self.configurations))
        )

    def front(self, risk: str = RISK, utility: str = UTILITY) -> list[int]:
        """Configurations that none beats in the means of a risk and a utility (Pareto front).

        Raises
        ------
        ParameterError
            For a measure that was not computed.
        """
        axes = [measures()[name] for name in (risk, utility) if name in self.plan.measures]
        if len(axes) < 2:
            raise ParameterError({"front": message("{risk} or {utility} was not computed", risk, utility)})
        points = [
            [np.nan if (s := summary[axis.name]) is None else s.mean for axis in axes]
            for summary in self.summaries
        ]
        return front(np.array(points).reshape(-1, 2), [axis.higher_is_better for axis in axes])

    def release(self, run: ComparisonRun, progress: Progress = SILENT) -> Release:
        """The release of a run, made again from its seed.

        Raises
        ------
        TabprotectError
            Where the run failed, for the reason why.
        """
        task = self._task(run)
        method = methods()[task.method]
        return release_once(task.plan.problem, method, task.values, task.seed, progress).release

    def case(self, run: ComparisonRun, progress: Progress = SILENT) -> AssessedRelease:
        """A run's release with the data of all measures, for figures cell by cell."""
        return assessed_release(self._task(run), self.release(run, progress), progress)

    def figure(self, run: ComparisonRun, measure: str, progress: Progress = SILENT) -> Figure:
        """One measure of one run with its figures cell by cell."""
        return measures()[measure].assess(self.case(run, progress))

    def _task(self, run: ComparisonRun) -> RunTask:
        c = run.configuration
        return RunTask(self.plan, c, self.configurations[c].spec.method, self.values[c], run.seed, run.number)

    def as_json(self, risk: str = RISK, utility: str = UTILITY) -> dict[str, object]:
        """Return what ``compare --json`` prints."""
        compared = self.plan.compared
        mapped = risk in self.plan.measures and utility in self.plan.measures
        return {
            "runs": [
                {
                    "method": self.configurations[r.configuration].spec.method,
                    "parameters": dict(self.configurations[r.configuration].parameters),
                    "seed": r.seed,
                    "configuration": r.configuration,
                    "measures": dict(r.values),
                    "reasons": dict(r.reasons),
                    "error": r.error or None,
                }
                for r in self.runs
            ],
            "summary": [
                {
                    "configuration": c,
                    "run": configuration.label,
                    "method": configuration.spec.method,
                    "parameters": dict(configuration.parameters),
                    "measures": {
                        name: None if s is None else s.as_json() for name, s in self.summaries[c].items()
                    },
                }
                for c, configuration in enumerate(self.configurations)
            ],
            "pareto": {
                "risk": risk,
                "utility": utility,
                "configurations": self.front(risk, utility) if mapped else [],
            },
            "compared": {
                "cells": compared.size,
                "margins": [list(margin) for margin in compared.margins],
                "key": list(self.plan.key.variables),
                "sensitive": self.plan.key.sensitive,
            },
            "confidential": True,
        }

    def as_csv(self) -> str:
        """One row for each run with every measure; empty where there is no figure."""
        names = [m.name for m in self.measures]
        configured = [(self.configurations[run.configuration], run) for run in self.runs]
        rows = (
            [c.label, c.spec.method, run.seed, *(run.values[n] for n in names), run.error]
            for c, run in configured
        )
        return csv_rows(["run", "method", "seed", *names, "error"], rows)
