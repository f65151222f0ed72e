"""The three-sided coin as a triangle: drag the point between adding, subtracting and leaving."""

from __future__ import annotations

from PySide6.QtCore import QPointF, QRectF, QSize, Qt, Signal
from PySide6.QtGui import (
    QFocusEvent,
    QKeyEvent,
    QMouseEvent,
    QPainter,
    QPaintEvent,
    QPen,
    QPolygonF,
)
from PySide6.QtWidgets import QSizePolicy, QWidget

from tabprotect.gui.look.theme import GRID, colour

STEP = 0.01
LEAP = 0.05

NEAR = 0.015
"""A drag so close to the line alpha = beta lands on it: unbiasedness should not be missed by a
pixel."""


class CoinTriangle(QWidget):
    """``changed`` (alpha, beta) while the point moves, ``settled`` when it comes to rest.

    Keys: up and down change alpha, right and left change beta, with Shift in steps of 0.05;
    ``=`` makes them equal.
    """

    changed = Signal(float, float)
    settled = Signal()

    def __init__(self) -> None:
        super().__init__()
        self.alpha, self.beta = 0.25, 0.25
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Fixed)
        self.setAccessibleName("Triangle of alpha, beta and gamma")
        self.setToolTip(
            "<p>Drag the point. Keys: up and down change alpha, right and left change beta, with "
            "Shift in larger steps; = makes them equal.</p>"
        )
        self.setCursor(Qt.CursorShape.CrossCursor)
        self._say()

    def sizeHint(self) -> QSize:
        return QSize(23 * GRID, 21 * GRID)

    def set_values(self, alpha: float, beta: float) -> None:
        """Put the point somewhere without announcing it."""
        self.alpha, self.beta = alpha, beta
        self._say()
        self.update()

    def _say(self) -> None:
        gamma = max(1 - self.alpha - self.beta, 0.0)
        self.setAccessibleDescription(
            f"alpha {self.alpha:.2f}, beta {self.beta:.2f}, gamma {gamma:.2f}"
        )

    # -- geometry -----------------------------------------------------------------------------

    def corners(self) -> tuple[QPointF, QPointF, QPointF]:
        """Where alpha, beta and gamma are 1: left, right and top."""
        line = self.fontMetrics().height()
        area = QRectF(self.rect()).adjusted(GRID, line + 6, -GRID, -line - 8)
        return area.bottomLeft(), area.bottomRight(), QPointF(area.center().x(), area.top())

    def place(self) -> QPointF:
        """Where the point is."""
        a, b, c = self.corners()
        return a * self.alpha + b * self.beta + c * (1 - self.alpha - self.beta)

    def _values_at(self, at: QPointF) -> tuple[float, float]:
        a, b, c = self.corners()
        gamma = (a.y() - at.y()) / (a.y() - c.y())
        beta = (at.x() - a.x() - gamma * (c.x() - a.x())) / (b.x() - a.x())
        gamma = min(max(gamma, 0.0), 1.0)
        beta = min(max(beta, 0.0), 1.0 - gamma)
        alpha = 1.0 - gamma - beta
        if abs(alpha - beta) < 2 * NEAR:
            alpha = beta = round((alpha + beta) / 2, 2)
        alpha, beta = round(alpha, 2), round(beta, 2)
        return min(alpha, round(1 - beta, 2)), beta

    def _move(self, alpha: float, beta: float) -> None:
        alpha = round(min(max(alpha, 0.0), 1.0), 2)
        beta = round(min(max(beta, 0.0), 1.0 - alpha), 2)
        if (alpha, beta) != (self.alpha, self.beta):
            self.set_values(alpha, beta)
            self.changed.emit(alpha, beta)

    # -- events -------------------------------------------------------------------------------

    def mousePressEvent(self, event: QMouseEvent) -> None:
        if self.isEnabled() and event.button() == Qt.MouseButton.LeftButton:
            self._move(*self._values_at(event.position()))

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        if event.buttons() & Qt.MouseButton.LeftButton:
            self._move(*self._values_at(event.position()))

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        self.settled.emit()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        step = LEAP if event.modifiers() & Qt.KeyboardModifier.ShiftModifier else STEP
        key = Qt.Key(event.key())
        by = {
            Qt.Key.Key_Up: (step, 0.0),
            Qt.Key.Key_Down: (-step, 0.0),
            Qt.Key.Key_Right: (0.0, step),
            Qt.Key.Key_Left: (0.0, -step),
        }.get(key)
        if by is not None:
            alpha = min(self.alpha + by[0], 1.0 - self.beta)
            self._move(alpha, min(self.beta + by[1], 1.0 - alpha))
            self.settled.emit()
        elif event.text() == "=":
            half = (self.alpha + self.beta) / 2
            self._move(half, half)
            self.settled.emit()
        else:
            super().keyPressEvent(event)

    def focusInEvent(self, event: QFocusEvent) -> None:
        super().focusInEvent(event)
        self.update()

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        a, b, c = self.corners()
        quiet = not self.isEnabled()
        painter.setPen(QPen(colour("border"), 1.5))
        painter.setBrush(colour("base"))
        painter.drawPolygon(QPolygonF([a, b, c]))
        middle = (a + b) / 2
        painter.setPen(QPen(colour("quiet"), 1, Qt.PenStyle.DashLine))
        painter.drawLine(c, middle)
        at = self.place()
        for corner, name in ((a, "plus"), (b, "minus"), (c, "quiet")):
            painter.setPen(QPen(colour(name), 1.5))
            painter.drawLine(at, corner)
        self._words(painter, a, b, c)
        painter.setPen(QPen(colour("focus" if self.hasFocus() else "text"), 2))
        painter.setBrush(colour("raised" if quiet else "accent"))
        size = 7 if self.hasFocus() else 6
        painter.drawEllipse(at, size, size)
        if self.hasFocus():
            painter.setBrush(Qt.BrushStyle.NoBrush)
            painter.setPen(QPen(colour("focus"), 2))
            painter.drawEllipse(at, 11, 11)

    def _words(self, painter: QPainter, a: QPointF, b: QPointF, c: QPointF) -> None:
        line = painter.fontMetrics().height()
        wide = self.width() / 2
        flags = Qt.AlignmentFlag
        for corner, text, name, flag in (
            (QPointF(a.x(), a.y() + 3), "add \u03b1", "plus", flags.AlignLeft),
            (QPointF(b.x() - wide, b.y() + 3), "\u03b2 subtract", "minus", flags.AlignRight),
            (
                QPointF(c.x() - wide / 2, c.y() - line - 3),
                "leave \u03b3",
                "quiet",
                flags.AlignHCenter,
            ),
        ):
            painter.setPen(colour(name))
            painter.drawText(QRectF(corner.x(), corner.y(), wide, line), int(flag), text)
