"""Candidates on the risk-utility curve: one is chosen by a click, a slider or the arrow keys."""

from __future__ import annotations

import itertools
from collections.abc import Sequence

from PySide6.QtCore import QPointF, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QMouseEvent, QPainter, QPaintEvent, QPen
from PySide6.QtWidgets import QSizePolicy, QWidget

from tabprotect.engine.percent import percent
from tabprotect.engine.protection.cycle_runs.offers import Offer
from tabprotect.gui.look.theme import GRID, colour
from tabprotect.languages.speaking import told

REACH = 2 * GRID
"""Pixels around a point within which the mouse finds it."""


class OfferCurve(QWidget):
    """Change of a count to the right, counts published unchanged upwards.

    ``chosen`` and ``hovered`` carry the number of a candidate; ``hovered`` -1 where there is none.
    """

    chosen = Signal(int)
    hovered = Signal(int)

    def __init__(self) -> None:
        super().__init__()
        self.setMouseTracking(True)
        self.setMinimumHeight(16 * GRID)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Expanding)
        self.setAccessibleName("Risk and change of each candidate")
        self._offers: Sequence[Offer] = ()
        self._at = self._over = -1

    def sizeHint(self) -> QSize:
        return QSize(40 * GRID, 22 * GRID)

    def show_offers(self, offers: Sequence[Offer], at: int) -> None:
        """Show candidates, one of them chosen."""
        self._offers, self._at = offers, at
        told = (
            f"{offer.words}: {percent(offer.figures.unchanged)} of the small counts unchanged"
            for offer in offers
        )
        self.setAccessibleDescription("; ".join(told))
        self.update()

    def points(self) -> list[QPointF]:
        """Where the candidates stand."""
        area = self._area()
        most = max((o.figures.change for o in self._offers), default=1.0) * 1.1 or 1.0
        return [
            QPointF(
                area.left() + area.width() * o.figures.change / most,
                area.bottom() - area.height() * o.figures.unchanged,
            )
            for o in self._offers
        ]

    def _area(self) -> QRectF:
        line = self.fontMetrics().height()
        left = self.fontMetrics().horizontalAdvance("100%") + GRID
        return QRectF(self.rect()).adjusted(left, line, -2 * GRID, -2.6 * line)

    def _found(self, at: QPointF) -> int:
        near = [((p - at).manhattanLength(), k) for k, p in enumerate(self.points())]
        best = min(near, default=(REACH + 1.0, -1))
        return best[1] if best[0] <= REACH else -1

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        over = self._found(event.position())
        if over != self._over:
            self._over = over
            self.hovered.emit(over)
            self.update()

    def mousePressEvent(self, event: QMouseEvent) -> None:
        found = self._found(event.position())
        if found >= 0:
            self.chosen.emit(found)

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        area, line = self._area(), self.fontMetrics().height()
        painter.setPen(colour("border"))
        painter.drawLine(area.bottomLeft(), area.bottomRight())
        painter.drawLine(area.bottomLeft(), area.topLeft())
        painter.setPen(colour("quiet"))
        for share in (0.0, 0.5, 1.0):
            y = area.bottom() - area.height() * share
            box = QRectF(0, y - line / 2, area.left() - GRID / 2, line)
            painter.drawText(box, int(Qt.AlignmentFlag.AlignRight), told(percent(share)))
        below = QRectF(area.left(), area.bottom() + line * 1.3, area.width(), line)
        painter.drawText(below, int(Qt.AlignmentFlag.AlignLeft), told("useful"))
        painter.drawText(below, int(Qt.AlignmentFlag.AlignCenter), told("mean change of a count"))
        painter.drawText(below, int(Qt.AlignmentFlag.AlignRight), told("protected"))
        above = QRectF(area.left() + GRID, 0, area.width(), line)
        painter.drawText(
            above, int(Qt.AlignmentFlag.AlignLeft), told("small counts published unchanged")
        )
        points = self.points()
        painter.setPen(QPen(colour("border"), 1.5))
        for one, other in itertools.pairwise(points):
            painter.drawLine(one, other)
        for k, (point, offer) in enumerate(zip(points, self._offers, strict=True)):
            here = k in (self._at, self._over)
            painter.setPen(QPen(colour("accent"), 2))
            painter.setBrush(colour("accent" if k == self._at else "base"))
            painter.drawEllipse(point, 6.0 if here else 4.5, 6.0 if here else 4.5)
            painter.setPen(colour("quiet"))
            label = QRectF(point.x() - 4 * GRID, area.bottom() + 2, 8 * GRID, line)
            if here:
                text = told(f"{offer.figures.change:.2f}")
                painter.drawText(label, int(Qt.AlignmentFlag.AlignCenter), text)
