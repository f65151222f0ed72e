"""The only module that knows threads: work runs in the background, results come back to the window.

Commands (which change the project) run one after another; questions (which only compute) run in a
small pool. Callers are only ever called on the window's thread.
"""

from __future__ import annotations

import gc
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Any

from PySide6.QtCore import QAbstractEventDispatcher, QObject, Qt, QTimer, QTimerEvent, Signal, Slot
from shiboken6 import isValid

from tabprotect.engine.errors import Interrupted
from tabprotect.engine.progress import Progress
from tabprotect.gui.look.buttons import connected

JOBS_PATIENCE = 300
"""Milliseconds that cancelled work has to stop before the window goes on without it."""


INTERVAL = 0.05
"""Seconds between two progress reports to the window: 20 a second."""

Work = Callable[[Progress], Any]
Report = tuple[str, float, object]


class Job(QObject):
    """One piece of work. Signals arrive on the window's thread.

    ``finished`` carries the result, ``failed`` the exception (never ``Interrupted``),
    ``cancelled`` nothing; exactly one of them is followed by ``ended``.
    """

    # A stage is a text that is translated where it is shown: Signal(str) would keep its English alone.
    progressed = Signal(object, float, object)
    finished = Signal(object)
    failed = Signal(object)
    cancelled = Signal()
    ended = Signal()

    def __init__(self, label: str, work: Work, jobs: Jobs, *, deniable: bool = True) -> None:
        super().__init__(jobs)
        self.label = label
        self.deniable = deniable
        self.stage = ""
        self.fraction = 0.0
        self.running = True
        self._work = work
        self._stop = threading.Event()
        self._began = time.monotonic()
        self._looked = 0.0
        self._giving_up = 0
        self._document = jobs.document
        # Work that was given up goes on: by then this is deleted, and emits no signal.
        self._post = partial(jobs.posted.emit, self)
        self._reports = _Reports(self._stop, self._post)

    def cancel(self) -> None:
        """Ask the work to stop at its next report.

        Work that does not report soon enough is abandoned: the window goes on, and any later
        result is dropped. Work that is not ``deniable`` (it writes files) is waited for, and its
        result is reported.
        """
        self._stop.set()
        if self.deniable:
            self._giving_up = self.startTimer(JOBS_PATIENCE)

    @property
    def late(self) -> bool:
        """True if the document that it was begun for is no longer open."""
        jobs = self.parent()
        return isinstance(jobs, Jobs) and jobs.document != self._document

    @property
    def cancelling(self) -> bool:
        """True if it was asked to stop."""
        return self._stop.is_set()

    @property
    def seconds_left(self) -> float | None:
        """The estimated time left, from the fraction done; ``None`` while there is none."""
        spent = time.monotonic() - self._began
        if self.fraction < 0.02 or spent < 0.5:
            return None
        return spent * (1.0 - self.fraction) / self.fraction

    def run(self) -> None:
        """Do the work, on a worker thread."""
        try:
            if self._stop.is_set():
                raise Interrupted()
            result = self._work(self._reports)
        except Interrupted:
            self._post("cancelled", None)
        except BaseException as error:
            self._post("failed", error)
        else:
            self._post("finished", result)

    def timerEvent(self, event: QTimerEvent) -> None:
        # By number: with twenty looks a second, a QTimer would be made and deleted for each.
        self.killTimer(event.timerId())
        if event.timerId() == self._giving_up:
            self.receive("cancelled", None)
        else:
            self._look()

    def _look(self) -> None:
        """Pass on the latest report only."""
        self._looked = time.monotonic()
        if (report := self._reports.take()) is not None and self.running and not self.cancelling:
            self.stage, self.fraction = report[0], min(max(report[1], 0.0), 1.0)
            self.progressed.emit(self.stage, self.fraction, report[2])

    def receive(self, kind: str, value: Any) -> None:
        """Take what the work says, on the window's thread: "progressed", or how it ended."""
        if not self.running:
            return
        if kind == "progressed":
            if (wait := self._looked + INTERVAL - time.monotonic()) <= 0:
                self._look()
            else:
                self.startTimer(round(1000 * wait) + 1)
            return
        self.running = False
        if kind == "cancelled" or (self.cancelling and self.deniable):
            self.cancelled.emit()
        elif kind == "failed":
            self.failed.emit(value)
        else:
            self.finished.emit(value)
        self.ended.emit()


