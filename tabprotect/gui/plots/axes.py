"""The frame of a plot: a probability axis from zero, a value axis, marked lines, direct labels.

Everything is drawn with ``QPainter`` into a rectangle, so that a window, a bitmap and an SVG file
get the same picture.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QColor, QFont, QFontMetricsF, QPainter, QPen, QPolygonF

from tabprotect.gui.theme import Colours, chance_text

LEFT = int(Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter)
RIGHT = int(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
CENTRE = int(Qt.AlignmentFlag.AlignCenter)


@dataclass(frozen=True)
class Mark:
    """A vertical line with its label: what is published (dashed), what is true (solid, diamond)."""

    value: float
    label: str
    true: bool = False


def nice_step(span: float, wanted: int) -> float:
    """The round step (1, 2 or 5 times a power of ten) that cuts ``span`` into about ``wanted``."""
    if span <= 0 or not math.isfinite(span):
        return 1.0
    raw = span / max(wanted, 1)
    power = 10.0 ** math.floor(math.log10(raw))
    return next(m * power for m in (1.0, 2.0, 5.0, 10.0) if m * power >= raw * (1 - 1e-9))


@dataclass(frozen=True)
class Frame:
    """The inner rectangle of a plot and its two scales.

    Attributes
    ----------
    area
        Where the bars stand.
    low, high
        Ends of the value axis.
    top
        Upper end of the probability axis; the lower one is 0.
    """

    area: QRectF
    low: float
    high: float
    top: float

    def x(self, value: float) -> float:
        """Where a value stands."""
        share = (value - self.low) / (self.high - self.low)
        return self.area.left() + share * self.area.width()

    def y(self, chance: float) -> float:
        """Where a probability stands."""
        return self.area.bottom() - chance / self.top * self.area.height()


def lay_out(
    outer: QRectF,
    font: QFont,
    *,
    low: float,
    high: float,
    peak: float,
    rows: int,
    headroom: float = 0.5,
) -> Frame:
    """A frame inside ``outer`` with room for the axes, and for labels.

    Parameters
    ----------
    rows
        Lines of labels above the plot.
    headroom
        Lines of labels above the highest bar.
    """
    metrics = QFontMetricsF(font)
    line = metrics.height()
    left = metrics.horizontalAdvance(".00") + 8
    area = outer.adjusted(left, rows * (line + 2) + 4, -4, -2 * line - 8)
    room = max(area.height() - headroom * line, area.height() / 2, 1.0)
    return Frame(area, low, high, max(peak, 1e-9) * max(area.height(), 1.0) / room)


def draw_chances(painter: QPainter, frame: Frame, colours: Colours) -> None:
    """The probability axis: quiet lines and their numbers."""
    metrics = QFontMetricsF(painter.font())
    step = nice_step(frame.top, 4)
    for number in range(int(min(frame.top, 1.0) / step + 1e-9) + 1):
        chance = number * step
        y = frame.y(chance)
        painter.setPen(QPen(QColor(colours.border), 1 if number else 1.5))
        painter.drawLine(QPointF(frame.area.left(), y), QPointF(frame.area.right(), y))
        painter.setPen(QColor(colours.quiet))
        box = QRectF(frame.area.left() - 60, y - metrics.height() / 2, 54, metrics.height())
        painter.drawText(box, RIGHT, chance_text(chance, digits=2 if step < 0.1 else 1))


def merged(marks: Sequence[Mark]) -> list[Mark]:
    """Marks at one value as one mark with both labels."""
    out: list[Mark] = []
    for mark in marks:
        same = next((n for n, m in enumerate(out) if m.value == mark.value), None)
        if same is None:
            out.append(mark)
        else:
            label = f"{out[same].label}, {mark.label}"
            out[same] = Mark(mark.value, label, true=out[same].true or mark.true)
    return out


def draw_marks(painter: QPainter, frame: Frame, marks: Sequence[Mark], colours: Colours) -> None:
    """Marked lines down to the axis, each with its label on a line of its own above the bars.

    ``marks`` as :func:`merged` returns them; the frame was laid out with a row for each.
    """
    metrics = QFontMetricsF(painter.font())
    line = metrics.height() + 2
    rows = [frame.area.top() - (len(marks) - n) * line - 2 for n in range(len(marks))]
    for row, mark in zip(rows, marks, strict=True):
        x = frame.x(mark.value)
        ink = QColor(colours.at_risk if mark.true else colours.text)
        style = Qt.PenStyle.SolidLine if mark.true else Qt.PenStyle.DashLine
        painter.setPen(QPen(ink, 2, style))
        painter.drawLine(QPointF(x, row + line), QPointF(x, frame.area.bottom()))
    for row, mark in zip(rows, marks, strict=True):
        name = colours.at_risk if mark.true else colours.text
        width = metrics.horizontalAdvance(mark.label) + 4 + (14 if mark.true else 0)
        x = frame.x(mark.value)
        left = min(max(x - width / 2, frame.area.left()), frame.area.right() - width)
        box = QRectF(left, row, width, line)
        if mark.true:
            draw_label(painter, box, mark.label, ink=name, ground=colours.base, flags=RIGHT)
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(QColor(name))
            middle = QPointF(box.left() + 6, box.center().y())
            corners = (QPointF(0, -5), QPointF(4, 0), QPointF(0, 5), QPointF(-4, 0))
            painter.drawPolygon(QPolygonF([middle + corner for corner in corners]))
        else:
            draw_label(painter, box, mark.label, ink=name, ground=colours.base)


def draw_title(painter: QPainter, frame: Frame, text: str, colours: Colours) -> None:
    """What the value axis counts."""
    line = QFontMetricsF(painter.font()).height()
    painter.setPen(QColor(colours.quiet))
    box = QRectF(frame.area.left(), frame.area.bottom() + line + 5, frame.area.width(), line + 2)
    painter.drawText(box, CENTRE, text)


def draw_label(
    painter: QPainter, box: QRectF, text: str, *, ink: str, ground: str, flags: int = CENTRE
) -> None:
    """A label that stays readable over lines and bars."""
    painter.setPen(Qt.PenStyle.NoPen)
    veil = QColor(ground)
    veil.setAlphaF(0.82)
    painter.setBrush(veil)
    painter.drawRoundedRect(box, 2, 2)
    painter.setPen(QColor(ink))
    painter.drawText(box, flags, text)
