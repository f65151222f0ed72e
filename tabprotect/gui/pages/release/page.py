"""What will leave the house, byte by byte; what stays; and the one button."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from itertools import pairwise
from pathlib import Path

from PySide6.QtCore import Qt
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QFrame, QHBoxLayout, QPushButton, QWidget

from tabprotect.engine.errors import InputError
from tabprotect.engine.posterior.exposure import SURE, given_away
from tabprotect.engine.progress import Progress
from tabprotect.engine.project.project import Project
from tabprotect.engine.project.shell import line
from tabprotect.engine.project.verbs.release_verbs import protect_words, publish
from tabprotect.engine.project.verbs.table_verbs import set_title
from tabprotect.gui.base.document import Document
from tabprotect.gui.base.jobs import Job
from tabprotect.gui.base.page import Changes, Page
from tabprotect.gui.base.question import Question
from tabprotect.gui.look import icons
from tabprotect.gui.look.label import Label
from tabprotect.gui.look.theme import GRID, THEME, count_text
from tabprotect.gui.pages.release.bundle import (
    Bundle,
    inspect,
    leaving_sentence,
    prepare,
    reader_sentence,
)
from tabprotect.gui.pages.release.checks import Check, CheckList, Fingerprint, Verdict
from tabprotect.gui.pages.release.files import FilesPanel
from tabprotect.gui.pages.release.publish import LeavingHouse, PublishForm
from tabprotect.gui.pages.release.stage import ReleaseStage


class Seal(QFrame):
    """What was published and where, after it happened."""

    def __init__(self) -> None:
        super().__init__()
        self.setProperty("role", "card")
        self.setAccessibleName("Published")
        self._picture = Label()
        self.text = Label(wordWrap=True)
        self.text.setAccessibleName("What was published")
        self.text.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        self.copy = QPushButton("Copy fingerprint")
        self.open = QPushButton("Open as a reader")
        self.open.setToolTip("Open the bundle without the original, as its reader does.")
        row = QHBoxLayout(self)
        row.setContentsMargins(2 * GRID, GRID, 2 * GRID, GRID)
        row.setSpacing(2 * GRID)
        row.addWidget(self._picture)
        row.addWidget(self.text, 1)
        row.addWidget(self.copy)
        row.addWidget(self.open)

    def show_release(self, path: Path, fingerprint: str) -> None:
        """Show the seal of a written bundle."""
        self._picture.setPixmap(icons.pixmap("seal", 32, colour=THEME.colours.released))
        self.text.setText(
            f"Published as {path.name}. Undo cannot go back past this point.\n"
            f"Fingerprint: {fingerprint}\nName it where readers can compare it."
        )


class ReleasePage(ReleaseStage, Page):
    """What leaves the house."""

    def __init__(self, document: Document) -> None:
        super().__init__(document)
        self.bundle: Bundle | None = None
        self._preparing: Question[Bundle] = Question(
            self, document.jobs, self._prepared, self.show_error, stopped=self._cancelled
        )
        self._question: LeavingHouse | None = None
        self.panel = FilesPanel()
        self.checks = CheckList()
        self.fingerprint = Fingerprint()
        title = Label("Checks")
        title.setProperty("role", "section")
        self.panel.left.addWidget(title)
        self.panel.left.addWidget(self.checks, 2)
        self.panel.left.addWidget(self.fingerprint)
        document.posterior_ready.connect(self._believed)
        self.form = PublishForm()
        self.form.titled.connect(self._set_title)
        self.seal = Seal()
        self.seal.copy.clicked.connect(self._copy)
        self.seal.open.clicked.connect(self._open_as_reader)
        self._mechanism = Label(wordWrap=True)
        self._mechanism.setAccessibleName("The mechanism in words")
        self._mechanism.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        self.body.addWidget(self._mechanism)
        self.body.addWidget(self.panel, 1)
        self.body.addWidget(self.form)
        self.body.addWidget(self.seal)
        self._note = Label(wordWrap=True)
        self._note.setProperty("role", "quiet")
        self.footer.addWidget(self._note, 1)
        self._copy_line = QPushButton("Copy as command", flat=True)
        self._copy_line.setToolTip("The command line that protects and publishes the same way.")
        self._copy_line.clicked.connect(self._copy_command)
        self.footer.addWidget(self._copy_line)
        self._order_tabs()

    def _order_tabs(self) -> None:
        """Tab follows reading: top to bottom, left before right."""
        order: list[QWidget] = [self.panel.tree, self.checks, *self.fingerprint.controls()]
        order += [*self.panel.controls(), *self.form.controls(), self.seal.copy, self.seal.open]
        order += [self._copy_line, self.main_button]
        for first, second in pairwise(order):
            QWidget.setTabOrder(first, second)

    @property
    def house(self) -> bool:
        """Whether the page may show what belongs to the house."""
        return self.document.has_original and not self.document.public

    # -- what is shown ------------------------------------------------------------------------

    def refresh(self, changes: Changes) -> None:
        project, release = self.document.project, self.document.release
        if project is None or release is None:
            return
        self._prepare(project)
        if self.house:
            self.document.posterior()
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

        if self._preparing.ask("preparing the bundle", work, (release,)):
            self.bundle = None

    def _prepared(self, bundle: Bundle) -> None:
        self.bundle = bundle
        self._show()

    def _cancelled(self) -> None:
        # Asked for again when the page is next brought up to date.
        self._preparing.drop()
        self._note.setText("Cancelled. Leave the page and come back to prepare the bundle.")

    def _show(self) -> None:
        project, release, bundle = self.document.project, self.document.release, self.bundle
        assert project is not None and release is not None
        house = self.house
        published = house and project.published
        self.panel.show_bundle(bundle, house=house)
        self.checks.show_checks(self._checks(project))
        self.fingerprint.setVisible(bundle is not None and not published)
        if bundle is not None:
            self.fingerprint.show_fingerprint(bundle.fingerprint, compare=not house)
        self.form.setVisible(house and not published)
        if house:
            self.form.show_project(title=project.title, source=project.source)
        else:
            self.form.forget()
            self.seal.text.clear()
        self.main_button.setVisible(house and not published)
        self.main_button.setEnabled(bundle is not None)
        self._copy_line.setVisible(house)
        self.seal.setVisible(published and bundle is not None)
        self._note.setText(self._note_text(published))
        self._mechanism.setText("" if bundle is None else bundle.mechanism)
        if bundle is None:
            self.set_sentence("Preparing the bundle \u2026")
        elif house:
            self.set_sentence(leaving_sentence(bundle, release, published=published))
            self.seal.show_release(self._published_path(), bundle.fingerprint)
        else:
            self.set_sentence(reader_sentence(bundle, release))

    def _believed(self, who: str, posterior: object) -> None:
        if self.isVisible() and self.bundle is not None and self.document.project is not None:
            self.checks.show_checks(self._checks(self.document.project))

    def _note_text(self, published: bool) -> str:
        if self.house:
            return "" if published else "Nothing leaves before you have confirmed it once more."
        if self.document.has_original:
            return "This is what a reader of the bundle will see. F9 goes back to the house."
        return "Compute what to believe under a prior of your own on the page Posterior."

    def _checks(self, project: Project) -> list[Check]:
        bundle = self.bundle
        if bundle is None:
            return []
        checks: list[Check] = []
        if self.house and project.protected is not None:
            record, summary = project.protected.record, bundle.summary
            if summary is not None:
                broken = project.takes_cycles and not summary.margins_preserved
                kept: Verdict = "cross" if broken else "tick"
                checks.append((kept, summary.sentence))
            checks += [("warning", f"Decision: {text}") for text in record.decisions]
            if not project.title:
                checks.append(("warning", "The release has no title."))
            checks += self._belief(project)
        checks += [("tick", text) for text in bundle.checks]
        return checks

    def _belief(self, project: Project) -> list[Check]:
        """What a reader will know of the at-risk cells, once the posterior is known."""
        posterior, original = self.document.known_posterior(), self.document.original
        if posterior is None or original is None:
            return []
        sure = given_away(posterior, project.at_risk, original)
        if not sure:
            text = f"A reader is nowhere surer than {SURE:.0%} of an at-risk cell's true count."
            return [("tick", text)]
        cells = "1 at-risk cell" if sure == 1 else f"{count_text(sure)} at-risk cells"
        text = f"A reader is more than {SURE:.0%} sure of the true count of {cells}: see Posterior."
        return [("warning", text)]

    def _published_path(self) -> Path:
        history = self.document.history
        for step in reversed(history.steps[: history.position]):
            if step.sealed:
                return Path(str(step.arguments["release"]))
        return Path()

    # -- what happens -------------------------------------------------------------------------

    def _set_title(self, title: str) -> None:
        project = self.document.project
        if project is not None and self.house and title != project.title:
            self.do(set_title, title=title)

    def words(self, project: Project) -> list[str]:
        return protect_words(project)

    def main_action(self) -> None:
        if not self.house or self.bundle is None or self._question is not None:
            return
        # Ctrl+Return does not end the editing of a field.
        self.form.end_editing()
        destination = self.form.destination()
        try:
            for path in (destination.release, destination.dossier):
                if path is not None and not path.parent.is_dir():
                    raise InputError(
                        "there is no such folder", file=path.parent, hint="choose another place"
                    )
            if destination.release == destination.dossier:
                raise InputError(
                    "release and dossier would be one file",
                    file=destination.release,
                    hint="give the release another name",
                )
        except InputError as error:
            self.show_error(error)
            return
        self._question = LeavingHouse(self, destination, what=self.sentence)
        self._question.accepted.connect(
            lambda: self._publish(destination.release, destination.dossier, bool(destination.taken))
        )
        self._question.finished.connect(self._answered)
        self._question.open()

    def _answered(self) -> None:
        self._question = None

    def _publish(self, release: Path, dossier: Path | None, overwrite: bool) -> Job | None:
        return self.do(
            publish,
            release=str(release),
            dossier=None if dossier is None else str(dossier),
            overwrite=overwrite,
        )

    def _copy(self) -> None:
        if self.bundle is not None:
            QGuiApplication.clipboard().setText(self.bundle.fingerprint)

    def _copy_command(self) -> None:
        project, destination = self.document.project, self.form.destination()
        if project is None:
            return
        dossier = None if destination.dossier is None else str(destination.dossier)
        order = publish(release=str(destination.release), dossier=dossier)
        QGuiApplication.clipboard().setText(line(order.words(project)))

    def choices(self) -> Mapping[str, Callable[[], object]]:
        return {"publish": self._publish_from_menu}

    def _publish_from_menu(self) -> None:
        if self.isVisible():
            self.main_button.click()

    def _open_as_reader(self) -> None:
        self.document.open_asked.emit(str(self._published_path()))
