"""The history panel: every named step; published ones carry a seal that undo cannot pass."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QListWidget, QListWidgetItem, QWidget

from tabprotect.gui.base.document import Document
from tabprotect.gui.look import icons
from tabprotect.gui.look.label import Label, tip
from tabprotect.gui.look.layouts import in_column
from tabprotect.gui.look.theme import GRID, THEME
from tabprotect.languages.said import say
from tabprotect.languages.speaking import tell, told


class HistoryPanel(QWidget):
    """The steps, oldest first; Return or a click goes there."""

    def __init__(self, document: Document) -> None:
        super().__init__()
        self.document = document
        self.setAccessibleName(tell("History"))
        self._list = QListWidget()
        self._list.setAccessibleName(tell("Steps"))
        self._list.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self._list.setTextElideMode(Qt.TextElideMode.ElideRight)
        self._list.itemActivated.connect(self._go)
        self._list.itemClicked.connect(self._go)
        self._empty = Label(
            say("Every step you take is listed here by name; choose one to go back to it."),
            wordWrap=True,
            role="quiet",
        )
        in_column(self._empty, (self._list, 1), on=self, margins=GRID)
        document.project_changed.connect(lambda _: self.refresh())
        document.view_changed.connect(lambda _: self.refresh())
        THEME.follow(self, HistoryPanel.refresh)
        self.refresh()

    def shows_original(self) -> bool:
        """Step names hold counts that were typed."""
        return self.isVisible() and self.document.has_original and not self.document.public

    def refresh(self) -> None:
        """List the steps anew."""
        history = self.document.history
        steps = [] if self.document.public else list(history.steps)
        self._list.clear()
        self._list.setVisible(bool(steps))
        self._empty.setVisible(not steps)
        here = history.position
        for number, step in enumerate(steps):
            item = QListWidgetItem(told(step.label))
            item.setData(Qt.ItemDataRole.UserRole, number + 1)
            item.setToolTip(tip(step.label))
            if step.sealed:
                item.setIcon(icons.icon("seal"))
                item.setToolTip(
                    tip(say("{label}. Published: undo cannot go back past this step.", step.label))
                )
            if number + 1 > here:
                item.setForeground(self.palette().placeholderText())
            self._list.addItem(item)
        if steps and here:
            self._list.setCurrentRow(here - 1)
            self._list.scrollToItem(self._list.item(here - 1))

    def _go(self, item: QListWidgetItem) -> None:
        self.document.jump(item.data(Qt.ItemDataRole.UserRole))
