"""Whether the window's thread stays free: how long it works without a turn of its event loop."""

from __future__ import annotations

import faulthandler
import re
import tempfile
import threading
import time
from dataclasses import dataclass
from typing import IO

from PySide6.QtCore import QAbstractEventDispatcher

STEP = 0.05
"""Seconds between two looks at it."""

WAITS = 0.001
"""Processor seconds from one look to the next of a thread that does nothing."""

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
        with tempfile.TemporaryFile() as told:
            while not self.ended.wait(STEP):
                now = time.clock_gettime(clock)
                if turns != self._turns:
                    turns, before, spent = self._turns, now, 0.0
                # A thread that waits is nowhere, and to ask where takes longer than the rest.
                elif now - before > WAITS:
                    stack = self._stack(told)
                    spent = spent + now - before if PART in stack else 0.0
                    before = now
                    if spent > self.longest.seconds:
                        self.longest = Stretch(spent, stack)

    def _stack(self, told: IO[bytes]) -> str:
        """The calls of the window's thread that are under way, the innermost first.

        Written by the interpreter itself: a frame that is held here, even for a moment, keeps
        widgets alive that then end in this thread, and Qt with them.
        """
        told.seek(0)
        told.truncate()
        faulthandler.dump_traceback(told, all_threads=True)
        told.seek(0)
        text = told.read().decode("utf-8", "replace")
        found = re.search(rf"Thread 0x0*{self._main:x} .*?\n(.*?)(?:\n\n|\Z)", text, re.DOTALL)
        return found[1] if found else ""
