"""Which number to use of marked cells: their sum, a difference, a share or a rate, with its interval."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QLineEdit, QWidget

from tabprotect.engine.errors import TabprotectError
from tabprotect.engine.posterior.how_found import how_right
from tabprotect.engine.progress import Progress
from tabprotect.engine.project.project import Who
from tabprotect.engine.protection.subtables import groupings_of
from tabprotect.engine.tables.publication import Publication
from tabprotect.gui.base.background.background_task import BackgroundTask
from tabprotect.gui.base.document import Document
from tabprotect.gui.look.buttons import choice, named, push_button, silent
from tabprotect.gui.look.label import Label, show_text
from tabprotect.gui.look.layouts import held, in_column, in_row
from tabprotect.gui.look.theme import GRID
from tabprotect.languages.messages import message
from tabprotect.languages.translation import tr, translate

if TYPE_CHECKING:
    from tabprotect.engine.belief.which_number import BestNumber

KINDS = {
    "sum": message("their sum"),
    "difference": message("their sum less that of others"),
    "rate": message("their share or rate of others"),
}

SIGNS = {"sum": "", "difference": " - ", "rate": " / "}


class WhichPanel(QWidget):
    """Cells by their categories, what is asked of them, and the answer with its text to copy."""

    def __init__(self, document: Document) -> None:
        super().__init__(accessibleName=tr("Which number shall I use?"))
        self.document = document
        self._who: Who = "user"
        self.kind = choice(message("What do you want to know?"), KINDS, self._asked_anew)
        self.first, self.others = (
            named(QLineEdit(), name, textEdited=lambda _: self._asked_anew())
            for name in (message("The marked numbers"), message("The other numbers"))
        )
        self.first.setPlaceholderText("sex=f; age=0-4,5-9")
        self.mark = push_button(
            message("Mark the selected number"),
            self.mark_selected,
            tip=message("Select a count or a total: it is added to the numbers, or taken away again."),
        )
        self.into = choice(
            message("What you mark now belongs to"),
            {False: message("the marked numbers"), True: message("the others")},
        )
        self._beside = held(in_row(Label(message("Others"), buddy=self.others), (self.others, 1), margins=0))
        self.right = Label(
            wordWrap=True, role="quiet", name=message("How likely small published counts are true")
        )
        self.answer = Label(wordWrap=True, selectable=True, name=message("The best value and its interval"))
        self.copy = push_button(
            message("Copy this text"), lambda: QGuiApplication.clipboard().setText(self.answer.text())
        )
        self.best: BestNumber | None = None
        self._question: BackgroundTask[BestNumber] = BackgroundTask(
            self, document.jobs, self._answered, self._failed
        )
        in_column(
            Label(
                message(
                    "Mark numbers to read the best value of their sum, a difference, a share or a rate, and how far the truth may be."
                ),
                wordWrap=True,
                role="quiet",
            ),
            in_row(self.kind, self.mark, self.into, 1, spacing=GRID),
            in_row(Label(message("Numbers"), buddy=self.first), (self.first, 1), spacing=GRID),
            self._beside,
            self.answer,
            in_row(self.copy, 1),
            self.right,
            1,
            on=self,
            margins=(0, GRID, 0, 0),
            spacing=GRID,
        )
        self._asked_anew()

    @property
    def asked(self) -> str:
        """The question as ``infer --of`` takes it; empty while it is not whole."""
        kind = self.kind.currentData()
        first, others = self.first.text().strip(), self.others.text().strip()
        if not first or (kind != "sum" and not others):
            return ""
        return first + (SIGNS[kind] + others if kind != "sum" else "")

    def refresh(self, who: Who) -> None:
        """Ask anew of the posterior in force; only while it is looked at."""
        self._who = who
        self._asked_anew()

    def mark_selected(self) -> None:
        """Add the selected cell or total to the numbers; take it away if it is among them."""
        if not (one := self._selected()):
            return
        field = self.others if self.kind.currentData() != "sum" and self.into.currentData() else self.first
        blocks = [text for text in field.text().split(" + ") if text.strip()]
        field.setText(" + ".join([b for b in blocks if b != one] if one in blocks else [*blocks, one]))
        self._asked_anew()

    def show_selected(self) -> None:
        """Ask of the selected cell or total alone."""
        if one := self._selected():
            with silent(self.kind):
                self.kind.setCurrentIndex(self.kind.findData("sum"))
            self.first.setText(one)
            self._asked_anew()

    def _selected(self) -> str:
        """The selected cell or total as it is written; empty where nothing can be asked of it, which is said."""
        from tabprotect.engine.belief.which_number import written

        (cell, total), posterior = self.document.counts_selected, self.document.known_posterior(self._who)
        release = self.document.counts_release
        if release is None or (cell is None and total is None):
            self._say(message("Select a count or a total first."))
            return ""
        domain = release.domain
        if posterior is not None and domain != posterior.domain:
            self._say(message("What to believe of it does not follow from the table that was judged."))
            return ""
        block = dict(zip(domain.names, ([name] for name in domain.labels(cell)), strict=True)) if cell else {}
        if total is not None:
            groupings = groupings_of(domain, release.mechanism.parameters)
            publication = Publication(domain, (total.names,), tuple(groupings))
            keys = publication.keys(0)
            behind = np.flatnonzero(keys == keys[domain.flat(total.cell)])
            codes = np.unravel_index(behind, domain.shape)
            block = {
                variable.name: [variable.categories[code] for code in np.unique(codes[axis])]
                for axis, variable in enumerate(domain.variables)
                if len(np.unique(codes[axis])) < domain.shape[axis]
            } or {domain.names[0]: list(domain.variables[0].categories)}
        return str(written([block]))

    def _asked_anew(self) -> None:
        several = self.kind.currentData() != "sum"
        self._beside.setVisible(several)
        self.into.setVisible(several)
        posterior, release = self.document.known_posterior(self._who), self.document.counts_release
        show_text(self.right, "" if posterior is None else how_right(posterior))
        text = self.asked
        if posterior is None or release is None or not text:
            self._question.drop()
            self._say("")
            return
        if not self.isVisible():
            return

        def work(progress: Progress) -> BestNumber:
            # It imports solvers: a window that only shows a table does not wait for them.
            from tabprotect.engine.belief.which_number import Question, best_number

            return best_number(posterior, Question.parse(text), release=release, progress=progress)

        if self._question.ask(message("the best number"), work, (posterior, text), wait=150):
            self._say("")

    def _say(self, text: str) -> None:
        self.best = None
        self.answer.setText(translate(text))
        self.copy.setEnabled(False)

    def _failed(self, error: TabprotectError) -> None:
        self._say(error.sentence)

    def _answered(self, found: BestNumber) -> None:
        self._say(found.text)
        self.best = found
        self.copy.setEnabled(True)
