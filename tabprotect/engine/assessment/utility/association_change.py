"""How much the association of variables changes, in the expected inner cells."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations

import numpy as np

from tabprotect.engine.arrays import Floats
from tabprotect.engine.assessment.assessed_release import AssessedRelease
from tabprotect.engine.assessment.figure import Figure, NotComputable
from tabprotect.engine.assessment.measure import Measure
from tabprotect.languages.messages import message


@dataclass(frozen=True)
class Pair:
    """The association of two variables in the original and in the release.

    Attributes
    ----------
    chi_square, cramers_v
        (original, released).
    """

    chi_square: tuple[float, float]
    cramers_v: tuple[float, float]


def pairs(original: Floats, released: Floats) -> list[Pair]:
    """Every pair of axes of two tables of one shape; none for a one-way table."""
    found = []
    for kept in combinations(range(original.ndim), 2):
        others = tuple(axis for axis in range(original.ndim) if axis not in kept)
        a, b = (association(table.sum(axis=others)) for table in (original, released))
        found.append(Pair((a[0], b[0]), (a[1], b[1])))
    return found


def association(table: Floats) -> tuple[float, float]:
    """Chi-square of independence and Cramer's V of a two-way table.

    Empty rows and columns are left out; both are 0 where fewer than two are left.
    """
    table = table[table.sum(axis=1) > 0][:, table.sum(axis=0) > 0]
    smallest = min(table.shape) - 1
    if smallest < 1:
        return 0.0, 0.0
    total = table.sum()
    expected = np.outer(table.sum(axis=1), table.sum(axis=0)) / total
    chi_square = float(((table - expected) ** 2 / expected).sum())
    return chi_square, float(np.sqrt(chi_square / (total * smallest)))


class AssociationChange(Measure):
    """Base of both measures: the association of variables before and after."""

    direction = "lower is better"
    noun = "utility"
    needs = ("restored", "expected")


class ChiSquareChange(AssociationChange):
    """Change of chi-square: registered as ``chi_square_change``."""

    name = "chi_square_change"
    label = message("Change of chi-square")
    unit = message("share of chi-square")
    text = message(
        "How much tests of independence change.\n\nPearson's chi-square of every pair of variables, "
        "in the expected inner cells and in the original: the sum of |change| over the pairs, "
        "divided by the sum in the original."
    )

    def compute(self, case: AssessedRelease) -> Figure:
        """Compute it from the expected inner cells."""
        found = pairs(case.inner, case.expected)
        before = sum(pair.chi_square[0] for pair in found)
        if before <= 0:
            raise NotComputable(message("no two variables of the original are associated"))
        changed = sum(abs(pair.chi_square[1] - pair.chi_square[0]) for pair in found)
        return Figure(changed / before)


class CramersVChange(AssociationChange):
    """Change of Cramer's V: registered as ``cramers_v_change``."""

    name = "cramers_v_change"
    label = message("Change of Cramer's V")
    unit = message("points of V")
    text = message(
        "How much the strength of association changes.\n\nMean over all pairs of variables of "
        "|Cramer's V in the expected inner cells - V in the original|."
    )

    def compute(self, case: AssessedRelease) -> Figure:
        """Compute it from the expected inner cells."""
        found = pairs(case.inner, case.expected)
        if not found:
            raise NotComputable(message("the table has one variable only"))
        changed = sum(abs(pair.cramers_v[1] - pair.cramers_v[0]) for pair in found)
        return Figure(changed / len(found))


PLUGINS = (ChiSquareChange(), CramersVChange())
