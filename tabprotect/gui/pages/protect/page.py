"""The protect page: what must stay true, and every method tried on the table and ranked by that."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import astuple
from typing import TYPE_CHECKING

from PySide6.QtCore import Qt
from PySide6.QtGui import QHideEvent
from PySide6.QtWidgets import QWidget

from tabprotect.engine.errors import TabprotectError
from tabprotect.engine.progress import Progress
from tabprotect.engine.project.project import Project
from tabprotect.engine.project.verbs.release_verbs import set_mechanism, set_method
from tabprotect.engine.protection.registered import methods
from tabprotect.engine.release.kept_sums import KeptSum
from tabprotect.engine.tables.publication import Publication
from tabprotect.gui.base.background.background_task import BackgroundTask
from tabprotect.gui.base.document import Document
from tabprotect.gui.base.page import Page, PageChanges
from tabprotect.gui.base.stage import setup_page
from tabprotect.gui.look.after_press import AfterPress
from tabprotect.gui.look.label import Label, heading
from tabprotect.gui.look.layouts import filled, in_column, in_row
from tabprotect.gui.look.theme import GRID, TURNS
from tabprotect.gui.pages.protect.method_cards import Cards
from tabprotect.gui.pages.protect.wishes_asked import Asking
from tabprotect.gui.pages.protect.words import PUBLIC, sentence
from tabprotect.gui.pages.stages import ProtectStage
from tabprotect.languages.messages import message
from tabprotect.languages.translation import tr, translate

if TYPE_CHECKING:
    from tabprotect.engine.disclosure.choosing.method_trials import MethodTrial

Trials = tuple["MethodTrial", ...]


class ProtectPage(ProtectStage, Page):
    """Left what must stay true, right the methods; a trial of each goes on beside the window."""

    def __init__(self, document: Document) -> None:
        super().__init__(document)
        self.trials: Trials = ()
        self._about: tuple[object, ...] = ()
        self._trying: BackgroundTask[Trials] = BackgroundTask(
            self, document.jobs, self._tried, self._failed, came=self._came, stopped=self._show
        )
        self._loading: BackgroundTask[int] = BackgroundTask(
            self, document.jobs, lambda _: self._changed(frozenset({"table"})), self._failed
        )
        self._adding: BackgroundTask[tuple[KeptSum, ...]] = BackgroundTask(
            self, document.jobs, lambda kept: self.asking.show_small(kept), self._failed
        )
        self.asking = Asking()
        self.cards = Cards()
        self.asking.changed.connect(self._show)
        self.asking.changed.connect(self._add_up)
        self.cards.chosen.connect(self.choose)
        self._ranking = AfterPress(self, self._show)
        left = in_column(heading(message("What must stay true?")), (self.asking, 1), spacing=GRID)
        self._note = Label(wordWrap=True, role="quiet")
        self._heading = heading(message("Best for this table"))
        right = in_column(self._heading, (self.cards, 1), spacing=GRID)
        self._house = QWidget()
        in_row(left, (right, 1), on=self._house, margins=0, spacing=3 * GRID)
        self._hidden = Label(wordWrap=True, alignment=Qt.AlignmentFlag.AlignCenter, role="quiet")
        filled(self.body, (self._house, 1), (self._hidden, 1))
        self.footer.addWidget(self._note, 1)

    def choices(self) -> Mapping[str, Callable[[], object]]:
        return {"choose": self.cards.begin, "again": self.try_again}

    def hideEvent(self, event: QHideEvent) -> None:
        super().hideEvent(event)
        self._adding.leave()
        if self._trying.leave():
            # Asked again when somebody looks.
            self._missed |= {"table"}

    # -- showing ------------------------------------------------------------------------------

    def refresh(self, changes: PageChanges) -> None:
        project = self.document.project
        self._house.setVisible(self.document.in_house)
        self._hidden.setVisible(not self.document.in_house)
        self.main_button.setVisible(self.document.in_house)
        if project is None or not self.document.in_house:
            self._trying.leave()
            self._adding.drop()
            self.asking.show_small(())
            self.trials, self._about = (), ()
            self.cards.show_ranked((), (), 0.0, current="")
            self._hidden.setText(translate(PUBLIC))
            self._note.setText("")
            self.set_sentence("")
            return
        if not methods().loaded:
            # All of them bring in a hundred modules: the window is not held up by that.
            self._loading.ask(message("try every method"), lambda _: len(methods()), ("methods",))
            return
        self.asking.show_domain(project.domain)
        self._ask(project)
        self._add_up()
        # The cards of all of them take the time of a turn.
        TURNS.later(self, self._show)

    def _add_up(self) -> None:
        """Name the asked sums that are small before anything is kept."""
        project = self.document.project
        if project is None or not self.document.in_house:
            return
        table, rule, sums = project.problem.table, project.at_risk, self.asking.sums

        def work(progress: Progress) -> tuple[KeptSum, ...]:
            from tabprotect.engine.disclosure.exact_small_margins import small_sums

            return small_sums(table, Publication(table.domain, sums), rule) if sums else ()

        key = (project.table, rule, sums)
        if self._adding.ask(message("adding up the sums"), work, key):
            self.asking.show_small(())

    def try_again(self) -> None:
        """Try every method once more, also after somebody stopped it."""
        self._trying.drop()
        self.trials = ()
        self.refresh(frozenset({"table"}))

    def _ask(self, project: Project) -> None:
        problem, limits = project.problem, project.limits.limits(project.at_risk)

        def work(progress: Progress) -> Trials:
            # Methods bring in solvers, which no first paint waits for.
            from tabprotect.engine.disclosure.choosing.method_trials import tried_methods

            return tried_methods(problem, limits, progress)

        about = (project.table, project.record_keys, project.weights, project.at_risk)
        key = (about, astuple(limits))
        if self._trying.ask(message("try every method"), work, key):
            self.trials = ()

    def _came(self, found: Trials) -> None:
        if len(found) != len(self.trials):
            self._tried(found)

    def _tried(self, found: Trials) -> None:
        self.trials = found
        # Ranked, they stand elsewhere than they did while they came.
        self._ranking.go()

    def _failed(self, error: TabprotectError) -> None:
        self.show_error(error)
        self._show()

    def _show(self) -> None:
        """Rank what was tried by what is asked."""
        project = self.document.project
        if project is None or not self.document.in_house or not methods().loaded:
            return
        from tabprotect.engine.disclosure.choosing.method_trials import RUNS, in_order, ranked, untried

        asked, share = self.asking.asked, project.limits.limits(project.at_risk).share
        places = ranked(self.trials, asked, self.asking.sums, share)
        running = self._trying.running
        if running:
            # Nothing is recommended, and nothing moves, before all have been tried.
            tried = {place.trial.method: place for place in places}
            shown = tuple(tried.get(name) or untried(name) for name in in_order())
        self._heading.setText(
            translate(
                message("All methods, in the order of trying") if running else message("Best for this table")
            )
        )
        self.cards.show_ranked(
            shown if running else places, asked, share, current=project.method, running=running
        )
        self.set_sentence(sentence(places, asked, share, number=len(methods()), running=running))
        best = next((place.trial for place in places if place.trial.done and not running), None)
        self.main_button.setEnabled(best is not None)
        self.main_button.setText(
            tr("Set up") if best is None else tr("Set up {method}", methods()[best.method].label.lower())
        )
        stopped = not running and len(places) < len(methods())
        self._note.setText(
            translate(
                message("The trials were stopped: Protect > Try every method again goes on.")
                if stopped
                else message(
                    "Trial runs on this table, {RUNS} at most for each method; nothing is published. "
                    "\u2265, \u2013: not all is worked out, readers may know more.",
                    RUNS,
                )
            )
        )

    # -- choosing -----------------------------------------------------------------------------

    def main_action(self) -> None:
        first = next(iter(self.cards.buttons.values()), None)
        if first is not None and not self._trying.running:
            first.click()

    def choose(self, trial: MethodTrial) -> None:
        """Make a method the project's, with the settings it was tried with, and go to its set-up."""
        project = self.document.project
        if project is None or not self.document.in_house:
            return
        change = dict(trial.change)
        if trial.method != project.method:
            self.do(set_method, method=trial.method)
        if change and not trial.fault:
            self.document.run(set_mechanism.order(change), page=self.name)
        self.document.page_asked.emit(setup_page(self.document))
