"""Exact disclosures by an intruder who takes themself off the table: F-beta, beta = 0.5.

Key groups are the combinations of the key variables. Knowing one person, the intruder takes a
sensitive category for certain where the expected inner cells leave no other (after that person is
taken off their own). With a, b, c the number of key groups where this happens in the original, in
the release (of groups that occur in the original), and in both for the same category, the risk is
(1 + beta^2) c / (beta^2 a + b), and 0 where that is 0 / 0. Group by group: the probability of the
surest guess.

Source: Langsrud and Lupp 2021, section 6, equation 5.
"""

from __future__ import annotations

from tabprotect.engine.assessment.assessed_release import AssessedRelease
from tabprotect.engine.assessment.figure import Figure
from tabprotect.engine.assessment.measure import Measure


class RiskFbetaKnowYourself(Measure):
    """Registered as ``risk_fbeta_know_yourself``."""

    name = "risk_fbeta_know_yourself"
    label = "Knowing oneself: F-beta risk"
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
        disclosures = case.disclosures("know_yourself")

        groups = case.by_group(disclosures.released.probability, disclosures.occupied)
        return Figure(disclosures.f_beta, groups)


PLUGIN = RiskFbetaKnowYourself()
