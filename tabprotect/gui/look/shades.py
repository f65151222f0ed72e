"""The colour scale of the heat maps: low to high in one hue, the number always written too."""

from __future__ import annotations

from functools import cache

import numpy as np
import numpy.typing as npt
from PySide6.QtCore import QPointF, QRectF, QSize
from PySide6.QtGui import QColor, QLinearGradient, QPainter, QPaintEvent
from PySide6.QtWidgets import QSizePolicy, QWidget

from tabprotect.gui.look.drawing import LEFT, RIGHT
from tabprotect.gui.look.theme import GRID, THEME, Colours, contrast
from tabprotect.languages.speaking import tell, told

STEPS = 48
"""Shades of the scale."""


@cache
def shades(colours: Colours) -> tuple[tuple[QColor, QColor], ...]:
    """Ground and text colour of each shade, low first; text reaches 4.5:1 on every one."""
    low, high = QColor(colours.heat_low), QColor(colours.heat_high)
    out = []
    for number in range(STEPS):
        share = number / (STEPS - 1)
        ground = QColor(
            round(low.red() + (high.red() - low.red()) * share),
            round(low.green() + (high.green() - low.green()) * share),
            round(low.blue() + (high.blue() - low.blue()) * share),
        )
        # One of black and white always does.
        ink = max(("#000000", "#ffffff"), key=lambda c: contrast(c, ground.name()))
        out.append((ground, QColor(ink)))
    return tuple(out)


def shade_numbers(
    values: npt.NDArray[np.generic], top: float, *, flip: bool = False
) -> npt.NDArray[np.uint8]:
    """The shade of each value, from 1 (0 would be no ground); ``top`` takes the last one.

    ``flip`` gives the last one to 0 instead: dark is what is exposed.
    """
    share = np.clip(values.astype(np.float64) / (top if top > 0 else 1.0), 0.0, 1.0)
    share = 1.0 - share if flip else share
    return (1 + np.rint(share * (STEPS - 1))).astype(np.uint8)


class ScaleBar(QWidget):
    """The scale with its two ends."""

    def __init__(self) -> None:
        super().__init__()
        self._low, self._high = "", ""
        self.setAccessibleName(tell("Colour scale"))
        self.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Fixed)

    def sizeHint(self) -> QSize:
        return QSize(22 * GRID, self.fontMetrics().height() + 4)

    def show_scale(self, low: str, high: str) -> None:
        """Write what the ends stand for."""
        self._low, self._high = low, high
        self.setAccessibleDescription(tell("from {low} to {high}", low, high))
        self.update()

    def paintEvent(self, event: QPaintEvent) -> None:
        draw_scale(QPainter(self), QRectF(self.rect()), self._low, self._high, THEME.colours)


def draw_scale(painter: QPainter, area: QRectF, low: str, high: str, colours: Colours) -> None:
    """The scale from left to right, its ends written beside it."""
    metrics, low, high = painter.fontMetrics(), told(low), told(high)
    left, right = metrics.horizontalAdvance(low) + 6, metrics.horizontalAdvance(high) + 6
    bar = area.adjusted(left, 3, -right, -3)
    gradient = QLinearGradient(QPointF(bar.left(), 0), QPointF(bar.right(), 0))
    gradient.setColorAt(0.0, QColor(colours.heat_low))
    gradient.setColorAt(1.0, QColor(colours.heat_high))
    painter.setPen(QColor(colours.border))
    painter.setBrush(gradient)
    painter.drawRect(bar)
    painter.setPen(QColor(colours.quiet))
    painter.drawText(area, LEFT, low)
    painter.drawText(area, RIGHT, high)
