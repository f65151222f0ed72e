"""A hand with a mouse in the real window: it clicks what can be seen, types words, and counts.

Nothing is reached that a person could not reach: a widget that is not in front where it is clicked is
an error, what is out of sight is scrolled to first.
"""

from __future__ import annotations

import time
from pathlib import Path

from PySide6.QtCore import QEventLoop, QModelIndex, QPoint, Qt, QTimer
from PySide6.QtTest import QTest
from PySide6.QtWidgets import (
    QAbstractButton,
    QAbstractItemView,
    QApplication,
    QComboBox,
    QFileDialog,
    QLineEdit,
    QMenu,
    QPushButton,
    QScrollArea,
    QTabBar,
    QWidget,
)

from tabprotect.gui.frame.main_window import MainWindow

LEFT = Qt.MouseButton.LeftButton
WAIT = 60.0
"""Seconds until what a person waits for is not coming."""


class MissingError(Exception):
    """What the task needs next cannot be seen: a blocker."""


def turn(seconds: float) -> None:
    """Let the window work."""
    loop = QEventLoop()
    QTimer.singleShot(round(1000 * seconds), loop.quit)
    loop.exec()


class Hand:
    """Clicks, scrolls, and the words that were typed."""

    def __init__(self, window: MainWindow, pictures: Path | None) -> None:
        self.window, self.pictures = window, pictures
        self.clicks = self.scrolls = self.words = 0

    def settle(self, seconds: float = WAIT) -> None:
        """Wait until no job runs."""
        end, quiet = time.monotonic() + seconds, 0
        while quiet < 4 and time.monotonic() < end:
            turn(0.05)
            quiet = 0 if self.window.document.jobs.running else quiet + 1

    def picture(self, name: str) -> None:
        """What the screen shows."""
        if self.pictures is not None:
            front = self.front
            front.grab().save(str(self.pictures / f"{name}.png"))

    @property
    def front(self) -> QWidget:
        """The dialog in front, or the window."""
        return QApplication.activeModalWidget() or self.window

    @property
    def panel(self) -> QWidget:
        """What stands beside the table."""
        found = self.window.decision
        if found is None:
            raise MissingError("nothing stands beside the table")
        return found

    def next(self) -> None:
        """Press what comes next, at the foot of the panel."""
        found = self.window.decision or self.window.page
        self.click(found.main_button)

    def click(self, widget: QWidget, at: QPoint | None = None, *, settle: bool = True) -> None:
        """Click a widget where it is seen."""
        end = time.monotonic() + WAIT
        while not (widget.isVisible() and widget.isEnabled()):
            if time.monotonic() > end:
                raise MissingError(f"{_said(widget)} is dead")
            turn(0.05)
        self._bring(widget)
        spot = widget.rect().center() if at is None else at
        there = QApplication.widgetAt(widget.mapToGlobal(spot))
        if there is not widget and (there is None or not widget.isAncestorOf(there)):
            raise MissingError(f"{_said(widget)} is covered by {there}")
        self.clicks += 1
        QTest.mouseClick(widget, LEFT, Qt.KeyboardModifier.NoModifier, spot)
        if settle:
            self.settle()

    def _bring(self, widget: QWidget) -> None:
        """Scroll until a widget is in sight."""
        around = widget.parentWidget()
        while around is not None:
            if isinstance(around, QScrollArea):
                seen = widget.visibleRegion().boundingRect().size()
                if seen.height() < min(widget.height(), 16):
                    around.ensureWidgetVisible(widget)
                    self.scrolls += 1
                    turn(0.05)
            around = around.parentWidget()

    def find(self, text: str, inside: QWidget | None = None) -> QAbstractButton:
        """A button that can be seen, by its words or its name."""
        begun = time.monotonic()
        while True:
            found = [
                b
                for b in (inside or self.front).findChildren(QAbstractButton)
                if b.isVisible() and text in (_plain(b.text()), b.accessibleName())
            ] or [
                b
                for b in (inside or self.front).findChildren(QAbstractButton)
                if b.isVisible()
                and (_plain(b.text()).startswith(text) or b.accessibleName().startswith(text))
            ]
            if found:
                return found[0]
            past = time.monotonic() - begun
            if past > WAIT or (past > 4 and not self.window.document.jobs.running):
                raise MissingError(f"no button {text!r}")
            turn(0.1)

    def button(self, text: str, inside: QWidget | None = None) -> None:
        """Click a button by its words."""
        self.click(self.find(text, inside))

    def menu(self, title: str, entry: str) -> None:
        """Choose an entry of the menu bar."""
        bar = self.window.menuBar()
        action = next(a for a in bar.actions() if _plain(a.text()) == title)
        self.click(bar, bar.actionGeometry(action).center(), settle=False)
        turn(0.1)
        menu = action.menu()
        assert isinstance(menu, QMenu)
        chosen = next((a for a in menu.actions() if _plain(a.text()).startswith(entry)), None)
        if chosen is None or not chosen.isEnabled():
            raise MissingError(f"no entry {entry!r}")
        self.click(menu, menu.actionGeometry(chosen).center())

    def file(self, path: Path) -> None:
        """Write a path into the dialog for files that is open: the cursor is where the name goes."""
        field = self.field_of_files()
        field.selectAll()
        QTest.keyClicks(field, str(path))
        self.settle()
        buttons = [b for b in self.front.findChildren(QPushButton) if b.isVisible() and b.isEnabled()]
        self.click(next(b for b in buttons if _plain(b.text()) in ("Open", "Save", "Choose")))

    def field_of_files(self) -> QLineEdit:
        """Where the name is written in the dialog for files that is open."""
        dialog = self.front
        if not isinstance(dialog, QFileDialog):
            raise MissingError("no dialog for files")
        field = dialog.findChild(QLineEdit, "fileNameEdit")
        assert isinstance(field, QLineEdit)
        return field

    def box(self, name: str) -> QComboBox:
        """The list that folds out under a name."""
        for found in self.front.findChildren(QComboBox):
            if found.isVisible() and found.accessibleName().startswith(name):
                return found
        raise MissingError(f"no choice {name!r}")

    def write(self, field: QLineEdit, text: str) -> None:
        """Click a field and type into it."""
        self.click(field, settle=False)
        field.selectAll()
        QTest.keyClicks(field, text)
        self.words += 1
        self.settle()

    def choose(self, name: str, text: str) -> None:
        """Choose an item of a list that folds out."""
        box = self.box(name)
        self.click(box, QPoint(box.width() - 8, box.height() // 2), settle=False)
        # A list that folds out takes no click before the time of a double click is over.
        turn(0.6)
        self.item(text, box.view())

    def item(self, text: str, view: QAbstractItemView | None = None, column: int = 0) -> None:
        """Click an item of a list, a tree or a table."""
        views = [view] if view is not None else self.front.findChildren(QAbstractItemView)
        for list_ in views:
            if not list_.isVisible() or list_.model() is None:
                continue
            found = _match(list_, text, column)
            if found is not None:
                list_.scrollTo(found)
                self.click(list_.viewport(), list_.visualRect(found).center())
                return
        raise MissingError(f"no item {text!r}")

    def tick(self, text: str, view: QAbstractItemView, *, settle: bool = True) -> None:
        """Click the box before an item."""
        found = _match(view, text, 0)
        if found is None:
            raise MissingError(f"no item {text!r}")
        view.scrollTo(found)
        spot = view.visualRect(found).topLeft() + QPoint(10, 12)
        self.click(view.viewport(), spot, settle=settle)

    def tab(self, text: str) -> None:
        """Click a tab."""
        for bar in self.front.findChildren(QTabBar):
            for number in range(bar.count()):
                if bar.isVisible() and _plain(bar.tabText(number)).startswith(text):
                    self.click(bar, bar.tabRect(number).center())
                    return
        raise MissingError(f"no tab {text!r}")

    def rail(self, page: str) -> None:
        """Go to a page by the rail."""
        self.click(self.window.rail.buttons[page])


def _match(view: QAbstractItemView, text: str, column: int) -> QModelIndex | None:
    model = view.model()
    start = model.index(0, column)
    flags = Qt.MatchFlag.MatchRecursive | Qt.MatchFlag.MatchWrap
    for how in (Qt.MatchFlag.MatchExactly, Qt.MatchFlag.MatchStartsWith):
        found = model.match(start, Qt.ItemDataRole.DisplayRole, text, 1, how | flags)
        if found:
            return found[0]
    return None


def _plain(text: str) -> str:
    return text.replace("&", "")


def _said(widget: QWidget) -> str:
    words = widget.text() if isinstance(widget, QAbstractButton) else ""
    return f"{type(widget).__name__} {words or widget.accessibleName()!r}"
