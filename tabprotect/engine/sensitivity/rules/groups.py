"""Group disclosure: a cell that holds (nearly) all of a row reveals the category of its people.

A row is a line of cells along one variable, all others fixed. If one cell holds all of it,
everybody known to be in the row has that category, however large the counts.

Source: Hundepool and others 2012, Statistical Disclosure Control, chapter 5
(frequency tables: group disclosure).

Written as the share of a row: ``1`` for a cell that holds all of it, ``0.9`` for nearly all.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tabprotect.engine.arrays import Bools, Ints
from tabprotect.engine.errors import ParameterError
from tabprotect.engine.sensitivity.rule import CountRule
from tabprotect.languages.messages import message


@dataclass(frozen=True)
class GroupDisclosure:
    """A cell discloses the group of a row if it holds at least ``share`` of the row's total."""

    share: float = 1.0

    def __post_init__(self) -> None:
        if not 0.5 < self.share <= 1:
            raise ParameterError(
                {"share": message("must lie above 0.5 and be at most 1, is {share}", self.share)}
            )

    def mask(self, counts: Ints) -> Bools:
        """Mask of the cells that disclose the group of one of their rows in any direction, same shape.

        A variable of one category has no rows.
        """
        found = np.zeros(counts.shape, dtype=np.bool_)
        for axis, size in enumerate(counts.shape):
            if size > 1:
                totals = counts.sum(axis=axis, keepdims=True)
                # A share of 1 is compared in whole numbers: a large count has no exact product.
                most = counts == totals if self.share == 1 else counts >= self.share * totals
                found |= (counts > 0) & most
        return found


class Groups(CountRule):
    name = "groups"
    label = message("Group disclosure")
    examples = ("1", "0.9")

    def sensitive(self, counts: Ints, written: str) -> Bools:
        try:
            share = float(written)
        except ValueError:
            raise ParameterError({"share": message("a number is expected")}) from None
        return GroupDisclosure(share).mask(counts)


PLUGIN = Groups()
