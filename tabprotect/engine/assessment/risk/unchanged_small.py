"""Share of the compared small counts that are published with their true count.

A suppressed cell is not; a cell that is only a sum of published ones counts by the sum.
"""

from __future__ import annotations

import numpy as np

from tabprotect.engine.assessment.assessed_release import AssessedRelease
from tabprotect.engine.assessment.figure import Figure, mean
from tabprotect.engine.assessment.measure import Measure
from tabprotect.languages.messages import message


class UnchangedSmall(Measure):
    """At-risk counts published unchanged: registered as ``unchanged_small``."""

    name = "unchanged_small"
    label = message("Small counts published unchanged")
    unit = message("share of the small counts")
    direction = "lower is better"
    noun = "risk"

    def compute(self, case: AssessedRelease) -> Figure:
        """Compute it from the published counts."""
        at_risk = case.problem.at_risk.mask(case.counts.astype(np.int64))
        same = np.where(at_risk, case.published == case.truth, np.nan)
        return Figure(mean(same[at_risk], message("no compared cell has a small count")), same)


PLUGIN = UnchangedSmall()
