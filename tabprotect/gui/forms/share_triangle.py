"""Three shares of one whole as a triangle: drag the point between its corners."""

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

from tabprotect.gui.look.theme import GRID, colour, number_text
from tabprotect.languages.speaking import told

STEP = 0.01
LEAP = 0.05

NEAR = 0.015
"""A drag so close to the line of equal shares lands on it: unbiasedness should not be missed by a
pixel."""


class ShareTriangle(QWidget):
    """``changed`` (first share, second share) while the point moves, ``settled`` when it comes to rest.

    Keys: up and down change the first, right and left the second, with Shift in steps of 0.05;
    ``=`` makes them equal.
    """

    changed = Signal(float, float)
    settled = Signal()

    def __init__(self, names: tuple[str, str, str], words: tuple[str, str, str]) -> None:
        super().__init__()
        self.names, self.words = names, words
        self.first, self.second = 0.25, 0.25
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Fixed)
        self.setAccessibleName(f"Triangle of {names[0]}, {names[1]} and {names[2]}")
        self.setToolTip(
            f"<p>Drag the point. Keys: up and down change {names[0]}, right and left change "
            f"{names[1]}, with Shift in larger steps; = makes them equal.</p>"
        )
        self.setCursor(Qt.CursorShape.CrossCursor)
        self._say()

    def minimumSizeHint(self) -> QSize:
        # The words below its base stand side by side, whatever the size of letters.
        width = self.fontMetrics().horizontalAdvance
        return QSize(2 * GRID + 2 * max(width(text) for text in self._texts()), 0)

    def sizeHint(self) -> QSize:
        wide = max(23 * GRID, self.minimumSizeHint().width())
        return QSize(wide, wide * 21 // 23)

    def set_values(self, first: float, second: float) -> None:
        """Put the point somewhere without announcing it."""
        self.first, self.second = first, second
        self._say()
        self.update()

    def _texts(self) -> list[str]:
        """What each corner stands for."""
        return [told(f"{word} {name}") for word, name in zip(self.words, self.names, strict=True)]

    def _say(self) -> None:
        shares = (self.first, self.second, max(1 - self.first - self.second, 0.0))
        self.setAccessibleDescription(
            ", ".join(
                f"{n} {told(number_text(s))}" for n, s in zip(self.names, shares, strict=True)
            )
        )

    # -- geometry -----------------------------------------------------------------------------

    def corners(self) -> tuple[QPointF, QPointF, QPointF]:
        """Where the first, the second and the rest are 1: left, right and top."""
        line = self.fontMetrics().height()
        area = QRectF(self.rect()).adjusted(GRID, line + 6, -GRID, -line - 8)
        return area.bottomLeft(), area.bottomRight(), QPointF(area.center().x(), area.top())

    def place(self) -> QPointF:
        """Where the point is."""
        a, b, c = self.corners()
        return a * self.first + b * self.second + c * (1 - self.first - self.second)

    def _values_at(self, at: QPointF) -> tuple[float, float]:
        a, b, c = self.corners()
        rest = (a.y() - at.y()) / (a.y() - c.y())
        second = (at.x() - a.x() - rest * (c.x() - a.x())) / (b.x() - a.x())
        rest = min(max(rest, 0.0), 1.0)
        second = min(max(second, 0.0), 1.0 - rest)
        first = 1.0 - rest - second
        if abs(first - second) < 2 * NEAR:
            first = second = round((first + second) / 2, 2)
        first, second = round(first, 2), round(second, 2)
        return min(first, round(1 - second, 2)), second

    def _move(self, first: float, second: float) -> None:
        first = round(min(max(first, 0.0), 1.0), 2)
        second = round(min(max(second, 0.0), 1.0 - first), 2)
        if (first, second) != (self.first, self.second):
            self.set_values(first, second)
            self.changed.emit(first, second)

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
            first = min(self.first + by[0], 1.0 - self.second)
            self._move(first, min(self.second + by[1], 1.0 - first))
            self.settled.emit()
        elif event.text() == "=":
            half = (self.first + self.second) / 2
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
        first, second, rest = self._texts()
        for corner, text, name, flag in (
            (QPointF(a.x(), a.y() + 3), first, "plus", flags.AlignLeft),
            (QPointF(b.x() - wide, b.y() + 3), second, "minus", flags.AlignRight),
            (QPointF(c.x() - wide / 2, c.y() - line - 3), rest, "quiet", flags.AlignHCenter),
        ):
            painter.setPen(colour(name))
            painter.drawText(QRectF(corner.x(), corner.y(), wide, line), int(flag), text)
