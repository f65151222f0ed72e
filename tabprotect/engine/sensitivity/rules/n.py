"""Few contributors: a sum of fewer than n contributors tells too much.

It looks at no size. Two contributors each know what the other put in; with ``n=3`` no sum of two is
published.

Source: the SDC handbook, 2nd edition, chapter 4; tau-ARGUS 4.1, manual, 2.5.
"""

from __future__ import annotations

import numpy as np

from tabprotect.engine.arrays import Ints
from tabprotect.engine.sensitivity.rule import CellContributions, ContributorRule, Numbers, few, no_number
from tabprotect.languages.messages import message


class FewContributors(ContributorRule):
    name = "n"
    label = message("Few contributors")
    examples = ("n=3",)
    asks = (message("contributors"),)
    says = message("A sum has at least so many contributors.")
    place = 0

    def excess(self, numbers: Numbers, coalition: int, cells: CellContributions) -> tuple[Ints, int]:
        return few(numbers[0], cells).astype(np.int64), 1

    def never(self, numbers: Numbers) -> str:
        if numbers[0] < 2:
            return no_number(numbers[0]) or message("with n = 1 no cell is unsafe")
        return no_number(numbers[0])

    def letter(self, numbers: Numbers) -> str:
        return "A"


PLUGIN = FewContributors()
