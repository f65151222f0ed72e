"""Whether the window's thread stays free: how long it works without a turn of its event loop."""

from __future__ import annotations

import sys
import threading
import time
import traceback
from dataclasses import dataclass
from types import FrameType

from PySide6.QtCore import QAbstractEventDispatcher

STEP = 0.02
"""Seconds between two looks at it."""

PART = "/tabprotect/gui/"
"""Files whose work counts; what a test computes for itself does not."""


@dataclass(frozen=True)
class Stretch:
    """Processor seconds of the window's thread in one go, and where it was towards the end."""

    seconds: float
    where: str = ""


class Watchdog(threading.Thread):
    """Looks on beside the window's thread; what it counts is processor time, not the clock's.

    A machine that has other things to do is not the window's fault.
    """

    def __init__(self) -> None:
        super().__init__(name="watchdog", daemon=True)
        self.longest = Stretch(0.0)
        self.ended = threading.Event()
        self._main = threading.main_thread().ident or 0
        self._turns = 0
        dispatcher = QAbstractEventDispatcher.instance()
        assert dispatcher is not None
        dispatcher.awake.connect(self._turn)

    def _turn(self) -> None:
        self._turns += 1

    def run(self) -> None:
        clock = time.pthread_getcpuclockid(self._main)
        turns, before, spent = -1, 0.0, 0.0
        while not self.ended.wait(STEP):
            now = time.clock_gettime(clock)
            # No frame is kept: what it holds must not end in this thread.
            busy = within(sys._current_frames().get(self._main))
            spent = spent + now - before if busy and turns == self._turns else 0.0
            turns, before = self._turns, now
            if spent > self.longest.seconds:
                frame = sys._current_frames()[self._main]
                self.longest = Stretch(spent, "".join(traceback.format_stack(frame)[-12:]))
                del frame


def within(frame: FrameType | None) -> bool:
    """Whether any of the calls that are under way is the window's."""
    while frame is not None:
        if PART in frame.f_code.co_filename:
            return True
        frame = frame.f_back
    return False
