"""Weighted by dimension: a table over d variables counts d.

For readers who want interactions: one table over three variables is worth more than three
tables over one.
"""

from __future__ import annotations

from typing import ClassVar

from tabprotect.engine.progress import SILENT, Progress
from tabprotect.engine.query_space.frontier import Frontier
from tabprotect.engine.query_space.utility import ReleaseUtility
from tabprotect.engine.tables.table import Table
from tabprotect.languages.messages import message


class DimensionWeighted(ReleaseUtility):
    """Released sub-tables, each counted by its number of variables."""

    name: ClassVar[str] = "dimension_weighted"
    label: ClassVar[str] = message("Released tables weighted by dimension")

    def value(self, table: Table, released: Frontier, progress: Progress = SILENT) -> float:
        return float(sum(d * count for d, count in enumerate(released.by_dimension)))

    def weights(self, variables: int) -> tuple[float, ...]:
        return tuple(float(dimension) for dimension in range(variables + 1))


PLUGIN = DimensionWeighted()
