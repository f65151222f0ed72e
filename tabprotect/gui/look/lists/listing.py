"""A list of rows that sorts by any column; sorting and filtering happen in numpy, not in Qt."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass

import numpy as np
from PySide6.QtCore import (
    QAbstractTableModel,
    QItemSelectionModel,
    QModelIndex,
    QPersistentModelIndex,
    QSize,
    Qt,
    Signal,
)
from PySide6.QtGui import QColor, QIcon, QPainter, QPaintEvent, QPalette, QResizeEvent
from PySide6.QtWidgets import QAbstractItemView, QHeaderView, QTableView

from tabprotect.engine.arrays import Arrays, Ints
from tabprotect.gui.look.buttons import silent
from tabprotect.gui.look.label import tip
from tabprotect.gui.look.theme import GRID, THEME, Colours, Written, count_text, tabular
from tabprotect.languages.translation import tr, translate

AnyIndex = QModelIndex | QPersistentModelIndex


@dataclass(frozen=True)
class ListColumn:
    """One column: what it sorts by, and how a value reads.

    Attributes
    ----------
    values : (rows,)
        Numbers or texts.
    order : (rows,)
        What it sorts by, where that is not ``values``.
    right
        Whether it stands at the right, as numbers do.
    data
        Whether head and texts are the table's own: shown as they are in every language.
    signs
        What draws the sign before each row's text; empty for none.
    """

    head: str
    values: Sequence[object] | Arrays
    text: Written = count_text
    order: Arrays | None = None
    right: bool = True
    data: bool = False
    signs: Sequence[Callable[[Colours], QIcon]] = ()

    @property
    def keys(self) -> Arrays:
        """Return what it sorts by."""
        return np.asarray(self.values) if self.order is None else self.order

    def said(self, value: object) -> str:
        """A value as people read it."""
        text = self.text(value)
        return text if self.data else tr(text)

    def words(self, rows: Ints) -> tuple[list[str], Ints]:
        """The different texts of some rows, in small letters, and which of them each row has."""
        if not isinstance(self.values, np.ndarray):
            return [self.said(self.values[row]).casefold() for row in rows], np.arange(len(rows))
        found, at = np.unique(self.values[rows], return_inverse=True)
        return [self.said(value).casefold() for value in found], at


class RowsModel(QAbstractTableModel):
    """Columns, and which of their rows are shown in which order."""

    def __init__(self) -> None:
        super().__init__()
        self.columns: tuple[ListColumn, ...] = ()
        self.rows: Ints = np.zeros(0, dtype=np.int64)
        self.chosen: Ints = self.rows
        self.sorted_by: tuple[int, bool] | None = None
        self._offered: Ints = self.rows
        self._texts: list[tuple[list[str], Ints]] = []
        self._words: list[str] = []

    def show(self, columns: Sequence[ListColumn], rows: Ints) -> None:
        """Other columns; ``rows`` are those to show, in their natural order."""
        self.beginResetModel()
        self.columns, self._offered, self._texts = tuple(columns), rows, []
        self._sift()
        self.endResetModel()

    def sift(self, words: str) -> None:
        """Show the rows alone that hold each of these words in a column of texts."""
        self.beginResetModel()
        self._words = words.casefold().split()
        self._sift()
        self.endResetModel()

    def _sift(self) -> None:
        keep = np.ones(len(self._offered), dtype=np.bool_)
        if self._words and not self._texts:
            self._texts = [column.words(self._offered) for column in self.columns if not column.right]
        for word in self._words:
            held = [np.array([word in text for text in texts], bool)[at] for texts, at in self._texts]
            keep &= np.any(held, axis=0)
        self.chosen = self._offered[keep]
        self._order()

    def sort(self, column: int, order: Qt.SortOrder = Qt.SortOrder.AscendingOrder) -> None:
        self.beginResetModel()
        self.sorted_by = None if column < 0 else (column, order == Qt.SortOrder.DescendingOrder)
        self._order()
        self.endResetModel()

    def _order(self) -> None:
        self.rows = self.chosen
        if self.sorted_by is None or self.sorted_by[0] >= len(self.columns):
            return
        column, falling = self.sorted_by
        keys = self.columns[column].keys[self.chosen]
        if falling:
            # Equal keys keep their natural order in both directions.
            keys = -keys if keys.dtype.kind in "if" else -np.unique(keys, return_inverse=True)[1]
        self.rows = self.chosen[np.argsort(keys, kind="stable")]

    def rowCount(self, parent: AnyIndex = QModelIndex()) -> int:  # noqa: B008
        return 0 if parent.isValid() else len(self.rows)

    def columnCount(self, parent: AnyIndex = QModelIndex()) -> int:  # noqa: B008
        return 0 if parent.isValid() else len(self.columns)

    def data(self, index: AnyIndex, role: int = Qt.ItemDataRole.DisplayRole) -> object:
        if role in (Qt.ItemDataRole.DisplayRole, Qt.ItemDataRole.ToolTipRole):
            column = self.columns[index.column()]
            text = column.said(column.values[self.rows[index.row()]])
            return tip(text) if role == Qt.ItemDataRole.ToolTipRole else text
        if role == Qt.ItemDataRole.DecorationRole and self.columns[index.column()].signs:
            return self.columns[index.column()].signs[self.rows[index.row()]](THEME.colours)
        if role == Qt.ItemDataRole.TextAlignmentRole and self.columns[index.column()].right:
            return Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter
        return None

    def headerData(
        self, section: int, orientation: Qt.Orientation, role: int = Qt.ItemDataRole.DisplayRole
    ) -> object:
        if orientation != Qt.Orientation.Horizontal or section >= len(self.columns):
            return None
        if role == Qt.ItemDataRole.DisplayRole:
            column = self.columns[section]
            return column.head if column.data else tr(column.head)
        if role == Qt.ItemDataRole.TextAlignmentRole:
            right = self.columns[section].right
            side = Qt.AlignmentFlag.AlignRight if right else Qt.AlignmentFlag.AlignLeft
            return side | Qt.AlignmentFlag.AlignVCenter
        return None


def as_list(view: QTableView, name: str) -> None:
    """Have a table look as all lists do: rows that are picked whole, as low as their words.

    Heads stand at the left unless its model says otherwise.
    """
    view.setAccessibleName(translate(name))
    view.setSelectionBehavior(QAbstractItemView.SelectionBehavior.SelectRows)
    view.setSelectionMode(QAbstractItemView.SelectionMode.SingleSelection)
    view.setEditTriggers(QAbstractItemView.EditTrigger.NoEditTriggers)
    view.setTabKeyNavigation(False)
    view.setShowGrid(False)
    view.setWordWrap(False)
    view.verticalHeader().hide()
    head = view.horizontalHeader()
    head.setHighlightSections(False)
    head.setTextElideMode(Qt.TextElideMode.ElideRight)
    head.setDefaultAlignment(Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter)
    THEME.follow(view, _row_height)
    _row_height(view)


def _row_height(view: QTableView) -> None:
    rows = view.verticalHeader()
    rows.setMinimumSectionSize(2 * GRID)
    rows.setDefaultSectionSize(view.fontMetrics().height() + 10)
    # A head has the height of a row, as a line of words above a line.
    view.horizontalHeader().setFixedHeight(view.fontMetrics().height() + 12)


class RowList(QTableView):
    """``chosen`` carries the number of the row that was gone to (in the columns, not on screen)."""

    chosen = Signal(int)
    activated_row = Signal(int)

    def __init__(self, name: str, *, sortable: bool = True, compact: bool = False, low: bool = False) -> None:
        """``compact``: no column is wider than its content; ``low``: no higher than its rows."""
        super().__init__()
        self._compact, self._low = compact, low
        self._stretch: Collection[int] = ()
        self.rows = RowsModel()
        self.setModel(self.rows)
        as_list(self, name)
        # Cells of long categories often differ at the end of their names alone.
        self.setTextElideMode(Qt.TextElideMode.ElideMiddle)
        header = self.horizontalHeader()
        header.setResizeContentsPrecision(30)
        header.setSectionResizeMode(QHeaderView.ResizeMode.ResizeToContents)
        if sortable:
            header.setSortIndicator(-1, Qt.SortOrder.AscendingOrder)
            header.setSortIndicatorClearable(True)
            self.setSortingEnabled(True)
        self.selectionModel().currentRowChanged.connect(self._moved)
        self.activated.connect(lambda at: self.activated_row.emit(int(self.rows.rows[at.row()])))

    def show_rows(
        self,
        columns: Sequence[ListColumn],
        rows: Ints | None = None,
        *,
        stretch: Collection[int] = (0,),
        current: int | None = None,
    ) -> None:
        """Show columns, all rows of them or some.

        Columns ``stretch`` share the room that the others leave; without any, many are scrolled.
        """
        if rows is None:
            rows = np.arange(len(columns[0].values) if columns else 0, dtype=np.int64)
        self.setFont(tabular(self.font()))
        self.rows.show(columns, rows)
        self._stretch = stretch
        self._take_room(current)

    def sift(self, words: str) -> None:
        """Show the rows alone that hold each of these words; the current one stays if it does."""
        current = self.current
        self.rows.sift(words)
        self._take_room(current)

    @property
    def current(self) -> int | None:
        """The number of the row that was gone to."""
        at = self.currentIndex()
        return int(self.rows.rows[at.row()]) if at.isValid() else None

    def _take_room(self, current: int | None) -> None:
        self._share_room()
        if self._low:
            tall = self.rows.rowCount() * self.verticalHeader().defaultSectionSize()
            self.setMaximumHeight(self.horizontalHeader().height() + tall + 2 * self.frameWidth())
        self.set_current(current)

    def _share_room(self) -> None:
        header, modes = self.horizontalHeader(), QHeaderView.ResizeMode
        columns = range(len(self.rows.columns))
        wide = {n for n in self._stretch if n in columns}
        if self._compact or len(wide) > 1:
            needs = [max(header.sectionSizeHint(n), self.sizeHintForColumn(n)) for n in columns]
            room = self.viewport().width() - sum(needs[n] for n in columns if n not in wide)
            if self._compact and sum(needs[n] for n in wide) <= room:
                wide = set()
            # What needs less than its share leaves the rest to those that are cut.
            while few := {n for n in wide if needs[n] * len(wide) <= room}:
                if few == wide:
                    break
                wide -= few
                room -= sum(needs[n] for n in few)
        for number in columns:
            mode = modes.Stretch if number in wide else modes.ResizeToContents
            # Each call measures all columns anew.
            if header.sectionResizeMode(number) != mode:
                header.setSectionResizeMode(number, mode)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        if self._compact or len(self._stretch) > 1:
            self._share_room()

    def paintEvent(self, event: QPaintEvent) -> None:
        # A row reaches to the edge, also where its columns end before.
        end = self.horizontalHeader().length() - self.horizontalHeader().offset()
        if (room := self.viewport().width() - end) > 0:
            painter, tall = QPainter(self.viewport()), self.viewport().height()
            here, line = self.currentIndex().row(), QColor(THEME.colours.raised)
            for row in range(max(self.rowAt(0), 0), self.rows.rowCount()):
                top, size = self.rowViewportPosition(row), self.rowHeight(row)
                if top > tall:
                    break
                if row == here and self.selectionModel().hasSelection():
                    ground = self.palette().color(QPalette.ColorRole.Highlight)
                    painter.fillRect(end, top, room, size, ground)
                painter.fillRect(end, top + size - 1, room, 1, line)
            painter.end()
        super().paintEvent(event)

    def set_current(self, row: int | None) -> None:
        """Mark a row, if it is shown, without telling anybody."""
        here = self.selectionModel()
        found = np.flatnonzero(self.rows.rows == (-1 if row is None else row))
        with silent(here):
            if len(found):
                flags = QItemSelectionModel.SelectionFlag
                at = self.rows.index(int(found[0]), 0)
                here.setCurrentIndex(at, flags.ClearAndSelect | flags.Rows)
                self.scrollTo(at)
            else:
                here.clear()
        self.viewport().update()

    def sizeHint(self) -> QSize:
        return QSize(40 * GRID, 16 * GRID)

    def _moved(self, now: QModelIndex, before: QModelIndex) -> None:
        if now.isValid():
            self.chosen.emit(int(self.rows.rows[now.row()]))
