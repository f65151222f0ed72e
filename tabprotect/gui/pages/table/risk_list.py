"""Cells of all layers that a rule names, as a list: the at-risk counts, or what else tells much."""

from __future__ import annotations

from typing import Any

import numpy as np
from PySide6.QtCore import QAbstractTableModel, QModelIndex, QPersistentModelIndex, Qt, Signal
from PySide6.QtGui import QKeySequence, QShortcut
from PySide6.QtWidgets import (
    QAbstractItemView,
    QComboBox,
    QFrame,
    QHeaderView,
    QLineEdit,
    QSpinBox,
    QStackedWidget,
    QTableView,
    QWidget,
)

from tabprotect.engine.arrays import Bools, Ints
from tabprotect.engine.sensitivity.dominance import Dominance
from tabprotect.engine.sensitivity.small_count import SmallCount
from tabprotect.engine.tables.domain import Domain, Index
from tabprotect.engine.tables.table import Table
from tabprotect.gui.base.rule_field import RuleField
from tabprotect.gui.look import icons
from tabprotect.gui.look.buttons import tool_button
from tabprotect.gui.look.label import Label, heading, tip
from tabprotect.gui.look.layouts import in_column, in_row
from tabprotect.gui.look.theme import GRID, THEME, count_text
from tabprotect.languages.speaking import told

FEW = 4
"""Columns that share the width; more than that scroll."""

UNKNOWN = "Not known of this table: it came without its records, and a count may hold anything."
"""Why the cells of one contributor are not offered."""

AnyIndex = QModelIndex | QPersistentModelIndex


def next_cell(mask: Bools, order: list[int], here: Index | None, step: int) -> Index | None:
    """The next (or with -1 the previous) cell of a mask, round and round; ``None`` without any.

    Parameters
    ----------
    order
        The axes, that which varies slowest first.
    """
    turned = mask.transpose(order)
    keys = np.flatnonzero(turned)
    if not len(keys):
        return None
    if here is None:
        at = 0 if step > 0 else len(keys) - 1
    else:
        now = int(np.ravel_multi_index([here[a] for a in order], turned.shape))
        at = int((keys <= now).sum()) if step > 0 else int((keys < now).sum()) - 1
    found = np.unravel_index(int(keys[at % len(keys)]), turned.shape)
    index = [0] * len(order)
    for axis, code in zip(order, found, strict=True):
        index[axis] = int(code)
    return tuple(index)


