"""What may be done where sums may not leave: other settings that were tried and pass."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

import numpy as np

from tabprotect.engine.disclosure.policy import HousePolicy
from tabprotect.engine.errors import Suggestion
from tabprotect.engine.magnitudes.tables.magnitude_table import MagnitudeTable
from tabprotect.engine.progress import SILENT, Progress
from tabprotect.engine.project.magnitudes_in_one_go import Asked, Done, protected_sums
from tabprotect.engine.project.project import Project
from tabprotect.engine.project.verbs.sums_verbs import run_of
from tabprotect.languages.said import say

NOISES = ((".05", ".15"), (".1", ".25"), (".2", ".5"), (".3", ".7"))
"""Distances of factors from 1 that are tried, the least first."""

OFFERED = 2
"""How many remedies are named."""


@dataclass(frozen=True)
class SumsRemedy(Suggestion):
    """Another way to protect sums that passes: its method and parameters, and what came of it.

    Attributes
    ----------
    belief
        The largest probability that an outsider's best guess is near.
    change
        By how much a sum differs on average, as a share of it.
    """

    belief: float = 0.0
    change: float = 0.0

    @property
    def reached(self) -> str:
        return say(
            "Tried: passes. A best guess of one who is alone is near with at most {belief:.1%}; sums "
            "change by {change:.1%} on average.",
            self.belief,
            self.change,
        )


def tried_remedies(
    table: MagnitudeTable, asked: Asked, policy: HousePolicy, progress: Progress = SILENT
) -> list[Asked]:
    """Other ways to protect a table whose verdict passes whole, the one that changes least first.

    Suppression is none of them: what the choice of its pattern tells is never judged.
    """
    return [one for one, _ in _tried(table, asked, policy, progress)]


def remedies_of_sums(project: Project, progress: Progress = SILENT) -> tuple[SumsRemedy, ...]:
    """The same for the open table, for buttons."""
    assert project.sums is not None
    table, value = project.sums.table, project.sums.table.cells.value
    found = []
    for one, done in _tried(table, run_of(project, project.seed), project.limits, progress):
        given = dict(one.parameters)
        some = value != 0
        moved = np.abs(done.release.value - value)[some] / np.abs(value[some])
        words = say(
            "noise on every contribution, {least:.0%} to {most:.0%}",
            float(given["least"]),
            float(given["most"]),
        )
        found.append(
            SumsRemedy(
                words,
                {"method": one.method, **{name: float(text) for name, text in given.items()}},
                done.verdict.worst or 0.0,
                float(moved.mean()) if len(moved) else 0.0,
            )
        )
    return tuple(found)


def _tried(
    table: MagnitudeTable, asked: Asked, policy: HousePolicy, progress: Progress
) -> Iterator[tuple[Asked, Done]]:
    if table.largest is not None:
        return
    found = 0
    for number, (least, most) in enumerate(NOISES):
        progress.report(say("trying what may help"), number / len(NOISES))
        given: Mapping[str, str] = {"least": least, "most": most}
        one = replace(asked, method="multiplicative_noise", parameters=given, like=None)
        done = protected_sums(table, one, policy)
        if done.verdict.passed:
            yield one, done
            found += 1
        if found == OFFERED:
            return
