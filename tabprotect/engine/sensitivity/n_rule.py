"""The n-rule: a cell is sensitive when fewer than n contributors stand behind it.

In a table of counts that is a count from 1 to n - 1. A cell of nobody is safe.
"""

from __future__ import annotations

from dataclasses import dataclass

from tabprotect.engine.arrays import Bools
from tabprotect.engine.errors import ParameterError
from tabprotect.engine.sensitivity.contributors import Contributors
from tabprotect.engine.sensitivity.small_count import SmallCount


@dataclass(frozen=True)
class NRule:
    """Sensitive: ``1 <= contributors < n``."""

    n: int = 3

    def __post_init__(self) -> None:
        if self.n < 2:
            raise ParameterError({"n": f"must be a whole number from 2 up, is {self.n}"})

    @property
    def small_count(self) -> SmallCount:
        """The same rule for a table of counts."""
        return SmallCount(1, self.n - 1)

    def mask(self, cells: Contributors) -> Bools:
        """Which cells are sensitive (cells,)."""
        return (cells.number > 0) & (cells.number < self.n)
