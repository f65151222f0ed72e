"""Sub-tables as CSV: onto the clipboard, or into a file that says it is confidential."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable
from pathlib import Path

import numpy as np
from PySide6.QtCore import QObject
from PySide6.QtGui import QAction, QGuiApplication

from tabprotect.engine.errors import InfeasibleError
from tabprotect.gui.base.exporter import MARK, Content, Exporter
from tabprotect.gui.base.page import Page
from tabprotect.gui.lattice.space import STATUS, Regions
from tabprotect.languages.messages import message
from tabprotect.languages.translation import tr, translate


def nodes_text(regions: Regions, delimiter: str = ",") -> str:
    """A row for every sub-table: its variables, region, frontier and critical width."""
    out = io.StringIO()
    writer = csv.writer(out, delimiter=delimiter, lineterminator="\n")
    writer.writerow(["sub_table", "variables", f"status_{MARK}", "frontier", f"width_{MARK}"])
    lattice, widths = regions.letters.lattice, regions.state.evidence.widths
    dimensions = lattice.dimensions(regions.every)
    for at in np.lexsort((regions.every, np.bitwise_count(regions.every), dimensions)).tolist():
        query = int(regions.every[at])
        writer.writerow(
            [
                lattice.text(query),
                int(dimensions[at]),
                STATUS[int(regions.status[at])],
                int(regions.frontier[at]),
                widths[query],
            ]
        )
    return out.getvalue()


class QuerySpaceFiles(QObject):
    """Copy and export actions of the query-space page."""

    def __init__(
        self, page: Page, regions: Callable[[], Regions | None], picture: Callable[[str], bytes]
    ) -> None:
        """``regions`` gives the explored space; ``picture`` the lattice in front, as SVG."""
        super().__init__(page)
        self._page = page
        self._explored = regions
        self._drawn = picture
        self._exporter = Exporter(page)
        self.copy = QAction(tr("Copy all tables"), page)
        self.copy.triggered.connect(self._copy)
        self.save = QAction(tr("All tables as CSV…"), page)
        self.save.triggered.connect(self._ask)
        self.picture = QAction(tr("Lattice as SVG\u2026"), page)
        self.picture.triggered.connect(lambda: self._ask_place("svg", self.write_picture))
        self.actions = [self.copy, self.save, self.picture]

    def _regions(self) -> Regions | None:
        regions = None if self._page.document.public else self._explored()
        if regions is None:
            error = InfeasibleError(
                message("there is nothing to export here now"),
                hint=message("open the query space of a table in the house"),
            )
            self._page.document.error_raised.emit(error, "")
        return regions

    def _copy(self) -> None:
        regions = self._regions()
        if regions is not None:
            QGuiApplication.clipboard().setText(translate(nodes_text(regions, "\t")))

    def _ask(self) -> None:
        self._ask_place("csv", self.write)

    def _ask_place(self, suffix: str, write: Callable[..., None]) -> None:
        if self._regions() is not None:
            self._exporter.ask(Path(f"query-space.{suffix}"), write, confidential=True)

    def write(self, path: Path, *, overwrite: bool = False) -> None:
        """Write all sub-tables; errors appear on the page."""
        regions = self._regions()
        if regions is not None:
            self._write("csv", path, lambda _: nodes_text(regions).encode(), overwrite=overwrite)

    def write_picture(self, path: Path, *, overwrite: bool = False) -> None:
        """Write the drawing that is in front."""
        if self._regions() is not None:
            picture = self._drawn(message("{MARK}: from the original. {sentence}", MARK, self._page.sentence))
            self._write("svg", path, lambda _: picture, overwrite=overwrite)

    def _write(self, kind: str, path: Path, content: Content, *, overwrite: bool) -> None:
        self._exporter.write(kind, path, content, confidential=True, overwrite=overwrite)
