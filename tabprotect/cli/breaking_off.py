"""Ctrl-C that ends long work early and keeps what is done."""

from __future__ import annotations

import signal
import threading
from types import FrameType, TracebackType

from tabprotect.engine.errors import Interrupted
from tabprotect.engine.progress import Progress


class BreakingOff:
    """Progress that the first Ctrl-C ends; the second ends the program."""

    def __init__(self, progress: Progress) -> None:
        self._progress = progress
        self._before: object = None
        self._asked = False

    def __enter__(self) -> BreakingOff:
        if threading.current_thread() is threading.main_thread():
            self._before = signal.signal(signal.SIGINT, self._ask)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._put_back()

    def _ask(self, number: int, frame: FrameType | None) -> None:
        self._asked = True
        self._put_back()

    def _put_back(self) -> None:
        if self._before is not None:
            signal.signal(signal.SIGINT, self._before)  # type: ignore[arg-type]
            self._before = None

    def report(self, stage: str, fraction: float, partial: object = None) -> None:
        """Pass it on.

        Raises
        ------
        Interrupted
            After a Ctrl-C.
        """
        if self._asked:
            raise Interrupted()
        self._progress.report(stage, fraction, partial)
