"""Every method, tried on the open table beside the window, once for all that show what came of it."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Signal

from tabprotect.engine.errors import TabprotectError
from tabprotect.engine.progress import Progress
from tabprotect.engine.project.project import Project
from tabprotect.engine.protection.registered import methods
from tabprotect.engine.protection.requirements import KEPT
from tabprotect.engine.tables.domain import Domain
from tabprotect.engine.tables.margins import MarginSet, margins_of_order
from tabprotect.gui.base.background.background_task import BackgroundTask
from tabprotect.gui.base.background.jobs import Jobs
from tabprotect.languages.messages import message

if TYPE_CHECKING:
    from tabprotect.engine.disclosure.choosing.method_trials import MethodTrial, Ranked
    from tabprotect.engine.project.magnitude_ways import TriedMagnitudes

USUAL = (KEPT, "additive", "complete")
"""What most tables that are published have to keep."""


def usual_sums(domain: Domain) -> MarginSet:
    """Sums that are asked for to begin with: those of one variable less, of every variable alone
    where there are many."""
    if domain.ndim < 2:
        return ()
    return margins_of_order(domain, domain.ndim - 1 if domain.ndim <= 3 else 1)


class Trying(QObject):
    """The trials, and what must stay true. ``changed`` when more is known, or other things are asked."""

    changed = Signal()
    failed = Signal(object)

    def __init__(self, parent: QObject, jobs: Jobs) -> None:
        super().__init__(parent)
        self.counts: tuple[MethodTrial, ...] = ()
        self.magnitudes: tuple[TriedMagnitudes, ...] = ()
        self.asked: tuple[str, ...] = USUAL
        self.sums: MarginSet = ()
        self._domain: Domain | None = None
        self._loading: BackgroundTask[int] = BackgroundTask(
            self, jobs, lambda _: self._loaded(), self.failed.emit
        )
        self._waiting: Project | None = None
        self._counts: BackgroundTask[tuple[MethodTrial, ...]] = BackgroundTask(
            self, jobs, self._tried, self._stopped, came=self._came, stopped=self.changed.emit
        )
        self._magnitudes: BackgroundTask[tuple[TriedMagnitudes, ...]] = BackgroundTask(
            self, jobs, self._tried_sums, self._stopped, came=self._tried_sums, stopped=self.changed.emit
        )

    @property
    def running(self) -> bool:
        """True if more is to come."""
        return self._loading.running or self._counts.running or self._magnitudes.running

    @property
    def number(self) -> int:
        """How many methods are known to have been tried so far."""
        return len({trial.method for trial in self.counts or self.magnitudes})

    def ask(self, project: Project) -> None:
        """Try the methods, unless that was done for this table with its rules."""
        if project.of_magnitudes:
            self._ask_sums(project)
            return
        if project.domain != self._domain:
            self._domain = project.domain
            self.asked, self.sums = USUAL, usual_sums(project.domain)
        if not methods().loaded:
            # All of them bring in a hundred modules: the window is not held up by that.
            self._waiting = project
            self._loading.ask(message("try every method"), lambda _: len(methods()), ("methods",))
            return
        problem, limits = project.problem, project.limits.limits_for(project.problem)

        def work(progress: Progress) -> tuple[MethodTrial, ...]:
            # Methods bring in solvers, which no first paint waits for.
            from tabprotect.engine.disclosure.choosing import method_trials

            return method_trials.tried_methods(problem, limits, progress)

        about = (project.table, project.record_keys, project.weights, project.at_risk)
        if self._counts.ask(message("try every method"), work, (about, repr(limits))):
            self.counts = ()

    def _ask_sums(self, project: Project) -> None:
        magnitudes = project.magnitudes
        if magnitudes is None or not magnitudes.rules:
            self._magnitudes.drop()
            self.magnitudes = ()
            return
        # The limits are read anew each time: they are compared by what they say.
        about = (magnitudes.table, magnitudes.weights, magnitudes.like, *magnitudes.rules)
        key = (*about, project.method, project.parameters, repr(project.limits))
        if self._magnitudes.ask(message("trying every method"), partial(_try_sums, project), key):
            self.magnitudes = ()

    def want(self, asked: tuple[str, ...], sums: MarginSet) -> None:
        """Say what must stay true."""
        if (asked, sums) != (self.asked, self.sums):
            self.asked, self.sums = asked, sums
            self.changed.emit()

    def ranked(self, project: Project) -> tuple[Ranked, ...]:
        """The methods for counts from best to worst, as far as they are tried."""
        from tabprotect.engine.disclosure.choosing.method_trials import ranked

        return ranked(self.counts, self.asked, self.sums, project.limits.limits(project.at_risk).share)

    def stop(self) -> None:
        """Try no more; what was found stays."""
        self._counts.cancel()
        self._magnitudes.cancel()

    def leave(self) -> None:
        """Nobody looks any more: what is not answered is asked again later."""
        self._waiting = None
        for task in (self._counts, self._magnitudes):
            task.leave()

    def again(self) -> None:
        """Forget what was found; it is tried when next asked for."""
        for task in (self._counts, self._magnitudes):
            task.drop()
        self.counts, self.magnitudes = (), ()

    def _loaded(self) -> None:
        if self._waiting is not None:
            self.ask(self._waiting)
        self.changed.emit()

    def _came(self, found: tuple[MethodTrial, ...]) -> None:
        if len(found) != len(self.counts):
            self._tried(found)

    def _tried(self, found: tuple[MethodTrial, ...]) -> None:
        self.counts = found
        self.changed.emit()

    def _tried_sums(self, found: tuple[TriedMagnitudes, ...]) -> None:
        self.magnitudes = found
        self.changed.emit()

    def _stopped(self, error: TabprotectError) -> None:
        self.failed.emit(error)
        self.changed.emit()


def _try_sums(project: Project, progress: Progress) -> tuple[TriedMagnitudes, ...]:
    """Try every method for magnitudes; each trial is reported as it comes."""
    # Imported late: the first paint does not wait for what solves programmes.
    from tabprotect.engine.project.magnitude_ways import tried_magnitudes

    found: tuple[TriedMagnitudes, ...] = ()
    report: Callable[..., None] = progress.report
    for trial, _ in tried_magnitudes(project, progress):
        found = (*found, trial)
        report(message("trying every method"), len(found) / len(methods("magnitudes")), found)
    return found
