"""What moves others out of their place waits until no mouse button is held down."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QObject, Qt, QTimer
from PySide6.QtGui import QGuiApplication

from tabprotect.gui.look.buttons import connected

LOOK = 20
"""Milliseconds between two looks at the mouse."""


class AfterPress(QObject):
    """Does one thing at once, or after the mouse button that is held down is let go.

    Whatever somebody is about to click stays where it is between press and release.
    """

    def __init__(self, parent: QObject, do: Callable[[], object]) -> None:
        super().__init__(parent)
        self._do = do
        self._wait = connected(QTimer(self, interval=LOOK), timeout=self.go)

    def go(self) -> None:
        """Do it, or wait for the release."""
        if QGuiApplication.mouseButtons() != Qt.MouseButton.NoButton:
            self._wait.start()
            return
        self._wait.stop()
        self._do()
