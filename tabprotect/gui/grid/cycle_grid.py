"""The table with the selected cycle drawn over it: + raised, - lowered, broken sums glowing."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from PySide6.QtCore import QEvent, QObject, QPointF, QRect, QRectF, Qt, Signal
from PySide6.QtGui import QBrush, QFontMetrics, QKeyEvent, QPainter, QPen
from PySide6.QtWidgets import QAbstractItemView, QStyleOptionViewItem, QWidget

from tabprotect.engine.arrays import Arrays, Bools, Ints
from tabprotect.engine.tables.domain import Index
from tabprotect.engine.tables.margins import MarginSet
from tabprotect.engine.tables.moves import MoveSet
from tabprotect.gui.grid.cells import CellDelegate
from tabprotect.gui.grid.grid_view import GridView
from tabprotect.gui.grid.layout import Layout
from tabprotect.gui.look.buttons import connected
from tabprotect.gui.look.drawn.drawing import LEFT
from tabprotect.gui.look.drawn.shades import shade_numbers, shades
from tabprotect.gui.look.layouts import in_column
from tabprotect.gui.look.lists.listing import AnyIndex
from tabprotect.gui.look.theme import GRID, THEME, colour, count_text, inked, signed_text, tabular
from tabprotect.languages.messages import joined, message

SIGNS = {1: "+", -1: "\u2212", 0: "\u00b7"}


INSET = 14
"""Pixels from the left edge to a sign, beside the dot of an at-risk cell."""

KEYS = {"+": 1, "=": 1, "-": -1, "\u2212": -1, "0": 0}
"""Keys that set the sign of the cell under the cursor; space takes the next one."""


def blocking_cells(moves: MoveSet, cycle: int, counts: Ints | None, rule: str) -> Bools | None:
    """The zeros that block a cycle on a table as it stands, of the table's shape."""
    if counts is None or rule == "none":
        return None
    cells, signs = moves.entries(cycle)
    zero = counts.reshape(-1)[cells] == 0
    if rule == "negative" and not ((zero & (signs > 0)).any() and (zero & (signs < 0)).any()):
        # One of the two directions is still free.
        return None
    out = np.zeros(counts.size, dtype=np.bool_)
    out[cells[zero]] = True
    return out.reshape(counts.shape)


@dataclass(frozen=True, eq=False)
class Overlay:
    """The overlay of a grid of counts, arrays of the table's shape (all optional).

    Attributes
    ----------
    counts
        The table that may be shown in this view.
    sign : int8
        The selected cycle.
    stuck : bool
        Cells that block it.
    at_risk, immovable : bool
        Cells with a dot, cells with a padlock.
    touches : int64
        Chances per cell: the heat map instead of the cycle.
    weight : int64
        A linear combination instead of the cycle.
    unbalanced : bool
        Cells of broken sums that have no place at the edge.
    """

    counts: Ints | None = None
    sign: npt.NDArray[np.int8] | None = None
    stuck: Bools | None = None
    at_risk: Bools | None = None
    immovable: Bools | None = None
    touches: Ints | None = None
    weight: Ints | None = None
    unbalanced: Bools | None = None


class CycleDelegate(CellDelegate):
    """Cells: counts with the sign of the cycle, heat, or the weights of a combination."""

    def __init__(self, parent: QObject) -> None:
        super().__init__(parent)
        self.sign: Arrays | None = None
        self.stuck: Arrays | None = None
        self.lock: Arrays | None = None
        self.weight: Arrays | None = None
        self.unbalanced: Arrays | None = None
        self.dots = True
        self.faint = False
        self.inset = INSET
        self.draw = self._draw

    def _draw(self, painter: QPainter, rect: QRect, row: int, column: int, selected: bool) -> None:
        if self.weight is not None:
            self._weigh(painter, rect, int(self.weight[row, column]))
        elif self.sign is not None:
            self._signed(painter, rect, int(self.sign[row, column]), row, column)
        if self.unbalanced is not None and self.unbalanced[row, column]:
            inked(painter, QPen(colour("error"), 2, Qt.PenStyle.DashLine))
            painter.drawRect(rect.adjusted(1, 1, -3, -3))
        if self.lock is not None and self.lock[row, column]:
            _padlock(painter, rect)

    def _signed(self, painter: QPainter, rect: QRect, sign: int, row: int, column: int) -> None:
        if not sign and not self.dots:
            return
        if sign:
            name = "plus" if sign > 0 else "minus"
            # Raised cells sit high on a thick lower edge, lowered ones hang from an upper edge.
            box = rect.adjusted(2, 1 if sign > 0 else 4, -3, -4 if sign > 0 else -1)
            if not self.faint:
                painter.fillRect(box, colour(f"{name}_fill"))
            if self.stuck is not None and self.stuck[row, column]:
                painter.fillRect(box, QBrush(colour("unreleasable"), Qt.BrushStyle.BDiagPattern))
            edge = 1 if self.faint else 3
            top = box.bottom() - edge + 1 if sign > 0 else box.top()
            painter.fillRect(QRect(box.left(), top, box.width(), edge), colour(name))
        painter.setPen(colour({1: "plus", -1: "minus", 0: "quiet"}[sign]))
        _bold(painter, rect.adjusted(self.inset, 0, 0, 0), SIGNS[sign])

    @staticmethod
    def _weigh(painter: QPainter, rect: QRect, weight: int) -> None:
        if not weight:
            return
        inked(painter, QPen(colour("unreleasable"), 2))
        painter.drawRect(rect.adjusted(2, 2, -3, -3))
        text = SIGNS[weight] if abs(weight) == 1 else signed_text(weight)
        _bold(painter, rect.adjusted(INSET, 0, 0, 0), text)


