"""Two small figures of a preview: how a small cell changes, and which cycles are blocked."""

from __future__ import annotations

import numpy as np
from PySide6.QtCore import QPointF, QRectF, QSize, Qt
from PySide6.QtGui import QColor, QFontMetricsF, QPainter, QPen
from PySide6.QtWidgets import QSizePolicy

from tabprotect.engine.arrays import Floats
from tabprotect.gui.look.drawing import CENTRE, LEFT, RIGHT, Drawing
from tabprotect.gui.look.theme import GRID, Colours, chance_text, count_text, signed_text

TAIL = 5e-4
"""Rarer changes at the ends are left out of the picture."""


class ChangeFigure(Drawing):
    """Probability of each change of a small cell, with the number over each bar."""

    def __init__(self) -> None:
        super().__init__("Distribution of the change of a small cell")
        self._change: dict[int, float] = {}
        self.setMinimumSize(24 * GRID, 15 * GRID)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Expanding)

    def sizeHint(self) -> QSize:
        return QSize(40 * GRID, 18 * GRID)

    def show_change(self, change: dict[int, float]) -> None:
        """Draw a distribution of published minus original."""
        likely = [v for v, p in change.items() if p >= TAIL] or [0]
        self._change = {v: change.get(v, 0.0) for v in range(min(likely), max(likely) + 1)}
        self.say("; ".join(f"{signed_text(v)}: {chance_text(p)}" for v, p in self._change.items()))

    def draw(self, painter: QPainter, area: QRectF, colours: Colours) -> None:
        if not self._change:
            return
        line = QFontMetricsF(painter.font()).height()
        inner = area.adjusted(4, line + 2, -4, -2 * line - 4)
        step = min(inner.width() / len(self._change), 9.0 * GRID)
        left = inner.center().x() - step * len(self._change) / 2
        peak = max(self._change.values())
        for number, (value, chance) in enumerate(self._change.items()):
            x = left + number * step
            high = inner.height() * chance / peak
            name = "border" if value == 0 else "plus" if value > 0 else "minus"
            bar = QRectF(x + step * 0.12, inner.bottom() - high, step * 0.76, high)
            painter.fillRect(bar, QColor(getattr(colours, name)))
            painter.setPen(QColor(colours.text))
            box = QRectF(x - GRID, bar.top() - line - 1, step + 2 * GRID, line)
            if step > 3 * GRID:
                painter.drawText(box, CENTRE, chance_text(chance))
            foot = QRectF(x - GRID, inner.bottom() + 2, step + 2 * GRID, line)
            painter.drawText(foot, CENTRE, signed_text(value))
        painter.setPen(QPen(QColor(colours.text), 1))
        painter.drawLine(
            QPointF(left, inner.bottom()),
            QPointF(left + step * len(self._change), inner.bottom()),
        )
        painter.setPen(QColor(colours.quiet))
        caption = QRectF(area.left(), area.bottom() - line, area.width(), line)
        painter.drawText(caption, CENTRE, "change of the count (published \u2212 original)")


class BlockedFigure(Drawing):
    """How often each cycle is blocked, most often first, as a skyline."""

    def __init__(self) -> None:
        super().__init__("Blocked share by cycle, sorted")
        self._shares: Floats = np.zeros(0)
        self.setMinimumSize(24 * GRID, 9 * GRID)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Preferred)

    def sizeHint(self) -> QSize:
        return QSize(40 * GRID, 11 * GRID)

    def show_shares(self, by_cycle: Floats) -> None:
        """Draw the blocked share of every cycle."""
        self._shares = np.sort(np.clip(by_cycle, 0.0, 1.0))[::-1]
        always = int((self._shares > 1 - 1e-9).sum())
        never = int((self._shares < 1e-9).sum())
        self.say(
            f"{count_text(always)} of {count_text(len(self._shares))} cycles are always blocked, "
            f"{count_text(never)} never"
        )

    def draw(self, painter: QPainter, area: QRectF, colours: Colours) -> None:
        if not len(self._shares):
            return
        line = QFontMetricsF(painter.font()).height()
        left = QFontMetricsF(painter.font()).horizontalAdvance("100 %") + GRID
        inner = area.adjusted(left, line / 2, -4, -line - 4)
        # More cycles than pixels: every pixel shows the cycle that falls on it.
        columns = int(min(len(self._shares), max(inner.width(), 1)))
        step = inner.width() / columns
        picked = np.linspace(0, len(self._shares) - 1, columns).astype(np.int64)
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(QColor(colours.unreleasable))
        gap = 1.0 if step > 4 else 0.0
        for number, share in enumerate(self._shares[picked].tolist()):
            high = inner.height() * share
            painter.drawRect(
                QRectF(inner.left() + number * step, inner.bottom() - high, step - gap, high)
            )
        painter.setPen(QPen(QColor(colours.border), 1))
        for share in (0.0, 0.5, 1.0):
            y = inner.bottom() - share * inner.height()
            painter.setPen(QPen(QColor(colours.border), 1))
            painter.drawLine(QPointF(inner.left(), y), QPointF(inner.right(), y))
            painter.setPen(QColor(colours.quiet))
            box = QRectF(area.left(), y - line / 2, left - 6, line)
            painter.drawText(box, RIGHT, f"{share:.0%}".replace("%", " %"))
        painter.setPen(QColor(colours.quiet))
        foot = QRectF(inner.left(), inner.bottom() + 4, inner.width(), line)
        number = len(self._shares)
        words = "1 cycle" if number == 1 else f"{count_text(number)} cycles, most blocked first"
        painter.drawText(foot, LEFT, words)
