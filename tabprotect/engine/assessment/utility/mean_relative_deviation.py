"""Mean |published - true count| / true count over published cells whose true count is not 0."""

from __future__ import annotations

import numpy as np

from tabprotect.engine.assessment.assessed_release import AssessedRelease
from tabprotect.engine.assessment.figure import Figure, NotComputable
from tabprotect.engine.assessment.measure import Measure


class MeanRelativeDeviation(Measure):
    """Registered as ``mean_relative_deviation``."""

    name = "mean_relative_deviation"
    label = "Mean relative deviation"
    unit = "share of the count"
    direction = "lower is better"
    noun = "utility"

    def compute(self, case: AssessedRelease) -> Figure:
        """From the published counts."""
        true, published = case.pair
        some = true > 0
        if not some.any():
            raise NotComputable("no compared cell has a true count above 0")
        moved = np.full(true.shape, np.nan)
        moved[some] = np.abs(published - true)[some] / true[some]
        return Figure(float(moved[some].mean()), case.spread(moved))


PLUGIN = MeanRelativeDeviation()
