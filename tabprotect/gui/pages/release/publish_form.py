"""Title, destinations, the one question before something leaves the house, and the seal after it did."""

from __future__ import annotations

import os
import re
from datetime import datetime
from pathlib import Path

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import (
    QCheckBox,
    QFormLayout,
    QFrame,
    QLabel,
    QLineEdit,
    QPushButton,
    QSizePolicy,
    QWidget,
)

from tabprotect.engine.bundle.staff import confidential
from tabprotect.engine.formats.agencies.frictionless import slug
from tabprotect.engine.options import option_named
from tabprotect.engine.project.options import Protecting, Publishing
from tabprotect.gui.base.exporter import marked
from tabprotect.gui.base.preferences import Preferences
from tabprotect.gui.forms.option_fields import asks_for
from tabprotect.gui.look.buttons import (
    Dialog,
    Inside,
    Scrolling,
    card,
    connected,
    decision,
    named,
    present,
    push_button,
)
from tabprotect.gui.look.drawn import icons
from tabprotect.gui.look.file_dialogs import ask_file, ask_place
from tabprotect.gui.look.label import Label, heading, tip
from tabprotect.gui.look.layouts import FlowLayout, filled, held, in_column, in_grid, in_row
from tabprotect.gui.look.theme import GRID, THEME
from tabprotect.gui.pages.release.destinations import Destination, default_folder, unused
from tabprotect.languages.messages import day_said, joined, message
from tabprotect.languages.translation import tr, translate

TITLE = option_named(Protecting, "title")
KEY_FILES = message("Files (*)")

BUNDLE, DOSSIER = option_named(Publishing, "release"), option_named(Publishing, "dossier")
SECRET = option_named(Publishing, "dossier_key")


