"""Of the exact disclosures that an intruder who guesses sees in a release, the share that are true.

Key groups are the combinations of the key variables. Guessing, the intruder takes a sensitive
category for certain where the expected inner cells leave no other (a group in one category).

Source: Langsrud and Lupp 2021, section 6.
"""

from __future__ import annotations

from tabprotect.engine.assessment.assessed_release import AssessedRelease
from tabprotect.engine.assessment.figure import Figure, NotComputable
from tabprotect.engine.assessment.measure import Measure


class RiskPrecision(Measure):
    """Registered as ``risk_precision``."""

    name = "risk_precision"
    label = "Guessing: precision"
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

        _, seen, both = disclosures.counts
        if not seen:
            raise NotComputable("no key group looks disclosed")
        return Figure(both / seen)


PLUGIN = RiskPrecision()
