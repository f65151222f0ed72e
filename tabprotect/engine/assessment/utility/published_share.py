"""Share of the compared cells that have a published count, or are sums of such.

The figures over published counts leave the other cells out: read them beside this one.
"""

from __future__ import annotations

import numpy as np

from tabprotect.engine.assessment.assessed_release import AssessedRelease
from tabprotect.engine.assessment.figure import Figure
from tabprotect.engine.assessment.measure import Measure
from tabprotect.languages.messages import message


class PublishedShare(Measure):
    """Published cells: registered as ``published_share``."""

    name = "published_share"
    label = message("Published cells")
    unit = message("share of cells")
    direction = "higher is better"
    noun = "utility"

    def compute(self, case: AssessedRelease) -> Figure:
        """Compute it from what is published."""
        known = case.known.astype(np.float64)
        return Figure(float(known.mean()), known)


PLUGIN = PublishedShare()
