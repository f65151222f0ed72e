"""How wide the interval of counts that remain possible is in a small count.

Mean over the small inner counts (or those of the main published table) of highest less lowest
count that some original could have there from which this release could come; 0 where the cell is
known.
"""

from __future__ import annotations

import numpy as np

from tabprotect.engine.assessment.assessed_release import AssessedRelease
from tabprotect.engine.assessment.figure import Figure
from tabprotect.engine.assessment.measure import Measure
from tabprotect.languages.messages import message


class FeasibilityWidth(Measure):
    """Width of feasibility intervals: registered as ``feasibility_width``."""

    name = "feasibility_width"
    label = message("Width of feasibility intervals")
    unit = message("counts")
    direction = "higher is better"
    noun = "risk"
    needs = ("posterior",)
    over = "inner cells"

    def compute(self, case: AssessedRelease) -> Figure:
        """Compute it from the mechanism."""
        at_risk = case.at_risk
        low, high = case.feasible
        width = np.where(at_risk, high - low, np.nan)
        return Figure(float(width[at_risk].mean()), width)


PLUGIN = FeasibilityWidth()
