"""A card that is a button as a whole: it holds words and pictures, and one press takes it."""

from __future__ import annotations

from PySide6.QtCore import QSize, Qt, Signal
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QPushButton, QSizePolicy

from tabprotect.gui.look.buttons import named
from tabprotect.languages.translation import translate


class ChoiceCard(QPushButton):
    """A thing to choose. Return, space, a click or a screen reader's press chooses it.

    Parameters
    ----------
    title
        Its name.
    text
        What is said about it.
    why
        Why it cannot be chosen; empty where it can.
    """

    chosen = Signal()

    def __init__(self, title: str, text: str, *, why: str = "") -> None:
        super().__init__()
        self.why = why
        named(self, title, role="card")
        self.setAccessibleDescription(translate(why or text))
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Minimum)
        if not why:
            self.setCursor(Qt.CursorShape.PointingHandCursor)
            self.clicked.connect(lambda: self.chosen.emit())

    def sizeHint(self) -> QSize:
        # A button asks for the room of its own text: this one's is what lies on it.
        layout = self.layout()
        return super().sizeHint() if layout is None else layout.totalSizeHint()

    def minimumSizeHint(self) -> QSize:
        layout = self.layout()
        return super().minimumSizeHint() if layout is None else layout.totalMinimumSize()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
            self.click()
        else:
            super().keyPressEvent(event)
