"""Which magnitudes tell too much, worked out in the background for the pages, the rail and the strip."""

from __future__ import annotations

from PySide6.QtCore import QObject, Signal

from tabprotect.engine.magnitudes.tables.sensitive_cells import sensitive_cells
from tabprotect.engine.progress import Progress
from tabprotect.engine.project.plans import ChosenMagnitudes
from tabprotect.engine.project.project import Project
from tabprotect.engine.sensitivity.magnitude_rules import MagnitudeRule, Sensitivity, rules_of
from tabprotect.gui.base.background.background_task import BackgroundTask
from tabprotect.gui.base.background.jobs import Jobs
from tabprotect.languages.messages import message


def judged(sums: ChosenMagnitudes, rules: tuple[MagnitudeRule, ...]) -> Sensitivity:
    """Return what rules say of every cell of a magnitude table; counts its cells the first time."""
    return sensitive_cells(sums.table, rules, weights=sums.weights)


class JudgedMagnitudes(QObject):
    """The judgement of the open magnitude table by the chosen rules; ``changed`` when it becomes known."""

    changed = Signal()
    failed = Signal(object)

    def __init__(self, parent: QObject, jobs: Jobs) -> None:
        super().__init__(parent)
        self._question: BackgroundTask[Sensitivity] = BackgroundTask(
            self, jobs, lambda _: self.changed.emit(), self.failed.emit
        )

    @property
    def known(self) -> Sensitivity | None:
        """The last answer."""
        return self._question.answer

    def ask(self, sums: ChosenMagnitudes) -> None:
        """Work it out, unless it is known."""

        def work(_progress: Progress) -> Sensitivity:
            return judged(sums, rules_of(sums.rules) if sums.rules else ())

        self._question.ask(message("judging every sum"), work, _key(sums))

    def of(self, sums: ChosenMagnitudes) -> Sensitivity | None:
        """Return what is known of a table with its rules; ``None`` before that."""
        return self._question.known(_key(sums))

    def unsafe(self, project: Project) -> int:
        """Return how many sums tell too much; 0 before that is known."""
        found = None if project.sums is None else self.of(project.sums)
        return 0 if found is None else int(found.unsafe.sum())


def _key(sums: ChosenMagnitudes) -> tuple[object, ...]:
    return (sums.table, *sums.rules, sums.weights)
