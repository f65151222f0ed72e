"""The gate with a signature: one sentence, the lines behind it, who answers, and the one button."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from pathlib import Path

from PySide6.QtCore import Qt
from PySide6.QtGui import QHideEvent
from PySide6.QtWidgets import QStackedWidget, QWidget

from tabprotect.engine import agency
from tabprotect.engine.bundle import archive
from tabprotect.engine.disclosure.policy import VARIABLE, AgencyPolicy, in_force, policy_file, write
from tabprotect.engine.errors import InputError, TabprotectError
from tabprotect.engine.project.copy_as_command import line
from tabprotect.engine.project.project import Project
from tabprotect.engine.project.verbs.publish_verbs import publish
from tabprotect.engine.project.verbs.release_verbs import protect_words, set_seed
from tabprotect.engine.project.verbs.set_verbs import tables_said
from tabprotect.engine.project.verbs.table_verbs import set_title
from tabprotect.engine.release.findings import FindingGroup, Omission, said
from tabprotect.gui.base.background.jobs import Job
from tabprotect.gui.base.document import Document
from tabprotect.gui.base.exporter import Exporter
from tabprotect.gui.base.page import Page, PageChanges
from tabprotect.gui.base.stage import setup_page
from tabprotect.gui.forms.about_sheet import ask_about
from tabprotect.gui.forms.banner import Banner
from tabprotect.gui.forms.remedies import Remedies
from tabprotect.gui.forms.save_as import ask_release, write_workbook
from tabprotect.gui.look.buttons import (
    Inside,
    Scrolling,
    connected,
    faces,
    named,
    present,
    push_button,
    tool_button,
)
from tabprotect.gui.look.label import Label, tip
from tabprotect.gui.look.layouts import FlowLayout, filled, held, in_column, set_visible
from tabprotect.gui.look.theme import GRID
from tabprotect.gui.pages.release.bundle_shown import Bundle, FilesPanel
from tabprotect.gui.pages.release.cell_belief import CellBelief
from tabprotect.gui.pages.release.gates import BEFORE, FILES, HONESTY, PROTECTION, CountsGate, MagnitudesGate
from tabprotect.gui.pages.release.kept_margins import KeptSums
from tabprotect.gui.pages.release.line_rows import LineGroup
from tabprotect.gui.pages.release.publish_form import (
    Fingerprint,
    PublishDialog,
    PublishForm,
    Seal,
    SigningForm,
    signed_by,
)
from tabprotect.gui.pages.release.report_button import ReportButton
from tabprotect.gui.pages.stages import RELEASE
from tabprotect.languages.messages import joined, message
from tabprotect.languages.translation import tr, translate

NEXT = message("Next table\u2026")
"""What follows when a release is out."""


class ReleasePage(Page):
    """The release page; the gate is that of the table's measure."""

    stage = RELEASE

    def __init__(self, document: Document) -> None:
        super().__init__(document)
        self._question: PublishDialog | None = None
        self._exporter = Exporter(self)
        self._asked = self._wide = False
        self.missing = ""
        """What is to be done before it may leave, in words."""
        self.banner, self.seal = Banner(), Seal()
        self.cell = CellBelief(document)
        self.kept, self.helps, self.answers = KeptSums(), Remedies(), Remedies()
        self.signing, self.form = SigningForm(), PublishForm()
        self.fingerprint = Fingerprint()
        self.report = ReportButton(self)
        self.protection, self.honesty = LineGroup(PROTECTION), LineGroup(HONESTY)
        self.files = LineGroup(FILES, folded=message("Nothing of the original is in the files"))
        self.before = LineGroup(BEFORE)
        self.groups = {
            one.group.title: one for one in (self.protection, self.honesty, self.before, self.files)
        }
        self.gate = (MagnitudesGate if document.of_magnitudes else CountsGate)(self, self)
        self.panel = FilesPanel()
        self._how = Label(wordWrap=True, role="quiet", name=message("The mechanism in words"))
        self._more = connected(
            tool_button(
                message("More"), checkable=True, flat=True, name=message("Show the settings of the method")
            ),
            toggled=lambda _: self._show_how(),
        )
        self.honesty.add(self._how)
        self.honesty.add(self._more)
        self._links = _links(document)
        self.lines = held(in_column(*self.groups.values(), self.form, margins=0, spacing=2 * GRID))
        inner = Inside()
        in_column(
            *(self.seal, self.cell, self.kept, self.helps, self.answers, self.signing, self._links),
            *(self.lines, self.fingerprint, 1),
            on=inner,
            margins=(0, 0, GRID // 2, 0),
            spacing=GRID + 4,
        )
        area = named(Scrolling(inner, sideways=False), message("The gate"), focus=Qt.FocusPolicy.NoFocus)
        self.stack = filled(QStackedWidget(), area, self.panel)
        filled(self.body, self.banner, (self.stack, 1))
        self._faces = faces({"gate": message("The gate"), "files": message("Files")}, self.show_face)
        filled(self.tools, *self._faces.values())
        self._copy_line = push_button(
            message("Copy as command"),
            self._copy_command,
            flat=True,
            tip=message("The command line that protects and publishes the same way."),
        )
        save = push_button(message("Save as\u2026"), partial(ask_release, self))
        about = push_button(message("About this table\u2026"), partial(ask_about, self))
        # Large words do not fit beside each other.
        self._others = QWidget()
        filled(FlowLayout(self._others, gap=GRID), self._copy_line, self.report, about, save)
        self.footer.addWidget(self._others, 1)
        self._connect()
        self.begins = self.signing.approved
        self.show_face("gate")

    def _connect(self) -> None:
        self.signing.titled.connect(self._set_title)
        connected(self.signing, changed=self._weigh, kept=self._keep_reason)
        connected(
            self.kept, decided=self._show, other_asked=lambda: self.document.page_asked.emit("requirements")
        )
        self.seal.copy.clicked.connect(lambda: self.seal.to_clipboard(self.gate.fingerprint))
        self.seal.open.clicked.connect(self._open_as_reader)
        self.helps.chosen.connect(self.gate.take)
        self.answers.chosen.connect(self.gate.answer)
        self.honesty.coins_asked.connect(self._use_house_key)
        for group in (self.protection, self.before):
            group.cells_asked.connect(lambda: self.document.page_asked.emit("check"))
        connected(self.gate, changed=self._more_is_known, cancelled=self._cancelled)

    def open_out(self, *, wide: bool) -> None:
        """All lines of the gate, or what decides alone."""
        self._wide = wide
        self.banner.fold(not wide)
        set_visible(wide, self._head, self.lines, self._others)
        self._links.setVisible(not wide and self.document.in_house)
        if not wide:
            self.show_face("gate")
        if (project := self.document.project) is not None and self.document.has_release:
            self._show_light(project)

    def hideEvent(self, event: QHideEvent) -> None:
        super().hideEvent(event)
        self.gate.leave()

    # -- what was decided here, for the gate --------------------------------------------------

    @property
    def keeping(self) -> bool:
        """Return True if small kept sums still take a decision."""
        return self.kept.open

    @property
    def reason(self) -> str:
        """The reason for publishing all the same."""
        return self.signing.reason.text().strip()

    def unsigned(self, policy: AgencyPolicy) -> str:
        """Say whose signature is missing."""
        if not policy.approvers:
            return policy.unsigned(*self.signing.names())
        if len(self.signing.signing_keys()) >= policy.signatures:
            return ""
        return (
            message("two keys of those whom the policy lists")
            if policy.signatures == 2
            else message("the key of somebody whom the policy lists")
        )

    @property
    def bundle(self) -> Bundle | None:
        """The public files, once they are made."""
        return self.gate.bundle

    @property
    def sentence(self) -> str:
        """The verdict is the page's sentence."""
        return self.banner.line.text

    def show_face(self, name: str) -> None:
        """``gate``, or every public byte under ``files``."""
        self.stack.setCurrentIndex(list(self._faces).index(name))
        self._faces[name].setChecked(True)
        self.banner.fold(name == "files" or not self._wide)

    def choices(self) -> Mapping[str, Callable[[], object]]:
        save = partial(ask_release, self)
        return {"publish": self._publish_from_menu, "report": self.report.showMenu, "save_as": save}

    def words(self, project: Project) -> list[str]:
        return protect_words(project)

    # -- what is shown ------------------------------------------------------------------------

    def refresh(self, changes: PageChanges) -> None:
        if self.document.project is None or not self.document.has_release:
            return
        self.gate.ask(self.document.project)
        self._show()

    def _more_is_known(self) -> None:
        if self.document.has_release:
            self.when_seen(self._show)
            if self.isVisible():
                self._go_on()

    def _cancelled(self) -> None:
        self._asked = False
        self.note.setText(tr("Cancelled. Leave the page and come back to prepare the bundle."))

    def _show(self) -> None:
        project, made = self.document.project, self.gate.fingerprint
        assert project is not None
        house = self.document.in_house
        published = house and project.published
        leaving = house and not published
        self.panel.show_bundle(self.bundle, house=house)
        self._show_lines(project, leaving=leaving)
        self.seal.setVisible(published and bool(made))
        self.fingerprint.setVisible(bool(made) and not house)
        self.fingerprint.show_fingerprint(made, compare=not house)
        set_visible(leaving, self.signing, self.form)
        set_visible(house, self.main_button, self.note)
        self.main_button.setText(translate(NEXT if published else self.stage.main_label))
        self._links.setVisible(house and not self._wide)
        self.cell.show_project(project if self.document.tells_counts else None)
        if house:
            self.signing.begin(project.source)
            self.signing.show_title(project.title)
            self.form.show_project(
                title=project.title,
                source=project.source,
                preferences=self.document.preferences,
                tables=1 if project.of_magnitudes else len(tables_said(project)),
            )
        else:
            self.form.forget()
            self.signing.forget()
            self.seal.text.clear()
        if published:
            self.form.begin_anew()
            self.signing.begin_anew()
        if published and made:
            given = self.document.history.publication
            path = Path(str(given.get("release", "")))
            if os.path.isdir(path):
                made = archive.sha256((path / archive.MANIFEST).read_bytes())
            # A key says who signed, where no name was typed.
            record = present(project.protected).record
            self.seal.show_release(path, made, signed=signed_by(record.prepared_by, record.approved_by))
        self._copy_line.setVisible(house)
        self.report.show_editions(staff=house)
        self._show_how()
        self._weigh()

    def _show_how(self) -> None:
        """The mechanism in a sentence; its settings where they are asked for."""
        bundle = self.bundle if self.document.in_house else None
        settings = "" if bundle is None else bundle.settings
        parts = [bundle.mechanism] if bundle is not None else []
        parts += [settings] if settings and self._more.isChecked() else []
        self._more.setVisible(bool(settings))
        self._how.setText(translate(joined(parts, " ")))

    def _show_lines(self, project: Project, *, leaving: bool) -> None:
        house, found = self.document.in_house, dict(self.gate.groups(project))
        if project.published and BEFORE in found:
            name = Path(str(self.document.history.publication.get("release", ""))).name
            left = said(message("This release left as {name}.", name))
            found[BEFORE] = replace(found[BEFORE], findings=(left,))
        for name, group in self.groups.items():
            group.setVisible(house if group is self.before else name in found)
            # What may not be seen is taken away, not only hidden.
            group.show_group(found.get(name) or FindingGroup(name), folding=house)
        self.helps.show_remedies(self.gate.helps(project) if leaving else ())
        self.answers.show_remedies(self.gate.answers(project) if leaving else ())
        self.kept.show_kept(project.release, self.gate.kept(project))
        self._show_light(project)
        self.set_sentence(self.gate.sentence(project))

    def _show_light(self, project: Project) -> None:
        """The banner: the verdict, what readers work out themselves, and what is still open."""
        shown, below, ways = self.gate.line(project)
        self.banner.show_line(shown, below=below, ways=ways)
        # With all lines, these say it.
        self.banner.rest.setVisible(bool(shown.rest) and (not self._wide or shown.state == "failed"))

    # -- whether it may leave -----------------------------------------------------------------

    def _weigh(self) -> None:
        """Let the button be pressed, or say what is missing where it may not."""
        if (project := self.document.project) is None or not self.document.has_release:
            return
        if not self.document.in_house or project.published:
            self.set_sentence(self._outside() or self.gate.sentence(project))
            self.main_button.setEnabled(True)
            self.note.setText(tr("Ctrl+Enter"))
            return
        self.signing.offer(self.document.preferences.name or agency.user_name())
        self._show_light(project)
        self.missing = missing = self.gate.missing(project)
        policy = self.gate.policy(project)
        self.signing.ask_reason(
            bool(self.gate.reasons(project)),
            lasting=bool(self._lacking(project, policy)) and not os.environ.get(VARIABLE),
        )
        self.signing.ask_keys(policy.signatures if policy.approvers else 0)
        # While the bundle is made it stays alive: a press then waits for it.
        self.main_button.setEnabled(not missing)
        self.note.setText(translate(self._foot(project, missing)))
        for widget in (self.note, self.main_button):
            widget.setToolTip(tip(missing))

    def _lacking(self, project: Project, policy: AgencyPolicy) -> tuple[Omission, ...]:
        """The kinds of what was not worked out for which the house has no standing reason."""
        verdict = self.document.judging.verdict(project) or (
            None if project.protected is None else project.protected.record.verdict
        )
        left_out = () if verdict is None or verdict.passed is False else verdict.left_out
        return tuple(kind for kind in left_out if kind not in policy.standing)

    def _keep_reason(self) -> None:
        """Have the reason stand for every release of which the same is not worked out."""
        project = present(self.document.project)
        kinds = self._lacking(project, self.gate.policy(project))
        try:
            # A project's own limits are not the house's.
            policy = in_force()
            standing = {**policy.standing, **{str(kind): self.reason for kind in kinds}}
            write(replace(policy, standing=standing), policy_file())
        except TabprotectError as error:
            self.show_error(error)
            return
        self._weigh()

    def _foot(self, project: Project, missing: str) -> str:
        """What the button waits for, shortly, or the keys that press it."""
        if missing:
            return self.gate.waits_for(project)
        return message("Ctrl+Enter") if self.gate.settled(project) else message("waits for the register")

    def _outside(self) -> str:
        if self.document.in_house:
            return ""
        if self.document.has_original:
            return message("This is what readers will see. F9 goes back.")
        return message("On the page Check you can see what you may believe, whatever you assume.")

    # -- what happens -------------------------------------------------------------------------

    def _use_house_key(self) -> None:
        """No fixed seed any more, and protected again: nobody can undo the changes."""
        self.document.run(set_seed(seed=None, fresh=False), page=self.name)
        assert isinstance(self.gate, CountsGate)
        self.gate.again()

    def _set_title(self, title: str) -> None:
        project = self.document.project
        if project is not None and self.document.in_house and title != project.title:
            self.do(set_title, title=title)

    def main_action(self) -> None:
        project = self.document.project
        if not self.document.in_house or self._question is not None or not self.main_button.isEnabled():
            return
        if project is not None and project.published:
            self.document.open_asked.emit("")
            return
        # Ctrl+Return does not end the editing of a field.
        self.signing.end_editing()
        self._asked = True
        self._go_on()

    def _go_on(self) -> None:
        """Ask the one question, once all is known that it depends on."""
        project = self.document.project
        if not self._asked or project is None or not self.document.in_house or not self.gate.settled(project):
            return
        self._asked = False
        if self.gate.missing(project):
            return
        destination = self.form.destination()
        try:
            destination.check()
        except InputError as error:
            self.show_error(error)
            return
        what = [
            *(self.sentence, *self.gate.points(project)),
            "" if project.title else message("The release has no title."),
        ]
        said = list(dict.fromkeys(filter(None, what)))
        self._question = connected(
            PublishDialog(self, destination, what=said, signed=self._signed(), reason=self.reason),
            finished=self._answered,
        )
        asked, replaces = self._question, bool(destination.taken)

        def accepted() -> None:
            job = self._publish(destination.release, destination.dossier, replaces)
            if not asked.excel.isChecked():
                return
            path = destination.release.with_suffix(".xlsx")
            book = partial(write_workbook, self, self._exporter, path, overwrite=replaces)
            if job is None:
                book()
            else:
                job.finished.connect(lambda _: book())

        asked.accepted.connect(accepted)
        asked.open()

    def _signed(self) -> str:
        """Say who answers for it, or with which keys it is signed."""
        if self.gate.policy(present(self.document.project)).approvers:
            names = joined((Path(one).name for one in self.signing.signing_keys()), ", ")
            return message("Signed with {names}.", names)
        return signed_by(*self.signing.names())

    def _answered(self) -> None:
        self._question = None

    def _tables(self) -> dict[str, str] | None:
        """The tables that each get a bundle of their own, if that is chosen."""
        project = self.document.project
        return tables_said(project) if project and self.form.apart.isChecked() else None

    def _publish(self, release: Path, dossier: Path | None, overwrite: bool) -> Job | None:
        keys = (
            self.signing.signing_keys() if self.gate.policy(present(self.document.project)).approvers else ()
        )
        prepared, approved = ("", "") if keys else self.signing.names()
        order = publish(
            release=str(release),
            tables=self._tables(),
            dossier=None if dossier is None else str(dossier),
            overwrite=overwrite,
            accept=self.reason,
            kept_small="keep" if self.kept.chosen else "ask",
            again=self.reason,
            prepared_by=prepared,
            approved_by=approved,
            sign=keys[0] if keys else None,
            sign_too=keys[1] if keys[1:] else None,
            dossier_key=self.form.passphrase(),
        )
        # The next release is signed by the same name, unless another is typed.
        if not keys:
            self.document.preferences = replace(self.document.preferences, name=prepared)
        return self.document.run(order, page=self.name)

    def _copy_command(self) -> None:
        project, destination = self.document.project, self.form.destination()
        if project is None:
            return
        dossier = None if destination.dossier is None else str(destination.dossier)
        order = publish(release=str(destination.release), dossier=dossier, tables=self._tables())
        self.seal.to_clipboard(line(order.words(project)))

    def _publish_from_menu(self) -> None:
        if self.isVisible():
            self.main_button.click()

    def _open_as_reader(self) -> None:
        path = Path(str(self.document.history.publication.get("release", "")))
        # Of a set the first table; the others lie beside it.
        self.document.reader_asked.emit(str(min(path.glob("*.zip")) if os.path.isdir(path) else path))


def _links(document: Document) -> QWidget:
    """The ways from the gate to what stands behind it."""
    links = QWidget()
    flow = FlowLayout(links, gap=GRID)
    for words, page in (
        (message("Other ways"), lambda: "protect"),
        (message("Tune"), lambda: setup_page(document)),
        (message("All lines"), lambda: "release"),
    ):
        flow.addWidget(push_button(words, lambda _=False, p=page: document.page_asked.emit(p()), flat=True))
    return links
