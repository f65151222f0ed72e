"""How much the strength of association changes.

Mean over all pairs of variables of |Cramer's V in the expected inner cells - V in the original|.
"""

from __future__ import annotations

from tabprotect.engine.assessment.assessed_release import AssessedRelease
from tabprotect.engine.assessment.association import pairs
from tabprotect.engine.assessment.figure import Figure, NotComputable
from tabprotect.engine.assessment.measure import Measure


class CramersVChange(Measure):
    """Registered as ``cramers_v_change``."""

    name = "cramers_v_change"
    label = "Change of Cramer's V"
    unit = "points of V"
    direction = "lower is better"
    noun = "utility"
    needs = (
        "restored",
        "expected",
    )

    def compute(self, case: AssessedRelease) -> Figure:
        """From the expected inner cells."""
        found = pairs(case.inner, case.expected)
        if not found:
            raise NotComputable("the table has one variable only")
        return Figure(
            sum(abs(pair.cramers_v[1] - pair.cramers_v[0]) for pair in found) / len(found)
        )


PLUGIN = CramersVChange()
