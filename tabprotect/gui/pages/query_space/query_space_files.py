"""Sub-tables as CSV: onto the clipboard, or into a file that says it is confidential."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from PySide6.QtGui import QAction, QGuiApplication

from tabprotect.engine.errors import InfeasibleError
from tabprotect.engine.formats.text.csv_rows import csv_rows
from tabprotect.gui.base.exporter import MARK, Content, Files
from tabprotect.gui.base.page import Page
from tabprotect.gui.lattice.space import STATUS, Regions
from tabprotect.gui.look.buttons import connected, present
from tabprotect.languages.messages import message
from tabprotect.languages.translation import tr, translate


def nodes_text(regions: Regions, delimiter: str = ",") -> str:
    """A row for every sub-table: its variables, region, frontier and critical width."""
    lattice, widths = regions.letters.lattice, regions.state.evidence.widths
    dimensions = lattice.dimensions(regions.every)
    order = np.lexsort((regions.every, np.bitwise_count(regions.every), dimensions))
    queries = [(at, int(regions.every[at])) for at in order.tolist()]
    head = ["sub_table", "variables", f"status_{MARK}", "frontier", f"width_{MARK}"]
    rows = (
        [
            lattice.text(query),
            int(dimensions[at]),
            STATUS[int(regions.status[at])],
            int(regions.frontier[at]),
            widths[query],
        ]
        for at, query in queries
    )
    return csv_rows(head, rows, delimiter=delimiter)


class QuerySpaceFiles(Files):
    """Copy and export actions of the query-space page."""

    def __init__(
        self, page: Page, regions: Callable[[], Regions | None], picture: Callable[[str], bytes]
    ) -> None:
        """``regions`` gives the explored space; ``picture`` the lattice in front, as SVG."""
        kinds = {
            "csv": (message("All tables as CSV\u2026"), "query-space.csv"),
            "svg": (message("Lattice as SVG\u2026"), "query-space.svg"),
        }
        super().__init__(page, kinds)
        self._regions, self._drawn = regions, picture
        self.copy = connected(QAction(tr("Copy all tables"), page), triggered=self._copy)

    def missing(self, kind: str) -> InfeasibleError | None:
        if not self.page.document.public and self._regions() is not None:
            return None
        return InfeasibleError(
            message("there is nothing to export here now"),
            hint=message("open the query space of a table in the house"),
        )

    def _copy(self) -> None:
        regions = self._regions()
        if self.possible("csv") and regions is not None:
            QGuiApplication.clipboard().setText(translate(nodes_text(regions, "\t")))

    def content(self, kind: str) -> Content:
        regions = present(self._regions())
        if kind == "csv":
            return lambda _: nodes_text(regions).encode()
        data = self._drawn(message("{MARK}: from the original. {sentence}", MARK, self.page.sentence))
        return lambda _: data
