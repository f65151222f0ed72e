"""Weighted: release unless that closes off too much else.

A release is weighed: the tables that become released against ``penalty`` times those that
could have been released before and could not any more.

Source: Dobra, Karr, Sanil and Fienberg 2002, section 3.
"""

from __future__ import annotations

from typing import ClassVar

from tabprotect.engine.parameters import Parameter, Values
from tabprotect.engine.progress import SILENT, Progress
from tabprotect.engine.query_space.rule import ReleaseRule, Ruling, Situation
from tabprotect.languages.messages import message

PENALTY: Parameter[float] = Parameter(
    "penalty",
    message("Penalty"),
    message("What one table that becomes unreleasable costs, in released ones."),
    "real",
    0.5,
    low=0.0,
)


class Weighted(ReleaseRule):
    """The rule that weighs what is released against what is closed off."""

    name: ClassVar[str] = "weighted"
    label: ClassVar[str] = message("Weigh what is released against what is closed off")
    parameters: ClassVar[tuple[Parameter[object], ...]] = (PENALTY,)
    lists: ClassVar[bool] = True

    def decide(self, situation: Situation, values: Values, progress: Progress = SILENT) -> Ruling:
        after = situation.state.preview(situation.query, progress)
        cost = values[PENALTY] * after.lost
        detail = message(
            "{newly_released} newly released, {lost} newly unreleasable", after.newly_released, after.lost
        )
        if after.newly_released >= cost:
            return Ruling("release", "released", detail)
        return Ruling("refuse", message("not released under the rule of this session"), detail)


PLUGIN = Weighted()
