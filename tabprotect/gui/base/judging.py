"""What readers of the release learn, computed in the background for the pages, rail and strip."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Signal

from tabprotect.engine.errors import Suggestion
from tabprotect.engine.magnitudes.tables.sensitive_cells import sensitive_cells
from tabprotect.engine.progress import Progress
from tabprotect.engine.project.plans import ChosenMagnitudes
from tabprotect.engine.project.project import Project
from tabprotect.engine.release.findings import said
from tabprotect.engine.release.verdict_figures import Verdict
from tabprotect.engine.sensitivity.magnitude_rules import MagnitudeRule, Sensitivity, rules_of
from tabprotect.gui.base.background.background_task import BackgroundTask, same
from tabprotect.gui.base.background.jobs import Jobs
from tabprotect.languages.messages import message

if TYPE_CHECKING:
    from tabprotect.engine.project.releasing.judgement import ReleaseJudgement


WAITING = said(message("Working out what a reader would know \u2026"))


class Judging(QObject):
    """The verdict on the current release, and the remedies if it is refused.

    ``changed`` is emitted when more becomes known.
    """

    changed = Signal()

    def __init__(self, parent: QObject, jobs: Jobs) -> None:
        super().__init__(parent)

        def more(_: object) -> None:
            self.changed.emit()

        self._verdicts: BackgroundTask[ReleaseJudgement] = BackgroundTask(self, jobs, more, more)
        self._remedies: BackgroundTask[tuple[Suggestion, ...]] = BackgroundTask(self, jobs, more, more)

    def verdict(self, project: Project | None) -> Verdict | None:
        """Return what its readers learn, if already known; starts no job."""
        if project is not None and project.protected is not None:
            return project.protected.record.verdict
        known = self.known(project)
        return None if known is None else known.alone

    def known(self, project: Project | None) -> ReleaseJudgement | None:
        """The judgement, if already known; starts no job."""
        return None if project is None else self._verdicts.known(_key(project))

    def fault(self, project: Project) -> str:
        """Say why there is no judgement; empty if there is one, or will be."""
        error = self._verdicts.error
        return "" if error is None or not same(self._verdicts.key, _key(project)) else str(error)

    def ask(self, project: Project) -> ReleaseJudgement | None:
        """The judgement; if it is not known yet, ``changed`` is emitted once it is."""
        if (found := self.known(project)) is None and project.release is not None:

            def work(progress: Progress) -> ReleaseJudgement:
                # The register and inference come with the first verdict, not with the window.
                from tabprotect.engine.project.releasing.judgement import judge_release

                return judge_release(project, progress=progress)

            self._verdicts.ask(message("what a reader would know"), work, _key(project))
        return found

    def again(self) -> None:
        """Forget the judgement, because the register may have changed; it is computed when next asked for."""
        self._verdicts.drop()

    def remedies(self, project: Project) -> tuple[Suggestion, ...] | None:
        """The settings whose releases pass, or pass more often; ``None`` while they are being tried."""

        def work(progress: Progress) -> tuple[Suggestion, ...]:
            # Imported late: the first paint does not wait for what solves programmes.
            from tabprotect.engine.project.magnitude_ways import remedies_for
            from tabprotect.engine.project.releasing.judgement import what_helps

            return (remedies_for if project.of_magnitudes else what_helps)(project, progress)

        self._remedies.ask(message("trying what helps"), work, _setting(project))
        return () if self._remedies.error is not None else self._remedies.answer

    def know_remedies(self, project: Project, found: tuple[Suggestion, ...]) -> None:
        """Take over remedies that were tried elsewhere."""
        self._remedies.know(_setting(project), found)

    def leave(self) -> None:
        """Stop trying remedies: nobody is looking at them."""
        self._remedies.leave()


def _key(project: Project) -> tuple[object, ...]:
    """The key of the judgement, which also depends on what has been published meanwhile."""
    return project.release, project.published, project.people


def _setting(project: Project) -> tuple[object, ...]:
    """The key of the remedies."""
    if project.magnitudes is not None:
        magnitudes = project.magnitudes
        return magnitudes.table, *magnitudes.rules, magnitudes.weights, project.seed, repr(project.limits)
    return (
        *(project.table, project.at_risk, project.method, project.parameters, project.moves),
        project.acceptance_failure,
    )


def judged(magnitudes: ChosenMagnitudes, rules: tuple[MagnitudeRule, ...]) -> Sensitivity:
    """Return what rules say of every cell of a magnitude table; counts its cells the first time."""
    return sensitive_cells(magnitudes.table, rules, weights=magnitudes.weights)


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

    def ask(self, magnitudes: ChosenMagnitudes) -> None:
        """Work it out, unless it is known."""

        def work(_progress: Progress) -> Sensitivity:
            return judged(magnitudes, rules_of(magnitudes.rules) if magnitudes.rules else ())

        self._question.ask(message("judging every sum"), work, _of_rules(magnitudes))

    def of(self, magnitudes: ChosenMagnitudes) -> Sensitivity | None:
        """Return what is known of a table with its rules; ``None`` before that."""
        return self._question.known(_of_rules(magnitudes))

    def unsafe(self, project: Project) -> int:
        """Return how many sums tell too much; 0 before that is known."""
        found = None if project.magnitudes is None else self.of(project.magnitudes)
        return 0 if found is None else int(found.unsafe.sum())


def _of_rules(magnitudes: ChosenMagnitudes) -> tuple[object, ...]:
    return (magnitudes.table, *magnitudes.rules, magnitudes.weights)
