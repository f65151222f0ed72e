"""Mean |published - true count| over the compared cells that have a published count."""

from __future__ import annotations

import numpy as np

from tabprotect.engine.assessment.assessed_release import AssessedRelease
from tabprotect.engine.assessment.figure import Figure
from tabprotect.engine.assessment.measure import Measure


class MeanAbsoluteDeviation(Measure):
    """Registered as ``mean_absolute_deviation``."""

    name = "mean_absolute_deviation"
    label = "Mean absolute deviation"
    unit = "counts"
    direction = "lower is better"
    noun = "utility"

    def compute(self, case: AssessedRelease) -> Figure:
        """From the published counts."""
        true, published = case.pair
        moved = np.abs(published - true)
        return Figure(float(moved.mean()), case.spread(moved))


PLUGIN = MeanAbsoluteDeviation()
