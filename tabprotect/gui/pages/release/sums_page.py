"""The gate with a signature for sums: the verdict, who answers for it, and the one button."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

from tabprotect.engine import house
from tabprotect.engine.bundle import archive
from tabprotect.engine.bundle.staff.release_findings import bundle_files, sums_headline, sums_protection
from tabprotect.engine.bundle.verify import verify_bytes
from tabprotect.engine.disclosure.magnitude_verdict import MagnitudeVerdict, magnitude_verdict
from tabprotect.engine.errors import InputError, Suggestion
from tabprotect.engine.progress import Progress
from tabprotect.engine.project.project import Project
from tabprotect.engine.project.verbs.publish_verbs import publish
from tabprotect.engine.project.verbs.release_verbs import protect_words
from tabprotect.engine.project.verbs.sums_verbs import gate_of_sums
from tabprotect.engine.project.verbs.table_verbs import set_title
from tabprotect.engine.release.findings import FindingGroup, said
from tabprotect.gui.base.background.question import Question
from tabprotect.gui.base.document import Document
from tabprotect.gui.base.page import PageChanges
from tabprotect.gui.forms.remedies import take_for_sums
from tabprotect.gui.forms.save_as import ask_release
from tabprotect.gui.look.layouts import in_row, set_visible
from tabprotect.gui.pages.release.gate_columns import GateColumns
from tabprotect.gui.pages.release.gate_page import GatePage
from tabprotect.gui.pages.release.line_rows import LineGroup
from tabprotect.gui.pages.release.publish_form import PublishDialog, signed_by
from tabprotect.gui.pages.stages import ReleaseStage
from tabprotect.languages.messages import joined, message
from tabprotect.languages.translation import tr, translate


@dataclass(frozen=True)
class Looked:
    """What is known of a release before it leaves, or of one that did.

    Attributes
    ----------
    verdict
        With what left before.
    checks
        What was checked of the bundle, in words.
    fingerprint
        Its SHA-256.
    """

    verdict: MagnitudeVerdict
    checks: tuple[str, ...]
    fingerprint: str


class ReleaseSumsPage(ReleaseStage, GatePage):
    """Whether a magnitude table may leave."""

    def __init__(self, document: Document) -> None:
        super().__init__(document)
        self.looked: Looked | None = None
        self._looking: Question[Looked] = Question(self, document.jobs, self._have, self.show_error)
        self._question: PublishDialog | None = None
        self.protection = LineGroup(message("Protection"))
        self.files = LineGroup(message("Files"), folded=message("Nothing of the original is in the files"))
        self._build()
        self._build_foot()
        self.form.titled.connect(self._set_title)
        self.signing.changed.connect(self._weigh)
        self.seal.copy.clicked.connect(self._copy)
        self.seal.open.clicked.connect(lambda: self.document.reader_asked.emit(str(self._published_path())))
        self.protection.remedy_chosen.connect(partial(take_for_sums, self))
        self.document.judged_sums.helped.connect(lambda: self._changed(frozenset({"release"})))
        self.protection.cells_asked.connect(lambda: self.document.page_asked.emit("check"))

    def _build(self) -> None:
        columns = GateColumns()
        columns.fill(
            [self.protection, self.files, in_row(self.register, 1)],
            [self.signing, self.form, self.fingerprint],
        )
        self.body.addWidget(columns, 1)

    def choices(self) -> Mapping[str, Callable[[], object]]:
        save = partial(ask_release, self)
        return {"publish": self._from_menu, "report": self.report.showMenu, "save_as": save}

    def words(self, project: Project) -> list[str]:
        return protect_words(project)

    # -- what is shown ------------------------------------------------------------------------

    def refresh(self, changes: PageChanges) -> None:
        project = self.document.project
        if project is None or project.release_of_sums is None:
            return
        house = self.document.in_house
        key = (project.release_of_sums, project.published, house)
        label = message("preparing the bundle")
        if self._looking.ask(label, partial(_look, project, house=house), key):
            self.looked = None
        self._show(project)

    def _have(self, found: Looked) -> None:
        self.looked = found
        # Out of sight it is shown when the page is next.
        self._changed(frozenset({"release"}))

    def _show(self, project: Project) -> None:
        house, looked = self.document.in_house, self.looked
        published = house and project.published
        leaving = house and not published
        done = project.protected_sums if house else None
        if looked is None:
            self.banner.show_line(said(message("Working out what a reader would know \u2026")))
        else:
            self._show_headline(project)
        nothing = FindingGroup(message("Protection"))
        known = looked is not None and done is not None
        self.protection.setVisible(known)
        helps: tuple[Suggestion, ...] | None = ()
        if leaving and looked is not None and looked.verdict.passed is not True:
            helps = self.document.judged_sums.remedies(project)
        self.protection.show_group(
            sums_protection(done, looked.verdict) if looked and done else nothing, helps=helps
        )
        self.files.show_group(bundle_files(() if looked is None else looked.checks), folding=house)
        self.register.setVisible(house)
        self.seal.setVisible(published and looked is not None)
        self.fingerprint.setVisible(not house and looked is not None)
        if looked is not None:
            self.fingerprint.show_fingerprint(looked.fingerprint, compare=not house)
        set_visible(leaving, self.signing, self.form)
        if house:
            self.signing.begin(project.source)
            self.form.show_project(
                title=project.title, source=project.source, preferences=self.document.preferences
            )
        else:
            self.form.forget()
            self.signing.forget()
            self.seal.text.clear()
        if published:
            self.form.begin_anew()
            self.signing.begin_anew()
        if published and looked is not None:
            given = self._publication() or {}
            names = str(given.get("prepared_by") or ""), str(given.get("approved_by") or "")
            self.seal.show_release(self._published_path(), looked.fingerprint, signed=signed_by(*names))
        self.main_button.setVisible(leaving)
        self._copy_line.setVisible(house)
        self.report.show_editions(staff=house)
        self._weigh()

    def _show_headline(self, project: Project) -> None:
        """The verdict, with what is still to be decided although it passes."""
        if self.looked is None:
            return
        house, question = self.document.in_house, ""
        if house and not project.published:
            question = project.limits.unsigned(*self.signing.names())
            question = question and message("Still open: {unsigned}.", question)
            question = question or (
                "" if project.title else message("Still open: {unsigned}.", message("a title"))
            )
        line = sums_headline(
            self.looked.verdict, staff=house, published=house and project.published, question=question
        )
        self.banner.show_line(line)

    def _weigh(self) -> None:
        """Whether the button may be pressed; it says what is missing where it may not."""
        project = self.document.project
        if project is None:
            return
        if not self.document.in_house or project.published:
            self._note.setText(
                tr("This is what readers will see. F9 goes back.") if self.document.hiding else ""
            )
            return
        missing = self._missing(project)
        self.signing.show_needs(
            name=self.document.preferences.name or house.user_name(),
            reason=self.looked is not None and self.looked.verdict.passed is not True,
            needs=missing,
        )
        self._show_headline(project)
        self.main_button.setEnabled(self.looked is not None and not missing)
        self._note.setText(
            translate(missing or message("Nothing is written before you have confirmed it once more."))
        )

    def _missing(self, project: Project) -> str:
        """What has to be done before it can be approved, in words; empty where nothing has."""
        if self.looked is None:
            return ""
        reason = self.signing.reason.text().strip()
        against = gate_of_sums(project, self.looked.verdict, reason)
        missing = [] if not against else [message("a reason for publishing all the same")]
        if against and reason:
            return against
        if unsigned := project.limits.unsigned(*self.signing.names()):
            missing.append(unsigned)
        return message("Still open: {missing}.", joined(missing, "; ")) if missing else ""

    def _published_path(self) -> Path:
        order = self._publication()
        return Path() if order is None else Path(str(order.get("release")))

    def _publication(self) -> Mapping[str, object] | None:
        history = self.document.history
        sealed = (step for step in reversed(history.trail) if step.sealed)
        return next((step.arguments for step in sealed), None)

    # -- what happens -------------------------------------------------------------------------

    def _set_title(self, title: str) -> None:
        project = self.document.project
        if project is not None and self.document.in_house and title != project.title:
            self.do(set_title, title=title)

    def _from_menu(self) -> None:
        if self.isVisible():
            self.main_button.click()

    def main_action(self) -> None:
        project = self.document.project
        blocked = self._question is not None or not self.main_button.isEnabled()
        if project is None or not self.document.in_house or blocked or self.looked is None:
            return
        # Ctrl+Return does not end the editing of a field.
        self.form.end_editing()
        destination = self.form.destination()
        try:
            destination.check()
        except InputError as error:
            self.show_error(error)
            return
        reason = self.signing.reason.text().strip()
        what = [
            self.banner.line.text,
            "" if self.form.title.text().strip() else message("The release has no title."),
            signed_by(*self.signing.names()),
            message("Reason, for dossier and register: {reason}", reason) if reason else "",
        ]
        self._question = PublishDialog(self, destination, what=[text for text in what if text])
        self._question.accepted.connect(
            lambda: self._publish(destination.release, destination.dossier, bool(destination.taken))
        )
        self._question.finished.connect(self._answered)
        self._question.open()

    def _answered(self) -> None:
        self._question = None

    def _publish(self, release: Path, dossier: Path | None, overwrite: bool) -> None:
        prepared, approved = self.signing.names()
        reason = self.signing.reason.text().strip()
        self.document.preferences = replace(self.document.preferences, name=prepared)
        self.do(
            publish,
            release=str(release),
            dossier=None if dossier is None else str(dossier),
            overwrite=overwrite,
            accept=reason,
            again=reason,
            prepared_by=prepared,
            approved_by=approved,
        )

    def _copy(self) -> None:
        if self.looked is not None:
            self.seal.to_clipboard(self.looked.fingerprint)


def _look(project: Project, progress: Progress, *, house: bool) -> Looked:
    """The bundle made and checked as its reader will, or that of a reader read again."""
    # The register comes with the first release, not with the window.
    from tabprotect.engine.project.verbs.sums_verbs import bundle_of_sums, judged_for_leaving

    progress.report(message("making the bundle"), 0.1)
    data = (
        archive.load(Path(project.source))
        if project.kind == "reader" and Path(project.source).is_file()
        else bundle_of_sums(project)
    )
    progress.report(message("verifying the bundle"), 0.6)
    found = verify_bytes(data)
    progress.report(message("looking up what left before"), 0.9)
    verdict = judged_for_leaving(project) if house else magnitude_verdict(found.release)
    return Looked(verdict, found.checks, found.fingerprint)
