"""The p % rule over released sums: how closely anybody can work out what another put in.

The figure is the largest whole p, up to 100, with which the p % rule holds for all sums that are released
together: of every published sum, and of every other sum of the table for every contributor as a
reader, who knows the published sums, that nothing is negative where nothing is, and what he put in
himself. A release is allowed at the threshold p when the second largest, or whoever knows more,
cannot come within p % of any contribution.

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


class Percent(SumCriterion):
    """The p of the p % rule, as a criterion."""

    name: ClassVar[str] = "p"
    label: ClassVar[str] = message("Percent by which others stay off a contribution")
    unit: ClassVar[str] = "%"
    usual: ClassVar[int] = 10

    def rule(self, threshold: int) -> MagnitudeRule:
        return MagnitudeRule("p", (Fraction(threshold),))

    def figures(self, cells: CellContributions) -> Ints:
        first, rest = cells.top[:, 0], cells.total - cells.top[:, :2].sum(axis=1)
        return np.where(first > 0, percent(rest, first), MOST_FIGURE)


PLUGIN = Percent()
