"""Ways to protect sums side by side, each by how near an outsider's best guess comes. Confidential."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from tabprotect.engine.arrays import Bools, Floats, Ints
from tabprotect.engine.magnitudes.readers.beliefs import ContributorView
from tabprotect.engine.magnitudes.readers.rounded_totals import least_base, rounded, rounding_beliefs
from tabprotect.engine.magnitudes.tables.magnitude_table import MagnitudeTable
from tabprotect.engine.magnitudes.tables.sensitive_cells import sensitive_cells
from tabprotect.engine.progress import SILENT, Progress
from tabprotect.engine.project.magnitudes.protecting import problem_of, protected_sums, with_method
from tabprotect.engine.project.project import Project
from tabprotect.engine.protection.registered import methods
from tabprotect.engine.release.published_magnitudes import PublishedMagnitudes
from tabprotect.engine.release.release import Release
from tabprotect.engine.sensitivity.magnitude_rules import MagnitudeRule
from tabprotect.languages.messages import message

BESIDE = {"rules": message("The rules alone"), "rounding": message("Rounding")}
"""What methods are compared with: the first before them, the last behind them."""


@dataclass(frozen=True)
class ComparedSums:
    """The figures of one way to protect sums. Confidential.

    Attributes
    ----------
    method
        Its name, or one of :data:`BESIDE`.
    worst, mean_belief
        The largest and the average probability of an outsider's best guess.
    hidden
        Number of sums that are not published.
    mean_deviation
        By how much a published sum differs on average, as a share of it.
    hidden_value
        What the sums are worth that are hidden to protect others, in units.
    broken
        Sums in which somebody comes too near; ``None`` where nobody was tried.
    left_out
        The kinds of what was not judged.
    unsafe_worst
        The largest probability about a sum that the rules find unsafe: what ways are compared by.
    loss
        By how much a sum differs on average, as a share of it; one that is hidden is lost whole.
    base
        Of rounding: its base in units.
    """

    method: str
    worst: float
    mean_belief: float
    hidden: int
    mean_deviation: float
    unsafe_worst: float
    loss: float
    hidden_value: object = 0
    broken: object = None
    left_out: tuple[str, ...] = ()
    base: int | None = None

    @property
    def label(self) -> str:
        """The way's name for people."""
        return BESIDE.get(self.method) or methods("magnitudes")[self.method].label

    def as_json(self, table: MagnitudeTable) -> dict[str, object]:
        """For programs."""
        found: dict[str, object] = {
            "method": self.method,
            "worst": round(self.worst, 6),
            "mean_belief": round(self.mean_belief, 6),
            "hidden": self.hidden,
            "mean_deviation": round(self.mean_deviation, 6),
            "hidden_value": self.hidden_value,
            "broken": self.broken,
            "left_out": list(self.left_out),
            "unsafe_worst": round(self.unsafe_worst, 6),
            "loss": round(self.loss, 6),
        }
        if self.base is not None:
            found["base"] = table.shown(self.base)
        return found


def within_of(rules: Sequence[MagnitudeRule]) -> float:
    """Return how near a guess counts, in percent: as the p rule says."""
    return next((float(rule.numbers[0]) for rule in rules if rule.name == "p"), 10.0)


def compared_sums(project: Project, progress: Progress = SILENT) -> Iterator[ComparedSums]:
    """The figures of every way, one after the other; nothing is kept.

    The project's method is tried with its parameters, the others as they come.
    """
    problem = problem_of(project)
    table, within = problem.table, within_of(problem.rules) / 100
    unsafe = sensitive_cells(table, problem.rules, weights=problem.weights).unsafe
    yield _by_rules(table, unsafe, within)
    for method in methods("magnitudes"):
        one = project if method == project.method else with_method(project, method, {})
        done = protected_sums(one, project.seed, progress)
        found = _beliefs(done.release, within)
        more = (done.record.findings["hidden_value"], done.record.findings["broken"], done.verdict.left_out)
        release = done.release.magnitude_table
        yield ComparedSums(method, *_figures(table, found, (release.value, release.hidden), unsafe), *more)
    yield _rounded(table, unsafe, within, project.limits.belief_limit)


def _beliefs(release: Release, within: float) -> Floats:
    """An outsider's beliefs about every cell, NaN for those that are published as they are."""
    out = np.full(len(release.magnitude_table.key), np.nan)
    for one in methods("magnitudes")[release.mechanism.method].beliefs(release, ContributorView(), within):
        out[one.cell] = one.belief
    return out


def _figures(
    table: MagnitudeTable, found: Floats, published: tuple[Ints, Bools], unsafe: Bools
) -> tuple[float, float, int, float, float, float]:
    value, (given, hidden) = table.cells.value, published
    some = value != 0
    moved = np.abs(given - value) / np.maximum(np.abs(value), 1)
    shown = some & ~hidden
    held = ~np.isnan(found)
    return (
        float(found[held].max(initial=0.0)),
        float(found[held].mean()) if held.any() else 0.0,
        int(hidden.sum()),
        float(moved[shown].mean()) if shown.any() else 0.0,
        float(found[held & unsafe].max(initial=0.0)),
        float(np.where(hidden, 1.0, moved)[some].mean()) if some.any() else 0.0,
    )


def _by_rules(table: MagnitudeTable, hidden: Bools, within: float) -> ComparedSums:
    """Only what the rules name is hidden, and nothing to protect it."""
    value = table.cells.value
    published = PublishedMagnitudes(
        table.variables, table.measure, table.decimals, table.cells.key, np.where(hidden, 0, value), hidden
    )
    release = Release.of_magnitudes(published, "suppression")
    figures = _figures(table, _beliefs(release, within), (value, hidden), hidden)
    return ComparedSums("rules", *figures, left_out=("contributors",))


def _rounded(table: MagnitudeTable, unsafe: Bools, within: float, limit: float) -> ComparedSums:
    """Every sum rounded to the least base with which no unsafe sum is known with more than the limit."""
    value = table.cells.value
    base = least_base(value, unsafe, within, limit) or 1
    published = rounded(value, base)
    found = rounding_beliefs(published, base, within)
    none = np.zeros(len(value), dtype=bool)
    return ComparedSums(
        "rounding",
        *_figures(table, found, (published, none), unsafe),
        broken=int(((found > limit) & unsafe).sum()),
        left_out=("joint_noise", "contributors"),
        base=base,
    )
