"""What may be done where sums may not leave: other settings that were tried and pass."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

import numpy as np

from tabprotect.engine.disclosure.policy import HousePolicy
from tabprotect.engine.errors import Suggestion
from tabprotect.engine.magnitudes.tables.magnitude_table import MagnitudeTable
from tabprotect.engine.progress import SILENT, Progress
from tabprotect.engine.project.sums.magnitudes_in_one_go import Asked, Done, protected_sums, with_earlier
from tabprotect.languages.messages import at_most_in_100, message

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
        return message(
            "Tried: passes. A best guess of one who is alone is near with at most {belief}; sums "
            "change by {change:.1f} % on average.",
            at_most_in_100(self.belief),
            100 * self.change,
        )


def tried_remedies(
    table: MagnitudeTable,
    asked: Asked,
    policy: HousePolicy,
    progress: Progress = SILENT,
    *,
    register: str | None = None,
) -> list[Asked]:
    """Other ways to protect a table whose verdict passes whole, the one that changes least first.

    What left before is weighed too: the register is the house's, or the one given.

    Suppression is none of them: what the choice of its pattern tells is never judged.
    """
    return [one for one, _ in _tried(table, asked, policy, progress, register)]


def remedies_for(
    table: MagnitudeTable, asked: Asked, policy: HousePolicy, progress: Progress = SILENT
) -> tuple[SumsRemedy, ...]:
    """The same for buttons, each with what came of it."""
    value = table.cells.value
    some, found = value != 0, []
    for one, done in _tried(table, asked, policy, progress):
        given = {name: float(text) for name, text in one.parameters.items()}
        moved = np.abs(done.release.value - value)[some] / np.abs(value[some])
        found.append(
            SumsRemedy(
                message(
                    "noise on every contribution, {least:.0f} % to {most:.0f} %",
                    *(100 * v for v in given.values()),
                ),
                {"method": one.method, **given},
                done.verdict.worst or 0.0,
                float(moved.mean()) if len(moved) else 0.0,
            )
        )
    return tuple(found)


def _tried(
    table: MagnitudeTable, asked: Asked, policy: HousePolicy, progress: Progress, register: str | None = None
) -> Iterator[tuple[Asked, Done]]:
    if table.largest is not None:
        return
    found = 0
    for number, (least, most) in enumerate(NOISES):
        progress.report(message("trying what may help"), number / len(NOISES))
        given: Mapping[str, str] = {"least": least, "most": most}
        one = replace(asked, method="multiplicative_noise", parameters=given, like=None)
        done = protected_sums(table, one, policy)
        if done.verdict.passed and with_earlier(table, done, register).passed:
            yield one, done
            found += 1
        if found == OFFERED:
            return
