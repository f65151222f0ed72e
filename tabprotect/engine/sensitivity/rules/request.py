"""Requests: the largest contributor asked to be protected, and has more than a share of the sum.

Written ``request=70``; with a second number (``request=70,3``) also where anybody asked and there are
fewer contributors than that. Who asked stands in a column of the records.

Source: tau-ARGUS 4.1, manual, 2.5.
"""

from __future__ import annotations

import numpy as np

from tabprotect.engine.arrays import Ints
from tabprotect.engine.sensitivity.rule import (
    CellContributions,
    ContributorRule,
    Numbers,
    few,
    no_share,
    share_excess,
)
from tabprotect.languages.messages import message


class Requests(ContributorRule):
    name = "request"
    label = message("Requests")
    examples = ("request=70",)
    asks = (message("percent"),)
    says = message("Who asked for it is protected if it holds more than so many percent.")
    more = 1
    place = 7

    def excess(self, numbers: Numbers, coalition: int, cells: CellContributions) -> tuple[Ints, int]:
        share, unit = share_excess(cells.total, cells.top[:, :1], numbers[0])
        out = np.where(cells.asked[:, 0], share, 0)
        if len(numbers) > 1:
            out = np.where(cells.asked.any(axis=1) & few(numbers[1], cells) & (out <= 0), 1, out)
        return out, unit

    def never(self, numbers: Numbers) -> str:
        return no_share(numbers[0])


PLUGIN = Requests()
