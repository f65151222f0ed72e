"""How little is left open about the small count that a reader is surest of.

The least Shannon entropy, in bits, of the posterior of the true count over the small inner counts
(or those of the main published table): 0 where one is certain.

Source: Shannon 1948.
"""

from __future__ import annotations

import numpy as np

from tabprotect.engine.assessment.assessed_release import AssessedRelease
from tabprotect.engine.assessment.figure import Figure
from tabprotect.engine.assessment.measure import Measure
from tabprotect.languages.messages import message


class LeastEntropy(Measure):
    """Least entropy of an at-risk count: registered as ``least_entropy``."""

    name = "least_entropy"
    label = message("Least entropy of a small count")
    unit = message("bits")
    direction = "higher is better"
    noun = "risk"
    needs = ("posterior",)
    over = "inner cells"

    def compute(self, case: AssessedRelease) -> Figure:
        """Compute it from the posterior of the release."""
        at_risk, posterior = case.at_risk, case.posterior
        chances = posterior.chances
        logs = np.log2(chances, out=np.zeros_like(chances), where=chances > 0)
        of_group = np.maximum(-(chances * logs).sum(axis=1), 0.0)
        bits = of_group[posterior.group_of_cell].reshape(posterior.domain.shape)
        return Figure(float(bits[at_risk].min()), np.where(at_risk, bits, np.nan))


PLUGIN = LeastEntropy()
