"""Released cells: how many numbers a reader can look up, in all released tables together.

A table of many categories counts more than one of few. Source: Dobra, Karr, Sanil and Fienberg 2002,
section 3 (data utility).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

from tabprotect.engine.query_space.lattice import Query
from tabprotect.engine.query_space.utility import ProductUtility
from tabprotect.languages.messages import message


class ReleasedCells(ProductUtility):
    """The number of cells of all released sub-tables."""

    name: ClassVar[str] = "cells"
    label: ClassVar[str] = message("Number of cells of released tables")

    def factors(self, sizes: Mapping[Query, int]) -> Mapping[Query, int]:
        return sizes


PLUGIN = ReleasedCells()
