"""Released tables: how many margins a reader can look up, the grand total included.

Every table counts the same, whatever its dimension.
"""

from __future__ import annotations

from typing import ClassVar

from tabprotect.engine.progress import SILENT, Progress
from tabprotect.engine.query_space.frontier import Frontier
from tabprotect.engine.query_space.utility import ReleaseUtility
from tabprotect.engine.tables.table import Table
from tabprotect.languages.messages import message


class ReleasedCount(ReleaseUtility):
    """The number of released sub-tables."""

    name: ClassVar[str] = "released_count"
    label: ClassVar[str] = message("Number of released tables")

    def value(self, table: Table, released: Frontier, progress: Progress = SILENT) -> float:
        return float(released.size)

    def weights(self, variables: int) -> tuple[float, ...]:
        return (1.0,) * (variables + 1)


PLUGIN = ReleasedCount()
