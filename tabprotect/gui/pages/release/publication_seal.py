"""What was published and where, after it happened."""

from __future__ import annotations

from pathlib import Path

from PySide6.QtCore import Qt
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QFrame, QPushButton

from tabprotect.gui.look import icons
from tabprotect.gui.look.label import Label
from tabprotect.gui.look.layouts import in_row
from tabprotect.gui.look.roles import dress
from tabprotect.gui.look.theme import GRID, THEME


class Seal(QFrame):
    """The bundle's name and fingerprint, to be copied or opened as a reader."""

    def __init__(self) -> None:
        super().__init__()
        dress(self, "card")
        self.setAccessibleName("Published")
        self._picture = Label()
        self.text = Label(wordWrap=True, name="What was published")
        self.text.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        self.copy = QPushButton("Copy fingerprint")
        self.open = QPushButton("Open as a reader")
        self.open.setToolTip("Open the bundle in a window of its own, without the original.")
        in_row(
            self._picture,
            (self.text, 1),
            self.copy,
            self.open,
            on=self,
            margins=(2 * GRID, GRID, 2 * GRID, GRID),
            spacing=2 * GRID,
        )

    def show_release(self, path: Path, fingerprint: str) -> None:
        """Show the seal of a written bundle."""
        self._picture.setPixmap(icons.pixmap("seal", 32, colour=THEME.colours.released))
        self.text.setText(
            f"Published as {path.name}. Undo cannot go back past this point.\n"
            f"Fingerprint: {fingerprint}\nName it where readers can compare it."
        )

    @staticmethod
    def to_clipboard(text: str) -> None:
        """Copy a text."""
        QGuiApplication.clipboard().setText(text)
