"""What each reader would know: one card each, before any picture."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QKeyEvent, QMouseEvent, QResizeEvent
from PySide6.QtWidgets import QFrame, QSizePolicy, QWidget

from tabprotect.engine.bundle.staff.release_findings import in_brief
from tabprotect.engine.posterior.exposure import Exposure, exposure
from tabprotect.engine.project.project import Project
from tabprotect.engine.project.releasing.judgement import ReleaseJudgement
from tabprotect.engine.protection.problem import StaffVerdict
from tabprotect.engine.release.findings import Finding, State
from tabprotect.engine.release.verdict_figures import TableVerdict, Verdict, Who, knows
from tabprotect.engine.sensitivity.small_count import SmallCount
from tabprotect.gui.base.background.background_task import BackgroundTask
from tabprotect.gui.base.document import Document
from tabprotect.gui.look.buttons import emptied
from tabprotect.gui.look.label import Label
from tabprotect.gui.look.layouts import in_column, in_grid, in_row
from tabprotect.gui.look.roles import dress
from tabprotect.gui.look.theme import GRID, THEME, count_text
from tabprotect.languages.messages import joined, message
from tabprotect.languages.translation import tr, translate

NARROW = 80 * GRID
"""Pixels of width below which cards stand in two columns."""


@dataclass(frozen=True)
class Reader:
    """One reader and what that reader would know.

    Attributes
    ----------
    name, knows
        Who it is, and with what.
    found
        What that reader would know; ``told`` where no limit is about it, ``mind`` where it was not
        judged whole.
    who
        Whose belief the page can show: ``user``, ``intruder``; else empty.
    """

    name: str
    knows: str
    found: Finding
    who: str = ""

    @property
    def number(self) -> int:
        """Cells known."""
        return int(str(self.found.values["known"]))

    @property
    def words(self) -> str:
        """Say of how many, by which limit."""
        return joined(filter(None, (self.found.beside_number, self.found.rest)), ". ")


def readers(
    verdict: Verdict,
    judgement: ReleaseJudgement | None,
    *,
    intruder: tuple[str, Exposure] | None,
    staff: bool,
) -> tuple[Reader, ...]:
    """The readers there are figures for.

    Parameters
    ----------
    intruder
        What the chosen intruder knows beforehand, in words, and what that reader would know of
        the inner cells; ``None`` for one who knows no more than any reader.
    staff
        Whether figures of the original, and what left before, may be seen.
    """
    name, alone = message("A reader"), message("who has the release alone")
    found = [Reader(name, alone, _judged(verdict, "user"), "user")]
    if intruder is not None:
        knows_that, of = intruder
        name = message("A reader who knows more")
        one = knows(of.at_risk, of.known, of.certain)
        found.append(Reader(name, message("who {knows}", knows_that), one, "intruder"))
    if any(table.who == "intruder" for table in verdict.tables):
        policy = message("of the house policy")
        found.append(Reader(message("Another reader"), policy, _judged(verdict, "intruder")))
    joint = None if judgement is None or not staff else judgement.before.together
    if judgement is not None and joint is not None:
        read = judgement.before.read
        last = read[0].entry
        before = message("release {number} of {day}", last.number, last.day) + (
            "" if len(read) == 1 else message(" and {read} more", len(read) - 1)
        )
        one = replace(joint.known_found, state=_state(joint, joint.tables))
        found.append(Reader(message("With earlier releases"), before, one))
    truth = verdict.staff if isinstance(verdict, StaffVerdict) and staff else None
    if truth is not None:
        one = replace(truth.known_found, rest="" if truth.mean_belief is None else truth.finding.text)
        found.append(Reader(message("In truth"), message("staff only"), one))
    return tuple(found)


def _judged(verdict: Verdict, who: Who) -> Finding:
    mine = [table for table in verdict.tables if table.who == who]
    at_risk = sum(table.at_risk for table in mine)
    known, certain = sum(t.known for t in mine), sum(t.certain for t in mine)
    found = knows(at_risk, known, certain, limit=verdict.limits.share * at_risk, who=who)
    return replace(found, state=_state(verdict, mine))


def _state(verdict: Verdict, tables: Sequence[TableVerdict]) -> State:
    """Beyond a limit, not judged whole, or within the limits; insiders have none."""
    if any(table in verdict.failing for table in tables):
        return "failed"
    whole = all(table.judged and not table.left_out for table in tables)
    return "passed" if whole and verdict.complete else "mind"


class ReaderCard(QFrame):
    """A reader's card. ``chosen``: that reader's belief is to be shown."""

    chosen = Signal(str)

    def __init__(self, reader: Reader) -> None:
        super().__init__()
        self.reader = reader
        dress(self, "card")
        found = message("{number} {words}", reader.number, translate(reader.words))
        self.setAccessibleName(
            tr("{name} {knows}: {found}", translate(reader.name), translate(reader.knows), found)
        )
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Preferred)
        if reader.who:
            self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
            self.setCursor(Qt.CursorShape.PointingHandCursor)
            self.setToolTip(tr("Show on the map what this reader believes."))
        name = Label(reader.name, wordWrap=True, role="section")
        knows = Label(reader.knows, wordWrap=True, role="quiet")
        number = Label(count_text(reader.number), role="figure")
        c = THEME.colours
        ink = {"told": c.text, "mind": c.undecided, "failed": c.error, "passed": c.released}[
            reader.found.state
        ]
        number.setStyleSheet(f"color: {ink};")
        words = Label(reader.words, wordWrap=True)
        # The figure begins what is said below the name.
        number.setMinimumWidth(2 * GRID)
        said = in_row((number, 0, Qt.AlignmentFlag.AlignTop), (in_column(words, 1), 1), spacing=GRID)
        in_column(
            in_row(name, (knows, 1, Qt.AlignmentFlag.AlignBottom), spacing=GRID),
            said,
            1,
            on=self,
            margins=(2 * GRID, GRID, 2 * GRID, GRID),
            spacing=4,
        )

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        if self.reader.who and self.rect().contains(event.position().toPoint()):
            self.chosen.emit(self.reader.who)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if self.reader.who and event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Space):
            self.chosen.emit(self.reader.who)
        else:
            super().keyPressEvent(event)


class ReaderCards(QWidget):
    """The cards in a row, in two columns where it is narrow."""

    chosen = Signal(str)

    def __init__(self) -> None:
        super().__init__(accessibleName=tr("What each reader would know"))
        self.cards: list[ReaderCard] = []
        self._readers: tuple[Reader, ...] = ()
        self._grid = in_grid(on=self, margins=0, across=GRID, down=GRID)
        THEME.follow(self, ReaderCards._repaint)

    def show_readers(self, found: Iterable[Reader]) -> bool:
        """Show these readers; whether they are others than before."""
        if (found := tuple(found)) == self._readers:
            return False
        self._readers = found
        self._repaint()
        return True

    def _repaint(self) -> None:
        emptied(self._grid)
        for old in self.cards:
            # At once: its figures may be the house's own.
            old.setParent(None)
        self.cards = [ReaderCard(reader) for reader in self._readers]
        for card in self.cards:
            card.chosen.connect(self.chosen)
        self._arrange()

    def _arrange(self) -> None:
        columns = 2 if self.width() < NARROW else max(len(self.cards), 1)
        for number, card in enumerate(self.cards):
            self._grid.addWidget(card, number // columns, number % columns)
        for column in range(len(self.cards)):
            self._grid.setColumnStretch(column, int(column < columns))

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        if (event.oldSize().width() < NARROW) != (event.size().width() < NARROW):
            self._arrange()


class VerdictCards(ReaderCards):
    """A card for each reader with what they would know. ``counted`` when the intruder's figures are there."""

    counted = Signal()

    def __init__(self, document: Document) -> None:
        super().__init__()
        self.document = document
        self.sentence = ""
        self._exposing: BackgroundTask[Exposure] = BackgroundTask(
            self, document.jobs, lambda _: self.counted.emit(), lambda _: None
        )

    def refresh(self, project: Project, rule: SmallCount, *, intruder: bool) -> bool:
        """Update the cards; return True if other cards are shown than before.

        Parameters
        ----------
        intruder
            Whether there is one who knows more than any reader.
        """
        judging, staff = self.document.judging, not self.document.public
        if (verdict := judging.verdict(project)) is None:
            self.sentence = judging.fault(project) or message("Working out what a reader would know\u2026")
            return self.show_readers(())
        known = judging.known(project) if staff else None
        self.sentence = in_brief(verdict, None if known is None else known.before.together, public=not staff)
        informed = self._intruder(rule, verdict.limits.belief_limit) if intruder else None
        return self.show_readers(readers(verdict, known, intruder=informed, staff=staff))

    def _intruder(self, rule: SmallCount, limit: float) -> tuple[str, Exposure] | None:
        """Return what the chosen intruder knows beforehand and would know; asked where it is not known."""
        if (posterior := self.document.known_posterior("intruder")) is None:
            return None
        self._exposing.ask(
            message("what a reader who knows more would know"),
            lambda _: exposure(posterior, rule, limit),
            (posterior, str(rule), limit),
        )
        found = self._exposing.answer
        return None if found is None else (posterior.prior.label, found)