class PublishForm(QWidget):
    """File of the bundle, file of the dossier."""

    def __init__(self) -> None:
        super().__init__(accessibleName=tr("Destinations"))
        self._chosen = False
        self._confidential: Path | None = None
        self._kept: tuple[str, str] | None = None
        self._source: str | None = None
        self.release = connected(asks_for(QLineEdit(), BUNDLE), textEdited=lambda _: self._follow())
        self.keep = asks_for(QCheckBox(translate(DOSSIER.label)), DOSSIER)
        self.keep.setChecked(True)
        self.dossier = connected(QLineEdit(), editingFinished=self._mark)
        self.secret = asks_for(QLineEdit(placeholderText=tr("none: the dossier is not encrypted")), SECRET)
        for field in (self.dossier, self.secret):
            self.keep.toggled.connect(field.setEnabled)
        self.together = Label(
            message("Public and confidential files go into one folder: File > Settings keeps them apart."),
            wordWrap=True,
            role="quiet",
        )
        self.apart = named(
            QCheckBox(tr("A bundle for each table")),
            tip=message(
                "<p>A folder with a bundle for each table and one manifest for all; cells that several "
                "tables have are the same in all.</p>"
            ),
        )
        self.apart.hide()
        in_column(heading(message("What is written")), self._card(), on=self, margins=0, spacing=4)

    def _card(self) -> QFrame:
        grid = in_grid(margins=(GRID + 4, GRID, GRID + 4, GRID), across=GRID, down=GRID, wide=1)
        for row, (label, field, name) in enumerate(
            (
                (Label(BUNDLE.label), self.release, message("File of the release bundle")),
                (self.keep, self.dossier, message("File of the dossier, confidential")),
                (Label(SECRET.label), self.secret, message("File of the dossier's passphrase")),
            )
        ):
            field.setAccessibleName(translate(name))
            if isinstance(label, QLabel):
                label.setBuddy(field)
            grid.addWidget(label, row, 0)
            grid.addWidget(field, row, 1)
        for row, field in enumerate((self.release, self.dossier, self.secret)):
            button = named(
                QPushButton(tr("Choose\u2026")),
                message("Choose: {accessibleName}", field.accessibleName()),
                clicked=lambda _=False, f=field: self._ask(f),
            )
            grid.addWidget(button, row, 2)
            field.textChanged.connect(lambda _: self._compare())
        grid.addWidget(self.apart, 3, 1, 1, 2, Qt.AlignmentFlag.AlignLeft)
        grid.addWidget(self.together, 4, 0, 1, 3)
        self.keep.toggled.connect(lambda _: self._compare())
        return card(grid)

    def show_project(self, *, title: str, source: str, preferences: Preferences, tables: int = 1) -> None:
        """Fill in destinations nobody has chosen yet.

        Where there are several ``tables`` each may go into a bundle of its own. What was chosen for one
        source is not offered for another.
        """
        if self._source not in (None, source):
            self.begin_anew()
        self._source = source
        self.apart.setVisible(tables > 1)
        if tables < 2:
            self.apart.setChecked(False)
        if self._kept is not None:
            for field, text in zip((self.release, self.dossier), self._kept, strict=True):
                field.setText(translate(text))
            self._kept = None
        if not self._chosen:
            name = slug(title) if title else ""
            folder = default_folder(source, preferences.public_folder)
            self._confidential = preferences.confidential_folder
            self.release.setText(str(unused(folder, f"{name or 'table'}-release")))
            self._suggest()

    def forget(self) -> None:
        """Show no path; what was chosen comes back with :meth:`show_project`."""
        if self._kept is None:
            self._kept = self.release.text(), self.dossier.text()
        for field in (self.release, self.dossier, self.secret):
            field.setText("")

    def begin_anew(self) -> None:
        """Nothing is chosen: the next release has its own files."""
        self._chosen, self._kept = False, None

    def set_destination(self, release: Path, dossier: Path | None) -> None:
        """Choose both files."""
        self._chosen = True
        self.release.setText(str(release))
        self.keep.setChecked(dossier is not None)
        self.dossier.setText(translate("" if dossier is None else str(marked(dossier))))

    def destination(self) -> Destination:
        """Return where it goes. The dossier's name always says what it is."""
        release = Path(self.release.text().strip())
        if release.name in ("", ".."):
            # Still being typed: what is missing is said before anything is written.
            return Destination(release, None)
        if release.suffix.lower() != ".zip":
            release = release.with_name(f"{release.name}.zip")
        if self.apart.isChecked():
            release = release.with_suffix("")
        dossier = self.dossier.text().strip() or str(confidential.suggested_name(release))
        return Destination(release, marked(Path(dossier)) if self.keep.isChecked() else None)

    def _follow(self) -> None:
        self._chosen = True
        self._suggest()

    def _suggest(self) -> None:
        release = Path(self.release.text().strip())
        if release.name in ("", ".."):
            self.dossier.setText("")
            return
        beside = confidential.suggested_name(release)
        if self._confidential is not None and os.path.isdir(self._confidential):
            beside = self._confidential / beside.name
        self.dossier.setText(translate(str(beside)))

    def _compare(self) -> None:
        public, stays = Path(self.release.text()), Path(self.dossier.text())
        written = bool(self.release.text()) and self.keep.isChecked()
        self.together.setVisible(written and public.parent == stays.parent)

    def _mark(self) -> None:
        self._chosen = True
        if text := self.dossier.text().strip():
            self.dossier.setText(str(marked(Path(text))))

    def passphrase(self) -> str | None:
        """Return the file of the passphrase that the dossier is encrypted with; ``None`` for none."""
        return (self.secret.text().strip() or None) if self.keep.isChecked() else None

    def _ask(self, field: QLineEdit) -> None:
        if field is self.secret:
            ask_file(self, field.accessibleName(), KEY_FILES, field.setText)
            return
        # Overwriting is asked once, in the question before publishing.
        ask_place(
            self,
            field.accessibleName(),
            field.text(),
            message("Zip files (*.zip)"),
            lambda path: self._take(field, path),
            confirm=False,
        )

    def _take(self, field: QLineEdit, path: str) -> None:
        field.setText(translate(path))
        (self._follow if field is self.release else self._mark)()


