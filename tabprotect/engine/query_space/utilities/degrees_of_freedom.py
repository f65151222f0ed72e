"""Degrees of freedom: how many parameters a model that fits the released tables has.

Of each released table those that its margins do not have: the product of the numbers of categories,
each less one; of a level what it has beyond the coarser ones. What a reader can look up twice counts
once. Source: Dobra, Karr, Sanil and Fienberg 2002, section 3 (data utility).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

from tabprotect.engine.query_space.lattice import Query
from tabprotect.engine.query_space.utility import ProductUtility
from tabprotect.languages.messages import message


class DegreesOfFreedom(ProductUtility):
    """The number of parameters of the log-linear model of the released sub-tables."""

    name: ClassVar[str] = "degrees_of_freedom"
    label: ClassVar[str] = message("Degrees of freedom of released tables")

    def factors(self, sizes: Mapping[Query, int]) -> Mapping[Query, int]:
        found: dict[Query, int] = {}
        for pattern in sorted(sizes, key=int.bit_count):
            found[pattern] = sizes[pattern] - sum(n for below, n in found.items() if below & pattern == below)
        return found


PLUGIN = DegreesOfFreedom()
