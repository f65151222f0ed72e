"""The grid on the screen: cells, frozen headers, and margins frozen at the edge."""

from __future__ import annotations

import numpy as np
from PySide6.QtCore import QItemSelection, QItemSelectionModel, QModelIndex, Qt, Signal
from PySide6.QtGui import QColor, QFontMetrics, QKeyEvent, QPainter, QPaintEvent, QPen, QResizeEvent
from PySide6.QtWidgets import (
    QAbstractItemDelegate,
    QAbstractItemView,
    QFrame,
    QSizePolicy,
    QSpacerItem,
    QTableView,
    QWidget,
)

from tabprotect.engine.arrays import Arrays
from tabprotect.engine.tables.domain import Index
from tabprotect.gui.grid.cells import CellDelegate, GridModel
from tabprotect.gui.grid.headers import Corner, LevelHeader
from tabprotect.gui.grid.layout import Layout
from tabprotect.gui.look.buttons import named
from tabprotect.gui.look.layouts import in_grid, set_visible
from tabprotect.gui.look.style import paints_itself
from tabprotect.gui.look.theme import GRID, THEME, TURNS, Written, count_text, tabular
from tabprotect.languages.messages import message
from tabprotect.languages.translation import tr, translate

SEEN = 6
"""Columns that are in sight, however long their labels are."""

COLUMN_LIMIT = 16
"""Characters of a column's label that the first width makes room for."""

EDIT = (
    QAbstractItemView.EditTrigger.AnyKeyPressed
    | QAbstractItemView.EditTrigger.EditKeyPressed
    | QAbstractItemView.EditTrigger.DoubleClicked
)


class CellsView(QTableView):
    """A table view with spreadsheet keys; ``cleared`` when Delete was pressed."""

    cleared = Signal()

    def __init__(self) -> None:
        super().__init__(cornerButtonEnabled=False, wordWrap=False)
        self.setHorizontalHeader(LevelHeader(Qt.Orientation.Horizontal, self))
        self.setVerticalHeader(LevelHeader(Qt.Orientation.Vertical, self))
        self.corner = Corner(self.rows, self.columns, self)
        self.setVerticalScrollMode(QAbstractItemView.ScrollMode.ScrollPerPixel)
        self.setHorizontalScrollMode(QAbstractItemView.ScrollMode.ScrollPerPixel)
        self.setFrameShape(QFrame.Shape.NoFrame)
        # Arrows walk the cells: Tab goes on to the next control, and never stays in a table.
        self.setTabKeyNavigation(False)
        paints_itself(self)

    @property
    def rows(self) -> LevelHeader:
        """The row header."""
        header = self.verticalHeader()
        assert isinstance(header, LevelHeader)
        return header

    @property
    def columns(self) -> LevelHeader:
        """The column header."""
        header = self.horizontalHeader()
        assert isinstance(header, LevelHeader)
        return header

    def paintEvent(self, event: QPaintEvent) -> None:
        super().paintEvent(event)
        if self.hasFocus() and not self.currentIndex().isValid():
            # Before an arrow picks the first cell.
            painter = QPainter(self.viewport())
            painter.setPen(QPen(QColor(THEME.colours.focus), 2))
            # The cell that it picks: a frame around all of them would say that all are selected.
            painter.drawRect(self.visualRect(self.model().index(0, 0)).adjusted(1, 1, -1, -1))

    def updateGeometries(self) -> None:
        super().updateGeometries()
        self.corner.setGeometry(0, 0, self.rows.width(), self.columns.height())
        self.corner.setVisible(not self.rows.isHidden() and not self.columns.isHidden())

    def keyPressEvent(self, event: QKeyEvent) -> None:
        at = self.currentIndex()
        control = bool(event.modifiers() & Qt.KeyboardModifier.ControlModifier)
        key = Qt.Key(event.key())
        model = self.model()
        if control and at.isValid():
            last_row, last_column = model.rowCount() - 1, model.columnCount() - 1
            target = {
                Qt.Key.Key_Left: (at.row(), 0),
                Qt.Key.Key_Right: (at.row(), last_column),
                Qt.Key.Key_Up: (0, at.column()),
                Qt.Key.Key_Down: (last_row, at.column()),
            }.get(key)
            if target is not None:
                self.jump(*target, extend=bool(event.modifiers() & Qt.KeyboardModifier.ShiftModifier))
                return
        editing = self.state() == QAbstractItemView.State.EditingState
        if key in (Qt.Key.Key_Return, Qt.Key.Key_Enter) and not control and not editing:
            self.step(-1 if event.modifiers() & Qt.KeyboardModifier.ShiftModifier else 1)
            return
        if key in (Qt.Key.Key_Delete, Qt.Key.Key_Backspace):
            self.cleared.emit()
            return
        super().keyPressEvent(event)

    def jump(self, row: int, column: int, *, extend: bool = False) -> None:
        """Go to a cell; ``extend`` keeps what is selected and adds what lies between."""
        flag = QItemSelectionModel.SelectionFlag
        index = self.model().index(row, column)
        if extend:
            here = self.currentIndex()
            top, bottom = sorted((here.row(), row))
            left, right = sorted((here.column(), column))
            block = QItemSelection(self.model().index(top, left), self.model().index(bottom, right))
            self.selectionModel().select(block, flag.ClearAndSelect)
            self.selectionModel().setCurrentIndex(index, flag.NoUpdate)
            self.scrollTo(index)
        else:
            self.setCurrentIndex(index)

    def step(self, by: int) -> None:
        """Go down, or up with a negative number."""
        at = self.currentIndex()
        row = at.row() + by
        if at.isValid() and 0 <= row < self.model().rowCount():
            self.setCurrentIndex(self.model().index(row, at.column()))

    def closeEditor(self, editor: QWidget, hint: QAbstractItemDelegate.EndEditHint) -> None:
        super().closeEditor(editor, hint)
        if hint == QAbstractItemDelegate.EndEditHint.SubmitModelCache:
            self.step(1)


