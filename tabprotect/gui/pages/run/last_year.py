"""Last year's release of the same magnitudes: what was published then is published again, unless unsafe."""

from __future__ import annotations

from pathlib import Path

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QWidget

from tabprotect.gui.look.buttons import push_button
from tabprotect.gui.look.file_dialogs import ask_file
from tabprotect.gui.look.label import Label
from tabprotect.gui.look.layouts import in_row
from tabprotect.gui.look.theme import GRID
from tabprotect.languages.messages import message


class LastYear(QWidget):
    """``chosen`` carries the path of a bundle."""

    chosen = Signal(str)

    def __init__(self) -> None:
        super().__init__()
        self.choose = push_button(
            message("As last year\u2026"),
            lambda: ask_file(
                self, message("Last year's release"), message("Release bundles (*.zip)"), self.chosen.emit
            ),
            tip=message("<p>What was published last year is published again, unless it is unsafe.</p>"),
        )
        self._like = Label(wordWrap=True, role="quiet", name=message("Last year's release"))
        in_row(self.choose, (self._like, 1), on=self, margins=0, spacing=GRID)

    def show_file(self, like: str | None) -> None:
        """Show the chosen bundle, empty where none is; with ``None`` there is nothing to choose."""
        self.setVisible(like is not None)
        self._like.setText(message("As in {name}", Path(like).name) if like else "")
