"""The most exposed cells, sorted; choosing one selects it everywhere."""

from __future__ import annotations

from typing import Any

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QComboBox, QWidget

from tabprotect.engine.tables.domain import Index
from tabprotect.gui.base.believed.cell import published_count
from tabprotect.gui.look.buttons import choice, connected, offer
from tabprotect.gui.look.label import Label
from tabprotect.gui.look.layouts import FlowLayout, filled, in_column
from tabprotect.gui.look.lists.finder import Finder
from tabprotect.gui.look.lists.listing import ListColumn, RowList
from tabprotect.gui.look.theme import GRID, chance_number, count_text
from tabprotect.gui.pages.check.cell_figures import View, most_exposed
from tabprotect.languages.messages import message
from tabprotect.languages.translation import tr

AMONG = {
    "at_risk": message("small counts"),
    "all": message("all cells"),
    "misses": message("most likely is not the published one"),
}


class ExposedList(QWidget):
    """``chosen`` carries the cell of the row that was gone to."""

    chosen = Signal(object)

    def __init__(self) -> None:
        super().__init__(accessibleName=tr("Counts closest to being known"))
        self.cells: list[Index] = []
        self.view: View | None = None
        self._chosen_among = "at_risk"
        title = Label(message("Closest to being known"), role="section")
        self.among = connected(
            choice(message("Which cells are listed"), changed=self._fill), activated=lambda _: self._keep()
        )
        # What is offered follows from the release: the box is as wide as that.
        self.among.setSizeAdjustPolicy(QComboBox.SizeAdjustPolicy.AdjustToContents)
        self.table = connected(
            RowList(message("Counts closest to being known"), sortable=False, compact=True),
            chosen=lambda row: self.chosen.emit(self.cells[row]),
        )
        self.search = connected(Finder(message("Find cells by their labels")), textChanged=self.table.sift)
        filled(head := FlowLayout(gap=GRID), title, self.among, self.search)
        in_column(head, (self.table, 1), on=self, margins=0, spacing=4)

    def show_view(self, view: View | None, selection: Index | None) -> None:
        """List the cells of a posterior; ``None`` empties the list."""
        if view is not None and view is self.view:
            self.set_selection(selection)
            return
        self.view = view
        risky = view is not None and view.at_risk is not None
        offered = {name: label for name, label in AMONG.items() if risky or name != "at_risk"}
        offer(self.among, offered, current=self._chosen_among)
        self._fill()
        self.set_selection(selection)

    def set_selection(self, selection: Index | None) -> None:
        """Mark the selected cell's row, if it is listed."""
        self.table.set_current(None if selection not in self.cells else self.cells.index(selection))

    def _keep(self) -> None:
        self._chosen_among = self.among.currentData()

    @staticmethod
    def _mask(view: View, among: str) -> Any:
        if among == "at_risk":
            return view.at_risk
        return ~view.posterior.mode_matches if among == "misses" else None

    def _fill(self) -> None:
        if (view := self.view) is None:
            self.cells = []
            self.table.show_rows(())
            return
        posterior, domain, original = view.posterior, view.posterior.published.domain, view.original
        keys = most_exposed(view, among=self._mask(view, self.among.currentData()))
        self.cells = cells = [domain.unflat(key) for key in keys]

        # Looked up when a row comes into sight: there are a thousand.
        def column(head: str, values: Any, text: Any = chance_number) -> ListColumn:
            return ListColumn(head, cells, lambda at: text(values[at]))

        def published(at: Index) -> str:
            count = published_count(posterior, at)
            return "x" if count is None else count_text(count)

        columns = [
            ListColumn(message("cell"), cells, domain.cell_text, right=False),
            ListColumn(message("published"), cells, published),
        ]
        if original is not None:
            columns += [column("true", original, count_text), column(message("sure, in 100"), view.true)]
        columns.append(column(message("{words}, in 100", view.rule.words), view.small))
        self.table.show_rows(columns)
