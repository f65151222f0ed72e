"""How much tests of independence change.

Pearson's chi-square of every pair of variables, in the expected inner cells and in the original:
the sum of |change| over the pairs, divided by the sum in the original.
"""

from __future__ import annotations

from tabprotect.engine.assessment.assessed_release import AssessedRelease
from tabprotect.engine.assessment.association import pairs
from tabprotect.engine.assessment.figure import Figure, NotComputable
from tabprotect.engine.assessment.measure import Measure


class ChiSquareChange(Measure):
    """Registered as ``chi_square_change``."""

    name = "chi_square_change"
    label = "Change of chi-square"
    unit = "share of chi-square"
    direction = "lower is better"
    noun = "utility"
    needs = (
        "restored",
        "expected",
    )

    def compute(self, case: AssessedRelease) -> Figure:
        """From the expected inner cells."""
        found = pairs(case.inner, case.expected)
        before = sum(pair.chi_square[0] for pair in found)
        if before <= 0:
            raise NotComputable("no two variables of the original are associated")
        changed = sum(abs(pair.chi_square[1] - pair.chi_square[0]) for pair in found)
        return Figure(changed / before)


PLUGIN = ChiSquareChange()