class PublishDialog(Dialog):
    """The modal question: what leaves, where it goes, who answers; no undo brings it back."""

    def __init__(
        self, parent: QWidget, destination: Destination, *, what: list[str], signed: str, reason: str
    ) -> None:
        super().__init__(parent, message("Approve and publish"))
        taken, dossier = destination.taken, destination.dossier
        picture = Label()
        picture.setPixmap(icons.pixmap("release", 32))
        title = Label(message("This will be published."), role="heading")
        kept = (
            message("No dossier is kept: nobody will be able to account for this release later.")
            if dossier is None
            else str(dossier)
        )
        rows = (
            (message("For readers"), str(destination.release)),
            (message("For the house, confidential"), kept),
            (message("Signed"), signed),
            (message("Reason"), reason),
        )
        self.excel = QCheckBox(tr("Excel, beside it"))
        self.excel.setChecked(True)
        last = []
        if taken:
            names = joined((path.name for path in taken), message(" and "))
            last.append(message("There is a file of that name already; it is replaced: {names}.", names))
        last.append(message("What is published cannot be undone."))
        scale = THEME.scale
        wide = min(round(76 * GRID * scale), parent.window().width() - 12 * GRID)
        inside, grid = Inside(), in_grid(across=2 * GRID, down=GRID, wide=1)
        for row, (name, words) in enumerate(row for row in rows if row[1]):
            grid.addWidget(Label(name, role="quiet"), row, 0, Qt.AlignmentFlag.AlignTop)
            # Folders have no blanks to break their line at.
            said = Label(re.sub(r"([/\\\\])", "\\1\u200b", translate(words)), wordWrap=True, name=name)
            said.setAlignment(Qt.AlignmentFlag.AlignTop)
            grid.addWidget(said, row, 1)
        grid.addWidget(Label(message("Also"), role="quiet"), len(rows), 0)
        grid.addWidget(self.excel, len(rows), 1)
        in_column(
            *(Label(text, wordWrap=True) for text in what),
            grid,
            *(Label(text, wordWrap=True) for text in last),
            on=inside,
            margins=0,
            spacing=GRID + 4,
        )
        self.text = translate(joined((*what, *(words for _, words in rows if words), *last), "\n"))
        words = message("Publish and replace") if taken else message("Publish")
        buttons, self.publish, self.back = decision(self, words, back=message("Not yet"))
        # Enter presses the button that has the focus, as Space does: at first the careful one.
        for button in (self.publish, self.back):
            button.setAutoDefault(True)
        self.back.setDefault(True)
        head = in_row(picture, (title, 1), spacing=2 * GRID)
        area = Scrolling(inside, sideways=False, name=message("What is published"))
        in_column(
            head,
            (area, 1),
            buttons,
            on=self,
            margins=(3 * GRID, 2 * GRID, 3 * GRID, 2 * GRID),
            spacing=2 * GRID,
        )
        room = wide - 6 * GRID - area.verticalScrollBar().sizeHint().width()
        rest = head.sizeHint().height() + buttons.sizeHint().height() + 8 * GRID
        high = present(inside.layout()).heightForWidth(room) + rest
        self.resize(wide, min(high, parent.window().height() - 4 * GRID))
        self.back.setFocus()


