"""How much a reader believes that an at-risk cell is at risk.

Mean over the inner cells at risk (or those of the main published table) of the posterior
probability that the true count is one the small-count rule calls at risk, for a reader who
assumes nothing and knows the mechanism.
"""

from __future__ import annotations

import numpy as np

from tabprotect.engine.assessment.assessed_release import AssessedRelease
from tabprotect.engine.assessment.figure import Figure
from tabprotect.engine.assessment.measure import Measure


class PosteriorSmall(Measure):
    """Registered as ``posterior_small``."""

    name = "posterior_small"
    label = "Belief that the count is small"
    unit = "probability"
    direction = "lower is better"
    noun = "risk"
    needs = ("posterior",)
    over = "inner cells"

    def compute(self, case: AssessedRelease) -> Figure:
        """From the posterior of the release."""
        at_risk = case.at_risk
        belief = np.where(at_risk, case.posterior.small(case.problem.at_risk), np.nan)
        return Figure(float(belief[at_risk].mean()), belief, case.left_out)


PLUGIN = PosteriorSmall()
