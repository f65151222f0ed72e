"""Exact disclosures by an intruder who guesses: F-beta, beta = 0.5.

Key groups are the combinations of the key variables. Guessing, the intruder takes a sensitive
category for certain where the expected inner cells leave no other (a group in one category). With
a, b, c the number of key groups where this happens in the original, in the release (of groups
that occur in the original), and in both for the same category, the risk is (1 + beta^2) c /
(beta^2 a + b), and 0 where that is 0 / 0. Group by group: the probability of the surest guess.

Source: Langsrud and Lupp 2021, section 6, equation 5.
"""

from __future__ import annotations

from tabprotect.engine.assessment.assessed_release import AssessedRelease
from tabprotect.engine.assessment.figure import Figure
from tabprotect.engine.assessment.measure import Measure


class RiskFbeta(Measure):
    """Registered as ``risk_fbeta``."""

    name = "risk_fbeta"
    label = "Guessing: F-beta risk"
    unit = "share"
    direction = "lower is better"
    noun = "risk"
    needs = (
        "restored",
        "expected",
        "key",
    )
    over = "key groups"

    def compute(self, case: AssessedRelease) -> Figure:
        """From the expected inner cells."""
        disclosures = case.disclosures("guessing")

        groups = case.by_group(disclosures.released.probability, disclosures.occupied)
        return Figure(disclosures.f_beta, groups)


PLUGIN = RiskFbeta()
