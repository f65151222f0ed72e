"""The protect page: what must stay true, and every method tried on the table and ranked by that."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import TYPE_CHECKING, cast

from PySide6.QtCore import Qt
from PySide6.QtGui import QHideEvent
from PySide6.QtWidgets import QWidget

from tabprotect.engine.errors import TabprotectError
from tabprotect.engine.progress import Progress
from tabprotect.engine.project.project import Project
from tabprotect.engine.project.verbs.release_verbs import protect_words, set_mechanism, set_method
from tabprotect.engine.protection.registered import methods
from tabprotect.engine.release.verdict_figures import KeptSum
from tabprotect.engine.tables.publication import Publication
from tabprotect.gui.base.background.background_task import BackgroundTask
from tabprotect.gui.base.document import Document
from tabprotect.gui.base.page import Page, PageChanges
from tabprotect.gui.base.rule_field import no_rule
from tabprotect.gui.base.stage import setup_page
from tabprotect.gui.look.after_press import AfterPress
from tabprotect.gui.look.buttons import connected
from tabprotect.gui.look.label import Label, heading
from tabprotect.gui.look.layouts import filled, in_column, in_row
from tabprotect.gui.look.theme import GRID, TURNS
from tabprotect.gui.pages.protect.magnitude_trials import trial_cards, trial_key, trial_sentence, try_all
from tabprotect.gui.pages.protect.method_cards import Cards
from tabprotect.gui.pages.protect.requirements_asked import Asking
from tabprotect.gui.pages.protect.words import PUBLIC, sentence
from tabprotect.gui.pages.stages import ProtectStage
from tabprotect.languages.messages import message
from tabprotect.languages.translation import tr, translate

if TYPE_CHECKING:
    from tabprotect.engine.disclosure.choosing.method_trials import MethodTrial
    from tabprotect.engine.project.magnitude_ways import TriedMagnitudes

Trials = tuple["MethodTrial", ...] | tuple["TriedMagnitudes", ...]


class ProtectPage(ProtectStage, Page):
    """The methods, with what must stay true of counts; a trial of each goes on beside the window."""

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
        self.asking = connected(Asking(), changed=self._show)
        self.cards = connected(Cards(), chosen=self.choose)
        self.asking.changed.connect(self._add_up)
        self._ranking = AfterPress(self, self._show)
        left = in_column(heading(message("What must stay true?")), (self.asking, 1), spacing=GRID)
        self._note = Label(wordWrap=True, role="quiet")
        self._heading = heading(message("Best for this table"))
        right = in_column(self._heading, (self.cards, 1), spacing=GRID)
        self._house, self.no_rule = QWidget(), no_rule(document)
        # What must stay true of magnitudes is what their rules leave safe.
        parts = ((self.cards, 1),) if document.of_magnitudes else (left, (right, 1))
        in_row(*parts, on=self._house, margins=0, spacing=3 * GRID)
        self._hidden = Label(wordWrap=True, alignment=Qt.AlignmentFlag.AlignCenter, role="quiet")
        filled(self.body, (self._house, 1), (self._hidden, 1), (self.no_rule, 1))
        self.footer.addWidget(self._note, 1)

    def choices(self) -> Mapping[str, Callable[[], object]]:
        return {"choose": self.cards.begin, "again": self.try_again}

    def words(self, project: Project) -> list[str]:
        return protect_words(project) if project.of_magnitudes else []

    def hideEvent(self, event: QHideEvent) -> None:
        super().hideEvent(event)
        self._adding.leave()
        if self._trying.leave():
            # Asked again when somebody looks.
            self._missed |= {"table"}

    # -- showing ------------------------------------------------------------------------------

    def refresh(self, changes: PageChanges) -> None:
        project = self.document.project
        house, magnitudes = self.document.in_house, self.document.magnitudes
        waits = house and magnitudes is not None and not magnitudes.rules
        self._house.setVisible(house and not waits)
        self.no_rule.setVisible(waits)
        self._hidden.setVisible(not house)
        self.main_button.setVisible(house)
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
        if project.of_magnitudes:
            self._try_magnitudes(project)
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

    def _try_magnitudes(self, project: Project) -> None:
        if (key := trial_key(project)) is None:
            self._trying.drop()
        if key is None or self._trying.ask(message("trying every method"), partial(try_all, project), key):
            self.trials = ()
        self._show_magnitudes(project)

    def _show_magnitudes(self, project: Project) -> None:
        trials = cast("tuple[TriedMagnitudes, ...]", self.trials)
        self.cards.show_cards(trial_cards(project, trials))
        self.set_sentence(trial_sentence(project, trials, self.document.at_risk_cells))
        self.main_button.setEnabled(trial_key(project) is not None)
        self._note.setText(tr("Trial runs on this table; nothing is published."))

    def _add_up(self) -> None:
        """Name the asked sums that are small before anything is kept."""
        if (project := self.document.project) is None or not self.document.in_house:
            return
        table, rule, sums = project.problem.table, project.at_risk, self.asking.sums

        def work(progress: Progress) -> tuple[KeptSum, ...]:
            from tabprotect.engine.disclosure.exact_small_margins import small_sums

            return small_sums(table, Publication(table.domain, sums), rule) if sums else ()

        if self._adding.ask(message("adding up the sums"), work, (project.table, rule, sums)):
            self.asking.show_small(())

    def try_again(self) -> None:
        """Try every method once more, also after somebody stopped it."""
        self._trying.drop()
        self.trials = ()
        self.refresh(frozenset({"table"}))

    def _ask(self, project: Project) -> None:
        problem, limits = project.problem, project.limits.limits_for(project.problem)

        def work(progress: Progress) -> Trials:
            # Methods bring in solvers, which no first paint waits for.
            from tabprotect.engine.disclosure.choosing.method_trials import tried_methods

            return tried_methods(problem, limits, progress)

        about = (project.table, project.record_keys, project.weights, project.at_risk)
        if self._trying.ask(message("try every method"), work, (about, repr(limits))):
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
        if project is not None and project.of_magnitudes and self.document.in_house:
            self._show_magnitudes(project)
            return
        if project is None or not self.document.in_house or not methods().loaded:
            return
        from tabprotect.engine.disclosure.choosing.method_trials import RUNS, in_order, ranked, untried

        asked, share = self.asking.asked, project.limits.limits(project.at_risk).share
        places = ranked(cast("tuple[MethodTrial, ...]", self.trials), asked, self.asking.sums, share)
        if running := self._trying.running:
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
        if self.document.of_magnitudes:
            self.document.page_asked.emit(setup_page(self.document))
            return
        first = next(iter(self.cards.buttons.values()), None)
        if first is not None and not self._trying.running:
            first.click()

    def choose(self, trial: MethodTrial | str) -> None:
        """Make a method the project's, with the settings it was tried with, and go to its set-up."""
        if (project := self.document.project) is None or not self.document.in_house:
            return
        method = trial if isinstance(trial, str) else trial.method
        if method != project.method:
            self.do(set_method, method=method)
        if not isinstance(trial, str) and trial.change and not trial.fault:
            self.document.run(set_mechanism.order(dict(trial.change)), page=self.name)
        self.document.page_asked.emit(setup_page(self.document))