class SumDelegate(CellDelegate):
    """Margins: a sum that the cycle breaks glows, with how much it changes."""

    def __init__(self, parent: QObject) -> None:
        super().__init__(parent)
        self.quiet = True
        self.sums: Arrays | None = None

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: AnyIndex) -> None:
        super().paint(painter, option, index)
        amount = 0 if self.sums is None else int(self.sums[index.row(), index.column()])
        if not amount:
            return
        rect = option.rect
        painter.fillRect(rect, colour("error_fill"))
        inked(painter, QPen(colour("error"), 3))
        painter.drawRect(rect.adjusted(1, 1, -2, -2))
        _bold(painter, rect.adjusted(8, 0, 0, 0), signed_text(amount))
        painter.setPen(colour("text"))
        self.write(painter, option, str(index.model().data(index)))


def _bold(painter: QPainter, rect: QRect, text: str) -> None:
    font = painter.font()
    font.setBold(True)
    painter.setFont(font)
    painter.drawText(rect, LEFT, text)
    font.setBold(False)
    painter.setFont(font)


def _padlock(painter: QPainter, rect: QRect) -> None:
    """No cycle can move this cell."""
    painter.save()
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    ink = colour("unreleasable")
    x, y = rect.left() + 5.0, rect.bottom() - 8.0
    inked(painter, QPen(ink, 1.3))
    painter.drawArc(QRectF(QPointF(x + 1, y - 3.5), QPointF(x + 6, y + 3.0)), 0, 180 * 16)
    painter.fillRect(QRectF(x, y, 7, 5.5), ink)
    painter.restore()