class _Reports:
    """The engine's ``Progress``: at most one report waits for the window, always the latest.

    So no queue builds up, and the last report before a long silence is shown.
    """

    def __init__(self, stop: threading.Event, post: Callable[[str, object], None]) -> None:
        self._stop = stop
        self._post = post
        self._latest: Report | None = None
        self._lock = threading.Lock()

    def take(self) -> Report | None:
        """Take the waiting report; ``None`` if there is none."""
        with self._lock:
            latest, self._latest = self._latest, None
        return latest

    def report(self, stage: str, fraction: float, partial: object = None) -> None:
        if self._stop.is_set():
            raise Interrupted()
        with self._lock:
            waiting, self._latest = self._latest is not None, (stage, fraction, partial)
        if not waiting:
            self._post("progressed", None)


class Jobs(QObject):
    """All running work of the window.

    Attributes
    ----------
    posted
        A job, "progressed" or how it ended, and its value, from the job's thread. Of the signals
        that threads emit this is the only one, because this lives until the last of them has ended.
    """

    started = Signal(object)
    ended = Signal(object)
    posted = Signal(object, str, object)

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.running: list[Job] = []
        self.document = 0
        """Counts the documents that were open: what is asked about one is not told of another."""
        self._closed = False
        self.posted.connect(self._deliver, Qt.ConnectionType.QueuedConnection)
        self._commands = ThreadPoolExecutor(1, thread_name_prefix="command")
        self._questions = ThreadPoolExecutor(2, thread_name_prefix="question")

    def command(self, label: str, work: Work, *, deniable: bool = True) -> Job:
        """Run work after all earlier commands."""
        return self._start(self._commands, Job(label, work, self, deniable=deniable))

    def question(self, label: str, work: Work) -> Job:
        """Run work in parallel with others."""
        return self._start(self._questions, Job(label, work, self))

    def unseen(self, work: Work, then: Callable[[], object]) -> None:
        """Run work that nobody waits for, then call ``then``; it is not shown as running."""
        job = connected(Job("", work, self), ended=then)
        job.ended.connect(job.deleteLater)
        self._questions.submit(job.run)

    def cancel_all(self) -> None:
        """Ask all work to stop."""
        for job in self.running:
            job.cancel()

    def close(self) -> None:
        """Cancel all work and wait until every thread has ended."""
        self._closed = True
        self.cancel_all()
        self._commands.shutdown(wait=True, cancel_futures=True)
        self._questions.shutdown(wait=True, cancel_futures=True)

    def _start(self, pool: ThreadPoolExecutor, job: Job) -> Job:
        job.ended.connect(self._forget)
        self.running.append(job)
        if self._closed:
            # A page that waited before it asked: nobody sees the answer.
            job.receive("cancelled", None)
            return job
        pool.submit(job.run)
        self.started.emit(job)
        return job

    @Slot(object, str, object)
    def _deliver(self, job: Job, kind: str, value: Any) -> None:
        if isValid(job):
            job.receive(kind, value)

    @Slot()
    def _forget(self) -> None:
        # Looked up, because sender() is not always set in Python slots.
        for job in [job for job in self.running if not job.running]:
            self.running.remove(job)
            self.ended.emit(job)
            job.deleteLater()


THRESHOLDS = (10_000, 4, 100)
"""Objects made between two collections, and collections between two more thorough ones.

Each holds the window; of 10 000 objects it takes 5 ms.
"""

LOOK = 500
"""Milliseconds after which it is looked even where nothing wakes the window: work that does not
report makes garbage, too."""


class GarbageCollection(QObject):
    """Collects garbage between two events of the window, and nowhere else.

    Parameters
    ----------
    parent
        Lives as long as it; the application.
    """

    def __init__(self, parent: QObject) -> None:
        super().__init__(parent)
        gc.disable()
        if (dispatcher := QAbstractEventDispatcher.instance()) is not None:
            dispatcher.awake.connect(self.look)
        timer = connected(QTimer(self), timeout=self.look)
        timer.start(LOOK)

    def look(self) -> None:
        """Collect if enough was made, the oldest generation whose turn it is."""
        made = gc.get_count()
        if made[0] <= THRESHOLDS[0]:
            return
        for generation in (2, 1, 0):
            if made[generation] > THRESHOLDS[generation] or generation == 0:
                gc.collect(generation)
                return
