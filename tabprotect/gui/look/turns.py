"""Work of the window's thread that can wait: a little in each turn of its loop, in order."""

from __future__ import annotations

import time
from collections.abc import Callable

from PySide6.QtCore import QObject, QTimer
from shiboken6 import isValid

SHARE = 0.02
"""Processor seconds after which what is left waits for the next turn: less than anybody sees."""


class Turns(QObject):
    """What waits for later turns. Whoever uses the window is served between two."""

    def __init__(self) -> None:
        super().__init__()
        self._waiting: list[tuple[QObject, Callable[[], object]]] = []

    @property
    def waiting(self) -> bool:
        """Whether anything is still to be done."""
        return bool(self._waiting)

    def later(self, owner: QObject, work: Callable[[], object]) -> None:
        """Do work in one of the next turns, if its owner is still there then.

        The same work (a method of the same object) is not done twice.
        """
        if any(work == other for _, other in self._waiting):
            return
        self._waiting.append((owner, work))
        if len(self._waiting) == 1:
            QTimer.singleShot(0, self, self._turn)

    def _turn(self) -> None:
        end = time.thread_time() + SHARE
        try:
            while self._waiting:
                owner, work = self._waiting.pop(0)
                if isValid(owner):
                    work()
                if time.thread_time() > end:
                    break
        finally:
            if self._waiting:
                QTimer.singleShot(0, self, self._turn)


TURNS = Turns()
"""The window's thread has one loop."""
