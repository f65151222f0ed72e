"""Questions answered in the background: once for each key, and only the latest answer counts."""

from __future__ import annotations

from collections.abc import Callable
from typing import Generic, TypeVar

from PySide6.QtCore import QObject, QTimer, Signal

from tabprotect.engine.errors import TabprotectError
from tabprotect.engine.progress import Progress
from tabprotect.gui.base.background.jobs import Job, Jobs
from tabprotect.gui.look.buttons import connected

Answer = TypeVar("Answer")

Told = Callable[[TabprotectError], object]

PLAIN = (str, int, float, bool, type(None))
"""Types that keys compare by value; all others are compared by identity: tables compare slowly,
and an unchanged frozen value is still the same object."""


class BackgroundTask(QObject, Generic[Answer]):
    """One kind of question, asked again whenever its key (what it depends on) has changed.

    Parameters
    ----------
    answered
        Takes the answer, on the window's thread; never the answer to an earlier key.
    failed
        Takes an error that a person can do something about; any other is raised.
    came
        Takes the partial answer of a running question.
    stopped
        Called when somebody cancels the job. The question is not asked again by itself.
    """

    outlives = False
    """True if it is about a file beside the document: its answer holds whatever is open by then."""

    went = Signal(object)
    """Carries the stage of the work, in words, at every report."""

    def __init__(
        self,
        parent: QObject,
        jobs: Jobs,
        answered: Callable[[Answer], object],
        failed: Told,
        *,
        came: Callable[[Answer], object] | None = None,
        stopped: Callable[[], object] | None = None,
    ) -> None:
        super().__init__(parent)
        self.key: tuple[object, ...] | None = None
        """All that the latest question depends on; ``None`` if there is none."""
        self.answer: Answer | None = None
        """The answer to it, or the part of it that is there so far."""
        self.error: TabprotectError | None = None
        """The error that it ended with."""
        self._jobs = jobs
        self._answered, self._failed = answered, failed
        self._came, self._stopped = came, stopped
        self._begin: Callable[[], object] = lambda: None
        self._job: Job | None = None
        self._wait = connected(QTimer(self, singleShot=True), timeout=lambda: self._begin())

    @property
    def running(self) -> bool:
        """True if an answer is still to come."""
        return self._job is not None or self._wait.isActive()

    def known(self, key: tuple[object, ...] | None) -> Answer | None:
        """The answer, if that to ``key`` is the latest question."""
        return self.answer if key is not None and same(key, self.key) else None

    def know(self, key: tuple[object, ...], answer: Answer) -> None:
        """Take the answer from elsewhere."""
        self.drop()
        self.key, self.answer = key, answer

    def ask(
        self,
        label: str,
        work: Callable[[Progress], Answer],
        key: tuple[object, ...] | None = None,
        *,
        wait: int = 0,
    ) -> bool:
        """Ask instead of the previous question; without a key, always.

        ``wait`` are milliseconds before it is really asked, where typing asks often.

        Returns
        -------
        bool
            True if it differs from the latest question. The same question is not asked again,
            even after it failed or was cancelled, until :meth:`drop` is called.
        """
        if key is not None and same(key, self.key):
            return False
        self.drop()
        self.key = (object(),) if key is None else key
        self._begin = lambda: self._start(label, work)
        if wait:
            self._wait.start(wait)
        else:
            self._begin()
        return True

    def cancel(self) -> None:
        """Stop the work, as the button in the strip does."""
        if self._job is not None:
            self._job.cancel()

    def drop(self) -> bool:
        """Forget the question; return True if an answer was still to come."""
        was = self.running
        self._wait.stop()
        job, self._job, self.key, self.answer, self.error = self._job, None, None, None, None
        if job is not None:
            job.cancel()
        return was

    def leave(self) -> bool:
        """Forget the question if it has no answer yet; an answered one stays answered."""
        return self.running and self.drop()

    def _start(self, label: str, work: Callable[[Progress], Answer]) -> None:
        job = self._job = connected(
            self._jobs.question(label, work),
            finished=lambda answer: self._finish(job, answer),
            failed=lambda error: self._fail(job, error),
            cancelled=lambda: self._end(job) and self._stopped and self._stopped(),
        )
        job.progressed.connect(lambda stage, _fraction, partial: self._report(job, stage, partial))

    def _report(self, job: Job, stage: str, partial: Answer | None) -> None:
        if job is not self._job or (job.late and not self.outlives):
            return
        self.went.emit(stage)
        if partial is not None:
            self.answer = partial
            if self._came is not None:
                self._came(partial)

    def _finish(self, job: Job, answer: Answer) -> None:
        if self._end(job):
            self.answer = answer
            self._answered(answer)

    def _fail(self, job: Job, error: Exception) -> None:
        latest = self._end(job)

        def failed(error: TabprotectError) -> None:
            if latest:
                self.error = error
                self._failed(error)

        tell_failure(failed)(error)

    def _end(self, job: Job) -> bool:
        """Return True if the latest question is the one that ended, about the document that is open.

        The one place where answers arrive: no page looks by itself whose answer it gets.
        """
        latest = job is self._job
        if latest:
            self._job = None
        if latest and job.late and not self.outlives:
            # To be asked again, should the same be open again.
            self.key = None
            return False
        return latest


def tell_failure(failed: Told) -> Callable[[Exception], None]:
    """A listener for failed jobs: errors a person can mend are shown, programming errors are raised."""

    def listen(error: Exception) -> None:
        if not isinstance(error, TabprotectError):
            raise error
        failed(error)

    return listen


def same(one: object, other: object) -> bool:
    """Return True if two keys have the same answer: plain values are equal, others the same object."""
    if isinstance(one, tuple) and isinstance(other, tuple):
        return len(one) == len(other) and all(map(same, one, other))
    return one is other or (isinstance(one, PLAIN) and type(one) is type(other) and bool(one == other))
