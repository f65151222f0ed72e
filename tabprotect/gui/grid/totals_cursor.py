"""Selecting the totals at the edge of a grid, by mouse or with the arrow keys beyond its last cell."""

from __future__ import annotations

from functools import partial

from PySide6.QtCore import QEvent, QModelIndex, QObject, Qt, Signal
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QAbstractItemView

from tabprotect.gui.base.document import Total
from tabprotect.gui.grid.grid_view import CellsView, GridView

STEPS = {Qt.Key.Key_Left: (0, -1), Qt.Key.Key_Right: (0, 1), Qt.Key.Key_Up: (-1, 0), Qt.Key.Key_Down: (1, 0)}


class TotalsCursor(QObject):
    """``chosen`` carries the total that was selected."""

    chosen = Signal(object)

    def __init__(self, grid: GridView) -> None:
        super().__init__(grid)
        self._grid = grid
        self._views = [[grid.cells, grid.right], [grid.bottom, grid.both]]
        for view in (grid.right, grid.bottom, grid.both):
            view.setFocusPolicy(Qt.FocusPolicy.ClickFocus)
            view.setSelectionMode(QAbstractItemView.SelectionMode.SingleSelection)
            view.setEditTriggers(QAbstractItemView.EditTrigger.NoEditTriggers)
            view.selectionModel().currentChanged.connect(partial(self._moved, view))
        for view in (grid.cells, grid.right, grid.bottom, grid.both):
            view.installEventFilter(self)
        grid.current_changed.connect(lambda _: self.clear())
        grid.cells.clicked.connect(self._back)

    def clear(self, but: CellsView | None = None) -> None:
        """No total is selected (any more)."""
        for view in (self._grid.right, self._grid.bottom, self._grid.both):
            if view is not but:
                view.setCurrentIndex(QModelIndex())
                view.clearSelection()

    def _back(self, at: QModelIndex) -> None:
        """From a total to a cell, also to the one that was the current one all the time."""
        layout = self._grid.layout_
        if layout is not None and any(
            view.currentIndex().isValid() for view in (*self._views[1], self._grid.right)
        ):
            self._grid.current_changed.emit(layout.index(at.row(), at.column()))

    def _moved(self, view: CellsView, now: QModelIndex, before: QModelIndex) -> None:
        layout = self._grid.layout_
        if not now.isValid() or layout is None:
            return
        self.clear(but=view)
        placement = layout.placement
        down, across = view in self._views[1], view in (self._grid.right, self._grid.both)
        if (down and layout.rows is not None) or (across and layout.columns is not None):
            # A sum over what is shown only is no total of the table.
            return
        names = (*(() if down else placement.rows), *(() if across else placement.columns))
        wanted = {*names, *placement.layers}
        self.chosen.emit(
            Total(tuple(n for n in layout.domain.names if n in wanted), layout.index(now.row(), now.column()))
        )

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if event.type() == QEvent.Type.KeyPress and isinstance(event, QKeyEvent):
            step = STEPS.get(Qt.Key(event.key()))
            plain = event.modifiers() in (Qt.KeyboardModifier.NoModifier, Qt.KeyboardModifier.KeypadModifier)
            if step is not None and plain and isinstance(watched, CellsView):
                return self._stepped(watched, *step)
        return super().eventFilter(watched, event)

    def _stepped(self, view: CellsView, down: int, across: int) -> bool:
        """Go from one part of the grid to the next; whether the key led out of its own."""
        here = next((r, c) for r in (0, 1) for c in (0, 1) if self._views[r][c] is view)
        there = here[0] + down, here[1] + across
        at, model = view.currentIndex(), view.model()
        row, column = at.row() + down, at.column() + across
        inside = 0 <= row < model.rowCount() and 0 <= column < model.columnCount()
        if inside or not at.isValid() or not {*there} <= {0, 1}:
            return False
        other = self._views[there[0]][there[1]]
        if other.isHidden():
            return False
        size = other.model().rowCount(), other.model().columnCount()
        row, column = (
            (0 if step > 0 else end - 1) if step else min(old, end - 1)
            for step, old, end in ((down, at.row(), size[0]), (across, at.column(), size[1]))
        )
        other.setFocus()
        other.setCurrentIndex(other.model().index(row, column))
        if other is self._grid.cells:
            self._back(other.currentIndex())
        return True
