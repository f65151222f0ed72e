"""Fingers on a keyboard in the real window: they go where the focus goes, and have no mouse.

What cannot be reached by Tab, arrows, shortcuts and the menus' letters cannot be pressed.
"""

from __future__ import annotations

import time
from pathlib import Path

from hand import WAIT, Hand, MissingError, _match, _plain, _said, turn
from PySide6.QtCore import QPoint, Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QAbstractItemView, QApplication, QLineEdit, QMenu, QTabBar, QWidget

from tabprotect.gui.frame.main_window import MainWindow
from tabprotect.gui.pages.stages import PAGES

KEY, CONTROL = Qt.Key, Qt.KeyboardModifier.ControlModifier
NONE = Qt.KeyboardModifier.NoModifier
TABS = 400
"""Presses of Tab after which a thing cannot be reached."""

ARROWS = 200


class Fingers(Hand):
    """Presses keys, and counts them as clicks; each thing pressed has a picture with its focus."""

    def __init__(self, window: MainWindow, pictures: Path | None) -> None:
        super().__init__(window, pictures)
        self.reached: list[str] = []
        self.wake()

    def wake(self) -> None:
        """Give the keyboard to what is in front, as a window manager does where there is one."""
        if QApplication.focusWidget() is None:
            self.front.activateWindow()
            turn(0.1)

    def key(self, key: Qt.Key, modifier: Qt.KeyboardModifier = NONE, *, on: QWidget | None = None) -> None:
        """Press a key where the focus is."""
        self.wake()
        where = on or QApplication.focusWidget() or self.front
        self.clicks += 1
        QTest.keyClick(where, key, modifier)
        turn(0.005)

    def reach(self, widget: QWidget) -> None:
        """Press Tab until a widget has the focus."""
        self.settle()
        seen = 0
        self.wake()
        while not _has_focus(widget):
            seen += 1
            if seen > TABS or not widget.isEnabled():
                raise MissingError(f"{_said(widget)} is not reached by Tab")
            # Out of a table of cells Tab does not lead.
            leaves = isinstance(QApplication.focusWidget(), QAbstractItemView)
            self.key(KEY.Key_Tab, CONTROL if leaves and seen > 1 and seen % 2 else NONE)
        name = f"focus-{len(self.reached):03d}"
        self.reached.append(_said(widget))
        self.picture(name)

    def click(self, widget: QWidget, at: QPoint | None = None, *, settle: bool = True) -> None:
        """Press a button; its own shortcut where a page has one for it."""
        end = time.monotonic() + WAIT
        while not (widget.isVisible() and widget.isEnabled()) and time.monotonic() < end:
            turn(0.05)
        page = self.window.page
        if self.front is self.window and widget is page.main_button:
            self.settle()
            if not widget.isEnabled():
                raise MissingError(f"{_said(widget)} is dead")
            inside = QApplication.focusWidget()
            if inside is None or not page.isAncestorOf(inside):
                self.reach(widget)
                self.key(KEY.Key_Space)
            else:
                self.key(KEY.Key_Return, CONTROL)
        else:
            self.reach(widget)
            self.key(KEY.Key_Space)
        if settle:
            self.settle()

    def rail(self, page: str) -> None:
        """Go to a page by its number, as the menu View has it."""
        number = 1 + [one.name for one in PAGES].index(page)
        self.settle()
        self.key(Qt.Key(KEY.Key_0 + number), CONTROL)
        self.settle()
        if self.window.page.name != page:
            raise MissingError(f"Ctrl+{number} does not lead to {page}")

    def tab(self, text: str) -> None:
        """Go to a tab by the arrows, or press it where tabs are buttons."""
        for bar in self.front.findChildren(QTabBar):
            for number in range(bar.count()):
                if bar.isVisible() and _plain(bar.tabText(number)).startswith(text):
                    self.reach(bar)
                    for _ in range(abs(number - bar.currentIndex())):
                        right = number > bar.currentIndex()
                        self.key(KEY.Key_Right if right else KEY.Key_Left)
                    self.settle()
                    return
        raise MissingError(f"no tab {text!r}")

    def menu(self, title: str, entry: str) -> None:
        """Open a menu by its letter, and go to an entry by the arrows."""
        bar = self.window.menuBar()
        action = next(a for a in bar.actions() if _plain(a.text()) == title)
        letter = action.text()[action.text().index("&") + 1]
        self.clicks += 1
        QTest.keyClick(self.window, letter.lower(), Qt.KeyboardModifier.AltModifier)
        turn(0.2)
        menu = action.menu()
        assert isinstance(menu, QMenu)
        for _ in range(ARROWS):
            active = menu.activeAction()
            if active is not None and _plain(active.text()).startswith(entry):
                break
            self.key(KEY.Key_Down, on=menu)
        else:
            raise MissingError(f"no entry {entry!r}")
        self.key(KEY.Key_Return, on=menu)
        self.settle()

    def file(self, path: Path) -> None:
        """Write a path into the dialog for files that is open."""
        # The dialog begins where the name is written.
        self.write(self.field_of_files(), str(path))
        self.key(KEY.Key_Return)
        self.settle()

    def write(self, field: QLineEdit, text: str) -> None:
        """Go to a field and type into it."""
        self.reach(field)
        self.key(KEY.Key_A, CONTROL)
        QTest.keyClicks(field, text)
        self.words += 1
        self.settle()

    def choose(self, name: str, text: str) -> None:
        """Choose an item of a list that folds out, with the arrows."""
        box = self.box(name)
        wanted = box.findText(text, Qt.MatchFlag.MatchStartsWith)
        if wanted < 0:
            raise MissingError(f"no item {text!r}")
        self.reach(box)
        while box.currentIndex() != wanted:
            down = box.currentIndex() < wanted
            self.key(KEY.Key_Down if down else KEY.Key_Up)
        self.settle()

    def item(self, text: str, view: QAbstractItemView | None = None, column: int = 0) -> None:
        """Go to an item of a list, and press it."""
        list_ = self._to_item(text, view, column)
        # A list that ticks does so with the space bar.
        if list_.currentIndex().flags() & Qt.ItemFlag.ItemIsUserCheckable:
            self.key(KEY.Key_Space)
        self.settle()

    def tick(self, text: str, view: QAbstractItemView, *, settle: bool = True) -> None:
        """Go to an item, and tick it."""
        self._to_item(text, view, 0)
        self.key(KEY.Key_Space)
        if settle:
            self.settle()

    def _to_item(self, text: str, view: QAbstractItemView | None, column: int) -> QAbstractItemView:
        views = [view] if view is not None else self.front.findChildren(QAbstractItemView)
        for list_ in views:
            if not list_.isVisible() or list_.model() is None:
                continue
            found = _match(list_, text, column)
            if found is None:
                continue
            self.reach(list_)
            self.key(KEY.Key_Home)
            for _ in range(ARROWS):
                if list_.currentIndex().row() == found.row():
                    return list_
                self.key(KEY.Key_Down)
        raise MissingError(f"no item {text!r}")


def _has_focus(widget: QWidget) -> bool:
    """Whether a widget, or what it is made of, has the focus."""
    focus = QApplication.focusWidget()
    return focus is not None and (focus is widget or widget.isAncestorOf(focus))
