"""Who stands behind the cells of a magnitude table: how many, and the largest contributions."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tabprotect.engine.arrays import Floats, Ints
from tabprotect.engine.errors import InputError


@dataclass(frozen=True, eq=False, repr=False)
class Contributors:
    """What primary sensitivity rules need to know of each cell. Confidential.

    Attributes
    ----------
    number : int64 (cells,)
        Contributors per cell.
    total : float64 (cells,)
        The cell values, sums of contributions from 0 up.
    largest : float64 (cells, top)
        The largest contributions of each cell, descending; 0 where there are fewer.

    Raises
    ------
    InputError
        For contributions that are negative, not in order, or more than their cell's total.
    """

    number: Ints
    total: Floats
    largest: Floats

    def __post_init__(self) -> None:
        cells = len(self.number)
        if self.total.shape != (cells,) or self.largest.ndim != 2 or len(self.largest) != cells:
            raise InputError("numbers, totals and largest contributions are of different cells")
        if (self.largest < 0).any() or (self.number < 0).any():
            raise InputError(
                "a contribution is negative", hint="these rules are for values from 0 up"
            )
        if (np.diff(self.largest, axis=1) > 0).any():
            raise InputError("largest contributions must be in descending order")
        known = self.largest.sum(axis=1)
        # Sums of the same numbers in another order may differ in the last digits.
        if (known > self.total + 1e-9 * np.abs(self.total)).any():
            raise InputError("a cell's largest contributions exceed its total")

    @classmethod
    def of_records(
        cls,
        cell: Ints,
        value: Floats,
        *,
        cells: int,
        top: int = 3,
    ) -> Contributors:
        """From one record per contributor: its cell, from 0 to ``cells - 1``, and its value."""
        order = np.lexsort((-value, cell))
        cell, value = cell[order], value[order]
        number = np.bincount(cell, minlength=cells)
        first = np.cumsum(number) - number
        rank = np.arange(len(cell)) - first[cell]
        largest = np.zeros((cells, top), dtype=np.float64)
        chosen = rank < top
        largest[cell[chosen], rank[chosen]] = value[chosen]
        total = np.bincount(cell, weights=value, minlength=cells).astype(np.float64)
        return cls(number.astype(np.int64), total, largest)

    def sum_of_largest(self, n: int) -> Floats:
        """The sum of each cell's ``n`` largest contributions (cells,).

        Raises
        ------
        InputError
            When fewer are known and some cell has more.
        """
        top = self.largest.shape[1]
        if n > top and (self.number > top).any():
            raise InputError(
                f"the rule needs the {n} largest contributions of a cell, only {top} are known"
            )
        known: Floats = self.largest[:, :n].sum(axis=1)
        return known
