"""The bundle's fingerprint, and a field to compare it with one announced elsewhere."""

from __future__ import annotations

from PySide6.QtWidgets import QLineEdit, QSizePolicy, QWidget

from tabprotect.gui.look.label import Label
from tabprotect.gui.look.layouts import in_column


class Fingerprint(QWidget):
    """The SHA-256 of the bundle, and a field to compare it with one announced elsewhere."""

    def __init__(self) -> None:
        super().__init__()
        self._value = ""
        title = Label("Fingerprint (SHA-256)", role="section")
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
        self.verdict = Label(name="Comparison of the fingerprints")
        column = in_column(on=self, margins=0, spacing=4)
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
