"""What stands where there is nothing yet: one sentence on what belongs here, and one button."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QPushButton, QWidget

from tabprotect.gui.look.buttons import push_button
from tabprotect.gui.look.label import Label
from tabprotect.gui.look.layouts import in_column
from tabprotect.gui.look.roles import dress
from tabprotect.gui.look.theme import GRID


class Empty(QWidget):
    """A sentence and a button in the middle."""

    def __init__(self, words: str, action: str, do: Callable[[], object], *, name: str = "") -> None:
        super().__init__()
        self.words = Label(words, wordWrap=True, alignment=Qt.AlignmentFlag.AlignCenter)
        self.button = push_button(action, do, name=name)
        dress(self.button, "main")
        in_column(
            1,
            self.words,
            (self.button, 0, Qt.AlignmentFlag.AlignHCenter),
            2,
            on=self,
            margins=2 * GRID,
            spacing=2 * GRID,
        )


def way_on(page: QWidget) -> QPushButton | None:
    """The one button of a page on which there is nothing yet."""
    empty = next((one for one in page.findChildren(Empty) if one.isVisible()), None)
    return None if empty is None else empty.button
