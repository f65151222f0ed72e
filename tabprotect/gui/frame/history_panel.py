"""The steps of a project: as a history with seals that undo cannot pass, and as a recipe to run again."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QListWidget, QListWidgetItem, QPlainTextEdit

from tabprotect.gui.base.document import Document
from tabprotect.gui.base.page import Panel
from tabprotect.gui.look.buttons import connected, named, push_button
from tabprotect.gui.look.drawn import icons
from tabprotect.gui.look.label import Label, tip
from tabprotect.gui.look.layouts import in_column, in_row
from tabprotect.gui.look.theme import GRID, THEME
from tabprotect.languages.messages import message
from tabprotect.languages.translation import translate


class HistoryPanel(Panel):
    """The steps, oldest first; Return or a click goes there. Published ones carry a seal."""

    def __init__(self, document: Document) -> None:
        super().__init__(document, message("History"))
        self._list = named(QListWidget(), message("Steps"))
        self._list.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self._list.setTextElideMode(Qt.TextElideMode.ElideRight)
        connected(self._list, itemActivated=self._go, itemClicked=self._go)
        self._empty = Label(
            message("Every step you take is listed here by name; choose one to go back to it."),
            wordWrap=True,
            role="quiet",
        )
        in_column(self._empty, (self._list, 1), on=self, margins=GRID)
        THEME.follow(self, HistoryPanel.refresh)

    def refresh(self) -> None:
        """List the steps anew."""
        history = self.document.history
        steps = [] if self.document.public else list(history.steps)
        self._list.clear()
        self._list.setVisible(bool(steps))
        self._empty.setVisible(not steps)
        here = history.position
        for number, step in enumerate(steps):
            item = QListWidgetItem(translate(step.label))
            item.setData(Qt.ItemDataRole.UserRole, number + 1)
            item.setToolTip(tip(step.label))
            if step.sealed:
                item.setIcon(icons.icon("seal"))
                item.setToolTip(
                    tip(message("{label}. Published: undo cannot go back past this step.", step.label))
                )
            if number + 1 > here:
                item.setForeground(self.palette().placeholderText())
            self._list.addItem(item)
        if steps and here:
            self._list.setCurrentRow(here - 1)
            self._list.scrollToItem(self._list.item(here - 1))

    def _go(self, item: QListWidgetItem) -> None:
        self.document.jump(item.data(Qt.ItemDataRole.UserRole))


class RecipePanel(Panel):
    """The same steps as readable text that the command line runs again."""

    def __init__(self, document: Document) -> None:
        super().__init__(document, message("Recipe"))
        self._text = named(
            QPlainTextEdit(readOnly=True, lineWrapMode=QPlainTextEdit.LineWrapMode.NoWrap),
            message("Recipe of this project"),
        )
        self._note = Label(message("Replays with: tabprotect run recipe.toml --out DIR"), role="quiet")
        copy = push_button(message("Copy"), self._copy, name=message("Copy the recipe"))
        in_column((self._text, 1), in_row((self._note, 1), copy), on=self, margins=GRID)

    @property
    def text(self) -> str:
        """Say what the panel shows."""
        return self._text.toPlainText()

    def refresh(self) -> None:
        """Write the recipe anew."""
        shown = not self.document.public and self.document.project is not None
        self._text.setPlainText(self.document.recipe_text() if shown else "")

    def _copy(self) -> None:
        QGuiApplication.clipboard().setText(translate(self.text))
