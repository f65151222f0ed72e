"""A frontier as a dot matrix: a column for each variable, a row for each of its tables."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from PySide6.QtCore import QPointF, QRectF, QSize, Qt, Signal
from PySide6.QtGui import (
    QBrush,
    QColor,
    QFocusEvent,
    QFontMetricsF,
    QKeyEvent,
    QMouseEvent,
    QPaintEvent,
    QPen,
    QResizeEvent,
)
from PySide6.QtWidgets import QAbstractScrollArea, QFrame

from tabprotect.engine.arrays import Ints
from tabprotect.engine.query_space.lattice import Query
from tabprotect.gui.lattice.names import VariableLetters
from tabprotect.gui.look.buttons import named
from tabprotect.gui.look.theme import GRID, THEME, count_text, inked, smooth_painter, tabular
from tabprotect.languages.messages import message
from tabprotect.languages.translation import translate

STEPS = {
    Qt.Key.Key_Up: -1,
    Qt.Key.Key_Down: 1,
    Qt.Key.Key_PageUp: -10,
    Qt.Key.Key_PageDown: 10,
    Qt.Key.Key_Home: -(2**30),
    Qt.Key.Key_End: 2**30,
}


def blocked(queries: Sequence[Query], columns: Sequence[int]) -> Ints:
    """Queries in an order in which equal columns lie together: sorted by the columns in turn."""
    found = np.array(queries, dtype=np.int64)
    if not len(found):
        return found
    return found[np.lexsort([-((found >> v) & 1) for v in reversed(columns)])]


def by_share(variables: int, queries: Sequence[Query]) -> list[int]:
    """Variables, those in most of the queries first."""
    found = np.array(queries, dtype=np.int64)
    share = [int(((found >> v) & 1).sum()) for v in range(variables)]
    return sorted(range(variables), key=lambda v: (-share[v], v))


class FrontierMatrix(QAbstractScrollArea):
    """``focused`` carries the query of the row gone to, ``activated`` that of Enter."""

    focused = Signal(int)
    activated = Signal(int)

    def __init__(self, name: str, *, hatched: bool) -> None:
        super().__init__(horizontalScrollBarPolicy=Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        named(self, name, focus=Qt.FocusPolicy.StrongFocus)
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.hatched = hatched
        self.queries: Ints = np.zeros(0, dtype=np.int64)
        self._letters: VariableLetters | None = None
        self._columns: list[int] = []
        self._figures: list[int] = []
        self._focus: Query = -1
        self.setFont(tabular(self.font()))

    def show_frontier(
        self,
        letters: VariableLetters,
        queries: Sequence[Query],
        columns: Sequence[int],
        widths: Ints | None = None,
    ) -> None:
        """Show an antichain; its ``widths``, one each, are written beside its rows."""
        self._letters, self._columns = letters, list(columns)
        self.queries = blocked(queries, columns)
        of = {} if widths is None else dict(zip(queries, widths.tolist(), strict=True))
        self._figures = [of[int(query)] for query in self.queries] if of else []
        self._fit_bar()
        self.viewport().update()

    def clear(self) -> None:
        """Show nothing."""
        self._letters = None
        self.queries = np.zeros(0, dtype=np.int64)
        self._figures = []
        self._fit_bar()
        self.viewport().update()

    def set_focus(self, query: Query) -> None:
        """Mark a query's row, if it has one."""
        self._focus = query
        if (row := self._row()) is not None:
            top, page = self.verticalScrollBar().value(), self._page()
            if not top <= row < top + page:
                self.verticalScrollBar().setValue(row - page // 2)
        self._say(row)
        self.viewport().update()

    def _say(self, row: int | None) -> None:
        if self._letters is None:
            self.setAccessibleDescription("")
            return
        said = message("{queries} tables.", count_text(len(self.queries)))
        if row is not None:
            said += message(" Row {row}: {queries}.", row + 1, self._letters.full(int(self.queries[row])))
        self.setAccessibleDescription(translate(said))

    def _row(self) -> int | None:
        found = np.flatnonzero(self.queries == self._focus)
        return int(found[0]) if len(found) else None

    # -- geometry -----------------------------------------------------------------------------

    @property
    def _line(self) -> float:
        return self.fontMetrics().height() + 2.0

    def _page(self) -> int:
        return max(1, int((self.viewport().height() - self._line - 4) // self._line))

    def _fit_bar(self) -> None:
        bar = self.verticalScrollBar()
        bar.setPageStep(self._page())
        bar.setRange(0, max(0, len(self.queries) - self._page()))

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._fit_bar()

    def sizeHint(self) -> QSize:
        return QSize(34 * GRID, 22 * GRID)

    # -- drawing ------------------------------------------------------------------------------

    def paintEvent(self, event: QPaintEvent) -> None:
        if self._letters is None:
            return
        c, letters = THEME.colours, self._letters.letters
        painter = smooth_painter(self.viewport())
        area = QRectF(self.viewport().rect())
        painter.fillRect(area, QColor(c.base))
        metrics = QFontMetricsF(self.font())
        side = metrics.horizontalAdvance("000 000") + GRID if self._figures else GRID / 2
        wide = min((area.width() - side) / max(len(self._columns), 1), 3.0 * GRID)
        centre = int(Qt.AlignmentFlag.AlignCenter)
        painter.setPen(QColor(c.quiet))
        for place, v in enumerate(self._columns):
            painter.drawText(QRectF(place * wide, 2, wide, self._line), centre, letters[v])
        right = int(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
        ends = len(self._columns) * wide
        if self._figures:
            painter.drawText(QRectF(ends, 2, side - GRID / 2, self._line), right, "width")
        first = self.verticalScrollBar().value()
        ink = QColor(c.unreleasable if self.hatched else c.released)
        pattern = Qt.BrushStyle.Dense4Pattern if self.hatched else Qt.BrushStyle.SolidPattern
        focus = self._row()
        for row in range(first, min(first + self._page() + 1, len(self.queries))):
            y = self._line + 4 + (row - first) * self._line
            query = int(self.queries[row])
            if row == focus:
                inked(painter, QPen(QColor(c.focus), 2), QColor(c.selection))
                painter.drawRoundedRect(QRectF(1, y, ends + side - 2, self._line), 3, 3)
            size = min(wide, self._line) * 0.62
            for place, v in enumerate(self._columns):
                middle = QPointF((place + 0.5) * wide, y + self._line / 2)
                if query >> v & 1:
                    inked(painter, QPen(ink, 1), QBrush(ink, pattern))
                    painter.drawRect(QRectF(middle.x() - size / 2, middle.y() - size / 2, size, size))
                else:
                    inked(painter, Qt.PenStyle.NoPen, QColor(c.border))
                    painter.drawEllipse(middle, 1.2, 1.2)
            if self._figures:
                painter.setPen(QColor(c.text))
                box = QRectF(ends, y, side - GRID / 2, self._line)
                painter.drawText(box, right, count_text(self._figures[row]))
        if self.hasFocus():
            inked(painter, QPen(QColor(c.focus), 2))
            painter.drawRect(area.adjusted(1, 1, -1, -1))

    def focusInEvent(self, event: QFocusEvent) -> None:
        super().focusInEvent(event)
        self.viewport().update()

    def focusOutEvent(self, event: QFocusEvent) -> None:
        super().focusOutEvent(event)
        self.viewport().update()

    # -- mouse and keyboard -------------------------------------------------------------------

    def mousePressEvent(self, event: QMouseEvent) -> None:
        row = int((event.position().y() - self._line - 4) // self._line)
        row += self.verticalScrollBar().value()
        if event.position().y() > self._line + 4 and 0 <= row < len(self.queries):
            self.focused.emit(int(self.queries[row]))

    def keyPressEvent(self, event: QKeyEvent) -> None:
        step = STEPS.get(Qt.Key(event.key()))
        if event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter) and not event.modifiers():
            if self._row() is not None:
                self.activated.emit(self._focus)
            return
        if step is None or not len(self.queries):
            super().keyPressEvent(event)
            return
        row = self._row()
        there = 0 if row is None else min(max(row + step, 0), len(self.queries) - 1)
        self.focused.emit(int(self.queries[there]))
