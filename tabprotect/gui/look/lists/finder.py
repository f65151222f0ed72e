"""A field to find things by."""

from __future__ import annotations

from PySide6.QtCore import QSize
from PySide6.QtWidgets import QLineEdit

from tabprotect.gui.look.theme import GRID
from tabprotect.languages.messages import message
from tabprotect.languages.translation import translate

FIND = message("find")


class Finder(QLineEdit):
    """Emptied by one click, and wide enough for the words that say what to type.

    Parameters
    ----------
    name
        What a screen reader calls it.
    words
        What it says while it is empty.
    """

    def __init__(self, name: str, words: str = FIND) -> None:
        super().__init__(placeholderText=translate(words), clearButtonEnabled=True)
        self.setAccessibleName(translate(name))
        # A file that is dropped here is opened, as anywhere.
        self.setAcceptDrops(False)

    def minimumSizeHint(self) -> QSize:
        words = self.fontMetrics().horizontalAdvance(self.placeholderText())
        return super().minimumSizeHint().expandedTo(QSize(words + 2 * GRID, 0))

    def sizeHint(self) -> QSize:
        return self.minimumSizeHint().expandedTo(QSize(16 * GRID, super().sizeHint().height()))
