"""What a table says of itself beside its numbers: asked once for the table, in every file that leaves."""

from __future__ import annotations

from collections.abc import Mapping

from PySide6.QtWidgets import QFormLayout, QLineEdit

from tabprotect.engine.disclosure.policy import in_force
from tabprotect.engine.errors import TabprotectError
from tabprotect.engine.plain_values.metadata import TABLE_TEXTS
from tabprotect.engine.project.verbs.table_verbs import set_metadata
from tabprotect.gui.base.page import Page
from tabprotect.gui.look.buttons import Dialog, decision
from tabprotect.gui.look.label import Label
from tabprotect.gui.look.layouts import in_column
from tabprotect.gui.look.theme import GRID
from tabprotect.languages.messages import message
from tabprotect.languages.translation import tr, translate


def text_fields(given: Mapping[str, str], otherwise: Mapping[str, str] | None = None) -> dict[str, QLineEdit]:
    """A field for each text of ``TABLE_TEXTS``; where none is given the one that is said ``otherwise``."""
    shown = {} if otherwise is None else otherwise
    return {
        name: QLineEdit(given.get(name, ""), placeholderText=shown.get(name) or tr("not said"))
        for name in TABLE_TEXTS
    }


def texts_in(fields: Mapping[str, QLineEdit]) -> dict[str, str]:
    """The texts that are typed, by name."""
    return {name: text for name, field in fields.items() if (text := field.text().strip())}


class AboutSheet(Dialog):
    """A field for each text; an empty one leaves what the house says of all its tables."""

    def __init__(self, page: Page, given: Mapping[str, str], house: Mapping[str, str]) -> None:
        super().__init__(page.window(), message("About this table"))
        self._page = page
        self.fields = text_fields(given, house)
        form = QFormLayout(verticalSpacing=GRID)
        for name, field in self.fields.items():
            field.setAccessibleName(translate(TABLE_TEXTS[name]))
            form.addRow(Label(TABLE_TEXTS[name], buddy=field), field)
        said = message(
            "Goes into the bundle and into every file that is saved of it. Empty: as the house says."
        )
        buttons, self.take, _ = decision(self, message("Say it"), self._take)
        in_column(Label(said, wordWrap=True, role="quiet"), form, buttons, on=self)
        self.resize(80 * GRID, self.sizeHint().height())

    def _take(self) -> None:
        self._page.do(set_metadata, said=texts_in(self.fields))
        self.accept()


def ask_about(page: Page) -> AboutSheet | None:
    """Ask what the open table says of itself."""
    project = page.document.project
    if project is None or not page.document.in_house:
        page.errors.show_note(message("There is no table of the house here."))
        return None
    try:
        house = in_force().metadata
    except TabprotectError:
        house = {}
    sheet = AboutSheet(page, project.metadata, house)
    sheet.open()
    return sheet
