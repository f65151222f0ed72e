"""Examining a cycle set beside the window: the report, which cycles are blocked, what stays known."""

from __future__ import annotations

from dataclasses import dataclass

from PySide6.QtCore import QObject, Signal

from tabprotect.engine.arrays import Bools
from tabprotect.engine.cycles import reach
from tabprotect.engine.cycles.algebra import CycleAlgebra
from tabprotect.engine.cycles.cycle_report import CycleReport, check_cycles
from tabprotect.engine.progress import Progress
from tabprotect.engine.project.project import Project
from tabprotect.engine.tables.margins import all_margins
from tabprotect.engine.tables.moves import MoveSet
from tabprotect.engine.tables.table import Table
from tabprotect.gui.base.background.background_task import BackgroundTask
from tabprotect.gui.base.document import Document
from tabprotect.gui.look.theme import count_text
from tabprotect.gui.pages.cycles.proof_panel import Functional
from tabprotect.languages.messages import joined, message, percent, plural

QUICK_CELLS = 64
"""Cells up to which cycles are chosen at once where none are given."""

REVERSED = ("negative", "reversible")

WAIT = 120
"""Milliseconds of rest before a cycle set is examined."""


@dataclass(frozen=True, eq=False)
class Examined:
    """The values that a report depends on."""

    moves: MoveSet
    table: Table | None
    rule: str
    passes: int

    @property
    def key(self) -> tuple[object, ...]:
        """The same objects give the same report."""
        return (self.moves, self.table, self.rule, self.passes)


class Examination(QObject):
    """The latest answer. ``answered`` when it is known, ``failed`` (error) when it cannot be;
    ``chosen`` when cycles that were not given are known."""

    answered = Signal()
    chosen = Signal()
    failed = Signal(object)
    functionals_found = Signal(object)

    def __init__(self, document: Document, parent: QObject) -> None:
        super().__init__(parent)
        self.document = document
        self.report: CycleReport | None = None
        self.blocked: Bools | None = None
        self._examined: Examined | None = None
        self._report: BackgroundTask[tuple[CycleReport, Bools | None]] = BackgroundTask(
            self, document.jobs, self._take, self.failed.emit
        )
        self._choosing: BackgroundTask[object] = BackgroundTask(
            self,
            document.jobs,
            lambda _: self.chosen.emit(),
            # Whoever asks for the cycles meets the error.
            lambda _: self.chosen.emit(),
        )
        self._functionals: BackgroundTask[list[Functional] | None] = BackgroundTask(
            self, document.jobs, self.functionals_found.emit, self.failed.emit
        )

    def known(self, project: Project) -> bool:
        """Return True if the project's cycles can be had at once; else they are chosen beside the window."""
        table, given = project.table, project.moves is not None
        if given or table is None or table.domain.size <= QUICK_CELLS or not project.takes_cycles:
            return True
        key = (table, project.parameters)
        new = self._choosing.ask(message("choose cycles"), lambda _: project.resolved, key)
        return not new and not self._choosing.running

    def ask(self, of: Examined) -> bool:
        """Examine a cycle set; whether the answer is still to come."""

        def work(progress: Progress) -> tuple[CycleReport, Bools | None]:
            progress.report(message("examining the cycles"), 0.0)
            blocked = None if of.table is None else reach.blocked_cycles(of.moves, of.table, of.rule)
            report = check_cycles(of.moves, table=of.table, rule=of.rule, passes=of.passes, progress=progress)
            return report, blocked

        if self._report.ask(message("examine the cycles"), work, of.key, wait=WAIT):
            self._examined = of
            self._functionals.drop()
            self.report = self.blocked = None
        return self.report is None

    @property
    def pending(self) -> bool:
        """Return True if a report is still to come."""
        return self._report.running

    def leave(self) -> bool:
        """Stop asking; whether there was a question without its answer."""
        self._functionals.leave()
        unchosen = self._choosing.leave()
        return self._report.leave() or unchosen

    def find_functionals(self) -> None:
        """Look for the linear combinations that every outcome publishes exactly."""
        if (of := self._examined) is None:
            return

        def work(progress: Progress) -> list[Functional] | None:
            progress.report(message("looking for what stays exactly known"), 0.0)
            return CycleAlgebra(of.moves).known_functionals()

        self._functionals.ask(message("what stays exactly known"), work)

    def _take(self, result: tuple[CycleReport, Bools | None]) -> None:
        self.report, self.blocked = result
        self.answered.emit()


def sentence(moves: MoveSet, report: CycleReport | None, *, whose: str, rule: str) -> str:
    """All of a report in one sentence; ``whose`` names the table ("this table").

    Under a ``rule`` that is its own reverse readers draw exactly where there is no formula.
    """
    shape = joined(map(str, moves.domain.shape), " \u00d7 ")
    number = len(moves)
    text = plural(
        number,
        "{number} cycle over this {shape} table",
        "{number} cycles over this {shape} table",
        count_text(number),
        shape,
    )
    if report is None:
        return text
    if not report.preserves_margins:
        broken = len(report.violations)
        return plural(
            number,
            "{text} breaks {sums} and cannot be used before that is mended",
            "{text} break {sums} and cannot be used before that is mended",
            text,
            plural(broken, "{n} sum", "{n} sums", count_text(broken)),
        )
    text += plural(
        number,
        " keeps every margin{moves}; what a reader can believe is ",
        " keep every margin{moves}; what a reader can believe is ",
        _kept_text(moves),
    )
    drawn = message("drawn exactly") if rule in REVERSED else message("estimated, with its error")
    text += message("computed exactly") if report.exact else drawn
    if report.blocked_share is not None:
        text += message("; on {whose} {blocked_share}", whose, _blocked_text(report.blocked_share))
    return text


def _kept_text(moves: MoveSet) -> str:
    """Say what is meant by every margin, where it is not every one there is."""
    if set(moves.margins) == set(all_margins(moves.domain)):
        return ""
    most = max((len(margin) for margin in moves.margins), default=0)
    return plural(most, " over up to {most} variable", " over up to {most} variables", most)


def _blocked_text(share: float) -> str:
    if share in (0.0, 1.0):
        return message("all of it is blocked") if share else message("nothing is blocked")
    return message("{share} of them are blocked", percent(share))
