"""Everything by its name: actions, pages, small counts, variables, settings, recent files, and all help."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import numpy as np
from PySide6.QtCore import QEvent, QObject, Qt
from PySide6.QtGui import QKeyEvent, QKeySequence
from PySide6.QtWidgets import QHeaderView, QMenu, QTreeWidget, QTreeWidgetItem

from tabprotect.engine.tables.variable import spoken
from tabprotect.gui.frame.settings_dialog import SettingsDialog
from tabprotect.gui.frame.window import Window
from tabprotect.gui.look.buttons import Dialog, connected, named
from tabprotect.gui.look.layouts import in_column
from tabprotect.gui.look.lists.finder import Finder
from tabprotect.gui.look.theme import GRID
from tabprotect.languages.messages import message
from tabprotect.languages.translation import translate

MOST_CELLS, MOST_SHOWN = 500, 60
"""Small counts that are looked through, and rows that are shown, at most."""


@dataclass(frozen=True)
class Found:
    """What can be chosen: its words, what stands beside them, what it does, and what else tells of it."""

    words: str
    beside: str
    do: Callable[[], object]
    within: str = ""


class Palette(Dialog):
    """A field and what fits what is typed into it; Return does the first, arrows choose another."""

    def __init__(self, window: Window, menus: Iterable[QMenu]) -> None:
        super().__init__(window, message("Find a command"))
        self._window = window
        self._settings = SettingsDialog(window)
        self.rejected.connect(self._leave)
        self._every = [*_actions(menus), *_places(window), *self._set(), *self._told()]
        self._shown: list[Found] = []
        self.field = Finder(message("Find a command"))
        self.list = named(QTreeWidget(), message("Commands"))
        self.list.setHeaderHidden(True)
        self.list.setRootIsDecorated(False)
        self.list.setColumnCount(2)
        self.list.header().setStretchLastSection(False)
        self.list.header().setSectionResizeMode(0, QHeaderView.ResizeMode.Stretch)
        self.list.header().setSectionResizeMode(1, QHeaderView.ResizeMode.ResizeToContents)
        connected(self.field, textChanged=lambda _: self._fill(), returnPressed=self.take)
        self.field.installEventFilter(self)
        self.list.itemActivated.connect(lambda *_: self.take())
        in_column(self.field, (self.list, 1), on=self, margins=GRID, spacing=GRID)
        room = window.size()
        self.resize(min(70 * GRID, room.width() - 4 * GRID), min(52 * GRID, room.height() - 4 * GRID))
        self._fill()

    def _fill(self) -> None:
        wanted = self.field.text().casefold().split()
        fits = [one for one in self._every if all(word in _plain(one) + one.within for word in wanted)]
        # What begins as it is typed comes first, and last what only speaks of it.
        first = wanted[0] if wanted else ""
        fits.sort(
            key=lambda one: (
                not translate(one.words).casefold().startswith(first),
                not all(word in _plain(one) for word in wanted),
            )
        )
        self._shown = fits[:MOST_SHOWN]
        if wanted:
            asked = self.field.text().strip()
            self._shown.append(
                Found(
                    message("Look up \u201c{words}\u201d in the help", asked), "", partial(self._help, asked)
                )
            )
        self.list.clear()
        for one in self._shown:
            row = QTreeWidgetItem(self.list, [translate(one.words), translate(one.beside)])
            row.setTextAlignment(1, Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
        self._stand(0)

    def _stand(self, row: int) -> None:
        if (item := self.list.topLevelItem(row)) is not None:
            self.list.setCurrentItem(item)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if event.type() == QEvent.Type.KeyPress and isinstance(event, QKeyEvent):
            step = {Qt.Key.Key_Down: 1, Qt.Key.Key_Up: -1}.get(Qt.Key(event.key()))
            item = self.list.currentItem()
            if step is not None and item is not None:
                here = self.list.indexOfTopLevelItem(item) + step
                self._stand(min(max(here, 0), len(self._shown) - 1))
                return True
        return super().eventFilter(watched, event)

    def take(self) -> None:
        """Do what is chosen, once the palette is gone."""
        if (item := self.list.currentItem()) is None:
            return
        chosen = self._shown[self.list.indexOfTopLevelItem(item)]
        self.accept()
        chosen.do()
        self._leave()

    def _set(self) -> Iterator[Found]:
        """What can be set; its dialog is opened at it."""
        for words, field in self._settings.every():
            yield Found(words, message("Settings"), partial(self._settings.open_at, field))

    def _leave(self) -> None:
        if not self._settings.isVisible():
            self._settings.deleteLater()

    def _told(self) -> Iterator[Found]:
        """The parts of the help, each found by all of its words."""
        for title, text in self._window.pages["help"].texts():
            yield Found(title, message("Help"), partial(self._help, title), text.casefold())

    def _help(self, asked: str) -> None:
        page = self._window.pages["help"]
        page.tell("words", self._window.page)
        self._window.go("help")
        page.take(asked)


def _plain(one: Found) -> str:
    return f"{translate(one.words)} {translate(one.beside)}".casefold()


def _actions(menus: Iterable[QMenu]) -> Iterator[Found]:
    """What the menus offer now, with its keys."""
    for menu in menus:
        for action in menu.actions():
            words = action.text().replace("&", "")
            if not words or not action.isEnabled() or not action.isVisible() or action.menu() is not None:
                continue
            keys = action.shortcut().toString(QKeySequence.SequenceFormat.NativeText)
            yield Found(words, keys or menu.title().replace("&", ""), action.trigger)


def _places(window: Window) -> Iterator[Found]:
    """Small counts and variables of the open table, and recent files, as far as this view may show them."""
    document = window.document
    project, mask = document.project, document.at_risk
    if document.in_house and project is not None and mask is not None:
        for cell in np.argwhere(mask)[:MOST_CELLS].tolist():
            at = tuple(cell)
            yield Found(project.domain.cell_text(at), message("small count"), partial(_go_to, window, at))
    if document.in_house and project is not None:
        for name in project.domain.names:
            yield Found(spoken([name]), message("Categories"), partial(window.go, "variables"))
    for one in () if document.hiding else document.recent():
        yield Found(Path(one.path).name, message("recent"), partial(document.open_asked.emit, one.path))


def _go_to(window: Window, cell: tuple[int, ...]) -> None:
    window.go("table")
    window.document.select(cell)
