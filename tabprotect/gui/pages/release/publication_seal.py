"""What was published and where, after it happened."""

from __future__ import annotations

from pathlib import Path

from PySide6.QtCore import Qt
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QFrame, QLineEdit, QPushButton, QSizePolicy, QWidget

from tabprotect.gui.look import icons
from tabprotect.gui.look.label import Label
from tabprotect.gui.look.layouts import in_column, in_row
from tabprotect.gui.look.roles import dress
from tabprotect.gui.look.theme import GRID, THEME
from tabprotect.languages.said import say
from tabprotect.languages.speaking import tell, told


class Seal(QFrame):
    """The bundle's name and fingerprint, to be copied or opened as a reader."""

    def __init__(self) -> None:
        super().__init__()
        dress(self, "card")
        self.setAccessibleName(tell("Published"))
        self._picture = Label()
        self.text = Label(wordWrap=True, name=say("What was published"))
        self.text.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        self.copy = QPushButton(tell("Copy fingerprint"))
        self.open = QPushButton(tell("Open as a reader"))
        self.open.setToolTip(tell("Open the bundle in a window of its own, without the original."))
        in_row(
            self._picture,
            (self.text, 1),
            self.copy,
            self.open,
            on=self,
            margins=(2 * GRID, GRID, 2 * GRID, GRID),
            spacing=2 * GRID,
        )

    def show_release(self, path: Path, fingerprint: str) -> None:
        """Show the seal of a written bundle."""
        self._picture.setPixmap(icons.pixmap("seal", 32, colour=THEME.colours.released))
        self.text.setText(
            tell(
                "Published as {name}. Undo cannot go back past this point.\n"
                "Fingerprint: {fingerprint}\nName it where readers can compare it.",
                path.name,
                fingerprint,
            )
        )

    @staticmethod
    def to_clipboard(text: str) -> None:
        """Copy a text."""
        QGuiApplication.clipboard().setText(told(text))


class Fingerprint(QWidget):
    """The SHA-256 of the bundle, and a field to compare it with one announced elsewhere."""

    def __init__(self) -> None:
        super().__init__()
        self._value = ""
        title = Label(say("Fingerprint (SHA-256)"), role="section")
        self.value = QLineEdit(readOnly=True)
        self.value.setAccessibleName(tell("Fingerprint of the bundle"))
        self.value.setToolTip(
            tell(
                "<p>Hashes inside a zip find damage, not a forger: compare the fingerprint of the "
                "whole with the one its publisher names elsewhere.</p>"
            )
        )
        self.announced = QLineEdit(placeholderText=tell("paste the announced one to compare"))
        self.announced.setAccessibleName(tell("Announced fingerprint"))
        self.announced.setClearButtonEnabled(True)
        self.announced.textChanged.connect(lambda _: self._compare())
        self.verdict = Label(name=say("Comparison of the fingerprints"))
        column = in_column(on=self, margins=0, spacing=4)
        for widget in (title, self.value, self.announced, self.verdict):
            column.addWidget(widget)
        self.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Fixed)

    def show_fingerprint(self, fingerprint: str, *, compare: bool) -> None:
        """Show a fingerprint; ``compare`` also offers the field."""
        self._value = fingerprint
        self.value.setText(told(fingerprint))
        self.value.setCursorPosition(0)
        self.announced.setVisible(compare)
        self._compare()

    def _compare(self) -> None:
        said = self.announced.text().strip().lower()
        self.verdict.setVisible(bool(said) and self.announced.isVisibleTo(self))
        if said == self._value:
            self.verdict.setText(tell("\u2713 It is the announced bundle."))
        else:
            self.verdict.setText(tell("\u2717 This is another bundle than the announced one."))
