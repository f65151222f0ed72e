"""Who answers for the release: prepared by, approved by, and a reason where one is needed."""

from __future__ import annotations

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QFormLayout, QFrame, QLineEdit, QWidget

from tabprotect.gui.look.label import Label, heading
from tabprotect.gui.look.layouts import in_column
from tabprotect.gui.look.roles import dress
from tabprotect.gui.look.theme import GRID


class SigningForm(QWidget):
    """Two names and a reason. ``changed`` after each stroke."""

    changed = Signal()

    def __init__(self) -> None:
        super().__init__()
        self.setAccessibleName("Signatures")
        self.prepared = QLineEdit()
        self.approved = QLineEdit()
        self.reason = QLineEdit(placeholderText="goes into dossier and register")
        self.needs = Label(wordWrap=True, role="quiet", name="What is still missing")
        card = QFrame()
        dress(card, "card")
        form = QFormLayout(card)
        form.setContentsMargins(GRID + 4, GRID, GRID + 4, GRID)
        form.setVerticalSpacing(GRID)
        form.setRowWrapPolicy(QFormLayout.RowWrapPolicy.WrapLongRows)
        for text, field, name in (
            ("Prepared by", self.prepared, "Prepared by, name"),
            ("Approved by", self.approved, "Approved by, name"),
            ("Reason", self.reason, "Reason for publishing all the same"),
        ):
            field.setAccessibleName(name)
            field.textEdited.connect(lambda _: self.changed.emit())
            form.addRow(text, field)
        form.addRow(self.needs)
        self._form = form
        in_column(heading("Sign"), card, on=self, margins=0, spacing=4)

    def controls(self) -> list[QWidget]:
        """What takes the keyboard, in reading order."""
        return [self.prepared, self.approved, self.reason]

    def show_needs(self, *, name: str, reason: bool, needs: str) -> None:
        """Offer the staff member's own name; ask for a reason where one is needed.

        ``needs`` says what is missing before it can be approved.
        """
        if name and not self.prepared.isModified() and not self.prepared.text():
            self.prepared.setText(name)
        self._form.setRowVisible(self.reason, reason)
        self.needs.setText(needs)
        self._form.setRowVisible(self.needs, bool(needs))

    def forget(self) -> None:
        """Names and reasons are the house's own."""
        for field in (self.prepared, self.approved, self.reason):
            field.setText("")
        self.needs.clear()

    def names(self) -> tuple[str, str]:
        """Who prepared and who approved it."""
        return self.prepared.text().strip(), self.approved.text().strip()
