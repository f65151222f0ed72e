"""How much the association of variables changes, in the expected inner cells."""

from __future__ import annotations

from tabprotect.engine.assessment.assessed_release import AssessedRelease
from tabprotect.engine.assessment.association import pairs
from tabprotect.engine.assessment.figure import Figure, NotComputable
from tabprotect.engine.assessment.measure import Measure


class AssociationChange(Measure):
    """What both measures share: they compare the association of variables before and after."""

    direction = "lower is better"
    noun = "utility"
    needs = ("restored", "expected")


class ChiSquareChange(AssociationChange):
    """Change of chi-square: registered as ``chi_square_change``."""

    name = "chi_square_change"
    label = "Change of chi-square"
    unit = "share of chi-square"
    text = (
        "How much tests of independence change.\n\nPearson's chi-square of every pair of variables, "
        "in the expected inner cells and in the original: the sum of |change| over the pairs, "
        "divided by the sum in the original."
    )

    def compute(self, case: AssessedRelease) -> Figure:
        """From the expected inner cells."""
        found = pairs(case.inner, case.expected)
        before = sum(pair.chi_square[0] for pair in found)
        if before <= 0:
            raise NotComputable("no two variables of the original are associated")
        changed = sum(abs(pair.chi_square[1] - pair.chi_square[0]) for pair in found)
        return Figure(changed / before)


class CramersVChange(AssociationChange):
    """Change of Cramer's V: registered as ``cramers_v_change``."""

    name = "cramers_v_change"
    label = "Change of Cramer's V"
    unit = "points of V"
    text = (
        "How much the strength of association changes.\n\nMean over all pairs of variables of "
        "|Cramer's V in the expected inner cells - V in the original|."
    )

    def compute(self, case: AssessedRelease) -> Figure:
        """From the expected inner cells."""
        found = pairs(case.inner, case.expected)
        if not found:
            raise NotComputable("the table has one variable only")
        changed = sum(abs(pair.cramers_v[1] - pair.cramers_v[0]) for pair in found)
        return Figure(changed / len(found))


PLUGINS = (ChiSquareChange(), CramersVChange())
