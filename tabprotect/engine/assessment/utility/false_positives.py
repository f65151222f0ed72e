"""Share of the compared cells with a true count of 0 that are published above 0.

Suppressed cells are left out.
"""

from __future__ import annotations

import numpy as np

from tabprotect.engine.assessment.assessed_release import AssessedRelease
from tabprotect.engine.assessment.figure import Figure, mean
from tabprotect.engine.assessment.measure import Measure


class FalsePositives(Measure):
    """Registered as ``false_positives``."""

    name = "false_positives"
    label = "False positives"
    unit = "share of empty cells"
    direction = "lower is better"
    noun = "utility"

    def compute(self, case: AssessedRelease) -> Figure:
        """From the published counts."""
        true, published = case.pair
        empty = true == 0
        false = np.where(empty, published > 0, np.nan)
        return Figure(
            mean(false[empty], "no compared cell is empty in the original"), case.spread(false)
        )


PLUGIN = FalsePositives()
