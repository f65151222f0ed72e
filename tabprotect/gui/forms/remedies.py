"""What helps where a release may not leave, as buttons with what came of each in its trial."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QPushButton, QWidget

from tabprotect.engine.errors import Suggestion
from tabprotect.engine.project.verbs.release_verbs import protect, set_method, set_parameters
from tabprotect.gui.base.page import Page
from tabprotect.gui.look.buttons import emptied, named
from tabprotect.gui.look.label import Label, tip
from tabprotect.gui.look.layouts import held, in_column, in_row
from tabprotect.gui.look.theme import GRID
from tabprotect.languages.messages import capital, message
from tabprotect.languages.translation import translate


class Remedies(QWidget):
    """Buttons below each other; ``chosen`` carries the remedy of the one that is clicked."""

    chosen = Signal(object)

    def __init__(self) -> None:
        super().__init__()
        self.buttons: dict[str, QPushButton] = {}
        self._shown: tuple[int, ...] | None = ()
        self._column = in_column(on=self, margins=0, spacing=4)
        self.hide()

    def show_remedies(self, helps: Sequence[Suggestion] | None) -> None:
        """Show remedies, ``None`` while they are being tried."""
        shown = None if helps is None else tuple(map(id, helps))
        if shown == self._shown:
            # What is the same stays, and with it what has the focus.
            return
        self._shown = shown
        emptied(self._column)
        self.buttons = {}
        if helps is None:
            self._column.addWidget(_quiet(message("Trying what helps\u2026")))
        elif helps:
            self._column.addWidget(_quiet(message("What helps")))
            for remedy in helps:
                self._column.addWidget(self._row(remedy))
        self.setVisible(helps is None or bool(helps))

    def _row(self, remedy: Suggestion) -> QWidget:
        button = named(
            QPushButton(translate(capital(remedy.text))),
            message("Remedy: {text}", remedy.text),
            tip=tip(remedy.reached),
            about=remedy.reached,
            clicked=lambda _=False: self.chosen.emit(remedy),
        )
        self.buttons[remedy.text] = button
        return held(in_row(button, (_quiet(remedy.reached), 1), margins=0, spacing=GRID))


def take_for_magnitudes(page: Page, remedy: Suggestion) -> None:
    """Another way to protect the open sums, and protected by it: each step can be undone."""
    document = page.document
    given = dict(remedy.parameters)
    document.run(set_method.order({"method": given.pop("method")}), page=page.name)
    document.run(set_parameters.order(given), page=page.name)
    if (job := page.do(protect)) is not None:
        # Between the two there is nothing to show, and another page comes to the front.
        job.finished.connect(lambda _: document.page_asked.emit(page.stage.under or page.name))


def _quiet(text: str) -> Label:
    return Label(text, wordWrap=True, role="quiet")
