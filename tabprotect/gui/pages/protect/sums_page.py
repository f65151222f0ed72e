"""How sums are protected: the methods as cards, each tried on this table."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial

from PySide6.QtCore import Qt
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QFrame, QGridLayout, QSizePolicy, QWidget

from tabprotect.engine.progress import Progress
from tabprotect.engine.project.project import Project
from tabprotect.engine.project.verbs.release_verbs import protect_words, set_method
from tabprotect.engine.project.verbs.sums_verbs import SumsTrial, tried_sums
from tabprotect.engine.protection.magnitude_method import MagnitudeMethod
from tabprotect.engine.protection.registered import magnitude_methods
from tabprotect.gui.base.background.background_task import BackgroundTask
from tabprotect.gui.base.document import Document
from tabprotect.gui.base.page import Page, PageChanges
from tabprotect.gui.base.rule_field import no_rule
from tabprotect.gui.grid.sums_grid import sum_text
from tabprotect.gui.look.buttons import Inside, emptied, named, push_button, scrolling
from tabprotect.gui.look.label import Label
from tabprotect.gui.look.layouts import filled, in_column, in_row
from tabprotect.gui.look.roles import dress
from tabprotect.gui.look.theme import GRID, chance_text, count_text
from tabprotect.gui.pages.stages import ProtectStage
from tabprotect.languages.messages import message, plural
from tabprotect.languages.translation import tr, translate

NARROW = 34 * GRID
"""Pixels that a card needs."""


class SumsCard(QFrame):
    """A method: what it does, its two figures on this table, and the way to its set-up."""

    def __init__(
        self, method: MagnitudeMethod, trial: SumsTrial | None, decimals: int, *, current: bool
    ) -> None:
        super().__init__()
        dress(self, "card")
        self.setProperty("current", current)
        self.setAccessibleName(translate(method.label))
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Minimum)
        column = in_column(
            Label(method.label, role="section", wordWrap=True),
            on=self,
            margins=(2 * GRID, GRID + 4, 2 * GRID, GRID + 4),
            spacing=GRID,
        )
        figures = in_row(spacing=2 * GRID)
        for text, caption in _figures(trial, decimals):
            part = in_column(Label(text, role="figure"), spacing=0)
            filled(part, Label(caption, role="quiet", wordWrap=True), 1)
            figures.addLayout(part, 1)
        filled(column, figures, Label(method.about, wordWrap=True))
        if trial is not None:
            column.addWidget(Label(_judged(trial), wordWrap=True, role="quiet"))
        column.addStretch(1)
        words = message("Chosen: go on") if current else message("Choose")
        self.choose = push_button(words, name=message("Choose {name}", translate(method.label)))
        column.addWidget(self.choose, 0, Qt.AlignmentFlag.AlignLeft)


class ProtectSumsPage(ProtectStage, Page):
    """The protect page of magnitudes: which method suits them."""

    hint = message("Which method protects these sums, and what each costs.")

    def __init__(self, document: Document) -> None:
        super().__init__(document)
        self._trials: BackgroundTask[tuple[SumsTrial, ...]] = BackgroundTask(
            self, document.jobs, self._tried, self.show_error, came=self._tried
        )
        self.trials: dict[str, SumsTrial] = {}
        self.cards: dict[str, SumsCard] = {}
        inner = Inside()
        self._grid = QGridLayout()
        self._grid.setSpacing(2 * GRID)
        in_column(self._grid, 1, on=inner, margins=(0, 0, GRID, 0), spacing=0)
        area = named(scrolling(), message("Methods"), focus=Qt.FocusPolicy.NoFocus)
        area.setWidget(inner)
        self._inner: QWidget = inner
        self._area, self.no_rule = area, no_rule(document)
        filled(self.body, (area, 1), (self.no_rule, 1))
        self.no_rule.hide()
        self._note = Label(wordWrap=True, role="quiet")
        self.footer.addWidget(self._note, 1)
        self._wide = 0

    def choices(self) -> Mapping[str, Callable[[], object]]:
        return {"choose": lambda: next(iter(self.cards.values())).choose.setFocus(), "again": self._again}

    def words(self, project: Project) -> list[str]:
        return protect_words(project)

    def refresh(self, changes: PageChanges) -> None:
        project, sums = self.document.project, self.document.sums
        waits = self.document.in_house and sums is not None and not sums.rules
        self.no_rule.setVisible(waits)
        self._area.setVisible(not waits)
        self.main_button.setEnabled(not waits)
        if project is None or sums is None or not self.document.in_house:
            self.trials = {}
            self._fill(0)
            self.set_sentence(message("What is protected how is for staff: F9 shows it again."))
            self._note.setText("")
            return
        # The limits are read anew each time: they are compared by what they say.
        chosen = (project.method, project.parameters, repr(project.limits))
        key = (sums.table, sums.weights, sums.like, *sums.rules, *chosen)
        if not sums.rules:
            self._trials.drop()
            self.trials = {}
        elif self._trials.ask(message("trying every method"), partial(_try_all, project), key):
            self.trials = {}
        self._show()

    def _again(self) -> None:
        self._trials.drop()
        self.refresh(frozenset())

    def _tried(self, found: tuple[SumsTrial, ...]) -> None:
        self.trials = {trial.method: trial for trial in found}
        # Out of sight it is shown when the page is next.
        self._changed(frozenset({"release"}))

    def _show(self) -> None:
        sums = self.document.sums
        assert sums is not None
        self._fill(sums.table.decimals)
        if not sums.rules:
            self.set_sentence(message("No rule is given yet."))
        elif len(self.trials) < len(magnitude_methods()):
            self.set_sentence(
                message("Trying {n} methods, {done} done.", len(magnitude_methods()), len(self.trials))
            )
        else:
            unsafe = self.document.at_risk_cells
            self.set_sentence(
                plural(
                    unsafe,
                    "{unsafe} sum is unsafe. Suppression leaves what it publishes exact; noise "
                    "publishes every sum, none of them exactly.",
                    "{unsafe} sums are unsafe. Suppression leaves what it publishes exact; noise "
                    "publishes every sum, none of them exactly.",
                    count_text(unsafe),
                )
            )
        self._note.setText(tr("Trial runs on this table; nothing is published."))

    def _fill(self, decimals: int) -> None:
        project = self.document.project
        focused = next((name for name, c in self.cards.items() if c.choose.hasFocus()), "")
        emptied(self._grid)
        self.cards = {}
        if project is None or not self.document.in_house:
            return
        for name, method in magnitude_methods().items():
            here = name == project.method
            card = SumsCard(method, self.trials.get(name), decimals, current=here)
            card.choose.clicked.connect(partial(self._choose, name))
            self.cards[name] = card
        self._wide = 0
        self._arrange()
        if focused:
            self.cards[focused].choose.setFocus(Qt.FocusReason.OtherFocusReason)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._arrange()

    def _arrange(self) -> None:
        wide = min(max(self.width() // NARROW, 1), len(magnitude_methods()))
        if wide == self._wide or not self.cards:
            return
        self._wide = wide
        for number, card in enumerate(self.cards.values()):
            self._grid.addWidget(card, number // wide, number % wide)
        for column in range(len(magnitude_methods())):
            self._grid.setColumnStretch(column, 1 if column < wide else 0)

    def _choose(self, name: str) -> None:
        project = self.document.project
        if project is not None and project.method != name:
            self.do(set_method, method=name)
        self.document.page_asked.emit("methods")

    def main_action(self) -> None:
        self.document.page_asked.emit("methods")


def _try_all(project: Project, progress: Progress) -> tuple[SumsTrial, ...]:
    found: tuple[SumsTrial, ...] = ()
    for trial in tried_sums(project, progress):
        found = (*found, trial)
        progress.report(message("trying every method"), len(found) / len(magnitude_methods()), found)
    return found


def _figures(trial: SumsTrial | None, decimals: int) -> tuple[tuple[str, str], ...]:
    """Two figures with what they are; dashes while they are being worked out."""
    if trial is None:
        return (("\u2013", message("hidden")), ("\u2013", message("average change of a sum")))
    hidden = count_text(trial.hidden)
    lost = sum_text(decimals)(trial.hidden_value)
    return (
        (hidden, message("sums hidden; those that protect others are worth {value}", lost))
        if trial.hidden
        else (hidden, message("sums hidden")),
        (chance_text(trial.change, digits=1), message("average change of a published sum")),
    )


def _judged(trial: SumsTrial) -> str:
    """Say what readers come to know."""
    if trial.broken:
        return plural(
            trial.broken,
            "Not protected: somebody comes too near in {n} sum.",
            "Not protected: somebody comes too near in {n} sums.",
            count_text(trial.broken),
        )
    if trial.belief is None:
        return message("Nobody who was tried comes too near.")
    return message(
        "A best guess of one who is alone in a sum is near with at most {belief}.", chance_text(trial.belief)
    )
