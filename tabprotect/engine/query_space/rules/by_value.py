"""By value: release what helps a reader to rebuild the whole table.

The value of a release is how many more records iterative proportional fitting puts into the right
cells with it than without it, as a share of all records. Only for tables that can be laid out.

Source: Dobra, Karr, Sanil and Fienberg 2002, section 3.
"""

from __future__ import annotations

from typing import ClassVar

from tabprotect.engine.parameters import Parameter, Values
from tabprotect.engine.progress import SILENT, Progress
from tabprotect.engine.query_space.fitted_table import fitted, misplaced
from tabprotect.engine.query_space.rule import ReleaseRule, Ruling, Situation
from tabprotect.languages.messages import message

GAIN: Parameter[float] = Parameter(
    "gain",
    message("Least gain"),
    message("Share of all records that a release must put right."),
    "real",
    0.01,
    low=0.0,
    high=1.0,
)


class ByValue(ReleaseRule):
    """The rule that releases what helps to rebuild the whole table."""

    name: ClassVar[str] = "by_value"
    label: ClassVar[str] = message("Release what helps to rebuild the table")
    parameters: ClassVar[tuple[Parameter[object], ...]] = (GAIN,)

    def decide(self, situation: Situation, values: Values, progress: Progress = SILENT) -> Ruling:
        table, before = situation.state.evidence.cells.table, situation.state.released
        after = before.add(situation.query)
        gain = misplaced(table, fitted(table, before, progress)) - misplaced(
            table, fitted(table, after, progress)
        )
        detail = message("puts {gain:.4f} of the records right", gain)
        if gain >= values[GAIN]:
            return Ruling("release", "released", detail)
        return Ruling("refuse", message("not released under the rule of this session"), detail)


PLUGIN = ByValue()