class RiskModel(QAbstractTableModel):
    """One line for each at-risk cell: its categories and its count."""

    def __init__(self) -> None:
        super().__init__()
        self._domain: Domain | None = None
        self._codes: Ints = np.zeros((0, 0), dtype=np.int64)
        self._counts: Ints = np.zeros(0, dtype=np.int64)
        self._shown: Ints = np.zeros(0, dtype=np.int64)
        self._filter = ""

    def show_cells(self, table: Table | None, mask: Bools | None) -> None:
        """List the cells of a mask; none without."""
        self.beginResetModel()
        if table is None or mask is None:
            self._domain = None
            self._codes, self._counts = np.zeros((0, 0), dtype=np.int64), np.zeros(0, np.int64)
        else:
            self._domain = table.domain
            places = np.nonzero(mask)
            self._codes = np.stack(places, axis=1).astype(np.int64)
            self._counts = table.counts[places]
        self._choose()
        self.endResetModel()

    def filter(self, text: str) -> None:
        """Only cells with a category that holds each of the words."""
        self.beginResetModel()
        self._filter = text
        self._choose()
        self.endResetModel()

    def _choose(self) -> None:
        keep = np.ones(len(self._counts), dtype=np.bool_)
        for word in self._filter.casefold().split():
            found = np.zeros(len(keep), dtype=np.bool_)
            for axis, variable in enumerate(() if self._domain is None else self._domain.variables):
                holds = np.array([word in c.casefold() for c in variable.categories])
                found |= holds[self._codes[:, axis]]
            keep &= found
        self._shown = np.flatnonzero(keep)

    def index_of(self, row: int) -> Index:
        """The cell of a line."""
        return tuple(int(code) for code in self._codes[self._shown[row]])

    def line_of(self, cell: Index) -> int | None:
        """The line of a cell; ``None`` where it has none."""
        if self._domain is None or len(cell) != self._codes.shape[1]:
            return None
        found = np.flatnonzero((self._codes[self._shown] == np.array(cell)).all(axis=1))
        return int(found[0]) if len(found) else None

    def rowCount(self, parent: AnyIndex | None = None) -> int:
        return 0 if parent is not None and parent.isValid() else len(self._shown)

    def columnCount(self, parent: AnyIndex | None = None) -> int:
        nothing = self._domain is None or (parent is not None and parent.isValid())
        return 0 if nothing else self._codes.shape[1] + 1

    def data(self, index: AnyIndex, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        at, column = self._shown[index.row()], index.column()
        number = column == self._codes.shape[1]
        if role == Qt.ItemDataRole.TextAlignmentRole and number:
            return int(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
        if role not in (Qt.ItemDataRole.DisplayRole, Qt.ItemDataRole.ToolTipRole):
            return None
        if number:
            text = count_text(int(self._counts[at]))
        else:
            assert self._domain is not None
            text = self._domain.variables[column].categories[self._codes[at, column]]
        return tip(text) if role == Qt.ItemDataRole.ToolTipRole else text

    def headerData(
        self, section: int, orientation: Qt.Orientation, role: int = Qt.ItemDataRole.DisplayRole
    ) -> Any:
        if orientation != Qt.Orientation.Horizontal or role != Qt.ItemDataRole.DisplayRole:
            return None
        names = () if self._domain is None else self._domain.names
        return names[section] if section < len(names) else told("Count")

    def sort(self, column: int, order: Qt.SortOrder = Qt.SortOrder.AscendingOrder) -> None:
        """By a variable's own order of categories, or by the count."""
        if column < 0 or self._domain is None:
            return
        self.layoutAboutToBeChanged.emit()
        key = self._counts if column == self._codes.shape[1] else self._codes[:, column]
        chosen = np.argsort(key[self._shown], kind="stable")
        if order == Qt.SortOrder.DescendingOrder:
            chosen = chosen[::-1]
        self._shown = self._shown[chosen]
        self.layoutChanged.emit()


class RiskList(QFrame):
    """Beside the table. ``chosen`` carries a cell, ``rule_set`` a rule such as ``1..2``."""

    chosen = Signal(object)
    rule_set = Signal(str)
    closed = Signal()

    def __init__(self) -> None:
        super().__init__()
        self.setAccessibleName("Risk list")
        self.setMinimumWidth(30 * GRID)
        self.model = RiskModel()
        self._table: Table | None = None
        self._mask: Bools | None = None
        self._shown = SmallCount()
        self._title = heading("At-risk cells")
        close = tool_button(flat=True)
        close.setAccessibleName("Close the risk list")
        close.setToolTip("Close (Esc)")
        close.clicked.connect(self.closed)
        escape = QShortcut(QKeySequence("Esc"), self, self.closed.emit)
        escape.setContext(Qt.ShortcutContext.WidgetWithChildrenShortcut)
        self._close = close
        self.search = QLineEdit(placeholderText="Find categories")
        self.search.setAccessibleName("Find at-risk cells by their categories")
        self.search.setClearButtonEnabled(True)
        self.search.textChanged.connect(self.model.filter)
        self.list = QTableView()
        self.list.setModel(self.model)
        self.list.setAccessibleName("At-risk cells in all layers")
        self.list.setSortingEnabled(True)
        self.list.setSelectionBehavior(QAbstractItemView.SelectionBehavior.SelectRows)
        self.list.setSelectionMode(QAbstractItemView.SelectionMode.SingleSelection)
        self.list.setShowGrid(False)
        self.list.setTabKeyNavigation(False)
        self.list.setWordWrap(False)
        self.list.verticalHeader().hide()
        head = self.list.horizontalHeader()
        self.list.verticalHeader().setMinimumSectionSize(2 * GRID)
        head.setSortIndicator(-1, Qt.SortOrder.AscendingOrder)
        self.list.selectionModel().currentRowChanged.connect(self._went)
        top = in_row((self._title, 1), close)
        in_column(
            top,
            self._kinds(),
            self.search,
            (self.list, 1),
            self.said,
            self.rules,
            on=self,
            margins=(GRID, 0, 0, 0),
            spacing=GRID,
        )
        THEME.follow(self, RiskList._paint)
        self._paint()

    def _kinds(self) -> QComboBox:
        """What is listed, each with the rule that names it."""
        self.kind = QComboBox()
        self.kind.setAccessibleName("Which cells are listed")
        for words, key in (
            ("Counts at risk", "counts"),
            ("Cells that dominate a row", "dominance"),
            ("Cells of one contributor", "one"),
        ):
            self.kind.addItem(words, key)
        self.kind.currentIndexChanged.connect(lambda _: self._list())
        self.said = Label(wordWrap=True, role="quiet", name="What the list means")
        self.rules = QStackedWidget()
        self.share = QSpinBox(minimum=51, maximum=100, value=100, suffix=" %")
        self.share.setAccessibleName("Least share of a row that dominates it")
        self.share.setKeyboardTracking(False)
        self.share.valueChanged.connect(lambda _: self._list())
        dominance = in_row(Label("At least"), self.share, Label("of the row"), 1, margins=0)
        self.rule = RuleField()
        self.rule.rule_set.connect(lambda rule: self.rule_set.emit(str(rule)))
        counts = in_row(self.rule, 1, margins=0)
        for rule in (counts, dominance, in_row(1, margins=0)):
            page = QWidget()
            page.setLayout(rule)
            self.rules.addWidget(page)
        return self.kind

    def show_cells(
        self, table: Table | None, mask: Bools | None, rule: SmallCount, *, records: bool = False
    ) -> None:
        """List the cells of a table that a rule names; nothing without a table.

        Parameters
        ----------
        mask, rule
            The at-risk ones, and what makes them so.
        records
            Whether the counts are known to be of records: then 1 is one contributor.
        """
        self._table, self._mask = table, mask
        one = self.kind.findData("one")
        item = self.kind.model().index(one, 0)
        self.kind.model().setData(item, None if records else 0, Qt.ItemDataRole.UserRole - 1)
        self.kind.setItemData(one, tip("" if records else UNKNOWN), Qt.ItemDataRole.ToolTipRole)
        if not records and self.kind.currentIndex() == one:
            self.kind.setCurrentIndex(0)
        self._list()
        head, few = self.list.horizontalHeader(), self.model.columnCount() <= FEW
        mode = QHeaderView.ResizeMode
        head.setSectionResizeMode(mode.Stretch if few else mode.Interactive)
        head.setDefaultSectionSize(12 * GRID)
        high = self.list.fontMetrics().height() + GRID
        self.list.verticalHeader().setDefaultSectionSize(high)
        self.rule.show_rule(rule)

    def forget(self) -> None:
        """List nothing, and keep nothing."""
        self.show_cells(None, None, SmallCount())

    def _list(self) -> None:
        """The cells of the kind that is asked for, and what that says of them."""
        table, mask, said = self._table, self._mask, ""
        kind = self.kind.currentData()
        what = "at-risk cells in all layers"
        if kind == "dominance":
            what = "cells that dominate a row"
            said = (
                "Whoever is known to be in the row most likely has that category. For a look: the "
                "gate judges counts."
            )
            if table is not None:
                mask = Dominance(self.share.value() / 100).mask(table.counts)
        elif kind == "one":
            what = "cells of one contributor"
            said = "One record alone makes the count: that person knows the cell is theirs."
            if table is not None:
                mask = table.counts == 1
        self.model.show_cells(table, mask)
        self.rules.setCurrentIndex(self.kind.currentIndex())
        self.said.setText(said)
        self.said.setVisible(bool(said))
        number = 0 if mask is None or table is None else int(mask.sum())
        self._title.setText(f"{count_text(number)} {what}")

    def select(self, index: Index | None) -> None:
        """Mark the line of a cell."""
        line = None if index is None else self.model.line_of(index)
        selection = self.list.selectionModel()
        selection.blockSignals(True)
        if line is None:
            self.list.clearSelection()
        else:
            self.list.selectRow(line)
            self.list.scrollTo(self.model.index(line, 0))
        selection.blockSignals(False)
        self.list.viewport().update()

    def _went(self, now: QModelIndex) -> None:
        if now.isValid():
            self.chosen.emit(self.model.index_of(now.row()))

    def _paint(self) -> None:
        self._close.setIcon(icons.icon("close"))
