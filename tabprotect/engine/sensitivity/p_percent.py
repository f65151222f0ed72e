"""The p% rule: a cell is sensitive when somebody can estimate a contribution to within p percent.

The second largest contributor knows the total and their own value, so the largest is known up to
what all others contribute. A coalition of m contributors knows that much more.

Source: Hundepool et al. 2012, Statistical Disclosure Control, section 4.2.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tabprotect.engine.arrays import Bools
from tabprotect.engine.errors import ParameterError
from tabprotect.engine.sensitivity.contributors import Contributors


@dataclass(frozen=True)
class PPercent:
    """Sensitive: the total less the largest and the next ``coalition`` contributions is less than
    ``p`` percent of the largest."""

    p: float = 10.0
    coalition: int = 1

    def __post_init__(self) -> None:
        wrong = {}
        if not self.p > 0:
            wrong["p"] = f"must be a percentage above 0, is {self.p:g}"
        if self.coalition < 1:
            wrong["coalition"] = f"must be a whole number from 1 up, is {self.coalition}"
        if wrong:
            raise ParameterError(wrong)

    def mask(self, cells: Contributors) -> Bools:
        """Which cells are sensitive (cells,)."""
        rest = np.maximum(cells.total - cells.sum_of_largest(1 + self.coalition), 0.0)
        return 100 * rest < self.p * cells.largest[:, 0]
