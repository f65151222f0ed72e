"""A figure of every sub-table as a tile: rows by dimension, in each the darkest first."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
from PySide6.QtCore import QPointF, QRectF, Qt, Signal
from PySide6.QtGui import QColor, QFontMetricsF, QImage, QKeyEvent, QMouseEvent, QPainter, QPaintEvent, QPen

from tabprotect.engine.arrays import Bools, Ints
from tabprotect.engine.query_space.lattice import Query
from tabprotect.gui.look.drawn.drawing import Drawing
from tabprotect.gui.look.drawn.shades import shades
from tabprotect.gui.look.theme import GRID, Colours, colour, inked
from tabprotect.languages.messages import message
from tabprotect.languages.translation import tr, translate

GAP = 4.0


def _rgb(colour: QColor) -> tuple[int, int, int]:
    return colour.red(), colour.green(), colour.blue()


class TileMap(Drawing):
    """``focused`` carries the query of a tile that was clicked or walked to."""

    focused = Signal(int)

    def __init__(self, name: str) -> None:
        super().__init__(name)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.focus: Query = 0
        self.chain: Sequence[Query] = ()
        self.row_name = message("{dimension}-way")
        """What a row of tiles is called, by its number."""
        self._levels: list[Ints] = []
        self._shade: npt.NDArray[np.uint8] = np.zeros(0, dtype=np.uint8)
        self._queries: Ints = np.zeros(0, dtype=np.int64)
        self._faint: Bools = np.zeros(0, dtype=np.bool_)
        self._columns, self._tile = 1, 4.0
        self._tops: list[float] = []

    def show_tiles(
        self, queries: Ints, shade: npt.NDArray[np.uint8], faint: Bools, chain: Sequence[Query]
    ) -> None:
        """Show ascending queries by their shade numbers, ``faint`` ones lighter; empty: nothing."""
        self._queries, self._shade, self._faint, self.chain = queries, shade, faint, chain
        size = np.bitwise_count(queries)
        self._levels = []
        for dimension in range(int(size.max()) + 1 if len(size) else 0):
            at = np.flatnonzero(size == dimension)
            # Of equal tiles the chain's comes first, so that the chain runs down an edge.
            others = ~np.isin(queries[at], self.chain)
            self._levels.append(queries[at[np.lexsort((others, -shade[at].astype(np.int64)))]])
        self.update()

    def set_focus(self, query: Query) -> None:
        """Mark a tile."""
        self.focus = query
        self.update()

    def _lay_out(self, area: QRectF, left: float) -> None:
        """The largest tiles with which every level fits."""
        for tile in (18, 14, 12, 10, 9, 8, 7, 6, 5, 4, 3, 2):
            columns = max(1, int((area.width() - left) // tile))
            rows = sum(-(-len(level) // columns) for level in self._levels)
            if rows * tile + GAP * len(self._levels) <= area.height():
                break
        self._columns, self._tile = columns, float(tile)
        self._tops = []
        top = area.top()
        for level in self._levels:
            self._tops.append(top)
            top += -(-len(level) // columns) * tile + GAP

    def _place(self, query: Query) -> tuple[int, int]:
        dimension = query.bit_count()
        return dimension, int(np.flatnonzero(self._levels[dimension] == query)[0])

    def _box(self, query: Query, left: float) -> QRectF:
        dimension, at = self._place(query)
        row, column = divmod(at, self._columns)
        tile = self._tile
        return QRectF(left + column * tile, self._tops[dimension] + row * tile, tile, tile)

    def _left(self) -> float:
        return QFontMetricsF(self.figure_font()).horizontalAdvance(tr("16-way") + " ") + GRID

    def draw(self, painter: QPainter, area: QRectF, colours: Colours) -> None:
        if not self._levels:
            return
        left = area.left() + self._left()
        self._lay_out(area, self._left())
        palette = np.array([[0, 0, 0], *[_rgb(c) for c, _ in shades(colours)]], dtype=np.float64)
        ground = np.array(_rgb(QColor(colours.base)), dtype=np.float64)
        line = QFontMetricsF(painter.font()).height()
        flags = int(Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter)
        last = -line
        for dimension, level in enumerate(self._levels):
            rows = -(-len(level) // self._columns)
            pixels = np.tile(ground, (rows * self._columns, 1))
            at = np.searchsorted(self._queries, level)
            tones = palette[self._shade[at]]
            weak = self._faint[at][:, None]
            pixels[: len(level)] = np.where(weak, 0.15 * tones + 0.85 * ground, tones)
            data = np.ascontiguousarray(pixels.astype(np.uint8))
            image = QImage(
                data.tobytes(), self._columns, rows, 3 * self._columns, QImage.Format.Format_RGB888
            )
            top, high = self._tops[dimension], rows * self._tile
            painter.drawImage(QRectF(left, top, self._columns * self._tile, high), image)
            if top + high / 2 - line / 2 >= last:
                painter.setPen(QColor(colours.quiet))
                text = message(self.row_name, dimension=dimension) if dimension else message("total")
                middle = top + high / 2
                painter.drawText(QRectF(area.left(), middle - line / 2, left, line), flags, translate(text))
                last = middle + line / 2
        if self.chain:
            inked(painter, QPen(QColor(colours.at_risk), 2))
            boxes = [self._box(query, left) for query in self.chain]
            painter.drawPolyline([box.center() for box in boxes])
            for box in boxes:
                painter.drawRect(box)
        inked(painter, QPen(QColor(colours.focus), 3))
        painter.drawRect(self._box(self.focus, left).adjusted(-2, -2, 2, 2))

    def paintEvent(self, event: QPaintEvent) -> None:
        super().paintEvent(event)
        if self.hasFocus():
            painter = QPainter(self)
            painter.setPen(QPen(colour("focus"), 2))
            painter.drawRect(self.rect().adjusted(1, 1, -1, -1))

    def _at(self, point: QPointF) -> Query | None:
        column = int((point.x() - self._left()) // self._tile)
        if not 0 <= column < self._columns:
            return None
        for top, level in zip(self._tops, self._levels, strict=True):
            row = int((point.y() - top) // self._tile)
            at = row * self._columns + column
            if row >= 0 and point.y() >= top and at < len(level):
                return int(level[at])
        return None

    def mousePressEvent(self, event: QMouseEvent) -> None:
        self.setFocus(Qt.FocusReason.MouseFocusReason)
        query = self._at(event.position()) if self._levels else None
        if query is not None:
            self.focused.emit(query)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        steps = {
            Qt.Key.Key_Left: -1,
            Qt.Key.Key_Right: 1,
            Qt.Key.Key_Up: -self._columns,
            Qt.Key.Key_Down: self._columns,
        }
        if (step := steps.get(Qt.Key(event.key()))) is None or not self._levels:
            super().keyPressEvent(event)
            return
        dimension, at = self._place(self.focus)
        at += step
        # Over the edge of a level lies the next one.
        if at < 0 and dimension:
            dimension, at = dimension - 1, len(self._levels[dimension - 1]) - 1
        elif at >= len(self._levels[dimension]) and dimension + 1 < len(self._levels):
            dimension, at = dimension + 1, 0
        level = self._levels[dimension]
        self.focused.emit(int(level[min(max(at, 0), len(level) - 1)]))
