"""Of the exact disclosures that an intruder who takes themself off the table sees in a release, the
share that are true.

Key groups are the combinations of the key variables. Knowing one person, the intruder takes a
sensitive category for certain where the expected inner cells leave no other (after that person is
taken off their own).

Source: Langsrud and Lupp 2021, section 6.
"""

from __future__ import annotations

from tabprotect.engine.assessment.assessed_release import AssessedRelease
from tabprotect.engine.assessment.figure import Figure, NotComputable
from tabprotect.engine.assessment.measure import Measure


class RiskPrecisionKnowYourself(Measure):
    """Registered as ``risk_precision_know_yourself``."""

    name = "risk_precision_know_yourself"
    label = "Knowing oneself: precision"
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

        _, seen, both = disclosures.counts
        if not seen:
            raise NotComputable("no key group looks disclosed")
        return Figure(both / seen)


PLUGIN = RiskPrecisionKnowYourself()
