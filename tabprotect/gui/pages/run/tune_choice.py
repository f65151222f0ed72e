"""Least change that passes: the choice beside a method's parameters."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QCheckBox, QFrame

from tabprotect.engine.errors import TabprotectError
from tabprotect.engine.options import option_named
from tabprotect.engine.progress import Progress
from tabprotect.engine.project.options import Protecting
from tabprotect.engine.project.project import Project
from tabprotect.engine.protection.method import Method
from tabprotect.engine.release.tuned import USES, Use
from tabprotect.gui.base.background.background_task import BackgroundTask
from tabprotect.gui.base.document import Document
from tabprotect.gui.forms.option_fields import option_choice
from tabprotect.gui.look.buttons import named
from tabprotect.gui.look.label import Label
from tabprotect.gui.look.layouts import in_column, in_row
from tabprotect.gui.look.theme import GRID, number_text
from tabprotect.languages.messages import joined, message, percent
from tabprotect.languages.translation import tr, translate

if TYPE_CHECKING:
    from tabprotect.engine.release.tuned import Tuned

SHORT = {
    "changes": message("counts"),
    "sums": message("sums of neighbours"),
    "rates": message("rates"),
    "association": message("association"),
}
"""What is to change least, for a list."""

WHAT = message(
    "Found from the kept sums or the shape alone, by tables like it; a reader would find the same."
)


class TuneChoice(QFrame):
    """The tick, what the table is for, and what it comes to. ``changed`` when it is ticked or not."""

    changed = Signal()

    def __init__(self, document: Document) -> None:
        super().__init__()
        self.document = document
        self.found: Tuned | None = None
        named(self, message("Least change that passes"), role="card")
        self.tick = named(
            QCheckBox(tr("Least change that passes")), tip=WHAT, toggled=lambda _: self._chosen()
        )
        self.use = option_choice(option_named(Protecting, "tune_for"), self._chosen, words=SHORT)
        self.said = Label(wordWrap=True, role="quiet", name=message("What it comes to"))
        self._asking: BackgroundTask[Tuned] = BackgroundTask(
            self, document.jobs, self._tuned, self._failed, stopped=self._stopped
        )
        row = in_row(self.tick, 1, Label(message("for")), self.use, spacing=GRID)
        in_column(row, self.said, on=self, margins=(GRID + 4, GRID, GRID + 4, GRID), spacing=4)

    @property
    def wanted(self) -> bool:
        """Return True if the parameters are to be chosen."""
        return self.tick.isChecked() and not self.isHidden()

    @property
    def chosen_use(self) -> Use:
        """Return what is to change least."""
        return cast(Use, self.use.currentData())

    def show_project(self, project: Project) -> None:
        """Offer it where the method has anything to tune, and in the house alone."""
        method = project.protection
        tuned = bool(method.ladder) or type(method).ladders is not Method.ladders
        self.setVisible(self.document.in_house and tuned)
        if self.isHidden():
            self._asking.drop()
            return
        self._ask(project)

    def leave(self) -> None:
        """Forget a question that has no answer yet: nobody looks."""
        self._asking.leave()

    def _chosen(self) -> None:
        if (project := self.document.project) is not None:
            self._ask(project)
        self.changed.emit()

    def _ask(self, project: Project) -> None:
        self.use.setEnabled(self.tick.isChecked())
        if not self.tick.isChecked():
            self._asking.drop()
            self.found = None
            self.said.setText(WHAT)
            return
        use = self.chosen_use
        method, problem, given = project.protection, project.problem, project.given
        limits = project.limits.limits_for(problem, again=False)

        def work(progress: Progress) -> Tuned:
            # It brings in solvers, which no first paint waits for.
            from tabprotect.engine.disclosure.choosing.tuning import tuned

            return tuned(method, problem, given, limits, use, progress)

        data = (project.table, project.record_keys, project.weights, project.at_risk)
        key = (data, project.method, project.parameters, given.get("cycles"), repr(limits), use)
        if self._asking.ask(message("choosing parameters"), work, key):
            self.found = None
            self.said.setText(message("Trying which parameters change least\u2026"))

    def _tuned(self, found: Tuned) -> None:
        self.found = found
        self.said.setText(tuned_sentence(found))
        self.changed.emit()

    def _failed(self, error: TabprotectError) -> None:
        self.said.setText(joined(filter(None, (error.message, error.hint)), ": "))

    def _stopped(self) -> None:
        self.said.setText(message("Not chosen: cancelled. Untick and tick it to go on."))


def tuned_sentence(found: Tuned) -> str:
    """Say what is taken, and what it saves."""
    taken = joined((f"{name} {value}" for name, value in found.parameters.items()), ", ")
    saved = message(
        "{what} is expected to be {loss} instead of {before}",
        translate(USES[found.use]),
        number_text(found.loss),
        number_text(found.default_loss),
    )
    return message(
        "Takes {taken}: {saved}; {accepted} of {tables} tried tables pass at the first draw.",
        taken,
        saved,
        percent(found.accepted),
        found.tables,
    )
