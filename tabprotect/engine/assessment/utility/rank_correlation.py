"""Spearman's rank correlation of true and published counts over the compared published cells.

Equal counts share the mean of their ranks.
"""

from __future__ import annotations

import numpy as np

from tabprotect.engine.assessment.assessed_release import AssessedRelease
from tabprotect.engine.assessment.distances import ranks
from tabprotect.engine.assessment.figure import Figure, NotComputable
from tabprotect.engine.assessment.measure import Measure
from tabprotect.languages.messages import message


class RankCorrelation(Measure):
    """Rank correlation: registered as ``rank_correlation``."""

    name = "rank_correlation"
    label = message("Rank correlation")
    unit = message("correlation")
    direction = "higher is better"
    noun = "utility"

    def compute(self, case: AssessedRelease) -> Figure:
        """Compute it from the published counts."""
        true, published = (ranks(counts) for counts in case.pair)
        true, published = true - true.mean(), published - published.mean()
        size = float(np.sqrt((true**2).sum() * (published**2).sum()))
        if size == 0:
            raise NotComputable(message("all true or all published counts are equal"))
        return Figure(float((true * published).sum()) / size)


PLUGIN = RankCorrelation()
