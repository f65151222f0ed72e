"""What was checked, as a list with symbols; for a reader also the fingerprint to compare."""

from __future__ import annotations

from typing import Literal

from PySide6.QtCore import Qt
from PySide6.QtWidgets import (
    QFrame,
    QGridLayout,
    QLineEdit,
    QScrollArea,
    QSizePolicy,
    QVBoxLayout,
    QWidget,
)

from tabprotect.gui.look import icons
from tabprotect.gui.look.label import Label
from tabprotect.gui.look.theme import GRID, THEME

Verdict = Literal["tick", "warning", "cross"]
Check = tuple[Verdict, str]

COLOURS = {"tick": "released", "warning": "at_risk", "cross": "error"}
WORDS = {"tick": "passed", "warning": "mind", "cross": "failed"}


class CheckList(QScrollArea):
    """Statements, each with a tick, a warning or a cross."""

    def __init__(self) -> None:
        super().__init__()
        self.setAccessibleName("Checks")
        self.setWidgetResizable(True)
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.checks: list[Check] = []
        self._inner = QWidget()
        self._grid = QGridLayout(self._inner)
        self._grid.setContentsMargins(0, 0, GRID, 0)
        self._grid.setHorizontalSpacing(GRID)
        self._grid.setVerticalSpacing(4)
        self._grid.setColumnStretch(1, 1)
        self.setWidget(self._inner)
        THEME.changed.connect(self._theme_changed)

    def _theme_changed(self) -> None:
        self.show_checks(self.checks)

    def _repaint(self) -> None:
        self.show_checks(self.checks)

    def show_checks(self, checks: list[Check]) -> None:
        """List the statements anew."""
        self.checks = checks
        while self._grid.count():
            item = self._grid.takeAt(0)
            widget = None if item is None else item.widget()
            if widget is not None:
                # At once: what it said may belong to the house.
                widget.setParent(None)
                widget.deleteLater()
        for row in range(self._grid.rowCount()):
            self._grid.setRowStretch(row, 0)
        for row, (verdict, text) in enumerate(checks):
            picture, words = Label(), Label(text, wordWrap=True)
            ink = getattr(THEME.colours, COLOURS[verdict])
            picture.setPixmap(icons.pixmap(verdict, 16, colour=ink))
            words.setAccessibleName(f"{WORDS[verdict]}: {text}")
            words.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
            self._grid.addWidget(picture, row, 0, Qt.AlignmentFlag.AlignTop)
            self._grid.addWidget(words, row, 1)
        self._grid.setRowStretch(len(checks), 1)


class Fingerprint(QWidget):
    """The SHA-256 of the bundle, and a field to compare it with one announced elsewhere."""

    def __init__(self) -> None:
        super().__init__()
        self._value = ""
        title = Label("Fingerprint (SHA-256)")
        title.setProperty("role", "section")
        self.value = QLineEdit(readOnly=True)
        self.value.setAccessibleName("Fingerprint of the bundle")
        self.value.setToolTip(
            "<p>Hashes inside a zip find damage, not a forger: compare the fingerprint of the "
            "whole with the one its publisher names elsewhere.</p>"
        )
        self.announced = QLineEdit(placeholderText="paste the announced one to compare")
        self.announced.setAccessibleName("Announced fingerprint")
        self.announced.setClearButtonEnabled(True)
        self.announced.textChanged.connect(lambda _: self._compare())
        self.verdict = Label()
        self.verdict.setAccessibleName("Comparison of the fingerprints")
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(4)
        for widget in (title, self.value, self.announced, self.verdict):
            column.addWidget(widget)
        self.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Fixed)

    def controls(self) -> list[QWidget]:
        """What takes the keyboard, in reading order."""
        return [self.value, self.announced]

    def show_fingerprint(self, fingerprint: str, *, compare: bool) -> None:
        """Show a fingerprint; ``compare`` also offers the field."""
        self._value = fingerprint
        self.value.setText(fingerprint)
        self.value.setCursorPosition(0)
        self.announced.setVisible(compare)
        self._compare()

    def _compare(self) -> None:
        said = self.announced.text().strip().lower()
        self.verdict.setVisible(bool(said) and self.announced.isVisibleTo(self))
        if said == self._value:
            self.verdict.setText("\u2713 It is the announced bundle.")
        else:
            self.verdict.setText("\u2717 This is another bundle than the announced one.")
