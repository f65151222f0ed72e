"""By demand: release what has been asked for often enough.

A request counts for the query itself and for every sub-table of it. Until the demand is there
the query is put off.

Source: Dobra, Karr, Sanil and Fienberg 2002, section 3.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar, cast

from tabprotect.engine.parameters import Parameter
from tabprotect.engine.progress import SILENT, Progress
from tabprotect.engine.query_space.rule import ReleaseRule, Ruling, Situation


class ByDemand(ReleaseRule):
    """See the module."""

    name: ClassVar[str] = "by_demand"
    label: ClassVar[str] = "Release what is asked for often"
    parameters: ClassVar[tuple[Parameter, ...]] = (
        Parameter(
            "requests",
            "Requests",
            "How often a sub-table must have been asked for, by itself or within another.",
            "integer",
            3,
            low=1,
            unit="requests",
        ),
    )

    def decide(
        self, situation: Situation, values: Mapping[str, object], progress: Progress = SILENT
    ) -> Ruling:
        query = situation.query
        asked = sum(n for other, n in situation.demand.items() if other & query == query)
        needed = cast(int, values["requests"])
        detail = f"asked for {asked} times of {needed}"
        if asked >= needed:
            return Ruling("release", "released", detail)
        return Ruling("defer", "released when it has been asked for more often", detail)


PLUGIN = ByDemand()
