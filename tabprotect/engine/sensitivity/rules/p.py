"""The p % rule: the second largest contributor comes within p % of what the largest put in.

The second largest takes the sum less its own: what these two leave to others is less than p % of the
largest.
With ``coalition=2`` two contributors put together what they know.

Source: the SDC handbook, 2nd edition, chapter 4; tau-ARGUS 4.1, manual, 2.5 and 4.4.
"""

from __future__ import annotations

from fractions import Fraction

from tabprotect.engine.arrays import Ints
from tabprotect.engine.sensitivity.rule import CellContributions, ContributorRule, Numbers, known_ratio
from tabprotect.languages.messages import message


class PPercent(ContributorRule):
    name = "p"
    label = message("The p % rule")
    examples = ("p=10", "p=10,coalition=2")
    asks = (message("percent"),)
    says = message("Nobody may work out the largest contribution to within so many percent.")
    coalitions = True
    place = 4

    def excess(self, numbers: Numbers, coalition: int, cells: CellContributions) -> tuple[Ints, int]:
        return known_ratio(numbers[0], Fraction(100), coalition + 1, cells)

    def never(self, numbers: Numbers) -> str:
        return message("with p = 0 no cell is unsafe: give n instead") if numbers[0] <= 0 else ""

    def ranks(self, numbers: Numbers, coalition: int) -> int:
        return coalition + 1


PLUGIN = PPercent()