class CycleGrid(QWidget):
    """``sign_asked`` carries a cell and the sign it should get, ``chosen`` the selected cell."""

    chosen = Signal(object)
    sign_asked = Signal(object, int)
    mend_asked = Signal()

    def __init__(self) -> None:
        super().__init__()
        self.grid = GridView(message("Table with the selected cycle"))
        self.grid.shorten_labels(rows=14, columns=8)
        self.cell_delegate = CycleDelegate(self.grid)
        self.grid.delegate = self.cell_delegate
        self.grid.cells.setItemDelegate(self.cell_delegate)
        self.sum_delegates: list[SumDelegate] = []
        for view in (self.grid.right, self.grid.bottom, self.grid.both):
            delegate = SumDelegate(self.grid)
            self.sum_delegates.append(delegate)
            view.setItemDelegate(delegate)
        self._following = False
        self.grid.cells.setSelectionMode(QAbstractItemView.SelectionMode.SingleSelection)
        self.grid.cells.installEventFilter(self)
        connected(self.grid.cells, clicked=lambda at: self._flip(at.row(), at.column(), None))
        self.grid.current_changed.connect(self._moved)
        in_column(self.grid, on=self, margins=0)
        THEME.follow(self, CycleGrid._make_room)
        self._make_room()

    def _make_room(self) -> None:
        """A sign left of each number, and what a broken sum changes by."""
        sign = QFontMetrics(tabular(self.grid.font())).horizontalAdvance(signed_text(-1))
        self.grid.make_room((round(2 * GRID * THEME.scale), GRID), sums=sign)

    def show_overlay(self, layout: Layout, margins: MarginSet, overlay: Overlay) -> None:
        """Show a layer of the table with what is drawn over it."""
        self._following = True
        delegate = self.cell_delegate

        def flat(array: npt.NDArray[np.generic] | None) -> Arrays | None:
            return None if array is None else layout.flat(array)

        delegate.mark = flat(overlay.at_risk)
        delegate.lock = flat(overlay.immovable)
        delegate.weight = flat(overlay.weight)
        delegate.sign, delegate.stuck = flat(overlay.sign), flat(overlay.stuck)
        delegate.unbalanced = flat(overlay.unbalanced)
        touches = flat(overlay.touches)
        counts = flat(overlay.counts)
        text: Callable[[int], str] = count_text
        if touches is not None and overlay.touches is not None:
            delegate.mark = delegate.sign = None
            delegate.grounds = shades(THEME.colours)
            delegate.ground = shade_numbers(touches, float(overlay.touches.max(initial=1)))
            shown, text = touches, "{}\u00d7".format
        else:
            delegate.ground = None
            shown = counts if counts is not None else np.zeros(layout.shape, dtype=np.int64)
            text = count_text if counts is not None else _nothing
        delegate.quiet_zeros = touches is None
        sums = delegate.sign if touches is None else None
        base = counts if counts is not None else np.zeros(layout.shape, dtype=np.int64)
        self._glow(layout, margins, sums)
        self.grid.show_grid(
            layout,
            shown,
            margins=(base.sum(axis=1), base.sum(axis=0), base.sum()),
            text=text,
            margin_text=count_text if counts is not None else _nothing,
        )
        self.grid.model.describe = self._describe
        self.grid.repaint_cells()
        self._following = False

    def _glow(self, layout: Layout, margins: MarginSet, sign: Arrays | None) -> None:
        placement = layout.placement
        sides = (placement.rows, placement.columns, ())
        shapes = ((-1, 1), (1, -1), (1, 1))
        for delegate, side, shape, axis in zip(self.sum_delegates, sides, shapes, (1, 0, None), strict=True):
            wanted = {*side, *placement.layers}
            kept = any(wanted <= set(margin) for margin in margins)
            delegate.sums = (
                np.asarray(sign.sum(axis=axis, dtype=np.int64)).reshape(shape)
                if sign is not None and kept
                else None
            )

    @property
    def glowing(self) -> dict[str, dict[int, int]]:
        """Broken sums that are shown: rows and columns by number, with the amount."""
        out: dict[str, dict[int, int]] = {}
        for name, delegate in zip(("rows", "columns", "grand"), self.sum_delegates, strict=True):
            flat = [] if delegate.sums is None else delegate.sums.reshape(-1).tolist()
            out[name] = {i: amount for i, amount in enumerate(flat) if amount}
        return out

    def select(self, index: Index | None) -> None:
        """Put the cursor on a cell without announcing it."""
        self._following = True
        self.grid.set_current(index)
        self._following = False

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if event.type() == QEvent.Type.KeyPress and isinstance(event, QKeyEvent):
            at = self.grid.cells.currentIndex()
            space = event.key() == Qt.Key.Key_Space
            if at.isValid() and not self._has_command(event) and (space or event.text() in KEYS):
                self._flip(at.row(), at.column(), None if space else KEYS[event.text()])
                return True
            if event.text() == "m" and not self._has_command(event):
                self.mend_asked.emit()
                return True
        return super().eventFilter(watched, event)

    @staticmethod
    def _has_command(event: QKeyEvent) -> bool:
        flag = Qt.KeyboardModifier
        return bool(event.modifiers() & (flag.ControlModifier | flag.AltModifier))

    def _flip(self, row: int, column: int, sign: int | None) -> None:
        layout, now = self.grid.layout_, self.cell_delegate.sign
        if layout is None or now is None or self.cell_delegate.weight is not None:
            return
        before = int(now[row, column])
        # A click makes - of +, 0 of - and + of 0.
        wanted = {1: -1, -1: 0, 0: 1}[before] if sign is None else sign
        if wanted != before:
            self.sign_asked.emit(layout.index(row, column), wanted)

    def _moved(self, index: Index) -> None:
        if not self._following:
            self.chosen.emit(index)

    def _describe(self, row: int, column: int) -> str:
        delegate, words = self.cell_delegate, []
        if delegate.sign is not None:
            words.append(
                {1: message("plus"), -1: message("minus"), 0: message("not in the cycle")}[
                    int(delegate.sign[row, column])
                ]
            )
        if delegate.stuck is not None and delegate.stuck[row, column]:
            words.append(message("blocks the cycle"))
        if delegate.unbalanced is not None and delegate.unbalanced[row, column]:
            words.append(message("in a broken sum"))
        if delegate.mark is not None and delegate.mark[row, column]:
            words.append(message("small"))
        if delegate.lock is not None and delegate.lock[row, column]:
            words.append(message("cannot move"))
        return joined(words, ", ")


def _nothing(_: int) -> str:
    return ""
