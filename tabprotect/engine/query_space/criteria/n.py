"""Numbers of contributors over released sums: the n rule.

The figure is the least number of contributors of a sum that is published, or that a reader can work
out exactly from what is released together and what he put in himself.

Sources: Dobra, Karr, Sanil and Fienberg 2002, section 3 (sums); the SDC handbook, 2nd edition, chapter 4.
"""

from __future__ import annotations

from fractions import Fraction
from typing import ClassVar

from tabprotect.engine.arrays import Ints
from tabprotect.engine.query_space.sums.sum_criterion import SumCriterion
from tabprotect.engine.sensitivity.magnitude_rules import MagnitudeRule
from tabprotect.engine.sensitivity.rule import CellContributions
from tabprotect.languages.messages import message


class Contributors(SumCriterion):
    """The least number of contributors, as a criterion."""

    name: ClassVar[str] = "n"
    label: ClassVar[str] = message("Least number of contributors")
    unit: ClassVar[str] = "contributors"
    usual: ClassVar[int] = 3

    def rule(self, threshold: int) -> MagnitudeRule:
        return MagnitudeRule("n", (Fraction(threshold),))

    def figures(self, cells: CellContributions) -> Ints:
        return cells.nonzero


PLUGIN = Contributors()
