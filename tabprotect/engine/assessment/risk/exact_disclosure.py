"""P(X = k | X' = k): how likely a published at-risk count is the true one.

Mean over the inner cells that are published with a count the small-count rule calls at risk of
the posterior probability that this is the true count, for a reader who assumes nothing.

Source: Domingo-Ferrer and Mateo-Sanz 1999, table 1.
"""

from __future__ import annotations

import numpy as np

from tabprotect.engine.assessment.assessed_release import AssessedRelease
from tabprotect.engine.assessment.figure import Figure, mean
from tabprotect.engine.assessment.measure import Measure


class ExactDisclosure(Measure):
    """Registered as ``exact_disclosure``."""

    name = "exact_disclosure"
    label = "Exact disclosure of small counts"
    unit = "probability"
    direction = "lower is better"
    noun = "risk"
    needs = ("posterior",)
    over = "inner cells"

    def compute(self, case: AssessedRelease) -> Figure:
        """From the posterior of the release."""
        case.require_counts()
        posterior = case.posterior
        counts = posterior.published.counts
        small = case.problem.at_risk.mask(counts) & posterior.is_published
        sure = np.where(small, posterior.probability(np.maximum(counts, 0)), np.nan)
        return Figure(mean(sure[small], "no inner cell is published with a count at risk"), sure)


PLUGIN = ExactDisclosure()
