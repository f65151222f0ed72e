"""What each reader would know, in a sentence before any picture."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from PySide6.QtCore import QObject, Signal

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
from tabprotect.languages.messages import joined, message

MORE, POLICY = message("A reader who knows more"), message("Another reader")
OTHERS = (MORE, POLICY)
"""Readers whose figures no headline holds."""


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

    @property
    def text(self) -> str:
        """The reader, and what that reader would know."""
        return message("{name} ({knows}): {number} {words}.", self.name, self.knows, self.number, self.words)


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
        one = knows(of.at_risk, of.known, of.certain)
        found.append(Reader(MORE, message("who {knows}", knows_that), one, "intruder"))
    if any(table.who == "intruder" for table in verdict.tables):
        policy = message("of the house policy")
        found.append(Reader(POLICY, policy, _judged(verdict, "intruder")))
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


class ReadersSaid(QObject):
    """What each reader would know, and all of it in one sentence. ``counted`` when the intruder's figures are there."""

    counted = Signal()

    def __init__(self, document: Document, parent: QObject) -> None:
        super().__init__(parent)
        self.document = document
        self.sentence = ""
        self.found: tuple[Reader, ...] = ()
        self._exposing: BackgroundTask[Exposure] = BackgroundTask(
            self, document.jobs, lambda _: self.counted.emit(), lambda _: None
        )

    def refresh(self, project: Project, rule: SmallCount, *, intruder: bool) -> bool:
        """Work out what is said; return True if it is another than before.

        Parameters
        ----------
        intruder
            Whether there is one who knows more than any reader.
        """
        before = self.sentence, self.found
        judging, staff = self.document.judging, not self.document.public
        if (verdict := judging.verdict(project)) is None:
            self.sentence = judging.fault(project) or message("Working out what a reader would know\u2026")
            self.found = ()
            return before != (self.sentence, self.found)
        known = judging.known(project) if staff else None
        brief = in_brief(verdict, None if known is None else known.before.together, public=not staff)
        informed = self._intruder(rule, verdict.limits.belief_limit) if intruder else None
        self.found = readers(verdict, known, intruder=informed, staff=staff)
        others = (one for one in self.found if one.name in OTHERS)
        self.sentence = joined([brief, *(one.text for one in others)], " ")
        return before != (self.sentence, self.found)

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
