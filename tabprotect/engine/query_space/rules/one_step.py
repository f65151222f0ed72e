"""One step: release only tables that add one variable to a released one.

Nobody reaches a large table before smaller ones are out, so that its risk is met gradually. A
query that is further away is put off.

Source: Dobra, Karr, Sanil and Fienberg 2002, section 3.
"""

from __future__ import annotations

from typing import ClassVar

from tabprotect.engine.parameters import Values
from tabprotect.engine.progress import SILENT, Progress
from tabprotect.engine.query_space.rule import ReleaseRule, Ruling, Situation
from tabprotect.languages.messages import message


class OneStep(ReleaseRule):
    """The rule that adds one variable to what is released."""

    name: ClassVar[str] = "one_step"
    label: ClassVar[str] = message("Add one variable to a released table")

    def decide(self, situation: Situation, values: Values, progress: Progress = SILENT) -> Ruling:
        state = situation.state
        below = state.evidence.lattice.below(situation.query)
        if any(query in state.released for query in below):
            return Ruling("release", "released")
        return Ruling("defer", message("ask first for a table with one variable less"))


PLUGIN = OneStep()
