"""By demand: release what has been asked for often enough.

A request counts for the query itself and for every table of it. Until the demand is there
the query is put off.

Source: Dobra, Karr, Sanil and Fienberg 2002, section 3.
"""

from __future__ import annotations

from typing import ClassVar

from tabprotect.engine.parameters import Parameter, Values
from tabprotect.engine.progress import SILENT, Progress
from tabprotect.engine.query_space.rule import ReleaseRule, Ruling, Situation
from tabprotect.languages.messages import message

REQUESTS: Parameter[int] = Parameter(
    "requests",
    message("Requests"),
    message("How often a table must have been asked for, by itself or within another."),
    "integer",
    3,
    low=1,
    unit=message("requests"),
)


class ByDemand(ReleaseRule):
    """The rule that releases what has been asked for often enough."""

    name: ClassVar[str] = "by_demand"
    label: ClassVar[str] = message("Release what is asked for often")
    parameters: ClassVar[tuple[Parameter[object], ...]] = (REQUESTS,)

    def decide(self, situation: Situation, values: Values, progress: Progress = SILENT) -> Ruling:
        query = situation.query
        asked = sum(n for other, n in situation.demand.items() if other & query == query)
        needed = values[REQUESTS]
        detail = message("asked for {asked} times of {needed}", asked, needed)
        if asked >= needed:
            return Ruling("release", "released", detail)
        return Ruling("defer", message("released when it has been asked for more often"), detail)


PLUGIN = ByDemand()
