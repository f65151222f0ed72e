"""The pq rule: who knows every contribution to within q % comes within p % of the largest.

Written ``pq=20,50``. With q = 100 it is the p % rule. The level is derived: the handbook's table 4.4 is
100/q times too large.

Source: the SDC handbook, 2nd edition, chapter 4.
"""

from __future__ import annotations

from tabprotect.engine.arrays import Ints
from tabprotect.engine.sensitivity.rule import CellContributions, ContributorRule, Numbers, known_ratio
from tabprotect.languages.messages import message


class PriorPosterior(ContributorRule):
    name = "pq"
    label = message("The pq rule")
    examples = ("pq=20,50",)
    asks = (message("percent"), message("known to"))
    says = message("As the p % rule, for readers who know the others to within q percent.")
    numbers = 2
    place = 5

    def excess(self, numbers: Numbers, coalition: int, cells: CellContributions) -> tuple[Ints, int]:
        return known_ratio(numbers[0], numbers[1], 2, cells)

    def never(self, numbers: Numbers) -> str:
        if numbers[0] <= 0:
            return message("with p = 0 no cell is unsafe: give n instead")
        return "" if numbers[0] < numbers[1] else message("p has to be smaller than q")


PLUGIN = PriorPosterior()
