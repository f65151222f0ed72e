"""Design weights: how many people of a population each record of a survey stands for."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tabprotect.engine.arrays import Ints
from tabprotect.engine.errors import InputError
from tabprotect.engine.tables.domain import Domain
from tabprotect.engine.tables.groupings.grouping import Grouping, true_table
from tabprotect.engine.tables.table import Table
from tabprotect.languages.messages import message

SCALE = 1_000_000
"""Weights are kept in millionths and added exactly, so that no order of adding matters."""


@dataclass(frozen=True, eq=False, repr=False)
class DesignWeights:
    """The weights behind the cells of a table of records. Confidential.

    Attributes
    ----------
    sums
        The sum of the weights of each cell, in millionths.
    low, high
        The smallest and the largest weight of a record, in millionths.

    Raises
    ------
    InputError
        For negative weights, or a smallest one above the largest.
    """

    sums: Table
    low: int
    high: int

    def __post_init__(self) -> None:
        if not 0 <= self.low <= self.high or self.sums.has_negative:
            raise InputError(message("design weights are 0 or more"))

    def margin(self, names: tuple[str, ...]) -> DesignWeights:
        """Add them up to a margin."""
        return DesignWeights(self.sums.margin(names), self.low, self.high)

    def rounded(self, domain: Domain, groupings: tuple[Grouping, ...] = ()) -> Table:
        """Whole-number sums of weights over other variables, rounded half to even."""
        sums = true_table(self.sums, domain, groupings)
        if not sums.is_sparse:
            return Table.dense(domain, rounded(sums.counts))
        keys, values = sums.cells
        return Table.sparse(domain, keys, rounded(values))


def rounded(sums: Ints) -> Ints:
    """Millionths as whole numbers, half to even."""
    return times_mean(sums, np.ones_like(sums), np.zeros_like(sums))


def times_mean(sums: Ints, counts: Ints, changes: Ints) -> Ints:
    """Changed counts times the mean weight of each cell, rounded half to even, exactly.

    Parameters
    ----------
    sums
        Sums of weights, in millionths; times 1 + the largest change they must fit int64.
    counts
        How many records they are the sums of (0: the result is 0).
    changes
        Published minus true count of records.
    """
    # sum + change * sum / count as a whole number of millionths and a fraction of one.
    records = np.maximum(counts, 1)
    each, left = np.divmod(sums, records)
    more, fraction = np.divmod(changes * left, records)
    whole, part = np.divmod(sums + changes * each + more, SCALE)
    half = SCALE // 2
    up = (part > half) | ((part == half) & ((fraction > 0) | (whole % 2 == 1)))
    return np.asarray(np.where(counts > 0, whole + up, 0), dtype=np.int64)
