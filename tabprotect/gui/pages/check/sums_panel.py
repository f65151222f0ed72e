"""What can be believed of totals: a margin, a level, a group of categories instead of one cell."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtWidgets import (
    QAbstractItemView,
    QGridLayout,
    QHeaderView,
    QTableWidget,
    QTableWidgetItem,
    QToolButton,
    QWidget,
)

from tabprotect.engine.errors import TabprotectError
from tabprotect.engine.posterior.posterior import Posterior
from tabprotect.engine.project.project import Who
from tabprotect.engine.protection.subtables import groupings_of
from tabprotect.engine.tables.domain import Index
from tabprotect.gui.base.believed_totals import CERTAIN, Totals, TotalsBy
from tabprotect.gui.base.document import Document
from tabprotect.gui.look.buttons import emptied, tool_button
from tabprotect.gui.look.label import Label
from tabprotect.gui.look.layouts import in_column
from tabprotect.gui.look.theme import GRID, count_text, number_text
from tabprotect.gui.plots.cell_histogram import CellHistogram, DrawnBelief

COLUMNS = ("Total", "Published", "Expected", "90 % interval")
IN_A_ROW = 3
MOST_ROWS = 500
LEVEL = 0.9


class SumsPanel(QWidget):
    """Names of variables and levels to add up by, their totals, and one of them as a histogram."""

    def __init__(self, document: Document) -> None:
        super().__init__()
        self.document = document
        self.setAccessibleName("Totals")
        self.names: dict[str, QToolButton] = {}
        self.totals: Posterior | None = None
        self._found: TotalsBy | None = None
        self._who: Who = "user"
        self._question = Totals(document, self, self._answered, self._failed)
        self._names = QGridLayout()
        self._names.setSpacing(GRID // 2)
        self.said = Label(wordWrap=True, name="How the totals were computed")
        self.table = QTableWidget(0, len(COLUMNS))
        self.table.setAccessibleName("Totals and what to believe of them")
        self.table.setHorizontalHeaderLabels(COLUMNS)
        self.table.verticalHeader().hide()
        self.table.setTabKeyNavigation(False)
        self.table.horizontalHeader().setSectionResizeMode(0, QHeaderView.ResizeMode.Stretch)
        self.table.setSelectionBehavior(QAbstractItemView.SelectionBehavior.SelectRows)
        self.table.setEditTriggers(QAbstractItemView.EditTrigger.NoEditTriggers)
        self.table.currentCellChanged.connect(lambda row, *_: self._show_total(row))
        self.histogram = CellHistogram()
        in_column(
            Label("Totals by", wordWrap=True),
            self._names,
            self.said,
            (self.table, 1),
            (self.histogram, 1),
            on=self,
            margins=(0, GRID, 0, 0),
            spacing=GRID,
        )

    def controls(self) -> list[QWidget]:
        """What takes the keyboard, in reading order."""
        return [*self.names.values(), self.table, *self.histogram.controls()]

    @property
    def chosen(self) -> tuple[str, ...]:
        """The names that totals are taken by."""
        return tuple(name for name, button in self.names.items() if button.isChecked())

    def refresh(self, who: Who) -> None:
        """Ask anew about the totals of the posterior in force; only while they are looked at."""
        self._who = who
        posterior, release = self.document.known_posterior(who), self.document.release
        if not self.isVisible() or release is None or posterior is None:
            self.histogram.hide()
            return
        domain = posterior.domain
        groupings = groupings_of(domain, release.mechanism.parameters)
        names = [*domain.names, *(grouping.name for grouping in groupings)]
        if list(self.names) != names:
            self._offer(names)
        if self._question.ask_by(self.chosen, who):
            self.totals = None
            self.table.setRowCount(0)
            self.histogram.hide()
            self.said.setText("Adding up what can be believed of the cells\u2026")

    def _offer(self, names: list[str]) -> None:
        emptied(self._names)
        self.names = {}
        total = self.document.total
        wanted = names[:1] if total is None else total.names
        for number, name in enumerate(names):
            button = tool_button(name, checkable=True)
            button.setAccessibleName(f"Totals by {name}")
            button.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
            button.setChecked(name in wanted)
            button.toggled.connect(lambda _: self.refresh(self._who))
            self.names[name] = button
            self._names.addWidget(button, number // IN_A_ROW, number % IN_A_ROW)

    def _failed(self, error: TabprotectError) -> None:
        self.said.setText(f"{error.message[:1].upper()}{error.message[1:]}.")

    def _answered(self, answer: TotalsBy) -> None:
        found = answer.posterior
        self.totals, self._found = found, answer
        domain, number = found.domain, min(found.domain.size, MOST_ROWS)
        low, high = found.interval(LEVEL)
        self.table.setRowCount(number)
        for row in range(number):
            index = domain.unflat(row)
            published = found.published_count(index)
            ends = sorted({int(low[index]), int(high[index])})
            words = (
                ", ".join(domain.labels(index)) or "grand total",
                "\u2013" if published is None else count_text(published),
                number_text(float(found.mean[index])),
                " to ".join(map(count_text, ends)),
            )
            for column, text in enumerate(words):
                item = QTableWidgetItem(text)
                if column:
                    item.setTextAlignment(
                        Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter
                    )
                self.table.setItem(row, column, item)
        exact = int((found.chances.max(axis=1) > CERTAIN).sum())
        how = (
            "exactly" if found.way == "exact" else f"from drawn originals, \u00b1{found.error:.4f}"
        )
        self.said.setText(
            f"{count_text(domain.size)} total{'' if domain.size == 1 else 's'}, computed {how}; "
            f"{count_text(exact)} known for certain."
        )
        total = self.document.total
        self.select(self.document.selection if total is None else total.cell)

    def show_by(self, names: tuple[str, ...]) -> None:
        """The totals by these names."""
        for name, button in self.names.items():
            button.blockSignals(True)
            button.setChecked(name in names)
            button.blockSignals(False)
        self.refresh(self._who)

    def select(self, cell: Index | None) -> None:
        """Go to the total that a cell belongs to."""
        if self.totals is None or self._found is None or not self.table.rowCount():
            return
        row = 0
        if cell is not None:
            row = self.totals.domain.flat(self._found.place(cell))
        self.table.setCurrentCell(min(row, self.table.rowCount() - 1), 0)
        self._show_total(self.table.currentRow())

    def _show_total(self, row: int) -> None:
        found = self.totals
        if found is None or row < 0:
            return
        index = found.domain.unflat(row)
        values, chances = found.distribution(index)
        self.histogram.show()
        self.histogram.show_beliefs(
            (DrawnBelief(self._who, values, chances),),
            published=found.published_count(index),
            true=None,
        )