class SigningForm(QWidget):
    """Title, two names and a reason. ``changed`` after each stroke, ``titled`` carries a new title; ``kept``:
    the reason is to stand for others."""

    changed = Signal()
    titled = Signal(str)
    kept = Signal()

    def __init__(self) -> None:
        super().__init__(accessibleName=tr("Title and signatures"))
        self.title = connected(
            asks_for(QLineEdit(placeholderText=tr("what the reader sees first")), TITLE),
            editingFinished=self.end_editing,
        )
        self._offered = ""
        self._source: str | None = None
        self._key_rows: list[QWidget] = []
        self.prepared = QLineEdit()
        self.approved = QLineEdit()
        self.reason = QLineEdit(placeholderText=tr("goes into dossier and register"))
        self.keys = (QLineEdit(), QLineEdit())
        form = QFormLayout()
        form.setContentsMargins(0, 0, 0, 0)
        form.setVerticalSpacing(GRID)
        form.setRowWrapPolicy(QFormLayout.RowWrapPolicy.WrapLongRows)
        self.title.setAccessibleName(tr("Title, public"))
        form.addRow(Label(TITLE.label, buddy=self.title), self.title)
        for asked, field, name in (
            ("prepared_by", self.prepared, message("Prepared by, name")),
            ("approved_by", self.approved, message("Approved by, name")),
            ("accept", self.reason, message("Reason for publishing all the same")),
        ):
            option = option_named(Publishing, asked)
            asks_for(field, option).setAccessibleName(translate(name))
            field.textEdited.connect(lambda _: self.changed.emit())
            label = Label(option.label, buddy=field)
            # In the middle of its field's height.
            label.setMinimumHeight(field.sizeHint().height())
            form.addRow(label, field)
            # A file that is dropped here is opened, as anywhere.
            field.setAcceptDrops(False)
        self.title.setAcceptDrops(False)
        self.keep = push_button(
            message("Keep as standing reason"),
            self.kept.emit,
            flat=True,
            tip=message("Taken wherever the same is not worked out: File > Settings > Standing reasons."),
        )
        form.addRow("", self.keep)
        for option, field, name in zip(
            (option_named(Publishing, "sign"), option_named(Publishing, "sign_too")),
            self.keys,
            (message("File of the key that signs"), message("File of the second key that signs")),
            strict=True,
        ):
            asks_for(field, option).setAccessibleName(translate(name))
            field.textChanged.connect(lambda _: self.changed.emit())
            button = named(
                QPushButton(tr("Choose\u2026")),
                message("Choose: {accessibleName}", field.accessibleName()),
                clicked=lambda _=False, f=field: ask_file(self, f.accessibleName(), KEY_FILES, f.setText),
            )
            row = held(in_row((field, 1), button, margins=0, spacing=GRID))
            form.addRow(Label(option.label, buddy=field), row)
            form.setRowVisible(row, False)
            self._key_rows.append(row)
        self._form = form
        in_column(form, on=self, margins=0)

    def show_title(self, title: str) -> None:
        """Show the title, unless another one is being typed."""
        if not self.title.isModified():
            self.title.setText(translate(title))

    def end_editing(self) -> None:
        """Take over a title that is still being typed."""
        # Only what was typed: leaving the field must not bring back a title that was undone.
        if self.title.isModified():
            self.title.setModified(False)
            self.titled.emit(self.title.text().strip())

    def offer(self, name: str) -> None:
        """Offer the staff member's own name."""
        if name and not self.prepared.isModified() and self.prepared.text() in ("", self._offered):
            self.prepared.setText(name)
            self._offered = name

    def ask_reason(self, needed: bool, *, lasting: bool = False) -> None:
        """Ask for a reason where one is needed; ``lasting``: it may be kept for others of its kind."""
        self._form.setRowVisible(self.reason, needed)
        self._form.setRowVisible(self.keep, needed and lasting)
        self.keep.setEnabled(bool(self.reason.text().strip()))

    def ask_keys(self, number: int) -> None:
        """Ask for so many keys; where there are any, they say who signs, and no names are asked for."""
        for place, row in enumerate(self._key_rows):
            self._form.setRowVisible(row, place < number)
        for field in (self.prepared, self.approved):
            self._form.setRowVisible(field, not number)

    def signing_keys(self) -> tuple[str, ...]:
        """Return the files of the keys that sign, each once."""
        given = (field.text().strip() for field in self.keys)
        return tuple(dict.fromkeys(filter(None, given)))

    def begin_anew(self) -> None:
        """An approval and a reason are of one release: nobody has given them for the next."""
        for field in self.keys:
            field.setText("")
        self.approved.setText("")
        self.reason.setText("")
        self.title.setModified(False)

    def begin(self, source: str) -> None:
        """Another table asks for its own approval."""
        if self._source not in (None, source):
            self.begin_anew()
        self._source = source

    def forget(self) -> None:
        """Names and reasons are the house's own."""
        for field in (self.title, self.prepared, self.approved, self.reason, *self.keys):
            # Not clear(): that is an edit, and what was edited is taken over.
            field.setText("")

    def names(self) -> tuple[str, str]:
        """Return who prepared and who approved it."""
        return self.prepared.text().strip(), self.approved.text().strip()


