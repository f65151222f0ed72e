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

from tabprotect.engine.arrays import Ints, Singles
from tabprotect.engine.assessment.assessed_release import AssessedRelease
from tabprotect.engine.assessment.figure import AT_LEAST, Figure
from tabprotect.engine.assessment.measure import Measure
from tabprotect.languages.messages import message

VARIABILITY_DRAWN = 2_000
"""Number of originals drawn where they cannot be listed."""

VARIABILITY_COUNTS = 2**23
"""Most counts over all originals compared; from more, originals are drawn."""


FEW = 400
"""Most originals for which all pairs are compared."""

AT_ONCE = 64
"""Tables compared together, which stay in the processor's cache."""

WALKS, STEPS = 8, 6
"""Number of walks, and most tables that each visits."""


class SolutionVariability(Measure):
    """Records two compatible tables can differ in: registered as ``solution_variability``."""

    name = "solution_variability"
    label = message("Records two compatible tables can differ in")
    unit = message("records")
    direction = "higher is better"
    noun = "risk"
    needs = ("posterior",)
    over = "inner cells"

    def compute(self, case: AssessedRelease) -> Figure:
        """Compute it from originals."""
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
        apart = narrow(tables)
        if listed is not None and len(apart) <= FEW:
            return Figure(float(max(farthest(apart, table)[1] for table in apart)))
        longest = 0
        for start in generator.integers(0, len(apart), WALKS):
            at, here = int(start), 0
            for _ in range(STEPS):
                at, there = farthest(apart, apart[at])
                if there <= here:
                    break
                here = there
            longest = max(longest, here)
        return Figure(
            float(longest), None, message("{AT_LEAST}not all pairs of originals were looked at", AT_LEAST)
        )


def farthest(tables: Ints | Singles, table: Ints | Singles) -> tuple[int, int]:
    """The table of some (tables, cells) that differs most from one, and in how many records."""
    ones = np.ones(tables.shape[1], dtype=tables.dtype)
    records = np.empty(len(tables), dtype=np.int64)
    for begin in range(0, len(tables), AT_ONCE):
        apart = tables[begin : begin + AT_ONCE] - table
        net = apart @ ones
        np.abs(apart, out=apart)
        # What is more and what is less: half of both together, and half of what one has more.
        records[begin : begin + AT_ONCE] = (apart @ ones + np.abs(net)) / 2
    at = int(records.argmax())
    return at, int(records[at])


def narrow(tables: Ints) -> Ints | Singles:
    """The same tables without cells in which they agree, in four bytes where all sums are exact."""
    low, high = tables.min(axis=0), tables.max(axis=0)
    apart = np.ascontiguousarray((tables - low)[:, high > low])
    return apart.astype(np.float32) if int((high - low).sum()) < 2**22 else apart


PLUGIN = SolutionVariability()
