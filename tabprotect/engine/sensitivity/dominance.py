"""The dominance rule: a cell is sensitive when its n largest contributors hold more than k percent.

Written (n,k); the report of Dobra, Karr, Sanil and Fienberg 2002 calls the same rule (n,p).

Source: Hundepool et al. 2012, Statistical Disclosure Control, section 4.2.
"""

from __future__ import annotations

from dataclasses import dataclass

from tabprotect.engine.arrays import Bools
from tabprotect.engine.errors import ParameterError
from tabprotect.engine.sensitivity.contributors import Contributors


@dataclass(frozen=True)
class Dominance:
    """Sensitive: the ``n`` largest contributions are more than ``k`` percent of the total."""

    n: int = 1
    k: float = 75.0

    def __post_init__(self) -> None:
        wrong = {}
        if self.n < 1:
            wrong["n"] = f"must be a whole number from 1 up, is {self.n}"
        if not 0 < self.k < 100:
            wrong["k"] = f"must be a percentage between 0 and 100, is {self.k:g}"
        if wrong:
            raise ParameterError(wrong)

    def mask(self, cells: Contributors) -> Bools:
        """Which cells are sensitive (cells,)."""
        return 100 * cells.sum_of_largest(self.n) > self.k * cells.total
