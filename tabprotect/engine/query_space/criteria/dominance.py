"""Dominance over released sums: how much of a sum is not the largest contributor's.

The figure is the largest whole percentage that the others hold at least of every published sum, and
that no reader can show to be less of another sum: the dominance rule with the largest contributor and
100 % less the threshold.

Sources: Dobra, Karr, Sanil and Fienberg 2002, section 3 (sums); the SDC handbook, 2nd edition, chapter 4.
"""

from __future__ import annotations

from fractions import Fraction
from typing import ClassVar

import numpy as np

from tabprotect.engine.arrays import Ints
from tabprotect.engine.query_space.sums.sum_criterion import SumCriterion, percent
from tabprotect.engine.query_space.sums.sum_evidence import MOST_FIGURE
from tabprotect.engine.sensitivity.magnitude_rules import MagnitudeRule
from tabprotect.engine.sensitivity.rule import CellContributions
from tabprotect.languages.messages import message


class DominanceShare(SumCriterion):
    """What the largest contributor leaves to others, as a criterion."""

    name: ClassVar[str] = "dominance"
    label: ClassVar[str] = message("Percent of a sum that the largest leaves to others")
    unit: ClassVar[str] = "%"
    usual: ClassVar[int] = 20

    def rule(self, threshold: int) -> MagnitudeRule:
        return MagnitudeRule("dominance", (Fraction(1), Fraction(100 - min(threshold, 100))))

    def figures(self, cells: CellContributions) -> Ints:
        rest = cells.total - cells.top[:, 0]
        return np.where(cells.total > 0, percent(rest, cells.total), MOST_FIGURE)


PLUGIN = DominanceShare()
