"""Which sums tell too much, worked out in the background for the pages, the rail and the strip."""

from __future__ import annotations

from PySide6.QtCore import QObject, Signal

from tabprotect.engine.errors import Suggestion
from tabprotect.engine.magnitudes.tables.sensitive_cells import sensitive_cells
from tabprotect.engine.progress import Progress
from tabprotect.engine.project.plans import ChosenMagnitudes
from tabprotect.engine.project.project import Project
from tabprotect.engine.sensitivity.magnitude_rules import MagnitudeRule, Sensitivity, rules_of
from tabprotect.gui.base.background.background_task import BackgroundTask, same
from tabprotect.gui.base.background.jobs import Jobs
from tabprotect.languages.messages import message


def judged(sums: ChosenMagnitudes, rules: tuple[MagnitudeRule, ...]) -> Sensitivity:
    """Return what rules say of every cell of a magnitude table; counts its cells the first time."""
    return sensitive_cells(sums.table, rules, weights=sums.weights)


class JudgedSums(QObject):
    """The judgement of the open magnitude table by the chosen rules, and what helps where it may not leave.

    ``changed`` when the one becomes known, ``helped`` when the other does.
    """

    changed = Signal()
    helped = Signal()
    failed = Signal(object)

    def __init__(self, parent: QObject, jobs: Jobs) -> None:
        super().__init__(parent)
        self.known: Sensitivity | None = None
        """The last answer."""
        self._of: tuple[object, ...] = ()
        self._question: BackgroundTask[Sensitivity] = BackgroundTask(
            self, jobs, self._answered, self.failed.emit
        )
        self._helps: tuple[Suggestion, ...] = ()
        self._helping: BackgroundTask[tuple[Suggestion, ...]] = BackgroundTask(
            self, jobs, self._tried, self.failed.emit
        )

    def ask(self, sums: ChosenMagnitudes) -> None:
        """Work it out, unless it is known."""

        def work(_progress: Progress) -> Sensitivity:
            return judged(sums, rules_of(sums.rules) if sums.rules else ())

        self._question.ask(message("judging every sum"), work, _key(sums))

    def of(self, sums: ChosenMagnitudes) -> Sensitivity | None:
        """Return what is known of a table with its rules; ``None`` before that."""
        return self.known if same(self._of, _key(sums)) else None

    def unsafe(self, project: Project) -> int:
        """Return how many sums tell too much; 0 before that is known."""
        found = None if project.sums is None else self.of(project.sums)
        return 0 if found is None else int(found.unsafe.sum())

    def remedies(self, project: Project) -> tuple[Suggestion, ...] | None:
        """Other ways to protect the sums that pass; ``None`` while they are being tried."""
        sums = project.sums
        assert sums is not None

        def work(progress: Progress) -> tuple[Suggestion, ...]:
            # Imported late: the first paint does not wait for what solves programmes.
            from tabprotect.engine.project.magnitudes.magnitude_remedies import remedies_for

            return remedies_for(project, progress)

        key = (*_key(sums), project.seed, repr(project.limits))
        if self._helping.ask(message("trying what may help"), work, key):
            self._helps = ()
        return None if self._helping.running else self._helps

    def leave(self) -> None:
        """Stop trying what helps: nobody is looking at it."""
        self._helping.leave()

    def _tried(self, found: tuple[Suggestion, ...]) -> None:
        self._helps = found
        self.helped.emit()

    def _answered(self, found: Sensitivity) -> None:
        assert self._question.key is not None
        self.known, self._of = found, self._question.key
        self.changed.emit()


def _key(sums: ChosenMagnitudes) -> tuple[object, ...]:
    return (sums.table, *sums.rules, sums.weights)
