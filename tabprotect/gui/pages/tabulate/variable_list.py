"""The variables of a file as a list whose figures stand beside their names."""

from __future__ import annotations

from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QTableWidget

from tabprotect.gui.look.lists.figures import show_figures
from tabprotect.gui.look.lists.listing import as_list
from tabprotect.gui.look.theme import GRID, THEME
from tabprotect.languages.messages import message
from tabprotect.languages.translation import translate

TITLES = (
    message("Variable"),
    message("Values"),
    message("Small counts if ticked"),
    message("Kind"),
    message("Missing"),
)
FIGURES, AHEAD, KIND = (1, 2, 4), 2, 3
"""Columns: those of figures, that of small counts, that of kinds."""

ROOM = 2 * GRID
"""Pixels between two columns."""

LEAST_KIND = 10 * GRID
"""Pixels, at normal text, that what a column holds has at least."""

ROWS = 5
"""Variables in sight, however low the window is."""


class VariableList(QTableWidget):
    """As many columns as ``TITLES``; the page writes the rows."""

    def __init__(self) -> None:
        super().__init__(0, len(TITLES))
        self.setHorizontalHeaderLabels([translate(title) for title in TITLES])
        as_list(self, message("Variables of the file; tick those to count by"))
        header = self.horizontalHeader()
        header.setStretchLastSection(True)
        show_figures(self, FIGURES)
        row = self.verticalHeader().defaultSectionSize()
        self.setMinimumHeight(header.sizeHint().height() + ROWS * row)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self.fit_columns()

    def fit_columns(self) -> None:
        """Figures stand beside the names that they are of, however wide the window is."""
        self.resizeColumnsToContents()
        shown = [n for n in range(len(TITLES)) if not self.isColumnHidden(n)]
        wide = {n: self.columnWidth(n) for n in shown}
        spare = self.viewport().width() - sum(wide.values())
        for column in shown[:-1]:
            wide[column] += min(max(spare // len(shown), 0), ROOM)
        # What a column holds is cut before the figure behind it is out of sight.
        wide[KIND] = max(wide[KIND] + min(spare, 0), round(LEAST_KIND * THEME.scale))
        # The last one takes what is left besides.
        for column in shown:
            self.setColumnWidth(column, wide[column])
