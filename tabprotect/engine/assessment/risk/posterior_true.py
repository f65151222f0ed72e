"""How much a reader believes in the true count of an at-risk cell.

Mean over the inner cells at risk (or those of the main published table) of the posterior
probability of their true count, for a reader who assumes nothing (uniform prior) and knows the
mechanism. Where it is not known what the choice of a whole table tells, it is marked "at least".
"""

from __future__ import annotations

import numpy as np

from tabprotect.engine.assessment.assessed_release import AssessedRelease
from tabprotect.engine.assessment.figure import Figure
from tabprotect.engine.assessment.measure import Measure


class PosteriorTrue(Measure):
    """Registered as ``posterior_true``."""

    name = "posterior_true"
    label = "Belief in the true count"
    unit = "probability"
    direction = "lower is better"
    noun = "risk"
    needs = ("posterior",)
    over = "inner cells"

    def compute(self, case: AssessedRelease) -> Figure:
        """From the posterior of the release."""
        at_risk = case.at_risk
        belief = np.where(at_risk, case.posterior.probability(case.believed), np.nan)
        return Figure(float(belief[at_risk].mean()), belief, case.left_out)


PLUGIN = PosteriorTrue()
