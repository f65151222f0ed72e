"""The report from the page: two editions, as a page to read or as PDF, and to the printer."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QUrl
from PySide6.QtGui import QAction, QDesktopServices
from PySide6.QtWidgets import QMenu, QPushButton

from tabprotect.engine.bundle import public
from tabprotect.engine.bundle.staff import confidential
from tabprotect.engine.bundle.user_texts import user_texts
from tabprotect.engine.disclosure.policy import in_force
from tabprotect.engine.errors import TabprotectError
from tabprotect.engine.progress import Progress
from tabprotect.engine.project.project import Project
from tabprotect.gui.base.exporter import MARK, Exporter, marked
from tabprotect.gui.base.page import Page
from tabprotect.gui.look.buttons import connected
from tabprotect.gui.look.drawn import icons
from tabprotect.gui.look.file_dialogs import ask_place
from tabprotect.languages.messages import message
from tabprotect.languages.translation import tr

if TYPE_CHECKING:
    from tabprotect.engine.project.history import History
    from tabprotect.engine.report.report import Edition, Report

EDITIONS: tuple[tuple[Edition, str], ...] = (
    ("staff", message("Staff edition, CONFIDENTIAL")),
    ("public", message("Public edition")),
)
TEXTS = "md"
"""The kind of file that holds the texts for users."""

KINDS = (("html", message("web page")), ("pdf", "PDF"))


class ReportButton(QPushButton):
    """A menu of editions, and the last one to open."""

    def __init__(self, page: Page) -> None:
        super().__init__(tr("Report"))
        self.document = page.document
        self.last: Path | None = None
        self.setAccessibleName(tr("Write a report of the release"))
        menu = QMenu(self)
        self.entries: dict[tuple[str, str], QAction] = {}
        for edition, words in EDITIONS:
            for kind, name in KINDS:
                action = connected(
                    menu.addAction(tr("{words}, as {name}\u2026", words, name)),
                    triggered=lambda _=False, e=edition, k=kind: self._ask(e, k),
                )
                self.entries[edition, kind] = action
        self.entries["public", TEXTS] = connected(
            menu.addAction(tr("Texts for users\u2026")), triggered=lambda: self._ask("public", TEXTS)
        )
        menu.addSeparator()
        self.open = menu.addAction(icons.icon("open"), tr("Open the last one, to read or print it"))
        self.open.setEnabled(False)
        self.open.triggered.connect(self._open)
        self.setMenu(menu)
        self._exporter = connected(Exporter(page), written=self._done)

    def show_editions(self, *, staff: bool) -> None:
        """The staff edition is offered in the house alone."""
        for (edition, _), action in self.entries.items():
            action.setVisible(staff or edition == "public")
        if not staff and self.last is not None and MARK in self.last.name:
            self.last = None
            self.open.setEnabled(False)

    def _ask(self, edition: Edition, kind: str) -> None:
        folders = self.document.preferences
        folder = folders.confidential_folder if edition == "staff" else folders.public_folder
        name = "release-texts.md" if kind == TEXTS else f"release-report-{edition}.{kind}"
        suggested = marked(Path(name)) if edition == "staff" else Path(name)
        ask_place(
            self,
            message("Write the report"),
            str(Path(folder or "") / suggested),
            message("Report (*.{kind})", kind),
            lambda path: self.write(edition, Path(path)),
        )

    def write(self, edition: Edition, path: Path) -> None:
        """Write an edition; that of staff says CONFIDENTIAL in its name."""
        project, history = self.document.project, self.document.history
        if project is not None and self.document.has_release:
            self._exporter.write(
                edition,
                path,
                lambda p: _content(project, history, edition, path, p),
                confidential=edition == "staff",
                overwrite=True,
            )

    def _done(self, path: Path) -> None:
        self.last = path
        self.open.setEnabled(True)

    def _open(self) -> None:
        if self.last is not None:
            QDesktopServices.openUrl(QUrl.fromLocalFile(str(self.last)))


def _content(project: Project, history: History, edition: Edition, path: Path, progress: Progress) -> bytes:
    """What is written, by the suffix of the file."""
    from tabprotect.engine.report.text_files import TEXT_FILES, texts_bytes

    if path.suffix.lower() not in TEXT_FILES:
        return _report(project, history, edition, progress).as_bytes(path)
    assert project.release is not None
    return texts_bytes(user_texts(project.release, in_force().texts))


def _report(project: Project, history: History, edition: Edition, progress: Progress) -> Report:
    # Templates, and the register, come with the first report.
    from tabprotect.engine.report.report import public_report, staff_report

    made = datetime.now(UTC).date()
    assert project.release is not None
    bundle = public.to_bytes(project.release)
    if edition == "public":
        return public_report(bundle, made, progress)
    if project.protected is None:
        raise TabprotectError(message("there is no original here to tell of"))
    steps = tuple(confidential.DossierStep(e.time, e.label) for e in history.trail)
    return staff_report(confidential.Dossier(project.protected, bundle, steps), made, progress)
