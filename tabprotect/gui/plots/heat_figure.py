"""The heat map for a file: all of the shown layer, whatever the window scrolls to."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from PySide6.QtCore import QRectF, QSize, Qt
from PySide6.QtGui import QColor, QFontMetricsF, QImage, QPainter

from tabprotect.gui.grid.layout import Layout
from tabprotect.gui.look.drawing import CENTRE, LEFT, Drawing
from tabprotect.gui.look.shades import draw_scale, shade_numbers, shades
from tabprotect.gui.look.theme import GRID, Colours

WRITTEN = 2_500
"""Layers of more cells are drawn as coloured points without numbers."""

LABEL = 24
"""Characters of a label that fit."""


def _cut(text: str) -> str:
    return text if len(text) <= LABEL else f"{text[: LABEL - 1]}\u2026"


class HeatFigure(Drawing):
    """One layer: row and column labels, a shade and a number per cell, the scale."""

    def __init__(
        self,
        name: str,
        layout: Layout,
        values: np.ndarray,
        *,
        text: Callable[[Any], str],
        top: float,
        flip: bool,
    ) -> None:
        super().__init__(name)
        self._layout, self._values = layout, values
        self._text, self._top, self._flip = text, top, flip
        rows, columns = values.shape
        self._written = values.size <= WRITTEN
        self._rows = (
            [_cut(layout.label(r, down=True)) for r in range(rows)] if self._written else []
        )
        self._columns = (
            [_cut(layout.label(c, down=False)) for c in range(columns)] if self._written else []
        )

    def best_size(self) -> QSize:
        """Room for every number, or one point and more per cell."""
        rows, columns = self._values.shape
        if not self._written:
            return QSize(max(columns, 400) + 12 * GRID, max(rows, 300) + 14 * GRID)
        left, cell, line = self._measure()
        return QSize(
            int(left + columns * cell + 4 * GRID),
            int((rows + 1) * 1.5 * line + 2 * line + 5 * GRID),
        )

    def _measure(self) -> tuple[float, float, float]:
        metrics = QFontMetricsF(self.figure_font())
        left = max(map(metrics.horizontalAdvance, self._rows), default=0.0) + GRID
        words = [*self._columns, self._text(self._top), self._text(0.0)]
        cell = max(map(metrics.horizontalAdvance, words)) + 2 * GRID
        return left, cell, metrics.height()

    def draw(self, painter: QPainter, area: QRectF, colours: Colours) -> None:
        line = QFontMetricsF(painter.font()).height()
        foot = QRectF(area.left(), area.bottom() - line - 4, 24 * GRID, line + 4)
        if self._written:
            below = area.top() + line + 2 * GRID + (len(self._rows) + 1) * 1.5 * line
            foot.moveTop(min(below, foot.top()))
        ends = [self._text(0.0), self._text(self._top)]
        low, high = reversed(ends) if self._flip else ends
        draw_scale(painter, foot, low, high, colours)
        painter.setPen(QColor(colours.text))
        painter.drawText(
            QRectF(area.left(), area.top(), area.width(), line), LEFT, self.accessibleName()
        )
        body = area.adjusted(0, line + GRID, 0, -line - 2 * GRID)
        if self._written:
            self._draw_cells(painter, body, colours)
        else:
            self._draw_points(painter, body, colours)

    def _draw_cells(self, painter: QPainter, area: QRectF, colours: Colours) -> None:
        left, wide, line = self._measure()
        tall = 1.5 * line
        grounds = shades(colours)
        numbers = shade_numbers(self._values, self._top, flip=self._flip) - 1
        painter.setPen(QColor(colours.quiet))
        for column, label in enumerate(self._columns):
            box = QRectF(area.left() + left + column * wide, area.top(), wide, tall)
            painter.drawText(box, CENTRE, label)
        for row, label in enumerate(self._rows):
            box = QRectF(area.left(), area.top() + (row + 1) * tall, left, tall)
            painter.setPen(QColor(colours.quiet))
            painter.drawText(box, LEFT, label)
            for column in range(self._values.shape[1]):
                box = QRectF(
                    area.left() + left + column * wide, area.top() + (row + 1) * tall, wide, tall
                )
                fill, ink = grounds[numbers[row, column]]
                painter.fillRect(box.adjusted(0.5, 0.5, -0.5, -0.5), fill)
                painter.setPen(ink)
                painter.drawText(box, CENTRE, self._text(self._values[row, column].item()))

    def _draw_points(self, painter: QPainter, area: QRectF, colours: Colours) -> None:
        grounds = [ground for ground, _ in shades(colours)]
        palette = np.array([(g.red(), g.green(), g.blue()) for g in grounds], dtype=np.uint8)
        pixels = np.ascontiguousarray(
            palette[shade_numbers(self._values, self._top, flip=self._flip) - 1]
        )
        rows, columns = self._values.shape
        image = QImage(pixels.data, columns, rows, 3 * columns, QImage.Format.Format_RGB888)
        painter.setRenderHint(QPainter.RenderHint.SmoothPixmapTransform, False)
        painter.drawImage(area, image.copy().convertToFormat(QImage.Format.Format_RGB32))
        painter.setPen(QColor(colours.border))
        painter.setBrush(Qt.BrushStyle.NoBrush)
        painter.drawRect(area)
