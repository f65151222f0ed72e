"""Two shares of one whole: their fields beside a triangle, and what they leave."""

from __future__ import annotations

from functools import partial

from PySide6.QtCore import QPointF, QRectF, QSize, Qt, Signal
from PySide6.QtGui import (
    QCursor,
    QFocusEvent,
    QKeyEvent,
    QMouseEvent,
    QPainter,
    QPaintEvent,
    QPen,
    QPolygonF,
    QResizeEvent,
)
from PySide6.QtWidgets import QBoxLayout, QSizePolicy, QWidget

from tabprotect.gui.forms.parameters.field import Field
from tabprotect.gui.look.buttons import connected, present
from tabprotect.gui.look.label import Label
from tabprotect.gui.look.layouts import filled, in_column
from tabprotect.gui.look.theme import GRID, colour, inked, number_text, smooth_painter
from tabprotect.languages.messages import joined, message
from tabprotect.languages.translation import tr, translate

WIDE = 46 * GRID
"""From this width on the fields stand beside the triangle, else below it."""


OPEN = 0.25
"""Where the point stands while the shares are left open."""


class ShareEditor(QWidget):
    """``changed`` when the user has set another pair."""

    changed = Signal()

    def __init__(self, first: Field, second: Field) -> None:
        super().__init__()
        shares = present(first.parameter.shares)
        self.fields = (first, second)
        names = (first.parameter.label, second.parameter.label, shares.rest)
        self.triangle = connected(
            ShareTriangle(names, shares.words), changed=self._dragged, settled=self.changed
        )
        self.rest = Label(wordWrap=True, name=shares.rest)
        self._rest, self._words = shares.rest, translate(shares.words[2])
        side = in_column(spacing=GRID // 2)
        for field in self.fields:
            field.changed.connect(partial(self._typed, field))
            side.addWidget(field)
        filled(side, self.rest, 1)
        self._box = QBoxLayout(QBoxLayout.Direction.LeftToRight, self)
        self._box.setContentsMargins(0, 0, 0, 0)
        self._box.setSpacing(2 * GRID)
        filled(self._box, self.triangle, (side, 1))

    def show_shares(self) -> None:
        """Draw what the fields hold."""
        given = [field.value for field in self.fields]
        first, second = (OPEN if share is None else float(str(share)) for share in given)
        self.triangle.set_values(first, second)
        self._tell(first, second)
        if given == [None, None]:
            self.rest.setText(tr("Left open: the kept sums tell how often."))

    def minimumSizeHint(self) -> QSize:
        # However it stands now: it can always stand in one column.
        least = super().minimumSizeHint()
        return QSize(self.triangle.sizeHint().width(), least.height())

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        ways = QBoxLayout.Direction
        self._box.setDirection(ways.LeftToRight if self.width() >= WIDE else ways.TopToBottom)

    def _dragged(self, first: float, second: float) -> None:
        for field, share in zip(self.fields, (first, second), strict=True):
            field.show_value(share)
        self._tell(first, second)

    def _typed(self, field: Field) -> None:
        other = self.fields[self.fields[0] is field]
        try:
            share, rest = (f.parameter.check(f.value) for f in (field, other))
        except ValueError:
            # Said at the field, once it is read.
            self.changed.emit()
            return
        if share is None or rest is None:
            # Both are left open, or neither is.
            other.show_value(rest := share)
        if share is not None and float(str(share)) + float(str(rest)) > 1:
            # The one that is not being typed gives way.
            other.show_value(round(1 - float(str(share)), 4))
        self.show_shares()
        self.changed.emit()

    def _tell(self, first: float, second: float) -> None:
        self.rest.setText(
            tr(
                "{rest}, the rest ({words}): {left}",
                self._rest,
                self._words,
                number_text(max(round(1 - first - second, 10), 0.0)),
            )
        )


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
        super().__init__(focusPolicy=Qt.FocusPolicy.StrongFocus, cursor=QCursor(Qt.CursorShape.CrossCursor))
        self.names, self.words = names, words
        self.first, self.second = OPEN, OPEN
        self.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Fixed)
        self.setAccessibleName(tr("Triangle of {names}, {names2} and {names3}", names[0], names[1], names[2]))
        self.setToolTip(
            tr(
                "<p>Drag the point. Keys: up and down change {names}, right and left change "
                "{names2}, with Shift in larger steps; = makes them equal.</p>",
                names[0],
                names[1],
            )
        )
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
        """Return what each corner stands for."""
        return [tr("{word} {name}", word, name) for word, name in zip(self.words, self.names, strict=True)]

    def _say(self) -> None:
        shares = (self.first, self.second, max(1 - self.first - self.second, 0.0))
        self.setAccessibleDescription(
            translate(
                joined(
                    (
                        message("{n} {s}", n, translate(number_text(s)))
                        for n, s in zip(self.names, shares, strict=True)
                    ),
                    ", ",
                )
            )
        )

    # -- geometry -----------------------------------------------------------------------------

    def corners(self) -> tuple[QPointF, QPointF, QPointF]:
        """Return where the first, the second and the rest are 1: left, right and top."""
        line = self.fontMetrics().height()
        area = QRectF(self.rect()).adjusted(GRID, line + 6, -GRID, -line - 8)
        return area.bottomLeft(), area.bottomRight(), QPointF(area.center().x(), area.top())

    def place(self) -> QPointF:
        """Return where the point is."""
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
        by = {
            Qt.Key.Key_Up: (step, 0.0),
            Qt.Key.Key_Down: (-step, 0.0),
            Qt.Key.Key_Right: (0.0, step),
            Qt.Key.Key_Left: (0.0, -step),
        }.get(Qt.Key(event.key()))
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
        painter = smooth_painter(self)
        a, b, c = self.corners()
        quiet = not self.isEnabled()
        inked(painter, QPen(colour("border"), 1.5), colour("base"))
        painter.drawPolygon(QPolygonF([a, b, c]))
        middle = (a + b) / 2
        painter.setPen(QPen(colour("quiet"), 1, Qt.PenStyle.DashLine))
        painter.drawLine(c, middle)
        at = self.place()
        for corner, name in ((a, "plus"), (b, "minus"), (c, "quiet")):
            painter.setPen(QPen(colour(name), 1.5))
            painter.drawLine(at, corner)
        self._words(painter, a, b, c)
        inked(
            painter,
            QPen(colour("focus" if self.hasFocus() else "text"), 2),
            colour("raised" if quiet else "accent"),
        )
        size = 7 if self.hasFocus() else 6
        painter.drawEllipse(at, size, size)
        if self.hasFocus():
            inked(painter, QPen(colour("focus"), 2))
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
