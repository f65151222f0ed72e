"""What stands for and against a release before it may leave: of counts, and of magnitudes."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Protocol

from PySide6.QtCore import QObject, Signal

from tabprotect.engine.bundle.staff.release_findings import (
    CHANCE,
    WORDS,
    beside_headline,
    bundle_files,
    headline,
    limits_said,
    magnitude_headline,
    magnitude_protection,
    stated,
)
from tabprotect.engine.disclosure.gate import decided
from tabprotect.engine.disclosure.policy import AgencyPolicy
from tabprotect.engine.disclosure.verdict import verdict as reader_verdict
from tabprotect.engine.errors import RefusedError, Suggestion, TabprotectError
from tabprotect.engine.formats.registered import patterns
from tabprotect.engine.progress import Progress
from tabprotect.engine.project.project import Project
from tabprotect.engine.project.releasing.judgement import ReleaseJudgement
from tabprotect.engine.project.verbs.release_verbs import of_remedy, protect, set_mechanism
from tabprotect.engine.project.verbs.set_verbs import stack_tables
from tabprotect.engine.project.verbs.table_verbs import set_people
from tabprotect.engine.protection.problem import StaffVerdict
from tabprotect.engine.release.findings import Finding, FindingGroup
from tabprotect.engine.release.verdict_figures import SAID, KeptSum, Verdict
from tabprotect.gui.base.background.background_task import BackgroundTask
from tabprotect.gui.base.judging import WAITING
from tabprotect.gui.base.page import Page
from tabprotect.gui.forms.remedies import take_for_magnitudes
from tabprotect.gui.look.buttons import present
from tabprotect.gui.look.file_dialogs import ask_files
from tabprotect.gui.pages.release.bundle_shown import Bundle, inspect, prepare, reader_sentence
from tabprotect.gui.pages.release.line_rows import groups_of
from tabprotect.languages.messages import capital, joined, message

GATED = message(
    "The colour follows what readers can work out from the release alone, never the true counts; the "
    "headline counts the true ones and is for staff only."
)


AS_ONE_SET = Suggestion(message("Protect them as one set\u2026"), {})
"""The first remedy where tables may be parts of the same people, such as men, women and all."""

ASKING = message("Asking the register\u2026")
"""The word of a gate that waits for what left before."""

NOTHING_BEFORE = message("Nothing of this table has left before.")

PROTECTION, HONESTY = message("Protection"), message("Honesty")
FILES, BEFORE = message("Files"), message("Has this left before?")


class Decisions(Protocol):
    """The decisions somebody made on the page."""

    @property
    def keeping(self) -> bool:
        """Return True if small kept sums still take a decision."""

    @property
    def reason(self) -> str:
        """The reason that was given."""

    def unsigned(self, policy: AgencyPolicy) -> str:
        """Say whose signature is missing."""


class Gate(QObject):
    """A release of one measure, weighed; ``changed`` when more becomes known, ``cancelled`` by somebody."""

    changed = Signal()
    cancelled = Signal()

    def __init__(self, page: Page, decisions: Decisions) -> None:
        super().__init__(page)
        self.page, self.document, self.decisions = page, page.document, decisions
        self.judging = self.document.judging
        self.bundle: Bundle | None = None
        self._preparing: BackgroundTask[Bundle] = BackgroundTask(
            self, self.document.jobs, self._prepared, page.show_error, stopped=self._cancelled
        )
        self.judging.changed.connect(self.changed)

    @property
    def fingerprint(self) -> str:
        """Return that of the bundle; empty before it is made."""
        return "" if self.bundle is None else self.bundle.fingerprint

    def answers(self, project: Project) -> tuple[Suggestion, ...]:
        """Return what the house can say of who is counted, where that makes a difference."""
        judged = self.judging.known(project)
        if judged is None or not judged.before.answers:
            return ()
        # Tables of parts of the same people leave together, where all of them are at hand.
        together = os.path.isfile(project.source) and not project.edited
        return (*((AS_ONE_SET,) if together else ()), *judged.before.answers)

    def answer(self, said: Suggestion) -> None:
        """Say who is counted: the draw stays as it is, and is judged anew. Or begin a set with other files."""
        if said is AS_ONE_SET:
            ask_files(self.page, message("Add the tables of the others"), patterns("table"), self.as_one_set)
            return
        people = f"{present(self.document.project).people} {said.parameters['people']}"
        self.document.run(set_people(people=people), page=self.page.name)

    def as_one_set(self, others: Sequence[str]) -> None:
        """Open the table and those of other parts of the same people as one, with a variable that tells them apart."""
        source = present(self.document.project).source
        beside = {Path(other).stem: other for other in others if Path(other) != Path(source)}
        if beside:
            self.document.begins.emit(stack_tables(source=source, beside=beside, by="part"))

    def ask(self, project: Project) -> None:
        """Have the bundle made and the release judged."""
        release, path = project.release, Path(project.source)
        assert release is not None
        reader = project.released is not None and os.path.isfile(path)

        def work(progress: Progress) -> Bundle:
            return inspect(path, progress) if reader else prepare(release, project.protected, progress)

        if self._preparing.ask(message("preparing the bundle"), work, (release,)):
            self.bundle = None
        if self.document.in_house:
            self.judging.ask(project)

    def _prepared(self, bundle: Bundle) -> None:
        # An answer may come after its release was taken back.
        if self.document.has_release:
            self.bundle = bundle
            self.changed.emit()

    def _cancelled(self) -> None:
        # Asked for again when the page is next brought up to date.
        self._preparing.drop()
        self.cancelled.emit()

    def settled(self, project: Project) -> bool:
        """Return True if all is known that the one question depends on."""
        judged = self.judging.known(project) is not None or bool(self.judging.fault(project))
        return self.bundle is not None and judged

    def leave(self) -> None:
        """Nobody is looking at the remedies."""
        self.judging.leave()

    @staticmethod
    def beside_before(line: Finding, judged: ReleaseJudgement | None) -> Finding:
        """The headline, which says so where nothing of the table has left before."""
        if judged is None or line.state == "failed":
            return line
        before = judged.before
        if before.warnings or before.beside or before.again:
            return line
        return replace(line, rest=joined(filter(None, (line.rest, NOTHING_BEFORE)), " "))

    def open_question(self, project: Project) -> str:
        """Signature and title, which what passes still waits for."""
        what = self.decisions.unsigned(self.policy(project)) or ("" if project.title else message("a title"))
        return message("Still open: {unsigned}.", what) if what else ""

    def policy(self, project: Project) -> AgencyPolicy:
        """The limits of the house; an error is shown where they cannot be read."""
        try:
            return project.limits
        except TabprotectError as error:
            self.page.show_error(error)
            return AgencyPolicy()

    def open_points(self, project: Project, missing: Sequence[str]) -> str:
        """Say what has to be done before it can be approved, with the signatures, in words."""
        unsigned = self.decisions.unsigned(self.policy(project))
        missing = [*missing, *([unsigned] if unsigned else [])]
        return message("Still open: {missing}.", joined(missing, "; ")) if missing else ""

    def waits_for(self, project: Project) -> str:
        """Say in a word or two what the button waits for."""
        if self.reasons(project) and not self.decisions.reason:
            return message("needs a reason")
        if not project.title:
            return message("needs a title")
        return message("needs a signature") if self.decisions.unsigned(self.policy(project)) else ""

    def reasons(self, project: Project) -> list[str]:
        """Return what takes a reason, in words."""
        raise NotImplementedError


class CountsGate(Gate):
    """Weighs the verdict on counts, what was decided on the page, and the policy of the house."""

    def groups(self, project: Project) -> Mapping[str, FindingGroup]:
        """The lines behind the verdict, by the heading they stand under."""
        house = self.document.in_house
        found = {group.title: group for group in groups_of(project, self.bundle, house=house)}
        if house and (judged := self.judging.known(project)) is not None:
            found[BEFORE] = judged.before.group
        return found

    def helps(self, project: Project) -> tuple[Suggestion, ...] | None:
        """Return what helps against a refusal; ``None`` while it is being tried."""
        return self.judging.remedies(project) if project.against else ()

    def take(self, remedy: Suggestion) -> None:
        """Other settings, and protected again by them: two steps, each of which can be undone."""
        self.document.run(set_mechanism.order(of_remedy(remedy.parameters)), page=self.page.name)
        self.again()

    def again(self) -> None:
        """Protect once more, and come back to the page."""
        if (job := self.page.do(protect, draft=not self.document.of_magnitudes)) is not None:
            # Between the two there is nothing to release, and another page comes to the front.
            job.finished.connect(
                lambda _: self.document.page_asked.emit(self.page.stage.under or self.page.name)
            )

    def kept(self, project: Project) -> Sequence[KeptSum]:
        """The small sums that would be published exactly."""
        verdict = self.judging.verdict(project) if self.document.in_house else None
        return () if verdict is None or project.published else verdict.exact_small_margins

    def sentence(self, project: Project) -> str:
        """Say what a reader is told of the bundle."""
        if self.bundle is None or self.document.in_house:
            return ""
        assert project.release is not None
        shown = reader_sentence(self.bundle, project.release)
        return message("{bundle} {mechanism}", shown, self.bundle.mechanism)

    def line(self, project: Project) -> tuple[Finding, str, str]:
        """The headline, what readers work out themselves, and how it is computed."""
        assert project.release is not None
        gate = project.release.mechanism.gate
        if not self.document.in_house:
            return stated(gate), "", ""
        if (verdict := self.judging.verdict(project)) is None:
            return WAITING, "", ""
        ways = joined(filter(None, (capital(SAID[verdict.way]) + ".", GATED, limits_said(gate))), " ")
        return self._headline(project, verdict), beside_headline(verdict), ways

    def _headline(self, project: Project, verdict: Verdict) -> Finding:
        """The verdict with what is still to be decided, and with what else stands against it."""
        if project.published:
            return headline(verdict, published=True)
        judged, against = self.judging.known(project), project.against
        together = None if judged is None else judged.before.together
        line = headline(verdict, together, question=self._question(project))
        if judged is None and not self.judging.fault(project) and line.state != "failed" and not against:
            # No colour before every line is in.
            return replace(line, state="told", word=ASKING)
        if line.state == "failed" or self.unjudged(project) or not against:
            return self.beside_before(line, judged)
        return replace(line, state="failed", word=WORDS["failed"], rest=against)

    def _question(self, project: Project) -> str:
        """Say what is to be decided although the verdict passes; a green light asks for nothing."""
        if self.decisions.keeping:
            return message("Small sums would go out as they are.")
        reasons = [] if self.unjudged(project) or project.against else self.reasons(project)
        if question := next(iter(reasons), "") or self.open_question(project):
            return question
        # A warning stands below: nothing is green above it.
        seeded = project.protected is not None and project.protected.record.seed_given
        return CHANCE["given"] if seeded else ""

    def unjudged(self, project: Project) -> str:
        """Say what was not judged, where that alone stands against it; else empty."""
        verdict = self.judging.verdict(project)
        if verdict is None or verdict.passed is not None or project.against != verdict.sentence:
            return ""
        return verdict.unjudged or verdict.sentence

    def reasons(self, project: Project) -> list[str]:
        """Return what takes a reason, in words."""
        known = self.judging.known(project)
        out = [self.unjudged(project) or project.against]
        if known is not None and known.before.close:
            out.append(joined((known.before.warnings[0]["message"], ".")))
        elif known is not None and known.before.questions:
            out.append(known.before.question)
        return [capital(text) for text in out if text]

    def points(self, project: Project) -> list[str]:
        """The reasons as the one question lists them: what the verdict says is not said again."""
        open_ = self.judging.verdict(project)
        whole = "" if open_ is None or open_.complete else open_.not_whole
        return [
            open_.note if whole and open_ is not None and reason.startswith(whole) else reason
            for reason in self.reasons(project)
        ]

    def missing(self, project: Project) -> str:
        """Say what has to be done before it can be approved, in words; empty where nothing has."""
        policy, known = self.policy(project), self.judging.known(project)
        if known is not None and known.before.close and policy.second_release == "refuse":
            return message("The house policy lets no table leave twice.")
        if known is not None and known.before.refuses(policy, "whatever the reason"):
            return message("The house policy lets nothing leave that tells too much beside what left before.")
        verdict = self.judging.verdict(project)
        left_out = verdict is not None and not verdict.complete and project.against
        if (self.unjudged(project) or left_out) and policy.unjudged == "refuse":
            return message("The house policy lets nothing leave before all that readers learn is worked out.")
        missing = [message("a decision on the small kept sums")] if self.decisions.keeping else []
        if self.reasons(project) and not self.decisions.reason:
            missing.append(message("a reason for publishing all the same"))
        return self.open_points(project, missing)


class MagnitudesGate(Gate):
    """Weighs the verdict on magnitudes with the contributors that were tried as readers."""

    def __init__(self, page: Page, decisions: Decisions) -> None:
        super().__init__(page, decisions)
        self._reading: BackgroundTask[StaffVerdict] = BackgroundTask(
            self, self.document.jobs, lambda _: self.changed.emit(), page.show_error
        )

    def ask(self, project: Project) -> None:
        """Have the bundle made, and judged as its reader will outside the house."""
        super().ask(project)
        release = project.release
        if release is not None and not self.document.in_house:
            self._reading.ask(
                message("what a reader would know"), lambda _: reader_verdict(release), (release,)
            )

    def verdict(self, project: Project) -> StaffVerdict | None:
        """What its readers learn, in the house with what left before; ``None`` while it is worked out."""
        if not self.document.in_house:
            return self._reading.known((project.release,))
        if project.published or self.judging.fault(project):
            return present(project.protected).verdict
        known = self.judging.known(project)
        return None if known is None else known.alone

    def groups(self, project: Project) -> Mapping[str, FindingGroup]:
        """The lines behind the verdict, by the heading they stand under."""
        found = {FILES: bundle_files(() if self.bundle is None else self.bundle.checks)}
        judged, done = self.verdict(project), project.protected_magnitudes
        if judged is not None and done is not None and self.document.in_house:
            found[PROTECTION] = magnitude_protection(done, judged)
        if self.document.in_house and (known := self.judging.known(project)) is not None:
            found[BEFORE] = known.before.group
        return found

    def helps(self, project: Project) -> tuple[Suggestion, ...] | None:
        """Return what helps against a refusal; ``None`` while it is being tried."""
        return self.judging.remedies(project) if self.document.in_house and self.reasons(project) else ()

    def take(self, remedy: Suggestion) -> None:
        """Another way to protect, and protected by it: each step can be undone."""
        take_for_magnitudes(self.page, remedy)

    def kept(self, project: Project) -> Sequence[KeptSum]:
        """No sum is kept exactly without a decision: there are none."""
        return ()

    def sentence(self, project: Project) -> str:
        """The verdict says it all."""
        return ""

    def line(self, project: Project) -> tuple[Finding, str, str]:
        """The headline, what readers work out themselves, and how it is computed."""
        if (judged := self.verdict(project)) is None:
            return WAITING, "", ""
        house, published = self.document.in_house, self.document.in_house and project.published
        question = self.open_question(project) if house and not published else ""
        line = magnitude_headline(judged, staff=house, published=published, question=question)
        known = self.judging.known(project) if house and not published else None
        return self.beside_before(line, known), "", ""

    def reasons(self, project: Project) -> list[str]:
        """Return what takes a reason, in words."""
        judged = self.verdict(project)
        return [] if judged is None or judged.passed is True else [judged.sentence]

    def points(self, project: Project) -> list[str]:
        """The verdict stands above them."""
        return []

    def missing(self, project: Project) -> str:
        """Say what has to be done before it can be approved, in words; empty where nothing has."""
        if self.verdict(project) is None:
            return ""
        reason, against = self.decisions.reason, self._against(project)
        if against and reason:
            return against
        return self.open_points(project, [message("a reason for publishing all the same")] if against else [])

    def _against(self, project: Project) -> str:
        """Say why it may not leave with the reason that is given, in words; empty if it may."""
        done = present(project.protected)
        done = replace(done, record=replace(done.record, verdict=self.verdict(project)))
        try:
            decided(done, project.limits, self.decisions.reason)
        except RefusedError as error:
            return error.sentence
        return ""
