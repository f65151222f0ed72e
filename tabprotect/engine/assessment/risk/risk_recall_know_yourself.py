"""Of the exact disclosures in the original, the share that an intruder who takes themself off the
table sees in a release.

Key groups are the combinations of the key variables. Knowing one person, the intruder takes a
sensitive category for certain where the expected inner cells leave no other (after that person is
taken off their own).

Source: Langsrud and Lupp 2021, section 6.
"""

from __future__ import annotations

from tabprotect.engine.assessment.assessed_release import AssessedRelease
from tabprotect.engine.assessment.figure import Figure, NotComputable
from tabprotect.engine.assessment.measure import Measure


class RiskRecallKnowYourself(Measure):
    """Registered as ``risk_recall_know_yourself``."""

    name = "risk_recall_know_yourself"
    label = "Knowing oneself: recall"
    unit = "share"
    direction = "lower is better"
    noun = "risk"
    needs = (
        "restored",
        "expected",
        "key",
    )

    def compute(self, case: AssessedRelease) -> Figure:
        """From the expected inner cells."""
        disclosures = case.disclosures("know_yourself")

        there, _, both = disclosures.counts
        if not there:
            raise NotComputable("no key group of the original is disclosed")
        return Figure(both / there)


PLUGIN = RiskRecallKnowYourself()