def signed_by(prepared: str, approved: str) -> str:
    """Say who answers for a release, in a sentence; empty for nobody."""
    if prepared and approved:
        return message("Prepared by {prepared}, approved by {approved}.", prepared, approved)
    if prepared:
        return message("Prepared by {prepared}.", prepared)
    return message("Approved by {approved}.", approved) if approved else ""


def in_groups(fingerprint: str) -> str:
    """The first letters of a check number, as they are read out."""
    return joined((fingerprint[n : n + 4] for n in range(0, 12, 4)), " ")


class Seal(QFrame):
    """The bundle's name and check number, to be copied or opened as a reader."""

    def __init__(self) -> None:
        super().__init__()
        named(self, message("Published"), role="card")
        self._picture = Label()
        self.text = Label(wordWrap=True, name=message("What was published"), selectable=True)
        self.copy = named(
            QPushButton(tr("Copy the check number")),
            tip=message("Put it on your web page: readers can see that their file is genuine."),
        )
        self.open = named(
            QPushButton(tr("Open as a reader")),
            tip=message("Open the bundle in a window of its own, without the original."),
        )
        ways = FlowLayout(gap=GRID)
        filled(ways, self.copy, self.open)
        in_row(
            (self._picture, 0, Qt.AlignmentFlag.AlignTop),
            (in_column(self.text, ways, spacing=GRID), 1),
            on=self,
            margins=(2 * GRID, GRID, 2 * GRID, GRID),
            spacing=2 * GRID,
        )

    def show_release(self, path: Path, fingerprint: str, *, signed: str) -> None:
        """Show the seal of a written bundle: what, when, and who answers for it."""
        self._picture.setPixmap(icons.pixmap("seal", 32, colour=THEME.colours.released))
        written = datetime.fromtimestamp(path.stat().st_mtime) if os.path.exists(path) else None
        day = "" if written is None else day_said(written)
        published = (
            message("Published as {name}.", path.name)
            if written is None
            else message("Published as {name} on {day}, {time}.", path.name, day, f"{written:%H:%M}")
        )
        lines = [
            joined(filter(None, (published, signed, message("It cannot be taken back."))), " "),
            message("Check number: {fingerprint}", in_groups(fingerprint)),
        ]
        self.text.setText(translate(joined(lines, "\n")))

        self.text.setToolTip(translate(tip(fingerprint)))

    @staticmethod
    def to_clipboard(text: str) -> None:
        """Copy a text."""
        QGuiApplication.clipboard().setText(translate(text))


class Fingerprint(QWidget):
    """The SHA-256 of the bundle, and a field to compare it with one announced elsewhere."""

    def __init__(self) -> None:
        super().__init__()
        self._value = ""
        title = Label(message("Check number (SHA-256)"), role="section")
        self.value = named(
            QLineEdit(readOnly=True),
            message("Check number of the release"),
            tip=message(
                "<p>Hashes inside a zip find damage, not a forger: compare the check number of the "
                "whole with the one its publisher names elsewhere.</p>"
            ),
        )
        self.announced = named(
            QLineEdit(placeholderText=tr("paste the announced one to compare"), clearButtonEnabled=True),
            message("Announced check number"),
            textChanged=lambda _: self._compare(),
        )
        self.verdict = Label(name=message("Comparison of the check numbers"))
        filled(in_column(on=self, margins=0, spacing=4), title, self.value, self.announced, self.verdict)
        self.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Fixed)

    def show_fingerprint(self, fingerprint: str, *, compare: bool) -> None:
        """Show a fingerprint; ``compare`` also offers the field."""
        self._value = fingerprint
        self.value.setText(translate(fingerprint))
        self.value.setCursorPosition(0)
        self.announced.setVisible(compare)
        self._compare()

    def _compare(self) -> None:
        said = self.announced.text().strip().lower()
        self.verdict.setVisible(bool(said) and self.announced.isVisibleTo(self))
        if said == self._value:
            self.verdict.setText(tr("\u2713 It is the announced bundle."))
        else:
            self.verdict.setText(tr("\u2717 This is another bundle than the announced one."))
