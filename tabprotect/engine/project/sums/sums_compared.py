"""Ways to protect sums side by side, each by how near an outsider's best guess comes. Confidential."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from tabprotect.engine.arrays import Bools, Ints
from tabprotect.engine.disclosure.policy import HousePolicy
from tabprotect.engine.magnitudes.methods.sums_methods import SUMS_METHODS
from tabprotect.engine.magnitudes.readers.beliefs import ContributorView, beliefs
from tabprotect.engine.magnitudes.readers.rounded_sums import least_base, rounded, rounding_beliefs
from tabprotect.engine.magnitudes.tables.magnitude_table import MagnitudeTable
from tabprotect.engine.magnitudes.tables.released_sums import ReleasedSums
from tabprotect.engine.magnitudes.tables.sensitive_cells import sensitive_cells
from tabprotect.engine.progress import SILENT, Progress
from tabprotect.engine.project.sums.magnitudes_in_one_go import Asked, protected_sums
from tabprotect.engine.sensitivity.magnitude_rules import MagnitudeRule
from tabprotect.languages.said import say

LABELS = {
    "rules": say("The rules alone"),
    **{name: method.label for name, method in SUMS_METHODS.items()},
    "rounding": say("Rounding"),
}
"""What is compared, in order."""


@dataclass(frozen=True)
class ComparedSums:
    """The figures of one way to protect sums. Confidential.

    Attributes
    ----------
    method
        One of :data:`LABELS`.
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
    base, unsafe_worst
        Of rounding: its base in units, and the largest probability among unsafe sums.
    """

    method: str
    worst: float
    mean_belief: float
    hidden: int
    mean_deviation: float
    hidden_value: object = 0
    broken: object = None
    left_out: tuple[str, ...] = ()
    base: int | None = None
    unsafe_worst: float | None = None

    @property
    def label(self) -> str:
        """The way's name for people."""
        return LABELS[self.method]

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
        }
        if self.base is not None and self.unsafe_worst is not None:
            found |= {
                "base": table.shown(self.base),
                "unsafe_worst": round(self.unsafe_worst, 6),
            }
        return found


def within_of(rules: Sequence[MagnitudeRule]) -> float:
    """How near a guess counts, in percent: as the p rule says."""
    return next((float(rule.numbers[0]) for rule in rules if rule.name == "p"), 10.0)


def compared_sums(
    table: MagnitudeTable, asked: Asked, policy: HousePolicy, progress: Progress = SILENT
) -> Iterator[ComparedSums]:
    """The figures of every way, one after the other; nothing is kept.

    Parameters
    ----------
    asked
        With the rules; its method is tried with its parameters, the others as they come.
    """
    within = within_of(asked.rules) / 100
    unsafe = sensitive_cells(table, asked.rules, weights=asked.weights).unsafe
    yield _by_rules(table, unsafe, within)
    for method in SUMS_METHODS:
        given = asked.parameters if method == asked.method else {}
        one = Asked(method=method, rules=asked.rules, weights=asked.weights, parameters=given)
        done = protected_sums(table, one, policy, progress)
        found = [each.belief for each in beliefs(done.release, ContributorView(), within)]
        figures = (done.figures["hidden_value"], done.figures["broken"], done.verdict.left_out)
        yield ComparedSums(
            method, *_figures(table, found, done.release.value, done.release.hidden), *figures
        )
    yield _rounded(table, unsafe, within, policy.belief_limit)


def _figures(
    table: MagnitudeTable, found: Sequence[float], published: Ints, hidden: Bools
) -> tuple[float, float, int, float]:
    value = table.cells.value
    shown = ~hidden & (value != 0)
    moved = np.abs(published[shown] - value[shown]) / np.abs(value[shown])
    return (
        max(found, default=0.0),
        float(np.mean(found)) if len(found) else 0.0,
        int(hidden.sum()),
        float(moved.mean()) if len(moved) else 0.0,
    )


def _by_rules(table: MagnitudeTable, hidden: Bools, within: float) -> ComparedSums:
    """Only what the rules name is hidden, and nothing to protect it."""
    value = table.cells.value
    release = ReleasedSums(
        table.variables, table.measure, table.decimals, table.cells.key,
        np.where(hidden, 0, value), hidden, "suppression", {},
    )  # fmt: skip
    found = [one.belief for one in beliefs(release, ContributorView(), within)]
    figures = _figures(table, found, value, hidden)
    return ComparedSums("rules", *figures, left_out=("contributors",))


def _rounded(table: MagnitudeTable, unsafe: Bools, within: float, limit: float) -> ComparedSums:
    """Every sum rounded to the least base with which no unsafe sum is known with more than the limit."""
    value = table.cells.value
    base = least_base(value, unsafe, within, limit) or 1
    published = rounded(value, base)
    found = rounding_beliefs(published, base, within)
    return ComparedSums(
        "rounding",
        *_figures(table, found.tolist(), published, np.zeros(len(value), dtype=bool)),
        broken=int(((found > limit) & unsafe).sum()),
        left_out=("joint_noise", "contributors"),
        base=base,
        unsafe_worst=float(found[unsafe].max(initial=0.0)),
    )
