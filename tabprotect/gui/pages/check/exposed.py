"""The most exposed cells, sorted; choosing one selects it everywhere."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from PySide6.QtCore import (
    QAbstractTableModel,
    QItemSelectionModel,
    QModelIndex,
    QPersistentModelIndex,
    Qt,
    Signal,
)
from PySide6.QtWidgets import (
    QAbstractItemView,
    QComboBox,
    QHeaderView,
    QLineEdit,
    QTableView,
    QWidget,
)

from tabprotect.engine.tables.domain import Index
from tabprotect.gui.look.label import Label, tip
from tabprotect.gui.look.layouts import in_column, in_row
from tabprotect.gui.look.theme import GRID, chance_text, count_text, number_text, tabular
from tabprotect.gui.pages.check.figures import View, most_exposed
from tabprotect.gui.pages.check.words import published_count
from tabprotect.languages.speaking import told

AnyIndex = QModelIndex | QPersistentModelIndex

AMONG = (("at_risk", "at-risk cells"), ("all", "all cells"), ("misses", "mode is not published"))


@dataclass(frozen=True)
class _Row:
    index: Index
    texts: tuple[str, ...]


class ExposedModel(QAbstractTableModel):
    """Up to a thousand cells with their figures as text."""

    def __init__(self) -> None:
        super().__init__()
        self.heads: tuple[str, ...] = ()
        self.rows: list[_Row] = []

    def show(self, heads: tuple[str, ...], rows: list[_Row]) -> None:
        """Show other rows."""
        self.beginResetModel()
        self.heads, self.rows = heads, rows
        self.endResetModel()

    def rowCount(self, parent: AnyIndex = QModelIndex()) -> int:  # noqa: B008
        return 0 if parent.isValid() else len(self.rows)

    def columnCount(self, parent: AnyIndex = QModelIndex()) -> int:  # noqa: B008
        return 0 if parent.isValid() else len(self.heads)

    def data(self, index: AnyIndex, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        if role in (Qt.ItemDataRole.DisplayRole, Qt.ItemDataRole.ToolTipRole):
            text = told(self.rows[index.row()].texts[index.column()])
            return tip(text) if role == Qt.ItemDataRole.ToolTipRole else text
        if role == Qt.ItemDataRole.TextAlignmentRole and index.column():
            return Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter
        return None

    def headerData(
        self, section: int, orientation: Qt.Orientation, role: int = Qt.ItemDataRole.DisplayRole
    ) -> Any:
        if orientation != Qt.Orientation.Horizontal:
            return None
        if role == Qt.ItemDataRole.DisplayRole:
            return told(self.heads[section])
        if role == Qt.ItemDataRole.TextAlignmentRole:
            side = Qt.AlignmentFlag.AlignRight if section else Qt.AlignmentFlag.AlignLeft
            return side | Qt.AlignmentFlag.AlignVCenter
        return None


class ExposedList(QWidget):
    """``chosen`` carries the cell of the row that was gone to."""

    chosen = Signal(object)

    def __init__(self) -> None:
        super().__init__()
        self.setAccessibleName("Most exposed cells")
        self.model = ExposedModel()
        self.view: View | None = None
        self._chosen_among = "at_risk"
        title = Label("Most exposed", role="section")
        self.among = QComboBox()
        self.among.setAccessibleName("Which cells are listed")
        self.search = QLineEdit(placeholderText="find", clearButtonEnabled=True)
        self.search.setAccessibleName("Find cells by their labels")
        self.search.setMaximumWidth(14 * GRID)
        self.table = QTableView()
        self.table.setAccessibleName("Most exposed cells")
        self.table.setModel(self.model)
        self.table.setSelectionBehavior(QAbstractItemView.SelectionBehavior.SelectRows)
        self.table.setSelectionMode(QAbstractItemView.SelectionMode.SingleSelection)
        self.table.setTabKeyNavigation(False)
        self.table.setShowGrid(False)
        self.table.setWordWrap(False)
        self.table.verticalHeader().hide()
        header = self.table.horizontalHeader()
        header.setHighlightSections(False)
        header.setSectionResizeMode(QHeaderView.ResizeMode.ResizeToContents)
        header.setResizeContentsPrecision(30)
        header.setStretchLastSection(False)
        self.table.selectionModel().currentRowChanged.connect(self._moved)
        self.among.currentIndexChanged.connect(lambda _: self._fill())
        self.among.activated.connect(lambda _: self._keep())
        self.search.textChanged.connect(lambda _: self._fill())
        head = in_row(title, self.among, 1, self.search, spacing=GRID)
        in_column(head, (self.table, 1), on=self, margins=0, spacing=4)

    def show_view(self, view: View | None, selection: Index | None) -> None:
        """List the cells of a posterior; ``None`` empties the list."""
        self.view = view
        risky = view is not None and view.original is not None
        self.among.blockSignals(True)
        self.among.clear()
        for name, label in AMONG:
            if name != "at_risk" or (
                risky and view is not None and bool(self._mask(view, "at_risk").any())
            ):
                self.among.addItem(label, name)
        self.among.setCurrentIndex(max(self.among.findData(self._chosen_among), 0))
        self.among.blockSignals(False)
        self._fill()
        self.set_selection(selection)

    def show_misses(self) -> None:
        """List where the mode is not the published value."""
        self._chosen_among = "misses"
        self.among.setCurrentIndex(self.among.findData("misses"))
        self.table.setFocus(Qt.FocusReason.OtherFocusReason)

    def set_selection(self, selection: Index | None) -> None:
        """Mark the selected cell's row, if it is listed."""
        here = self.table.selectionModel()
        row = next((n for n, r in enumerate(self.model.rows) if r.index == selection), None)
        here.blockSignals(True)
        if row is None:
            here.clear()
        else:
            flags = QItemSelectionModel.SelectionFlag
            at = self.model.index(row, 0)
            here.setCurrentIndex(at, flags.ClearAndSelect | flags.Rows)
            self.table.scrollTo(at)
        here.blockSignals(False)
        self.table.viewport().update()

    def _keep(self) -> None:
        self._chosen_among = self.among.currentData()

    @staticmethod
    def _mask(view: View, among: str) -> Any:
        if among == "at_risk" and view.original is not None:
            return view.rule.mask(view.original.counts)
        return ~view.posterior.mode_matches if among == "misses" else None

    def _fill(self) -> None:
        view = self.view
        if view is None:
            self.model.show((), [])
            return
        posterior, domain, original = view.posterior, view.posterior.published.domain, view.original
        house = ("true", "P(true)") if original is not None else ()
        small = f"P({view.rule.low} to {view.rule.high})"
        keys = most_exposed(view, among=self._mask(view, self.among.currentData()))
        wanted = self.search.text().strip().casefold()
        chance = None if original is None else posterior.probability(original.counts)
        smalls, entropy = posterior.small(view.rule), posterior.entropy
        rows = []
        for key in keys:
            index = domain.unflat(key)
            name = domain.cell_text(index)
            if wanted and wanted not in name.casefold():
                continue
            count = published_count(posterior, index)
            texts = [name, "x" if count is None else count_text(count)]
            if original is not None and chance is not None:
                texts += [count_text(original[index]), chance_text(float(chance[index]))]
            texts += [chance_text(float(smalls[index])), number_text(float(entropy[index]))]
            rows.append(_Row(index, tuple(texts)))
        self.table.setFont(tabular(self.font()))
        self.model.show(("cell", "published", *house, small, "entropy"), rows)
        self.table.horizontalHeader().setSectionResizeMode(0, QHeaderView.ResizeMode.Stretch)
        self.table.verticalHeader().setDefaultSectionSize(self.fontMetrics().height() + 6)

    def _moved(self, now: QModelIndex, before: QModelIndex) -> None:
        if now.isValid():
            self.chosen.emit(self.model.rows[now.row()].index)
