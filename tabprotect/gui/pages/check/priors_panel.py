"""What each reader assumes before the release."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QWidget

from tabprotect.engine.project.project import Project, Who
from tabprotect.engine.release.verdict_figures import READER
from tabprotect.engine.tables.domain import Index
from tabprotect.gui.look.label import Label, heading
from tabprotect.gui.look.layouts import in_column
from tabprotect.gui.look.theme import GRID
from tabprotect.gui.pages.check.prior_choice import PriorChoice
from tabprotect.languages.messages import capital, message
from tabprotect.languages.translation import tr


class PriorsPanel(QWidget):
    """A choice of a prior for each. ``asked``: somebody's is to be this."""

    asked = Signal(str, str)

    def __init__(self, persons: Iterable[Who]) -> None:
        super().__init__()
        self.choices = {who: PriorChoice(who) for who in persons}
        self._notes = {who: Label(wordWrap=True, role="quiet") for who in self.choices}
        column = in_column(
            heading(message("What is assumed before")),
            *self.choices.values(),
            on=self,
            margins=0,
            spacing=GRID,
        )
        for who, choice in self.choices.items():
            choice.asked.connect(lambda text, who=who: self.asked.emit(who, text))
        names = [choice.label for choice in self.choices.values()]
        for name in names:
            # What they assume stands in one column.
            name.setMinimumWidth(max(other.sizeHint().width() for other in names))
        for note in self._notes.values():
            note.hide()
            column.addWidget(note)

    def show_priors(
        self, project: Project, selection: Index | None, faults: Mapping[str, str], *, named: bool
    ) -> None:
        """The priors in force, and why nothing is believed under one; labels if ``named``."""
        for who, choice in self.choices.items():
            choice.show_prior(project.priors[who], project.domain, selection, named=named)
            note = self._notes[who]
            note.setText(tr("{who}: {why}", capital(READER[who]), faults.get(who, "")))
            note.setVisible(who in faults)
