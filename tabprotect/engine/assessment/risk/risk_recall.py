"""Of the exact disclosures in the original, the share that an intruder who guesses sees in a
release.

Key groups are the combinations of the key variables. Guessing, the intruder takes a sensitive
category for certain where the expected inner cells leave no other (a group in one category).

Source: Langsrud and Lupp 2021, section 6.
"""

from __future__ import annotations

from tabprotect.engine.assessment.assessed_release import AssessedRelease
from tabprotect.engine.assessment.figure import Figure, NotComputable
from tabprotect.engine.assessment.measure import Measure


class RiskRecall(Measure):
    """Registered as ``risk_recall``."""

    name = "risk_recall"
    label = "Guessing: recall"
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
        disclosures = case.disclosures("guessing")

        there, _, both = disclosures.counts
        if not there:
            raise NotComputable("no key group of the original is disclosed")
        return Figure(both / there)


PLUGIN = RiskRecall()
