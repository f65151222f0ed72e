"""Ways to protect magnitudes, as a comparison that is shown like one of methods for counts. Confidential."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from tabprotect.engine.assessment.comparing.over_seeds import Spread, front
from tabprotect.engine.formats.text.csv_rows import csv_rows
from tabprotect.engine.progress import Progress
from tabprotect.engine.project.project import Project
from tabprotect.engine.protection.registered import methods
from tabprotect.gui.grid.magnitude_grid import magnitude_text
from tabprotect.gui.look.buttons import present
from tabprotect.languages.messages import message

if TYPE_CHECKING:
    from tabprotect.engine.assessment.comparing.comparison import Comparison
    from tabprotect.engine.assessment.measure import Measure
    from tabprotect.engine.project.magnitude_ways import TriedMagnitudes


@dataclass(frozen=True)
class WayMeasure:
    """A measure of risk or utility of a way, as of :class:`Measure`."""

    name: str
    label: str
    unit: str
    noun: str
    help: str
    higher_is_better: bool = False


BROKEN = "broken"

MEASURES = (
    WayMeasure(
        "unsafe_worst",
        message("Largest belief about an unsafe sum"),
        "probability",
        "risk",
        message("How probable the best guess of an outsider is near, if the sum were one contributor's."),
    ),
    WayMeasure(
        "mean_belief", message("Average belief"), "probability", "risk", message("The same, over all sums.")
    ),
    WayMeasure(
        BROKEN, message("Too near"), "cells", "risk", message("Sums in which somebody comes too near.")
    ),
    WayMeasure(
        "loss",
        message("What sums lose on average"),
        "share",
        "utility",
        message("By how much a sum changes, as a share of it; one that is hidden is lost whole."),
    ),
    WayMeasure("hidden", message("Hidden"), "cells", "utility", message("Sums that are not published.")),
    WayMeasure(
        "mean_deviation",
        message("Average change"),
        "share",
        "utility",
        message("By how much a published sum changes, as a share of it."),
    ),
)
"""The measures of ways, risk and utility of the map first of each."""


@dataclass(frozen=True, eq=False)
class WaysCompared:
    """The figures of the ways that were tried so far, as of :class:`Comparison`: of one run each."""

    configurations: tuple[TriedMagnitudes, ...]
    decimals: int
    measures: ClassVar[Sequence[WayMeasure]] = MEASURES
    runs: ClassVar[tuple[()]] = ()

    @property
    def names(self) -> tuple[str, ...]:
        """The name of each way."""
        text = magnitude_text(self.decimals)
        return tuple(
            way.label if way.base is None else message("Rounding to {base}", text(way.base))
            for way in self.configurations
        )

    @property
    def summaries(self) -> tuple[Mapping[str, Spread | None], ...]:
        """Measure -> its figure, for each way."""
        return tuple(
            {m.name: Spread.of([getattr(way, m.name)]) for m in MEASURES} for way in self.configurations
        )

    def front(self, risk: str, utility: str) -> list[int]:
        """The ways that none beats in both."""
        points = [
            [np.nan if (s := found[name]) is None else s.mean for name in (risk, utility)]
            for found in self.summaries
        ]
        return front(np.array(points).reshape(-1, 2), (False, False))

    def as_csv(self) -> str:
        """One row for each way with every measure; empty where there is no figure."""
        names = [m.name for m in MEASURES]
        rows = ([way.method, *(getattr(way, name) for name in names)] for way in self.configurations)
        return csv_rows(["run", *names], rows)


if TYPE_CHECKING:
    Compared = Comparison | WaysCompared
    AnyMeasure = Measure | WayMeasure


def way_names() -> tuple[str, ...]:
    """The ways that are compared: the rules alone, the methods, rounding."""
    return ("rules", *methods("magnitudes"), "rounding")


def ways_key(project: Project) -> tuple[object, ...]:
    """The key of a comparison of ways: all that it depends on."""
    magnitudes = present(project.magnitudes)
    return (
        magnitudes.table,
        magnitudes.weights,
        *magnitudes.rules,
        project.method,
        project.parameters,
        repr(project.limits),
    )


def compare_ways(project: Project, progress: Progress) -> WaysCompared:
    """Try every way on the open table; ``progress`` gets what is found so far."""
    # Imported late: the first paint does not wait for what solves programmes.
    from tabprotect.engine.project.magnitude_ways import compared_magnitudes

    assert project.magnitudes is not None
    found = WaysCompared((), project.magnitudes.table.decimals)
    for one in compared_magnitudes(project, progress):
        found = WaysCompared((*found.configurations, one), found.decimals)
        share = len(found.configurations) / len(way_names())
        progress.report(message("comparing ways to protect"), share, found)
    return found
