"""Share of the compared cells with a true count above 0 that are published as 0 (or below).

Suppressed cells are left out.
"""

from __future__ import annotations

import numpy as np

from tabprotect.engine.assessment.assessed_release import AssessedRelease
from tabprotect.engine.assessment.figure import Figure, mean
from tabprotect.engine.assessment.measure import Measure


class FalseZeros(Measure):
    """Registered as ``false_zeros``."""

    name = "false_zeros"
    label = "False zeros"
    unit = "share of positive cells"
    direction = "lower is better"
    noun = "utility"

    def compute(self, case: AssessedRelease) -> Figure:
        """From the published counts."""
        true, published = case.pair
        some = true > 0
        false = np.where(some, published <= 0, np.nan)
        return Figure(
            mean(false[some], "no compared cell has a true count above 0"), case.spread(false)
        )


PLUGIN = FalseZeros()
