"""The colours of the heat maps: low to high in one hue, or chances in fixed classes, so that the maps
of two tables can be compared. The number is always written too."""

from __future__ import annotations

from functools import cache

import numpy as np
import numpy.typing as npt
from PySide6.QtCore import QPointF, QRectF, QSize
from PySide6.QtGui import QColor, QFontMetrics, QLinearGradient, QPainter, QPaintEvent
from PySide6.QtWidgets import QSizePolicy, QWidget

from tabprotect.engine.arrays import Bools
from tabprotect.gui.look.drawn.drawing import LEFT, RIGHT
from tabprotect.gui.look.theme import GRID, THEME, Colours, contrast, inked
from tabprotect.languages.translation import tr, translate

STEPS = 48
"""Shades of the scale."""

CLASSES = (0.0, 0.1, 0.25, 0.5, 0.95)
"""Where each class of chances begins; the last is what counts as known."""


@cache
def class_colours(colours: Colours) -> tuple[tuple[QColor, QColor], ...]:
    """Ground and text colour of each class of chances."""
    return tuple((QColor(ground), _ink(ground)) for ground in colours.sure)


def class_numbers(chances: npt.NDArray[np.generic], among: Bools | None) -> npt.NDArray[np.uint8]:
    """The class of each chance, from 1; 0 for cells that are not ``among`` those looked at, and
    without these for the lowest class."""
    numbers = np.searchsorted(CLASSES, chances.astype(np.float64) + 1e-12, side="right")
    if among is None:
        return np.where(numbers > 1, numbers, 0).astype(np.uint8)
    return np.where(among, numbers, 0).astype(np.uint8)


def _ink(ground: str) -> QColor:
    # One of black and white always does.
    return QColor(max(("#000000", "#ffffff"), key=lambda ink: contrast(ink, ground)))


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
        out.append((ground, _ink(ground.name())))
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
        super().__init__(accessibleName=tr("Colour scale"))
        self._low, self._high = "", ""
        self._classes = False
        self.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Fixed)

    def sizeHint(self) -> QSize:
        tall = self.fontMetrics().height() + 4
        wide = sum(width for _, width in _class_texts(self.fontMetrics())) if self._classes else 0
        return QSize(wide or 22 * GRID, tall)

    def show_scale(self, low: str, high: str, *, classes: bool = False) -> None:
        """Write what the ends stand for, or show the ``classes`` of chances."""
        self._low, self._high, self._classes = low, high, classes
        self.setAccessibleDescription(tr("from {low} to {high}", low, high))
        self.updateGeometry()
        self.update()

    def paintEvent(self, event: QPaintEvent) -> None:
        if self._classes:
            draw_classes(QPainter(self), QRectF(self.rect()), THEME.colours)
            return
        draw_scale(QPainter(self), QRectF(self.rect()), self._low, self._high, THEME.colours)


def draw_scale(painter: QPainter, area: QRectF, low: str, high: str, colours: Colours) -> None:
    """The scale from left to right, its ends written beside it."""
    metrics, low, high = painter.fontMetrics(), translate(low), translate(high)
    left, right = metrics.horizontalAdvance(low) + 6, metrics.horizontalAdvance(high) + 6
    bar = area.adjusted(left, 3, -right, -3)
    gradient = QLinearGradient(QPointF(bar.left(), 0), QPointF(bar.right(), 0))
    gradient.setColorAt(0.0, QColor(colours.heat_low))
    gradient.setColorAt(1.0, QColor(colours.heat_high))
    inked(painter, QColor(colours.border), gradient)
    painter.drawRect(bar)
    painter.setPen(QColor(colours.quiet))
    painter.drawText(area, LEFT, low)
    painter.drawText(area, RIGHT, high)


def _class_texts(metrics: QFontMetrics) -> list[tuple[str, int]]:
    """The text of each class with the room it takes beside its colour."""
    low = tr("under {percent}", round(100 * CLASSES[1]))
    texts = [low, *(f"{100 * begin:.0f}" for begin in CLASSES[1:-1])]
    texts.append(tr("over {percent}", round(100 * CLASSES[-1])))
    square = metrics.ascent()
    return [(text, square + 5 + metrics.horizontalAdvance(text) + GRID) for text in texts]


def draw_classes(painter: QPainter, area: QRectF, colours: Colours) -> None:
    """The classes of chances from left to right, each with where it begins."""
    metrics = painter.fontMetrics()
    square, left = metrics.ascent(), area.left()
    for (text, wide), (ground, _) in zip(_class_texts(metrics), class_colours(colours), strict=True):
        top = area.top() + (area.height() - square) / 2
        painter.fillRect(QRectF(left, top, square, square), ground)
        painter.setPen(QColor(colours.quiet))
        painter.drawText(QRectF(left + square + 5, area.top(), wide, area.height()), LEFT, text)
        left += wide
