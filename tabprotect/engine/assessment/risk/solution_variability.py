"""How many records two compatible tables can differ in.

The largest number of records that would have to be changed to make one original into another, over
all pairs of originals from which this release could come: the larger of what one has more and what
the other has more, summed over the inner cells. All pairs are looked at where they are few. Else
walks from table to farthest table, over all originals or drawn ones: what they find is attained,
and marked "at least".

Source: Abowd and others 2023, arXiv 2312.11283 (solution variability).
"""

from __future__ import annotations

import numpy as np

from tabprotect.engine.arrays import Ints
from tabprotect.engine.assessment.assessed_release import AssessedRelease
from tabprotect.engine.assessment.figure import AT_LEAST, Figure
from tabprotect.engine.assessment.measure import Measure
from tabprotect.languages.said import say

VARIABILITY_DRAWN = 2_000
"""Number of originals drawn where they cannot be listed."""

VARIABILITY_COUNTS = 2**23
"""Most counts over all originals compared; from more, originals are drawn."""


FEW = 400
"""Most originals for which all pairs are compared."""

WALKS, STEPS = 8, 6
"""Number of walks, and most tables that each visits."""


class SolutionVariability(Measure):
    """Records two compatible tables can differ in: registered as ``solution_variability``."""

    name = "solution_variability"
    label = say("Records two compatible tables can differ in")
    unit = say("records")
    direction = "higher is better"
    noun = "risk"
    needs = ("posterior",)
    over = "inner cells"

    def compute(self, case: AssessedRelease) -> Figure:
        """From originals."""
        posterior, generator = case.posterior, np.random.default_rng(0)
        number = posterior.count_originals() if posterior.way == "exact" else None
        size = posterior.domain.size
        listed = None
        if number is not None and number * size <= VARIABILITY_COUNTS:
            listed = posterior.list_originals()
        if listed is not None:
            tables = listed[0][listed[1] > 0]
        else:
            drawn = min(VARIABILITY_DRAWN, max(VARIABILITY_COUNTS // size, 2))
            tables = posterior.draw_originals(drawn, generator, case.progress)
        if listed is not None and len(tables) <= FEW:
            return Figure(float(max(farthest(tables, table)[1] for table in tables)))
        longest = 0
        for start in generator.integers(0, len(tables), WALKS):
            at, here = int(start), 0
            for _ in range(STEPS):
                at, there = farthest(tables, tables[at])
                if there <= here:
                    break
                here = there
            longest = max(longest, here)
        return Figure(
            float(longest),
            None,
            say("{AT_LEAST}not all pairs of originals were looked at", AT_LEAST),
        )


def farthest(tables: Ints, table: Ints) -> tuple[int, int]:
    """The table of some (tables, cells) that differs most from one, and in how many records."""
    apart = tables - table
    more = np.maximum(apart, 0).sum(axis=1)
    records = np.maximum(more, more - apart.sum(axis=1))
    at = int(records.argmax())
    return at, int(records[at])


PLUGIN = SolutionVariability()
