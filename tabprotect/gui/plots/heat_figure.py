"""The heat map for a file: all of the shown layer, whatever the window scrolls to."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from PySide6.QtCore import QPointF, QRectF, QSize, QSizeF, Qt
from PySide6.QtGui import QColor, QFont, QFontMetricsF, QImage, QPainter, QPen

from tabprotect.gui.grid.layout import Layout
from tabprotect.gui.look.drawing import CENTRE, RIGHT, Sheet
from tabprotect.gui.look.shades import shade_numbers, shades
from tabprotect.gui.look.theme import GRID, Colours
from tabprotect.languages.speaking import told

WRITTEN = 2_500
"""Layers of more cells are drawn as coloured points without numbers."""

LABEL = 24
"""Characters of a label that fit."""

UNCUT = int(Qt.TextFlag.TextDontClip)


def _cut(text: str) -> str:
    return text if len(text) <= LABEL else f"{text[: LABEL - 1]}\u2026"


class HeatFigure:
    """One layer: row and column labels, a shade and a number per cell.

    No widget, as the pictures on the pages are: it is drawn beside the window.
    """

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
        self._name, self._values, self._text = name, values, text
        self._top, self._flip = top, flip
        rows, columns = values.shape
        self._written = values.size <= WRITTEN
        self._rows, self._columns = (
            [
                _cut(layout.label(n, down=down)) if self._written else ""
                for n in range(rows if down else columns)
            ]
            for down in (True, False)
        )

    def sheet(self, *, font: QFont, dpi: int, caption: str) -> Sheet:
        """The figure with its caption, as large as it needs to be."""
        size = self._best_size(QFontMetricsF(font))
        return Sheet(told(self._name), caption, size, font, dpi, self.draw)

    def _best_size(self, metrics: QFontMetricsF) -> QSize:
        """Room for every number, or one point and more per cell."""
        rows, columns = self._values.shape
        left = self._left(metrics) + 3 * GRID
        if not self._written:
            return QSize(int(left) + max(columns, 400), max(rows, 300) + 8 * GRID)
        words = [*self._columns, told(self._text(self._top)), told(self._text(0.0))]
        cell = max(map(metrics.horizontalAdvance, words)) + 2 * GRID
        tall = 1.5 * metrics.height()
        return QSize(int(left + columns * cell), int(rows * tall + 3 * tall) + 4 * GRID)

    def _left(self, metrics: QFontMetricsF) -> float:
        """Room of the row labels."""
        return metrics.horizontalAdvance(max(self._rows, key=len, default="") + "  ") + GRID

    @property
    def _title(self) -> str:
        low, high = self._text(0.0), self._text(self._top)
        dark = low if self._flip else high
        return f"{self._name}: {low} to {high}, dark is {dark}"

    def draw(self, painter: QPainter, area: QRectF, colours: Colours) -> None:
        """Draw into a rectangle in the given colours; the painter's font is set."""
        rows, columns = self._values.shape
        metrics = QFontMetricsF(painter.font())
        line = metrics.height()
        plane = area.adjusted(self._left(metrics), 0, -GRID / 2, -2 * line - GRID)
        wide, tall = plane.width() / columns, plane.height() / rows
        numbers = shade_numbers(self._values, self._top, flip=self._flip) - 1
        grounds = shades(colours)
        palette = np.array([(g.red(), g.green(), g.blue()) for g, _ in grounds], dtype=np.uint8)
        pixels = np.ascontiguousarray(palette[numbers])
        picture = QImage(pixels.data, columns, rows, 3 * columns, QImage.Format.Format_RGB888)
        painter.drawImage(plane, picture)
        painter.setPen(QPen(QColor(colours.border), 1.5))
        painter.drawLine(plane.bottomLeft(), plane.bottomRight())
        painter.setPen(QColor(colours.quiet))
        below = QRectF(plane.left(), plane.bottom() + GRID / 2 + line, plane.width(), line)
        painter.drawText(below, CENTRE | UNCUT, told(self._title))
        if not self._written:
            return
        for row, label in enumerate(self._rows):
            beside = QRectF(area.left(), plane.top() + row * tall, plane.left() - area.left(), tall)
            painter.drawText(beside.adjusted(0, 0, -GRID / 2, 0), RIGHT | UNCUT, label)
        painter.setPen(QColor(colours.text))
        for column, label in enumerate(self._columns):
            under = QRectF(plane.left() + column * wide, plane.bottom() + GRID / 2, wide, line)
            painter.drawText(under, CENTRE | UNCUT, label)
        for (row, column), number in np.ndenumerate(numbers):
            corner = plane.topLeft() + QPointF(column * wide, row * tall)
            painter.setPen(grounds[number][1])
            words = told(self._text(self._values[row, column].item()))
            painter.drawText(QRectF(corner, QSizeF(wide, tall)), CENTRE | UNCUT, words)
