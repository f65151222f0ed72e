"""The recipe panel: the same steps as readable text that the command line runs again."""

from __future__ import annotations

from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QPlainTextEdit, QPushButton, QWidget

from tabprotect.gui.base.document import Document
from tabprotect.gui.look.label import Label
from tabprotect.gui.look.layouts import in_column, in_row
from tabprotect.gui.look.theme import GRID
from tabprotect.languages.said import say
from tabprotect.languages.speaking import tell, told


class RecipePanel(QWidget):
    """Read-only text; brought up to date only while it is shown."""

    def __init__(self, document: Document) -> None:
        super().__init__()
        self.document = document
        self.setAccessibleName(tell("Recipe"))
        self._text = QPlainTextEdit(readOnly=True)
        self._text.setAccessibleName(tell("Recipe of this project"))
        self._text.setLineWrapMode(QPlainTextEdit.LineWrapMode.NoWrap)
        self._note = Label(say("Replays with: tabprotect run recipe.toml --out DIR"), role="quiet")
        copy = QPushButton(tell("Copy"))
        copy.setAccessibleName(tell("Copy the recipe"))
        copy.clicked.connect(lambda: QGuiApplication.clipboard().setText(told(self.text)))
        row = in_row((self._note, 1), copy)
        in_column((self._text, 1), row, on=self, margins=GRID)
        document.project_changed.connect(lambda _: self.refresh())
        document.view_changed.connect(lambda _: self.refresh())

    @property
    def text(self) -> str:
        """What the panel shows."""
        return self._text.toPlainText()

    def shows_original(self) -> bool:
        """A recipe holds typed counts, paths and perhaps the seed."""
        return self.isVisible() and self.document.has_original and not self.document.public

    def showEvent(self, event: object) -> None:
        super().showEvent(event)  # type: ignore[arg-type]
        self.refresh()

    def refresh(self) -> None:
        """Write the recipe anew."""
        if not self.isVisible():
            return
        shown = not self.document.public and self.document.project is not None
        self._text.setPlainText(self.document.recipe_text() if shown else "")
