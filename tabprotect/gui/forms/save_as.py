"""Saving the release, or the confidential table, in another format, with a look at the file first."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from types import MappingProxyType
from typing import Any

from PySide6.QtGui import QFontDatabase, QTextOption
from PySide6.QtWidgets import (
    QCheckBox,
    QDialog,
    QDialogButtonBox,
    QFormLayout,
    QLineEdit,
    QPlainTextEdit,
    QPushButton,
    QWidget,
)

from tabprotect.engine.atomic import write_bytes
from tabprotect.engine.bundle.tables.export import Exporting, exported, files_of
from tabprotect.engine.disclosure.policy import in_force
from tabprotect.engine.errors import TabprotectError
from tabprotect.engine.formats import registered
from tabprotect.engine.formats.format import Format
from tabprotect.engine.formats.layouts.observations import cells_shown
from tabprotect.engine.formats.registered import formats
from tabprotect.engine.formats.statuses import COUNT, SHOWN
from tabprotect.engine.options import option_named
from tabprotect.engine.paths import is_file, is_folder
from tabprotect.engine.plain_values.metadata import OF_MECHANISM, TABLE_TEXTS
from tabprotect.engine.progress import Progress
from tabprotect.engine.project.project import Project
from tabprotect.engine.release.release import Release
from tabprotect.engine.tables.cube import Cube
from tabprotect.engine.tables.table import Table
from tabprotect.gui.base.background.background_task import BackgroundTask
from tabprotect.gui.base.document import Document
from tabprotect.gui.base.exporter import Exporter
from tabprotect.gui.base.page import Page
from tabprotect.gui.forms.option_fields import asks_for
from tabprotect.gui.look.buttons import choice, named
from tabprotect.gui.look.file_dialogs import ask_place
from tabprotect.gui.look.label import Label
from tabprotect.gui.look.layouts import in_column
from tabprotect.gui.look.theme import GRID
from tabprotect.languages.messages import joined, message
from tabprotect.languages.translation import tr, translate

OFFERED = ("xlsx", "px", "jsonstat", "sdmx-csv", "csv")
"""The formats that are offered, by what most ask for."""

LINES, CHARACTERS = 24, 3_000
"""What is shown of a file, at most."""

TOLD = (*(name for name in TABLE_TEXTS if name not in OF_MECHANISM), "notes", "date")
"""The options of what is told beside the numbers of a release."""

COLUMN = 20
"""Letters that a column of the cells shown is wide."""

WAIT = 300
"""Milliseconds after the last key before the file is made anew."""


@dataclass(frozen=True)
class Made:
    """A file as it would be written, with what it leaves out or replaces."""

    content: bytes
    beside: dict[str, bytes]
    beginning: str
    notes: tuple[str, ...]


def published_release(project: Project | None) -> Release | None:
    """Return what has left the house, or what a reader opened: nothing else is saved as a release."""
    if project is None:
        return None
    if project.released is not None:
        return project.released
    return project.protected.release if project.published and project.protected else None


def true_table(document: Document) -> Table | None:
    """The confidential table, where there is one and nobody but the house looks on."""
    project = document.project
    if project is None or project.kind == "reader" or project.of_magnitudes or document.public:
        return None
    return project.original


def made_of_table(table: Table, kind: Format) -> Made:
    """The confidential table with every cell."""
    domain, notes = kind.held(table.domain, strict=False)
    content = kind.write(table.on(domain))
    shown = beginning(content, Cube(table.on(domain)))
    return Made(content, {}, shown, (*kind.loses(table.domain), *notes))


def beginning(content: bytes, cube: Cube | None) -> str:
    """The first lines of a file of text; of any other the first cells that are in it."""
    if cube is None or b"\0" not in content[:CHARACTERS]:
        text = content[: 4 * CHARACTERS].decode("utf-8", "ignore")
        return "\n".join(text.splitlines()[:LINES])[:CHARACTERS]
    rows = [[*cube.table.domain.names, COUNT]]
    for _, labels, count in islice(cells_shown(cube.table, cube.hidden), LINES - 1):
        rows.append([*labels, SHOWN if count is None else str(count)])
    return "\n".join("\t".join(row) for row in rows)[:CHARACTERS]


class SaveAsDialog(QDialog):
    """A format, the code of totals, and how the file begins.

    Parameters
    ----------
    page
        Where the file is reported.
    make
        What a format makes of it, with this code of totals, and the texts that are told beside it.
    confidential
        Whether these are true counts.
    doubted
        Whether each number may have its interval beside it.
    said
        What the release or the house says where nothing is typed, by the names of ``TABLE_TEXTS``.
    """

    def __init__(
        self,
        page: Page,
        make: Callable[[Format, str, Mapping[str, str]], Made],
        *,
        confidential: bool,
        doubted: bool = False,
        said: Mapping[str, str] = MappingProxyType({}),
    ) -> None:
        super().__init__(page.window())
        self.setWindowTitle(tr("Save the table, CONFIDENTIAL") if confidential else tr("Save the release"))
        self._page, self._make, self._confidential = page, make, confidential
        self.made: Made | None = None
        self._exporter = Exporter(page)
        self._question: BackgroundTask[Made] = BackgroundTask(
            self, page.document.jobs, self._show, self._failed
        )
        self._question.outlives = True
        self.format = choice(message("Format"), {name: registered.named(name).label for name in OFFERED})
        totals = option_named(Exporting, "total_code")
        self.total_code = asks_for(QLineEdit(placeholderText=tr("the source's own, else T")), totals)
        self.telling = {
            name: asks_for(
                QLineEdit(placeholderText=said.get(name) or tr("as in the file that was read")),
                option_named(Exporting, name),
            )
            for name in TOLD
        }
        self.intervals = QCheckBox(tr("From what to what the true count lies"))
        self._doubted = doubted
        self._said: bool | None = None
        self.preview = named(QPlainTextEdit(readOnly=True), message("How the file begins"))
        self.preview.setFont(QFontDatabase.systemFont(QFontDatabase.SystemFont.FixedFont))
        self.preview.setTabStopDistance(COLUMN * self.preview.fontMetrics().averageCharWidth())
        self.preview.setWordWrapMode(QTextOption.WrapMode.WrapAtWordBoundaryOrAnywhere)
        self.notes = Label(wordWrap=True, role="quiet", name=message("What the file leaves out"))
        form = QFormLayout(verticalSpacing=GRID)
        self._label(form, message("Format"), self.format)
        if not confidential:
            self._label(form, totals.label, self.total_code)
            if doubted:
                self._label(form, option_named(Exporting, "add").label, self.intervals)
            for name, box in self.telling.items():
                self._label(form, option_named(Exporting, name).label, box)
        buttons = QDialogButtonBox(QDialogButtonBox.StandardButton.Cancel)
        self.save_button = QPushButton(tr("Save as\u2026"))
        buttons.addButton(self.save_button, QDialogButtonBox.ButtonRole.AcceptRole)
        self.save_button.clicked.connect(self._ask_place)
        buttons.rejected.connect(self.reject)
        in_column(form, (self.preview, 1), self.notes, buttons, on=self)
        self.resize(90 * GRID, 80 * GRID)
        self.format.currentIndexChanged.connect(lambda _: self._look())
        self.intervals.clicked.connect(self._say)
        for box in (self.total_code, *self.telling.values()):
            box.textChanged.connect(lambda _: self._look(WAIT))
        self._look()

    @staticmethod
    def _label(form: QFormLayout, text: str, box: QWidget) -> None:
        form.addRow(Label(text, buddy=box), box)

    @property
    def kind(self) -> Format:
        """The chosen format."""
        return registered.named(str(self.format.currentData()))

    def _look(self, wait: int = 0) -> None:
        """Make the file in the background and show how it begins."""
        kind, code, make = self.kind, self.total_code.text(), self._make
        told = {name: text for name, box in self.telling.items() if (text := box.text().strip())}
        if self._doubted:
            # Ticked by itself where the format has them by itself.
            self.intervals.setChecked(kind.book if self._said is None else self._said)
        if self._said is not None:
            told["add"] = "intervals" if self._said else "nothing"
        self.made = None
        self.save_button.setEnabled(False)

        def work(_: Progress) -> Made:
            return make(kind, code, told)

        asked = (kind.name, code, *told.items())
        self._question.ask(message("a look at the file"), work, asked, wait=wait)

    def _say(self, wanted: bool) -> None:
        self._said = wanted
        self._look()

    def _show(self, made: Made) -> None:
        self.made = made
        self.save_button.setEnabled(True)
        self.preview.setPlainText(made.beginning)
        self.notes.setText(translate(joined(made.notes, "\n")))

    def _failed(self, error: TabprotectError) -> None:
        self.preview.setPlainText("")
        self.notes.setText(translate(joined([error.message, error.hint or ""], "\n")))

    def _ask_place(self) -> None:
        kind = self.kind
        name = f"{'table' if self._confidential else 'release'}{kind.suffixes[0]}"
        filters = message("{label} (*{suffix})", kind.label, kind.suffixes[0])
        ask_place(self, message("Save as"), name, filters, lambda path: self.save(Path(path)))

    def save(self, path: Path) -> None:
        """Write the file that was looked at."""
        if (made := self.made) is None:
            return

        def content(_: Progress) -> bytes:
            for name, more in made.beside.items():
                write_bytes(path.with_name(name.replace("release", path.stem, 1)), more)
            return made.content

        self._exporter.write("saved", path, content, confidential=self._confidential, overwrite=True)
        self.accept()


def _folder_of_set(document: Document) -> Path | None:
    """Where a set of tables was published; ``None`` for a bundle, and where nothing was."""
    place = document.history.publication.get("release")
    return Path(str(place)) if place and is_folder(Path(str(place))) else None


def made_of_release(release: Release, document: Document) -> Callable[[Format, str, Mapping[str, str]], Made]:
    """What a format makes of a release that was published: with this code of totals and these texts."""
    project = document.project
    # What a reader opened is the release itself.
    read = project is not None and project.kind != "reader" and is_file(project.source)
    file = project.source if project is not None and read else None
    folder = _folder_of_set(document)

    def made(kind: Format, code: str, told: Mapping[str, str]) -> Made:
        given: dict[str, Any] = {n: (text,) if n == "notes" else text for n, text in told.items()}
        asked = Exporting(**given, total_code=code or None, texts_of=file)
        path = Path(f"release{kind.suffixes[0]}")
        if folder is not None:
            # Late: the first paint does not wait for what verifies.
            from tabprotect.engine.bundle.set_bundles import verify_set

            whole = verify_set(folder)
            files, written = files_of(
                whole.by_table, path, kind, asked, title=whole.title, check=whole.fingerprint
            )
            return Made(files[path], {}, beginning(files[path], written[0][1]), ())
        found = exported(release, path, kind, asked)
        shown = beginning(found.content, found.cube)
        return Made(found.content, dict(found.beside), shown, tuple(found.notes))

    return made


def ask_release(page: Page) -> SaveAsDialog | None:
    """Ask how to save what was published; say so on the page where nothing was."""
    document = page.document
    if (release := published_release(document.project)) is None:
        page.errors.show_note(
            message("Only a published release is saved in another format: publish it first.")
        )
        return None
    made = made_of_release(release, document)
    doubted = not (_folder_of_set(document) or release.magnitudes)
    said = {**in_force().metadata, **release.metadata}
    return _opened(SaveAsDialog(page, made, confidential=False, doubted=doubted, said=said))


def write_workbook(page: Page, exporter: Exporter, path: Path, *, overwrite: bool) -> None:
    """Write what was just published as a workbook, too."""
    if (release := published_release(page.document.project)) is not None:
        made, kind = made_of_release(release, page.document), registered.named(OFFERED[0])
        exporter.write(
            "book", path, lambda _: made(kind, "", {}).content, confidential=False, overwrite=overwrite
        )


def ask_table(page: Page) -> SaveAsDialog | None:
    """Ask how to save the confidential table."""
    if (table := true_table(page.document)) is None:
        page.errors.show_note(message("There is no table of the house here."))
        return None
    return _opened(SaveAsDialog(page, lambda kind, *_: made_of_table(table, kind), confidential=True))


def _opened(dialog: SaveAsDialog) -> SaveAsDialog:
    # Loaded before the first look at a file asks for them.
    formats()
    dialog.open()
    return dialog
