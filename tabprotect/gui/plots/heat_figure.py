"""The heat map for a file: all of the shown layer, whatever the window scrolls to."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from PySide6.QtCore import QRectF, QSize
from PySide6.QtGui import QFontMetricsF

from tabprotect.gui.grid.layout import Layout
from tabprotect.gui.look.shades import shade_numbers, shades
from tabprotect.gui.look.theme import GRID
from tabprotect.gui.plots.canvas import Canvas
from tabprotect.gui.plots.plot import Plot

WRITTEN = 2_500
"""Layers of more cells are drawn as coloured points without numbers."""

LABEL = 24
"""Characters of a label that fit."""


def _cut(text: str) -> str:
    return text if len(text) <= LABEL else f"{text[: LABEL - 1]}\u2026"


class HeatFigure(Plot):
    """One layer: row and column labels, a shade and a number per cell."""

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
        self._values, self._text, self._top, self._flip = values, text, top, flip
        rows, columns = values.shape
        self._written = values.size <= WRITTEN
        self._rows, self._columns = (
            [
                _cut(layout.label(n, down=down)) if self._written else ""
                for n in range(rows if down else columns)
            ]
            for down in (True, False)
        )

    def best_size(self) -> QSize:
        """Room for every number, or one point and more per cell."""
        rows, columns = self._values.shape
        metrics = QFontMetricsF(self.figure_font())
        left = metrics.horizontalAdvance(self.numbers) + 4 * GRID
        if not self._written:
            return QSize(int(left) + max(columns, 400), max(rows, 300) + 8 * GRID)
        words = [*self._columns, self._text(self._top), self._text(0.0)]
        cell = max(map(metrics.horizontalAdvance, words)) + 2 * GRID
        tall = 1.5 * metrics.height()
        return QSize(int(left + columns * cell), int(rows * tall + 3 * tall) + 4 * GRID)

    @property
    def filled(self) -> bool:
        return True

    @property
    def numbers(self) -> str:
        return max(self._rows, key=len, default="") + "  "

    @property
    def title(self) -> str:
        low, high = self._text(0.0), self._text(self._top)
        dark = low if self._flip else high
        return f"{self.accessibleName()}: {low} to {high}, dark is {dark}"

    def span(self) -> tuple[float, float]:
        return 0.0, float(self._values.shape[1])

    def arrange(self, canvas: Canvas) -> None:
        rows, columns = self._values.shape
        across = [(n + 0.5, label) for n, label in enumerate(self._columns) if label]
        up = [(rows - n - 0.5, label) for n, label in enumerate(self._rows) if label]
        canvas.plane(0.0, float(rows), across, up, grid=False)
        numbers = shade_numbers(self._values, self._top, flip=self._flip) - 1
        grounds = shades(canvas.colours)
        palette = np.array([(g.red(), g.green(), g.blue()) for g, _ in grounds], dtype=np.uint8)
        canvas.picture(palette[numbers], QRectF(0, 0, columns, rows))
        if not self._written:
            return
        for (row, column), number in np.ndenumerate(numbers):
            text = self._text(self._values[row, column].item())
            left = canvas.x(column + 0.5) - canvas.metrics.horizontalAdvance(text) / 2 - 1
            top = canvas.y(rows - row - 0.5) - canvas.line / 2 - 1
            canvas.label(text, left, top, ink=grounds[number][1], veiled=False)
