"""The gate with a signature: one sentence, the lines behind it, who answers, and the one button."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from pathlib import Path

from PySide6.QtCore import Qt
from PySide6.QtGui import QHideEvent
from PySide6.QtWidgets import QStackedWidget, QWidget

from tabprotect.engine import house
from tabprotect.engine.bundle import archive
from tabprotect.engine.bundle.archive import sha256
from tabprotect.engine.bundle.staff.release_findings import beside_headline, limits_said, stated
from tabprotect.engine.errors import InputError, Suggestion
from tabprotect.engine.progress import Progress
from tabprotect.engine.project.command import Order
from tabprotect.engine.project.project import Project
from tabprotect.engine.project.verbs.publish_verbs import publish
from tabprotect.engine.project.verbs.release_verbs import protect, protect_words, set_mechanism, set_seed
from tabprotect.engine.project.verbs.set_verbs import tables_said
from tabprotect.engine.project.verbs.table_verbs import set_title
from tabprotect.engine.release.findings import FindingGroup, said
from tabprotect.engine.release.verdict_figures import SAID
from tabprotect.gui.base.background.jobs import Job
from tabprotect.gui.base.background.question import Question
from tabprotect.gui.base.document import Document
from tabprotect.gui.base.page import PageChanges
from tabprotect.gui.forms.save_as import ask_release
from tabprotect.gui.look.buttons import faces, tool_button
from tabprotect.gui.look.label import Label
from tabprotect.gui.look.layouts import filled, in_row, set_visible
from tabprotect.gui.look.theme import GRID
from tabprotect.gui.pages.release.bundle_shown import Bundle, FilesPanel, inspect, prepare, reader_sentence
from tabprotect.gui.pages.release.gate_columns import GateColumns
from tabprotect.gui.pages.release.gate_page import GatePage
from tabprotect.gui.pages.release.kept_sums import KeptSums
from tabprotect.gui.pages.release.line_rows import LineGroup, groups_of
from tabprotect.gui.pages.release.open_points import OpenPoints
from tabprotect.gui.pages.release.publish_form import PublishDialog, signed_by
from tabprotect.gui.pages.stages import ReleaseStage
from tabprotect.languages.messages import capital, joined, message
from tabprotect.languages.translation import tr, translate

GATED = message(
    "The colour follows what readers can work out from the release alone, never the true counts; the "
    "headline counts the true ones and is for staff only."
)


class ReleasePage(ReleaseStage, GatePage):
    """Whether it may leave."""

    def __init__(self, document: Document) -> None:
        super().__init__(document)
        self.bundle: Bundle | None = None
        self._preparing: Question[Bundle] = Question(
            self, document.jobs, self._prepared, self.show_error, stopped=self._cancelled
        )
        self._question: PublishDialog | None = None
        self._asked = False
        self.protection = LineGroup(message("Protection"))
        self.kept = KeptSums()
        self.protection.add(self.kept)
        self.honesty = LineGroup(message("Honesty"))
        self.files = LineGroup(message("Files"), folded=message("Nothing of the original is in the files"))
        self.before = LineGroup(message("Has this left before?"))
        self.before.add(self.register)
        self.points = OpenPoints(document.judging, self.kept, self.signing, failed=self.show_error)
        self.panel = FilesPanel()
        self._how = Label(wordWrap=True, role="quiet", name=message("The mechanism in words"))
        self._more = tool_button(
            message("More"), checkable=True, flat=True, name=message("Show the settings of the method")
        )
        self._more.toggled.connect(lambda _: self._show_how())
        self.honesty.add(self._how)
        self.honesty.add(self._more)
        self.stack = QStackedWidget()
        filled(self.stack, self._gate(), self.panel)
        self.body.addWidget(self.stack, 1)
        self._faces = faces({"gate": message("The gate"), "files": message("Files")}, self.show_face)
        filled(self.tools, *self._faces.values())
        self._build_foot()
        self._connect()
        self.show_face("gate")

    def _connect(self) -> None:
        self.form.titled.connect(self._set_title)
        self.signing.changed.connect(self._weigh)
        self.kept.decided.connect(self._show)
        self.kept.other_asked.connect(lambda: self.document.page_asked.emit("protect"))
        self.seal.copy.clicked.connect(self._copy)
        self.seal.open.clicked.connect(self._open_as_reader)
        self.protection.remedy_chosen.connect(self._take)
        self.honesty.coins_asked.connect(self._use_house_key)
        for group in (self.protection, self.before):
            group.cells_asked.connect(lambda: self.document.page_asked.emit("check"))
        self.document.judging.changed.connect(self._judged)

    def _gate(self) -> QWidget:
        """Left the lines, right what left before, who signs and what is written."""
        columns, pair = GateColumns(), in_row(spacing=2 * GRID)
        for group in (self.honesty, self.files):
            pair.addWidget(group, 1, Qt.AlignmentFlag.AlignTop)
        columns.fill([self.protection, pair], [self.before, self.signing, self.form, self.fingerprint])
        return columns

    def hideEvent(self, event: QHideEvent) -> None:
        super().hideEvent(event)
        self.document.judging.leave()

    @property
    def house(self) -> bool:
        """Whether the page may show what belongs to the house."""
        return self.document.in_house

    @property
    def sentence(self) -> str:
        """The verdict is the page's sentence."""
        return self.banner.line.text

    def show_face(self, name: str) -> None:
        """``gate``, or every public byte under ``files``."""
        self.stack.setCurrentIndex(list(self._faces).index(name))
        self._faces[name].setChecked(True)

    # -- what is shown ------------------------------------------------------------------------

    def refresh(self, changes: PageChanges) -> None:
        project = self.document.project
        if project is None or project.release is None:
            return
        self._prepare(project)
        if self.house:
            self.document.judging.ask(project)
        self._show()

    def _prepare(self, project: Project) -> None:
        release = project.release
        assert release is not None
        path = Path(project.source)
        reader = project.released is not None and path.is_file()

        def work(progress: Progress) -> Bundle:
            if reader:
                return inspect(path, progress)
            return prepare(release, project.protected, progress)

        if self._preparing.ask(message("preparing the bundle"), work, (release,)):
            self.bundle = None

    def _prepared(self, bundle: Bundle) -> None:
        # An answer may come after its release was taken back.
        if self.document.release is None:
            return
        self.bundle = bundle
        self._show()
        self._go_on()

    def _judged(self) -> None:
        if self.isVisible() and self.document.release is not None:
            self._show()
            self._go_on()

    def _cancelled(self) -> None:
        # Asked for again when the page is next brought up to date.
        self._preparing.drop()
        self._asked = False
        self._note.setText(tr("Cancelled. Leave the page and come back to prepare the bundle."))

    def _show(self) -> None:
        project, bundle = self.document.project, self.bundle
        assert project is not None and project.release is not None
        house = self.house
        published = house and project.published
        leaving = house and not published
        self.panel.show_bundle(bundle, house=house)
        self._show_lines(project)
        self.seal.setVisible(published and bundle is not None)
        self.fingerprint.setVisible(bundle is not None and not house)
        if bundle is not None:
            self.fingerprint.show_fingerprint(bundle.fingerprint, compare=not house)
        set_visible(leaving, self.signing, self.form)
        if house:
            self.signing.begin(project.source)
            preferences = self.document.preferences
            source, title = project.source, project.title
            tables = len(tables_said(project))
            self.form.show_project(title=title, source=source, preferences=preferences, tables=tables)
        else:
            self.form.forget()
            self.signing.forget()
            self.seal.text.clear()
        if published:
            self.form.begin_anew()
            self.signing.begin_anew()
        if published and bundle is not None:
            path, fingerprint = self._published_path(), bundle.fingerprint
            if path.is_dir():
                fingerprint = sha256((path / archive.MANIFEST).read_bytes())
            record = project.protected.record if project.protected is not None else None
            names = ("", "") if record is None else (record.prepared_by, record.approved_by)
            self.seal.show_release(path, fingerprint, signed=signed_by(*names))
        self.main_button.setVisible(leaving)
        self._copy_line.setVisible(house)
        self.report.show_editions(staff=house)
        self._show_how()
        self._weigh()

    def _show_how(self) -> None:
        """The mechanism in a sentence; its settings where they are asked for."""
        bundle = self.bundle if self.house else None
        settings = "" if bundle is None else bundle.settings
        parts = [bundle.mechanism] if bundle is not None else []
        parts += [settings] if settings and self._more.isChecked() else []
        self._more.setVisible(bool(settings))
        self._how.setText(translate(joined(parts, " ")))

    def _show_lines(self, project: Project) -> None:
        house, judging = self.house, self.document.judging
        groups = groups_of(project, self.bundle, house=house)
        verdict = judging.verdict(project) if house else None
        judged = judging.known(project) if house else None
        for name, group in (
            (message("Protection"), self.protection),
            (message("Honesty"), self.honesty),
            (message("Files"), self.files),
        ):
            found = next((g for g in groups if g.title == name), None)
            group.setVisible(found is not None)
            helps: tuple[Suggestion, ...] | None = ()
            if found is not None and group is self.protection and not project.published:
                helps = judging.remedies(project) if project.against else ()
            # What may not be seen is taken away, not only hidden.
            group.show_group(found or FindingGroup(name), helps=helps, folding=house)
        leaving = house and not project.published and verdict is not None
        self.kept.show_kept(project.release, verdict.kept_small if leaving and verdict else ())
        self.before.setVisible(house)
        if judged is None:
            self.before.show_group(FindingGroup(self.before.group.title))
        else:
            left = said(message("This release left as {name}.", self._published_path().name))
            before = judged.before.group
            self.before.show_group(replace(before, findings=(left,)) if project.published else before)
        self._show_light(project)
        sentence = ""
        if self.bundle is not None and not house:
            assert project.release is not None
            sentence = message(
                "{bundle} {mechanism}", reader_sentence(self.bundle, project.release), self.bundle.mechanism
            )
        self.set_sentence(sentence)

    def _show_light(self, project: Project) -> None:
        """The banner: the verdict, what readers work out themselves, and what is still open."""
        assert project.release is not None
        if not self.house:
            self.banner.show_line(stated(project.release.mechanism.gate))
            return
        verdict = self.document.judging.verdict(project)
        if verdict is None:
            self.banner.show_line(said(message("Working out what a reader would know \u2026")))
            return
        gate, way = project.release.mechanism.gate, capital(SAID[verdict.way])
        ways = joined(filter(None, (way + ".", GATED, limits_said(gate))), " ")
        self.banner.show_line(self.points.line(project, verdict), below=beside_headline(verdict), ways=ways)

    # -- whether it may leave -----------------------------------------------------------------

    def _weigh(self) -> None:
        """Whether the button may be pressed; it says what is missing where it may not."""
        project = self.document.project
        if project is None or project.release is None:
            return
        if not self.house or project.published:
            self._note.setText(translate(self._outside()))
            return
        self._show_light(project)
        missing = self.points.missing(project)
        self.signing.show_needs(
            name=self.document.preferences.name or house.user_name(),
            reason=bool(self.points.reasons(project)),
            needs=missing,
        )
        # While the bundle is made it stays alive: a press then waits for it.
        self.main_button.setEnabled(not missing)
        self._note.setText(
            translate(missing or message("Nothing is written before you have confirmed it once more."))
        )

    def _outside(self) -> str:
        if self.house:
            return ""
        if self.document.has_original:
            return message("This is what readers will see. F9 goes back.")
        return message("On the page Check you can see what you may believe, whatever you assume.")

    def _published_path(self) -> Path:
        history = self.document.history
        for step in reversed(history.steps[: history.position]):
            if step.sealed:
                return Path(str(step.arguments["release"]))
        return Path()

    # -- what happens -------------------------------------------------------------------------

    def _take(self, remedy: Suggestion) -> None:
        """Other settings, and protected again by them: two steps, each of which can be undone."""
        self._again(set_mechanism.order(remedy.parameters))

    def _use_house_key(self) -> None:
        """No fixed seed any more, and protected again: nobody can undo the changes."""
        self._again(set_seed(seed=None, fresh=False))

    def _again(self, order: Order) -> None:
        self.document.run(order, page=self.name)
        job = self.do(protect, draft=True)
        if job is not None:
            # Between the two there is nothing to release, and another page comes to the front.
            job.finished.connect(lambda _: self.document.page_asked.emit(self.name))

    def _set_title(self, title: str) -> None:
        project = self.document.project
        if project is not None and self.house and title != project.title:
            self.do(set_title, title=title)

    def words(self, project: Project) -> list[str]:
        return protect_words(project)

    def main_action(self) -> None:
        if not self.house or self._question is not None or not self.main_button.isEnabled():
            return
        # Ctrl+Return does not end the editing of a field.
        self.form.end_editing()
        self._asked = True
        self._go_on()

    def _go_on(self) -> None:
        """Ask the one question, once all is known that it depends on."""
        project = self.document.project
        if not self._asked or project is None or self.bundle is None or not self.house:
            return
        judging = self.document.judging
        if judging.known(project) is None and not judging.fault(project):
            return
        self._asked = False
        if self.points.missing(project):
            return
        destination = self.form.destination()
        try:
            destination.check()
        except InputError as error:
            self.show_error(error)
            return
        # What the verdict says is not said again among the reasons.
        open_ = judging.verdict(project)
        said = "" if open_ is None or open_.complete else open_.not_whole
        reasons = [
            open_.note if said and open_ is not None and reason.startswith(said) else reason
            for reason in self.points.reasons(project)
        ]
        what = [self.sentence, self.banner.below.text(), *reasons]
        if not project.title:
            what.append(message("The release has no title."))
        if signed := signed_by(*self.signing.names()):
            what.append(signed)
        if reason := self.signing.reason.text().strip():
            what.append(message("Reason, for dossier and register: {reason}", reason))
        self._question = PublishDialog(self, destination, what=list(dict.fromkeys(filter(None, what))))
        self._question.accepted.connect(
            lambda: self._publish(destination.release, destination.dossier, bool(destination.taken))
        )
        self._question.finished.connect(self._answered)
        self._question.open()

    def _answered(self) -> None:
        self._question = None

    def _tables(self) -> dict[str, str] | None:
        """The tables that each get a bundle of their own, if that is chosen."""
        project = self.document.project
        return tables_said(project) if project and self.form.apart.isChecked() else None

    def _publish(self, release: Path, dossier: Path | None, overwrite: bool) -> Job | None:
        prepared, approved = self.signing.names()
        reason = self.signing.reason.text().strip()
        order = publish(
            release=str(release),
            tables=self._tables(),
            dossier=None if dossier is None else str(dossier),
            overwrite=overwrite,
            accept=reason,
            again=reason,
            prepared_by=prepared,
            approved_by=approved,
        )
        # The next release is signed by the same name, unless another is typed.
        self.document.preferences = replace(self.document.preferences, name=prepared)
        return self.document.run(order, page=self.name)

    def _copy(self) -> None:
        if self.bundle is not None:
            self.seal.to_clipboard(self.bundle.fingerprint)

    def choices(self) -> Mapping[str, Callable[[], object]]:
        save = partial(ask_release, self)
        return {"publish": self._publish_from_menu, "report": self.report.showMenu, "save_as": save}

    def _publish_from_menu(self) -> None:
        if self.isVisible():
            self.main_button.click()

    def _open_as_reader(self) -> None:
        path = self._published_path()
        # Of a set the first table; the others lie beside it.
        first = min(path.glob("*.zip")) if path.is_dir() else path
        self.document.reader_asked.emit(str(first))