class GridView(QWidget):
    """A grid with optional margins. ``current_changed`` carries the table's cell or ``None``."""

    current_changed = Signal(object)

    def __init__(self, name: str) -> None:
        super().__init__(accessibleName=translate(name))
        self.layout_: Layout | None = None
        self.room = (0, 0)
        """Pixels across and down that pages which draw symbols add to every cell."""
        self.sum_room = 0
        """The same across to every total."""
        self.at_least = (0, 0)
        """Widths of a column and of the totals that another grid beside this one has."""
        self.cells = named(CellsView(), name)
        self.right, self.bottom, self.both = CellsView(), CellsView(), CellsView()
        self.model = GridModel(self)
        self.delegate = CellDelegate(self)
        self.margin_delegate = CellDelegate(self)
        self.margin_delegate.quiet = True
        self._margin_models: list[GridModel] = []
        self.cells.setModel(self.model)
        self.cells.setItemDelegate(self.delegate)
        self.cells.setEditTriggers(QAbstractItemView.EditTrigger.NoEditTriggers)
        self.cells.setSelectionMode(QAbstractItemView.SelectionMode.ExtendedSelection)
        for view, what in (
            (self.right, message("row totals")),
            (self.bottom, message("column totals")),
            (self.both, message("grand total")),
        ):
            model = GridModel(self)
            self._margin_models.append(model)
            view.setModel(model)
            view.setItemDelegate(self.margin_delegate)
            view.setAccessibleName(tr("{name}: {what}", name, what))
            view.setFocusPolicy(Qt.FocusPolicy.NoFocus)
            view.setSelectionMode(QAbstractItemView.SelectionMode.NoSelection)
            view.corner.hide()
        self._needs = (0, 0)
        self._grand = (0, 0)
        self._labels = 0
        """Width that the row labels take from the cells."""
        self._fitted = 0
        self._arrange()
        self.cells.selectionModel().currentChanged.connect(self._current)
        THEME.follow(self, GridView._fit)

    def _arrange(self) -> None:
        off = Qt.ScrollBarPolicy.ScrollBarAlwaysOff
        set_visible(
            False,
            self.right.verticalHeader(),
            self.bottom.horizontalHeader(),
            self.both.verticalHeader(),
            self.both.horizontalHeader(),
        )
        self.right.columns.total = True
        self.bottom.rows.total = True
        self.right.setHorizontalScrollBarPolicy(off)
        self.bottom.setVerticalScrollBarPolicy(off)
        for bars in (self.both.setHorizontalScrollBarPolicy, self.both.setVerticalScrollBarPolicy):
            bars(off)
        for first, second in (
            (self.cells.verticalScrollBar(), self.right.verticalScrollBar()),
            (self.cells.horizontalScrollBar(), self.bottom.horizontalScrollBar()),
        ):
            first.valueChanged.connect(second.setValue)
            second.valueChanged.connect(first.setValue)
        self.cells.columns.sectionResized.connect(
            lambda section, _, size: self.bottom.setColumnWidth(section, size)
        )
        grid = in_grid(on=self, margins=0, across=0, down=0)
        grid.addWidget(self.cells, 0, 0)
        grid.addWidget(self.right, 0, 1)
        grid.addWidget(self.bottom, 1, 0)
        grid.addWidget(self.both, 1, 1, Qt.AlignmentFlag.AlignTop)
        grid.setColumnStretch(0, 1)
        grid.setRowStretch(0, 1)
        expanding, minimum = QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Minimum
        grid.addItem(QSpacerItem(0, 0, expanding, minimum), 0, 2)
        grid.addItem(QSpacerItem(0, 0, minimum, expanding), 2, 0)

    def show_grid(
        self,
        layout: Layout,
        values: Arrays,
        *,
        margins: tuple[Arrays, Arrays, Arrays | float] | None = None,
        text: Written = count_text,
        margin_text: Written | None = None,
    ) -> None:
        """Show values.

        Parameters
        ----------
        layout
            Of the shown rows and columns.
        values : (rows, columns)
            What the cells hold.
        margins : (rows,), (columns,), scalar
            Row totals, column totals, grand total; without them no margin is shown.
        text, margin_text
            How a value is written.
        """
        selected = self.layout_
        self.layout_ = layout
        self.model.show(layout, values, text)
        self.cells.rows.take(layout)
        self.cells.columns.take(layout)
        self.cells.columns.aside = self.delegate.room_aside(self.fontMetrics())
        set_visible(margins is not None, self.right, self.bottom, self.both)
        if margins is not None:
            write = margin_text or text
            right, bottom, both = margins
            shapes = ((-1, 1), (1, -1), (1, 1))
            for model, part, shape in zip(self._margin_models, (right, bottom, both), shapes, strict=True):
                model.show(layout, np.asarray(part).reshape(shape), write)
            self.right.columns.take(layout)
            self.bottom.rows.take(layout)
        as_needed, off = Qt.ScrollBarPolicy.ScrollBarAsNeeded, Qt.ScrollBarPolicy.ScrollBarAlwaysOff
        bars = off if margins is not None else as_needed
        self.cells.setVerticalScrollBarPolicy(bars)
        self.cells.setHorizontalScrollBarPolicy(bars)
        if selected is None or selected.shape != layout.shape or selected.domain != layout.domain:
            self._fit()
            # Another table begins at its first cell.
            self.cells.horizontalScrollBar().setValue(0)
            self.cells.verticalScrollBar().setValue(0)
        else:
            self._widen()

    def set_current(self, index: Index | None) -> None:
        """Make a cell of the table the current one, if it is shown."""
        at = None if index is None or self.layout_ is None else self.layout_.position(index)
        if at is None:
            self.cells.setCurrentIndex(QModelIndex())
            return
        here = self.cells.currentIndex()
        if (here.row(), here.column()) != at:
            self.cells.setCurrentIndex(self.model.index(*at))

    def current(self) -> Index | None:
        """The table's cell under the cursor."""
        at = self.cells.currentIndex()
        if not at.isValid() or self.layout_ is None:
            return None
        return self.layout_.index(at.row(), at.column())

    @property
    def every(self) -> tuple[int, int, int, int]:
        """All cells, as :meth:`block` has what is selected."""
        return 0, 0, self.model.rowCount() - 1, self.model.columnCount() - 1

    @property
    def margins(self) -> tuple[Arrays, Arrays, Arrays] | None:
        """Row totals, column totals and the grand total; ``None`` where none are shown."""
        if self.right.isHidden():
            return None
        right, bottom, both = (model.values for model in self._margin_models)
        return right, bottom, both

    def block(self) -> tuple[int, int, int, int] | None:
        """Top, left, bottom, right (inclusive) of what is selected, as one rectangle.

        From ranges: a list of a million selected indexes would take seconds.
        """
        chosen = self.cells.selectionModel().selection()
        ranges = [chosen.at(n) for n in range(chosen.count())]
        if not ranges:
            return None
        return (
            min(r.top() for r in ranges),
            min(r.left() for r in ranges),
            max(r.bottom() for r in ranges),
            max(r.right() for r in ranges),
        )

    def shorten_labels(self, *, rows: int, columns: int) -> None:
        """Make room for so many characters of a label only, where other things need the room."""
        for view in (self.cells, self.right, self.bottom):
            view.rows.limit, view.columns.limit = rows, columns

    @property
    def widths(self) -> tuple[int, int]:
        """Width of a column and of the totals in pixels."""
        return self.cells.columns.defaultSectionSize(), self.right.columns.defaultSectionSize()

    def be_as_wide(self, widths: tuple[int, int]) -> None:
        """Take the widths of a grid beside this one, so that both scroll alike.

        In a turn of its own: several grids are fitted one after the other.
        """
        changed = self.at_least != widths or self.widths != widths
        self.at_least = widths
        if changed:
            TURNS.later(self, self._fit)

    @property
    def natural_widths(self) -> tuple[int, int]:
        """The widths it would have by itself, whatever it has been told; nothing is laid out."""
        metrics = QFontMetrics(tabular(self.font()))
        grand, under = self._totals_width(metrics)
        wide = self._natural_column_width(metrics, grand, self._labels)
        return max(wide, under if self.right.isVisibleTo(self) else 0), grand

    def _totals_width(self, metrics: QFontMetrics) -> tuple[int, int]:
        """Return what the column of totals needs, and what the totals below each column need."""
        if not self._margin_models[2].values.size:
            return 6 * GRID, 0
        write = self._margin_models[2].text
        totals = [write(self._margin_models[2].values[0, 0].item())]
        for model in self._margin_models[:2]:
            totals.append(write(model.values.max().item()))
        totals.append(tr("total"))
        beside = max(self.room[0], self.sum_room)
        grand = max(map(metrics.horizontalAdvance, totals)) + 3 * GRID + beside
        return grand, metrics.horizontalAdvance(totals[2]) + 2 * GRID + self.sum_room

    def make_room(self, room: tuple[int, int], *, sums: int) -> None:
        """Add pixels to every cell, and to every total, for what is drawn beside their numbers."""
        self.room, self.sum_room = room, sums
        self._fit()

    def set_editable(self, editable: bool) -> None:
        """Let typing change counts (through ``model.typed``), or not."""
        self.model.editable = editable
        self.cells.setEditTriggers(EDIT if editable else QAbstractItemView.EditTrigger.NoEditTriggers)

    def repaint_cells(self) -> None:
        """Paint anew after a delegate's arrays changed."""
        for view in (self.cells, self.right, self.bottom, self.both):
            view.viewport().update()

    def _current(self, now: QModelIndex, before: QModelIndex) -> None:
        self.cells.rows.viewport().update()
        self.cells.columns.viewport().update()
        if now.isValid() and self.layout_ is not None:
            self.current_changed.emit(self.layout_.index(now.row(), now.column()))

    # -- sizes --------------------------------------------------------------------------------

    def _column_width(self, labels: int) -> int:
        natural = self._natural_column_width(self.cells.fontMetrics(), self._grand[0], labels)
        return max(natural, self.at_least[0])

    def _natural_column_width(self, metrics: QFontMetrics, grand: int, labels: int) -> int:
        """Return what labels and counts need, beside totals and labels of rows so wide."""
        values = self.model.values
        longest = ""
        if values.size:
            shown = (translate(self.model.text(f(values).item())) for f in (np.nanmax, np.nanmin))
            longest = max(shown, key=len)
        names = self.cells.columns.names
        if self.layout_ is not None and names:
            inner = self.layout_.domain[names[-1]].categories
            label = max(inner, key=len)[: min(COLUMN_LIMIT, self.cells.columns.limit)]
            room = self._room_for_column(grand, labels)
            room -= 3 * GRID + max(self.room[0], 0)
            wide = min(metrics.horizontalAdvance(label), max(room, GRID))
            wide = max(wide, metrics.horizontalAdvance(longest))
        else:
            wide = metrics.horizontalAdvance(longest)
        least = min(6 * GRID, max(self._room_for_column(grand, labels), wide + GRID))
        least += min(self.room[0], 0)
        return max(wide + 3 * GRID + self.room[0], least)

    def _room_for_rows(self) -> tuple[int, int]:
        """Return what row labels may take from the cells, and what the cells leave in any case."""
        under = self._totals_width(self.cells.fontMetrics())[1] if self.right.isVisibleTo(self) else 0
        cells = self.model.columnCount() * max(self._column_width(0), under)
        return max(2 * self.width() // 5, 12 * GRID), max(self._beside(self._grand[0]) - cells, 0)

    def _beside(self, grand: int) -> int:
        """Return what is left beside the totals and a bar."""
        return self.width() - grand - self.right.verticalScrollBar().sizeHint().width()

    def _room_for_column(self, grand: int, labels: int) -> int:
        """A column's share of what is left beside labels and totals."""
        return max((self._beside(grand) - labels) // SEEN, 4 * GRID)

    def _widen(self) -> None:
        """Make room when the values have become longer; never take a user's width away."""
        if self._column_width(self._labels) > self.cells.columns.defaultSectionSize():
            self._fit()

    def _fit(self) -> None:
        self._fitted = self.width()
        font = tabular(self.font())
        for view in (self.cells, self.right, self.bottom, self.both):
            view.setFont(font)
        height = max(self.cells.fontMetrics().height() + GRID, 3 * GRID) + self.room[1]
        natural, under = self._totals_width(self.cells.fontMetrics())
        grand = max(natural, self.at_least[1]) if under else natural
        self._grand = grand, height
        most, spare = self._room_for_rows()
        for view in (self.cells, self.right, self.bottom):
            view.rows.take(self.layout_)
            view.rows.make_room(most, spare)
            view.columns.take(self.layout_)
        names, hidden = min(self.cells.corner.needed(), most), self.cells.rows.isHidden()
        header_width = 0 if hidden else max(sum(self.cells.rows.level_sizes()), names)
        self._labels = 0 if hidden else max(self.cells.rows.needed, names)
        wide = self._column_width(self._labels)
        wide = max(wide, under if self.right.isVisibleTo(self) else 0)
        for view in (self.cells, self.bottom, self.right, self.both):
            view.verticalHeader().setDefaultSectionSize(height)
            view.horizontalHeader().setDefaultSectionSize(
                wide if view in (self.cells, self.bottom) else grand
            )
        if not hidden:
            self.cells.rows.setFixedWidth(header_width)
            self.bottom.rows.setFixedWidth(header_width)
        header_height = sum(self.cells.columns.level_sizes())
        self.cells.columns.setFixedHeight(header_height)
        self.right.columns.setFixedHeight(header_height)
        rows, columns = self.model.values.shape
        # As wide and high as the cells need, so that a small table has its margins beside it.
        self._needs = header_width + columns * wide, header_height + rows * height
        self.cells.setMaximumSize(*(min(size, 16_000_000) for size in self._needs))
        self.right.setMaximumHeight(self.cells.maximumHeight())
        self.bottom.setMaximumWidth(self.cells.maximumWidth())
        self.both.setFixedSize(grand, height)
        self._make_room_for_bars()
        for view in (self.cells, self.right, self.bottom, self.both):
            view.updateGeometries()

    def _make_room_for_bars(self) -> None:
        """Bars beside the margins only where the cells do not fit."""
        grand, height = self._grand
        room_wide = self.width() - grand
        room_high = self.height() - height
        bar = self.right.verticalScrollBar().sizeHint().width()
        tall = self._needs[1] > room_high
        long = self._needs[0] > room_wide - (bar if tall else 0)
        tall = self._needs[1] > room_high - (bar if long else 0)
        self.right.setFixedWidth(grand + (bar if tall else 0))
        self.bottom.setFixedHeight(height + (bar if long else 0))
        if not self.bottom.isVisibleTo(self):
            # Without margins the bars stand at the cells themselves, and must not cover the last ones.
            wide, high = self._needs
            most = wide + (bar if tall else 0), high + (bar if long else 0)
            self.cells.setMaximumSize(*(min(size, 16_000_000) for size in most))

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._make_room_for_bars()
        if self.layout_ is None or self.width() == self._fitted:
            return
        longer = self.cells.rows.make_room(*self._room_for_rows())
        wider = self._column_width(self._labels) != self.cells.columns.defaultSectionSize()
        if longer or wider:
            self._fit()
