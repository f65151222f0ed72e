"""Few contributors, or one that dominates: fewer than n, or the largest above a share.

Written ``niss=3,60``: fewer than 3 contributors, or the largest has more than 60 % of the sum of a few.

Source: the (n, p)-rule of the query spaces.
"""

from __future__ import annotations

import numpy as np

from tabprotect.engine.arrays import Ints
from tabprotect.engine.sensitivity.rule import (
    CellContributions,
    ContributorRule,
    Numbers,
    few,
    no_number,
    no_share,
    share_excess,
)
from tabprotect.languages.messages import message


class FewOrDominant(ContributorRule):
    name = "niss"
    label = message("Few contributors, or one dominates")
    examples = ("niss=3,60",)
    asks = (message("contributors"), message("percent"))
    says = message("At least so many contributors, none with more than so many percent.")
    numbers = 2
    place = 1

    def excess(self, numbers: Numbers, coalition: int, cells: CellContributions) -> tuple[Ints, int]:
        share, unit = share_excess(cells.total, cells.top[:, :1], numbers[1])
        return np.where(few(numbers[0], cells) & (share <= 0), 1, share), unit

    def never(self, numbers: Numbers) -> str:
        return no_number(numbers[0]) or no_share(numbers[1])

    def letter(self, numbers: Numbers) -> str:
        return "A"


PLUGIN = FewOrDominant()
