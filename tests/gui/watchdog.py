"""Whether the window's thread stays free: how long it works without a turn of its event loop."""

from __future__ import annotations

import faulthandler
import gc
import re
import tempfile
import threading
import time
from dataclasses import dataclass
from typing import IO, Any

from PySide6.QtCore import QAbstractEventDispatcher

STEP = 0.02
"""Seconds between two looks at it."""

WAITS = 0.001
"""Processor seconds from one look to the next of a thread that does nothing."""

PART = "/tabprotect/gui/"
"""Files whose work counts; what a test computes for itself does not."""

NOT_COUNTED = {
    "<frozen importlib": "the program loads pages and plots in idle moments, in small pieces",
    "/gui/frame/stages.py": "pages are built in such pieces too; a test's window asks for them sooner",
    " in make_canvas": "so are the plots of a page",
    '/gui/frame/main_window.py", line [0-9]+ in __init__': "no window is there yet to be held",
    "/gui/frame/app.py": "tests of it make it go on without a pause",
}
"""Calls whose work is not counted: pattern in the line of a call, and why."""

REFERENCE = 0.045
"""Processor seconds of :func:`_piece_of_work` on the machine that the limits are meant for."""


@dataclass(frozen=True, order=True)
class Stretch:
    """Processor seconds of the window's thread in one go, and where it was towards the end."""

    seconds: float
    where: str = ""


def pace() -> float:
    """How many times longer this machine takes than the one that limits are meant for; at least 1.

    The slowest of five is asked: where others take turns on a core, they empty its caches, and the
    processor time of the same work doubles. So does that of the longest of a test's many turns.
    """
    taken = []
    for _ in range(5):
        begin = time.thread_time()
        _piece_of_work()
        taken.append(time.thread_time() - begin)
    return max(max(taken) / REFERENCE, 1.0)


def _piece_of_work() -> None:
    """Objects here and there in more memory than a core keeps at hand, as widgets are."""
    found = {str(number * 7919 % 100_003): number for number in range(100_000)}
    for name in list(found)[::3]:
        found[name] += 1


class Watchdog(threading.Thread):
    """Looks on beside the window's thread; what it counts is processor time, not the clock's.

    A machine that has other things to do is not the window's fault. What a test calls from two
    of its lines are two goes: a user's hand is between them. One line may do several things, so
    that what it calls is told apart from what the loop calls. Looking for garbage is not counted:
    here all that hundreds of tests left is looked through, the program does it in small portions.
    """

    def __init__(self) -> None:
        super().__init__(name="watchdog", daemon=True)
        self.forget()
        self.ended = threading.Event()
        self._main = threading.main_thread().ident or 0
        self._turns = 0
        self._collected = 0.0
        # Its processor time when the search that is under way began.
        self._collecting: float | None = None
        self._skipped = re.compile("|".join(NOT_COUNTED))
        dispatcher = QAbstractEventDispatcher.instance()
        assert dispatcher is not None
        dispatcher.awake.connect(self._turn)
        dispatcher.aboutToBlock.connect(self._turn)
        gc.callbacks.append(self._garbage)

    def forget(self) -> None:
        """Begin anew with the longest turn, and with the longest go of a line of a test."""
        self.longest, self.longest_call = Stretch(0.0), Stretch(0.0)

    def _turn(self) -> None:
        self._turns += 1

    def _garbage(self, phase: str, info: dict[str, Any]) -> None:
        if threading.get_ident() == self._main:
            if phase == "start":
                self._collecting = time.thread_time()
            elif self._collecting is not None:
                self._collected += time.thread_time() - self._collecting
                self._collecting = None

    def end(self) -> None:
        """Look on no longer."""
        gc.callbacks.remove(self._garbage)
        self.ended.set()
        self.join()

    def run(self) -> None:
        clock = time.pthread_getcpuclockid(self._main)
        turns, go, before, spent = -1, "", 0.0, 0.0
        with tempfile.TemporaryFile() as told:
            while not self.ended.wait(STEP):
                began = self._collecting
                now = (time.clock_gettime(clock) if began is None else began) - self._collected
                worked, before = now - before, now
                if turns != self._turns:
                    turns, go, spent = self._turns, "", 0.0
                # A thread that waits is nowhere, and to ask where takes longer than the rest.
                elif worked > WAITS:
                    stack = self._stack(told)
                    if PART not in stack or go not in ("", _caller(stack)):
                        spent = 0.0
                    elif not self._skipped.search(stack):
                        spent += worked
                    go = _caller(stack)
                    if "/tests/" in go:
                        self.longest_call = max(self.longest_call, Stretch(spent, stack))
                    else:
                        self.longest = max(self.longest, Stretch(spent, stack))

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


def _caller(stack: str) -> str:
    """The line that called the window's code: a test's, or that of a loop that serves events."""
    lines = stack.splitlines()
    last = max((number for number, line in enumerate(lines) if PART in line), default=-1)
    return lines[last + 1] if last + 1 < len(lines) else ""
