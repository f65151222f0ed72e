"""The edge of a folded panel: its name, written upwards; a click opens it."""

from __future__ import annotations

from PySide6.QtCore import QRect, QSize, Qt
from PySide6.QtGui import QPainter, QPaintEvent, QPen
from PySide6.QtWidgets import QSizePolicy, QToolButton

from tabprotect.gui.look.label import tip
from tabprotect.gui.look.theme import GRID, colour
from tabprotect.languages.speaking import told


class Edge(QToolButton):
    """Takes the place of a panel."""

    def __init__(self, words: str) -> None:
        super().__init__()
        self._words = words
        self.setAutoRaise(True)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Expanding)
        self.setAccessibleName(f"Open the {words.lower()}")
        self.setToolTip(tip(f"Open the {words.lower()} (Ctrl+I)"))

    def sizeHint(self) -> QSize:
        return QSize(self.fontMetrics().height() + GRID, 12 * GRID)

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.setPen(colour("border"))
        painter.drawLine(0, 0, 0, self.height())
        if self.underMouse():
            painter.fillRect(self.rect().adjusted(1, 0, 0, 0), colour("raised"))
        if self.hasFocus():
            painter.setPen(QPen(colour("focus"), 2))
            painter.drawRect(self.rect().adjusted(1, 1, -1, -1))
        painter.setPen(colour("quiet"))
        painter.translate(self.width(), 0)
        painter.rotate(90)
        area = QRect(2 * GRID, 0, self.height() - 2 * GRID, self.width())
        flags = Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter
        painter.drawText(area, int(flags), told(self._words))
