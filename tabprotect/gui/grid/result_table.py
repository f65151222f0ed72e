"""A result as one table: with the change in each cell, as published, as it was, or the change alone."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property, partial

import numpy as np
import numpy.typing as npt
from PySide6.QtCore import QEvent, QModelIndex, QObject, Qt, Signal
from PySide6.QtGui import QFontMetrics, QKeyEvent, QResizeEvent
from PySide6.QtWidgets import QAbstractItemView, QWidget

from tabprotect.engine.arrays import Arrays, Bools, Ints, Letters
from tabprotect.engine.tables.domain import Index
from tabprotect.gui.base.document import Total
from tabprotect.gui.grid.cells import room_for_change
from tabprotect.gui.grid.grid_view import CellsView, GridView
from tabprotect.gui.grid.layout import Layout
from tabprotect.gui.look.buttons import connected
from tabprotect.gui.look.layouts import in_column
from tabprotect.gui.look.theme import THEME, TURNS, Written, colour, count_text, signed_text, tabular
from tabprotect.languages.messages import message

VIEWS = {
    "original": message("Original"),
    "changed": message("With the change"),
    "published": message("As readers see it"),
    "change": message("Change"),
}

Margins = tuple[Ints, Ints, Ints | int]
"""Row totals, column totals, grand total."""

SUPPRESSED = -(2**62)
"""Stands in a grid where a cell has no published count."""


@dataclass(frozen=True, eq=False)
class Result:
    """The result of a method; arrays of the table's shape.

    Attributes
    ----------
    published
        Counts, with ``SUPPRESSED`` where there is none.
    truth
        The counts before; ``None`` for a reader, who has nothing but ``published``.
    margins
        As they are published; ``True`` adds the counts up, ``False`` shows none.
    mark
        Cells at risk, shown with what was there before.
    letters
        Their statuses, likewise.
    total
        Cells that are totals or groups of others, on a ground of their own.
    text, change_text
        How a value, and a change, is written.
    """

    layout: Layout
    published: Ints
    truth: Ints | None = None
    margins: Margins | bool = True
    mark: Bools | None = None
    letters: Letters | None = None
    total: Bools | None = None
    text: Written = count_text
    change_text: Written = signed_text

    def written(self, view: str) -> Written:
        """How the values of a view are written: an x, or no change, where none is published."""
        if view == "change":
            return lambda value: "" if value == SUPPRESSED else self.change_text(value)
        return lambda value: "x" if value == SUPPRESSED else self.text(value)

    @cached_property
    def hidden(self) -> Bools:
        """Cells without a published count."""
        return np.equal(self.published, SUPPRESSED)

    @cached_property
    def change(self) -> Ints | None:
        """Return what each count changed by, ``SUPPRESSED`` where none is published."""
        if self.truth is None:
            return None
        return np.where(self.hidden, SUPPRESSED, self.published - self.truth)

    @cached_property
    def views(self) -> tuple[str, ...]:
        """Return what there is to see of it: no change where counts are hidden and the others exact."""
        if (change := self.change) is None:
            return ("published",)
        if self.hidden.any() and not change[~self.hidden].any():
            return "published", "original"
        return ("changed", "published", "original", "change")

    def margins_of(self, view: str) -> Margins | None:
        """Totals beside the cells of a view; none where none are shown."""
        layout, given = self.layout, self.margins
        if given is False:
            return None
        published = _sums(layout.flat(self.published)) if given is True else given
        if self.truth is None or view in ("published", "changed"):
            return published
        true = _sums(layout.flat(self.truth))
        if view == "original":
            return true
        right, bottom, both = (
            np.where(np.asarray(p) == SUPPRESSED, SUPPRESSED, p - t)
            for p, t in zip(published, true, strict=True)
        )
        return right, bottom, both


class ResultTable(QWidget):
    """``chosen`` carries the cell under the cursor, ``total_chosen`` a total at the edge."""

    chosen = Signal(object)
    total_chosen = Signal(object)

    def __init__(self) -> None:
        super().__init__()
        self.view = "changed"
        """What was asked for last; seen where the result has it."""
        self._result: Result | None = None
        self._key: object = None
        self._widest = (0, 0)
        self._following = False
        self.grid = connected(GridView(message("Result")), current_changed=self._moved)
        self.grid.model.describe = self._described
        TotalsCursor(self.grid).chosen.connect(self.total_chosen)
        in_column((self.grid, 1), on=self, margins=0, spacing=0)
        THEME.follow(self, ResultTable._show)

    @property
    def views(self) -> tuple[str, ...]:
        """What there is to see, that first which is seen first."""
        return () if self._result is None else self._result.views

    @property
    def shown(self) -> str:
        """The view that is seen."""
        return self.view if self.view in self.views else next(iter(self.views), "published")

    def copied(self) -> tuple[GridView, Written]:
        """What is copied from, and how its values are written."""
        return self.grid, self._plain

    def _plain(self, value: int) -> str:
        """A value of the view that is seen as other programs read it: counts without room between figures."""
        result = self._result
        if value == SUPPRESSED or result is None:
            return "" if self.shown == "change" else "x"
        return str(value) if result.text is count_text else result.text(value)

    def turn(self, view: str) -> None:
        """Look at the result in another way."""
        if view != self.view:
            self.view = view
            self._show()

    def show_result(self, result: Result, selection: Index | None, *, key: object = None) -> None:
        """Show a result with the cursor on a cell; columns keep their width while ``key`` is the same."""
        self._result = result
        if (result.layout.domain, key) != self._key:
            self._key, self._widest = (result.layout.domain, key), (0, 0)
        self._following = True
        self._show()
        self._following = False
        self.select(selection)

    def forget(self) -> None:
        """Leave nothing of a result behind."""
        self._result = None
        grid, delegate = self.grid, self.grid.delegate
        delegate.mark = delegate.aside = delegate.ground = delegate.letters = None
        if grid.layout_ is not None:
            nothing = np.zeros(grid.layout_.shape, dtype=np.int64)
            grid.show_grid(grid.layout_, nothing, text=lambda _: "")

    def select(self, index: Index | None) -> None:
        """Put the cursor on a cell."""
        self._following = True
        self.grid.set_current(index)
        self._following = False

    def _moved(self, index: Index) -> None:
        if not self._following:
            self.chosen.emit(index)

    def _show(self) -> None:
        if (result := self._result) is None:
            return
        view, layout = self.shown, result.layout
        change, delegate = result.change, self.grid.delegate
        values = result.truth if view == "original" else change if view == "change" else None
        values = result.published if values is None else values
        original, moved = view == "original", view in ("changed", "change")
        delegate.mark = _flat(layout, result.mark if original else None)
        delegate.letters = _flat(layout, result.letters if original else None)
        delegate.hatch = layout.flat(result.hidden) if result.hidden.any() else None
        delegate.aside = _flat(layout, change if view == "changed" else None)
        delegate.ground = _grounds(layout, change if moved else None, result.total)
        delegate.grounds = [(colour(ground), colour(ink)) for ground, ink in GROUNDS]
        # Beside the count stands what it changed by, or a letter.
        delegate.beside = 0
        if change is not None:
            metrics = QFontMetrics(tabular(self.grid.font()))
            delegate.beside = room_for_change(metrics, layout.flat(change), result.change_text)
            delegate.aside_text = result.change_text
        self.grid.room = (delegate.beside, 0)
        text = result.written(view)
        self.grid.show_grid(
            layout, layout.flat(values), margins=result.margins_of(view), text=text, margin_text=text
        )
        self._widen()
        self.grid.repaint_cells()

    def _widen(self) -> None:
        """Columns that are wide enough for what was seen before."""
        own = self.grid.natural_widths
        self._widest = max(own[0], self._widest[0]), max(own[1], self._widest[1])
        self.grid.be_as_wide(self._widest)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        if self._result is not None:
            self._widest = (0, 0)
            # Once the grid has its own new size.
            TURNS.later(self, self._widen)

    def _described(self, row: int, column: int) -> str:
        """The change of a cell where it stands beside the count, for a screen reader."""
        aside, result = self.grid.delegate.aside, self._result
        return "" if aside is None or result is None else result.written("change")(int(aside[row, column]))


def _sums(flat: Ints) -> Margins:
    return flat.sum(axis=1), flat.sum(axis=0), flat.sum()


def _flat(layout: Layout, array: Arrays | None) -> Arrays | None:
    return None if array is None else layout.flat(array)


GROUNDS = ("plus_fill", "plus"), ("minus_fill", "minus"), ("raised", "quiet")
"""Ground and ink of what rose, of what fell, and of totals."""


def _grounds(layout: Layout, change: Ints | None, total: Bools | None) -> npt.NDArray[np.uint8]:
    """Which ground each cell has, from 1; 0 for none."""
    found = np.zeros(layout.full_shape, dtype=np.uint8)
    if total is not None:
        found[layout.flat(total)] = 3
    if change is not None:
        moved = layout.flat(change)
        found[moved > 0] = 1
        found[(moved < 0) & (moved != SUPPRESSED)] = 2
    return found


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
