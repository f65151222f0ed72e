"""Dominance: the n largest contributors have more than a share of the sum.

Written ``dominance=1,85``: the largest has more than 85 %.

Source: the SDC handbook, 2nd edition, chapter 4; tau-ARGUS 4.1, manual, 2.5.
"""

from __future__ import annotations

from tabprotect.engine.arrays import Ints
from tabprotect.engine.sensitivity.rule import (
    CellContributions,
    ContributorRule,
    Numbers,
    no_number,
    no_share,
    share_excess,
)
from tabprotect.languages.messages import message


class Dominance(ContributorRule):
    name = "dominance"
    label = message("Dominance")
    examples = ("dominance=1,85",)
    asks = (message("largest"), message("percent"))
    says = message("The largest so many hold at most so many percent of the sum.")
    numbers = 2
    place = 6

    def excess(self, numbers: Numbers, coalition: int, cells: CellContributions) -> tuple[Ints, int]:
        return share_excess(cells.total, cells.top[:, : int(numbers[0])], numbers[1])

    def never(self, numbers: Numbers) -> str:
        return no_number(numbers[0]) or no_share(numbers[1])

    def ranks(self, numbers: Numbers, coalition: int) -> int:
        return int(numbers[0])

    def letter(self, numbers: Numbers) -> str:
        return {1: "O", 2: "T"}.get(int(numbers[0]), "M")

    def order(self, numbers: Numbers) -> int:
        return {1: 2, 2: 3}.get(int(numbers[0]), self.place)


PLUGIN = Dominance()
