"""The spread of an analysis over possible originals, with its value on the published table."""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt
from PySide6.QtCore import QRectF, Qt
from PySide6.QtGui import QColor, QFontMetricsF, QPainter, QPen

from tabprotect.gui.plots.axes import (
    CENTRE,
    Frame,
    Mark,
    draw_chances,
    draw_marks,
    draw_title,
    lay_out,
    merged,
    nice_step,
)
from tabprotect.gui.plots.figure import Figure
from tabprotect.gui.theme import Colours

FEWEST, MOST = 8, 40
"""Bars."""


def number(value: float) -> str:
    """A statistic for an axis: three significant figures, a true minus sign."""
    return f"{value:.3g}".replace("-", "\u2212")


class SpreadPlot(Figure):
    """A histogram of numbers, one per drawn table."""

    def __init__(self) -> None:
        super().__init__("Spread over possible originals")
        self.values: npt.NDArray[np.float64] = np.zeros(0)
        self.marks: tuple[Mark, ...] = ()
        self.label = ""
        self.empty = ""

    def show_values(
        self, values: npt.NDArray[np.float64], *, marks: tuple[Mark, ...], label: str
    ) -> None:
        """Show the finite ones of the numbers, marked values, and what is counted."""
        self.values = values[np.isfinite(values)]
        self.marks = tuple(mark for mark in marks if math.isfinite(mark.value))
        self.label = label
        said = "; ".join(mark.label for mark in self.marks)
        spread = ""
        if len(self.values):
            low, high = number(float(self.values.min())), number(float(self.values.max()))
            spread = f"from {low} to {high}; "
        self.say(f"{label}: {spread}{said}.")

    def show_nothing(self, why: str) -> None:
        """Show a sentence instead."""
        self.values, self.marks, self.empty = np.zeros(0), (), why
        self.say(why)

    def draw(self, painter: QPainter, area: QRectF, colours: Colours) -> None:
        if not len(self.values):
            painter.setPen(QColor(colours.quiet))
            flags = int(Qt.AlignmentFlag.AlignCenter | Qt.TextFlag.TextWordWrap)
            painter.drawText(area.adjusted(24, 0, -24, 0), flags, self.empty)
            return
        marks = merged(self.marks)
        ends = [float(self.values.min()), float(self.values.max()), *(m.value for m in self.marks)]
        low, high = min(ends), max(ends)
        if high - low < 1e-9 * max(abs(high), 1.0):
            low, high = low - 0.5, high + 0.5
        bars = int(np.clip(math.sqrt(len(self.values)), FEWEST, MOST))
        room = (high - low) / bars
        low, high = low - room / 2, high + room / 2
        counts, edges = np.histogram(self.values, bins=bars, range=(low, high))
        shares = counts / len(self.values)
        frame = lay_out(
            area,
            painter.font(),
            low=low,
            high=high,
            peak=float(shares.max()),
            rows=len(marks),
        )
        draw_chances(painter, frame, colours)
        painter.setPen(QPen(QColor(colours.base), 1))
        painter.setBrush(QColor(colours.accent))
        for share, left, right in zip(shares, edges[:-1], edges[1:], strict=True):
            if share:
                x, y = frame.x(left), frame.y(share)
                painter.drawRect(QRectF(x, y, frame.x(right) - x, frame.area.bottom() - y))
        draw_marks(painter, frame, marks, colours)
        self._draw_values(painter, frame, colours)
        draw_title(painter, frame, self.label, colours)

    @staticmethod
    def _draw_values(painter: QPainter, frame: Frame, colours: Colours) -> None:
        metrics = QFontMetricsF(painter.font())
        wide = metrics.horizontalAdvance(number(frame.high)) + 24
        step = nice_step(frame.high - frame.low, max(int(frame.area.width() / wide), 2))
        painter.setPen(QColor(colours.text))
        at = math.ceil(frame.low / step) * step
        while at <= frame.high:
            box = QRectF(frame.x(at) - 50, frame.area.bottom() + 3, 100, metrics.height())
            painter.drawText(box, CENTRE, number(0.0 if abs(at) < step / 1e6 else at))
            at += step
