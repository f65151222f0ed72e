"""Examining a cycle set beside the window: the report, which cycles are blocked, what stays known."""

from __future__ import annotations

from dataclasses import dataclass

from PySide6.QtCore import QObject, QTimer, Signal

from tabprotect.engine.arrays import Bools
from tabprotect.engine.cycles import reach
from tabprotect.engine.cycles.algebra import CycleAlgebra
from tabprotect.engine.cycles.report import CycleReport, check
from tabprotect.engine.errors import TabprotectError
from tabprotect.engine.progress import Progress
from tabprotect.engine.tables.margins import all_margins
from tabprotect.engine.tables.moves import MoveSet
from tabprotect.engine.tables.table import Table
from tabprotect.gui.base.document import Document
from tabprotect.gui.look.theme import count_text
from tabprotect.gui.pages.cycles.proof_panel import Functional

WAIT = 120
"""Milliseconds of rest before a cycle set is examined."""


@dataclass(frozen=True, eq=False)
class Question:
    """What a report depends on; the same objects give the same report."""

    moves: MoveSet
    table: Table | None
    rule: str
    passes: int

    def same(self, other: Question | None) -> bool:
        """Whether the other one would be answered alike."""
        return (
            other is not None
            and self.moves is other.moves
            and self.table is other.table
            and (self.rule, self.passes) == (other.rule, other.passes)
        )


class Examination(QObject):
    """The latest answer. ``answered`` when it is known, ``failed`` (error) when it cannot be."""

    answered = Signal()
    failed = Signal(object)
    functionals_found = Signal(object)

    def __init__(self, document: Document, parent: QObject) -> None:
        super().__init__(parent)
        self.document = document
        self.report: CycleReport | None = None
        self.blocked: Bools | None = None
        self._question: Question | None = None
        self._wait = QTimer(self, singleShot=True, interval=WAIT)
        self._wait.timeout.connect(self._examine)

    @property
    def pending(self) -> bool:
        """Whether a question waits to be asked."""
        return self._wait.isActive()

    def ask(self, question: Question) -> bool:
        """Examine a cycle set; whether the answer is still to come."""
        if question.same(self._question):
            return self.report is None
        self._question = question
        self.report = self.blocked = None
        self._wait.start()
        return True

    def put_off(self) -> bool:
        """Leave a question that was not asked yet; whether there was one."""
        if not self.pending:
            return False
        self._wait.stop()
        self._question = None
        return True

    def find_functionals(self) -> None:
        """Look for the linear combinations that every outcome publishes exactly."""
        question = self._question
        if question is None:
            return

        def work(progress: Progress) -> list[Functional] | None:
            progress.report("looking for what stays exactly known", 0.0)
            return CycleAlgebra(question.moves).known_functionals()

        job = self.document.jobs.question(
            "what stays exactly known", work, name="known functionals"
        )
        job.finished.connect(
            lambda found: self.functionals_found.emit(found) if question is self._question else None
        )

    def _examine(self) -> None:
        question = self._question
        if question is None:
            return

        def work(progress: Progress) -> tuple[CycleReport, Bools | None]:
            progress.report("examining the cycles", 0.0)
            moves, table, rule = question.moves, question.table, question.rule
            blocked = None if table is None else reach.blocked_cycles(moves, table, rule)
            report = check(moves, table=table, rule=rule, passes=question.passes, progress=progress)
            return report, blocked

        job = self.document.jobs.question("examine the cycles", work, name="cycle report")
        job.finished.connect(lambda result: self._take(question, result))
        job.failed.connect(lambda error: self._fail(question, error))

    def _take(self, question: Question, result: tuple[CycleReport, Bools | None]) -> None:
        if question is self._question:
            self.report, self.blocked = result
            self.answered.emit()

    def _fail(self, question: Question, error: Exception) -> None:
        if not isinstance(error, TabprotectError):
            raise error
        if question is self._question:
            self.failed.emit(error)


def sentence(moves: MoveSet, report: CycleReport | None, *, whose: str) -> str:
    """All of a report in one sentence; ``whose`` names the table ("this table")."""
    shape = " \u00d7 ".join(map(str, moves.domain.shape))
    number = len(moves)
    s = "s" if number == 1 else ""
    text = f"{count_text(number)} cycle{'' if s else 's'} over this {shape} table"
    if report is None:
        return text
    if not report.preserves_margins:
        broken = len(report.violations)
        return (
            f"{text} break{s} {count_text(broken)} sum{'' if broken == 1 else 's'} "
            "and cannot be used before that is mended"
        )
    text += f" keep{s} every margin{_kept_text(moves)}; what a reader can believe is "
    text += "computed exactly" if report.exact else "estimated, with its error"
    if report.blocked_share is not None:
        text += f"; on {whose} {_blocked_text(report.blocked_share)}"
    return text


def _kept_text(moves: MoveSet) -> str:
    """What is meant by every margin, where it is not every one there is."""
    if set(moves.margins) == set(all_margins(moves.domain)):
        return ""
    most = max((len(margin) for margin in moves.margins), default=0)
    return f" over up to {most} variable{'' if most == 1 else 's'}"


def _blocked_text(share: float) -> str:
    if share in (0.0, 1.0):
        return "all of it is blocked" if share else "nothing is blocked"
    return f"{share:.0%} of them are blocked".replace("%", " %")
