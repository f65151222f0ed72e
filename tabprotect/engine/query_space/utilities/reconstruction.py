"""Reconstruction: how well the released margins alone rebuild the whole table.

The table with these margins that assumes nothing else is found by iterative proportional
fitting; the utility is the share of records it puts into the right cells, between 0 and 1.
Only for tables that can be laid out in full.
"""

from __future__ import annotations

from typing import ClassVar

from tabprotect.engine.progress import SILENT, Progress
from tabprotect.engine.query_space.fitted_table import fitted, misplaced
from tabprotect.engine.query_space.frontier import Frontier
from tabprotect.engine.query_space.utility import ReleaseUtility
from tabprotect.engine.tables.table import Table
from tabprotect.languages.messages import message


class Reconstruction(ReleaseUtility):
    """The share of records that released margins put into the right cells."""

    name: ClassVar[str] = "reconstruction"
    label: ClassVar[str] = message("Share of records that the release puts into the right cells")

    def value(self, table: Table, released: Frontier, progress: Progress = SILENT) -> float:
        return 1.0 - misplaced(table, fitted(table, released, progress))


PLUGIN = Reconstruction()
