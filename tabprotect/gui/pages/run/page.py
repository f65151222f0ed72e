"""The run page: a method's form, what it will do to this table, its help; then run and result."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from PySide6.QtCore import QSize, Qt
from PySide6.QtGui import QHideEvent, QResizeEvent
from PySide6.QtWidgets import QSplitter, QTabWidget, QTextBrowser, QWidget

from tabprotect.engine.disclosure.choosing.acceptance_probability import Chance
from tabprotect.engine.errors import InfeasibleError, ParameterError, Suggestion, TabprotectError
from tabprotect.engine.progress import Progress
from tabprotect.engine.project.project import Project
from tabprotect.engine.project.releasing.judgement import foreseen
from tabprotect.engine.project.verbs.magnitude_verbs import set_rules
from tabprotect.engine.project.verbs.release_verbs import (
    of_remedy,
    protect,
    protect_words,
    set_mechanism,
    set_parameters,
    set_seed,
)
from tabprotect.engine.protection.problem import Preview
from tabprotect.engine.protection.registered import methods
from tabprotect.gui.base.background.background_task import BackgroundTask
from tabprotect.gui.base.document import Document
from tabprotect.gui.base.page import Page, PageChanges
from tabprotect.gui.base.stage import setup_page
from tabprotect.gui.forms.parameters.configuration_dialog import ask_configuration
from tabprotect.gui.forms.parameters.method_form import MethodForm
from tabprotect.gui.look.buttons import connected, named, present
from tabprotect.gui.look.layouts import filled, held, in_column, set_visible
from tabprotect.gui.look.theme import GRID
from tabprotect.gui.pages.run.last_year import LastYear
from tabprotect.gui.pages.run.preview_panel import PreviewPanel, expectation, method_help
from tabprotect.gui.pages.run.tune_choice import TuneChoice
from tabprotect.gui.pages.stages import METHODS, PERTURB
from tabprotect.languages.messages import capital, joined, message, uncapital
from tabprotect.languages.translation import tr, translate

WAIT = 300
"""Milliseconds of rest before a method is tried."""

CONFIDENTIAL = message(
    "What a method does to this very table is confidential. A reader sees the method and those of "
    "its parameters that are published."
)

JUDGED = frozenset({"table", "at_risk", "cycles", "parameters", "view", "everything"})


Foreseen = tuple[Preview, Chance, tuple[Suggestion, ...]]
"""What a mechanism does to a table, and what the gate makes of it."""


class RunPage(Page):
    """The set-up with its preview; what a run makes stands in the table.

    Everything follows from the project's method and the parameters it declares. Methods for magnitudes
    are not tried before they are run: beside their form stands their help alone.
    """

    def __init__(self, document: Document) -> None:
        super().__init__(document)
        self._preview: Preview | None = None
        self._impossible = False
        """True if the method follows rules and none is given."""
        self._trial: BackgroundTask[Foreseen] = BackgroundTask(
            self,
            document.jobs,
            self._tried,
            self._refuse,
            stopped=lambda: self.preview.show_state(message("Not tried: cancelled.")),
        )
        self._trial.went.connect(self._goes)
        self.form = MethodForm()
        self.preview = PreviewPanel()
        self.help = named(QTextBrowser(openLinks=False), message("Help of the method"))
        self.about = QTabWidget(documentMode=True, usesScrollButtons=False)
        # Its bar takes the focus; the widget hands its own policy on to the bar, so that comes first.
        self.about.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self.about.tabBar().setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.about.tabBar().setAccessibleName(tr("What will happen, or about the method"))
        self.about.addTab(self.preview, tr("What will happen"))
        self.about.addTab(self.help, tr("About the method"))
        self.about.setTabVisible(0, not document.of_magnitudes)
        self.tune, self.last_year = TuneChoice(document), LastYear()
        if document.of_magnitudes:
            self.tune.hide()
        asked = held(in_column((self.form, 1), self.tune, self.last_year, margins=0, spacing=GRID))
        self.setup = FoldingSplitter(asked, self.about, characters=110)
        filled(self.body, (self.setup, 1))
        self._copy = self.command_button(name=message("Copy the run as a command line"))
        filled(self.footer, self._copy, 1)
        connected(
            self.form,
            parameters_set=self._set,
            seed_set=lambda s, fresh: self.do(set_seed, seed=s, fresh=fresh),
            wrong=self.show_error,
        )
        self.last_year.chosen.connect(self._set_like)
        connected(
            self.form,
            setting_asked=self._ask_setting,
            cycles_asked=lambda: document.page_asked.emit("cycles"),
        )
        connected(
            self.preview.refusal,
            remedy_chosen=lambda remedy: self.document.run(
                set_mechanism.order(of_remedy(remedy.parameters)), page=self.name
            ),
        )
        self.preview.go_mend.clicked.connect(lambda: document.page_asked.emit("cycles"))

    def choices(self) -> Mapping[str, Callable[[], object]]:
        if self.stage.why_not(self.document):
            return dict.fromkeys(("run", "setup"), lambda: None)
        return {"run": self.protect, "setup": self.form.setFocus}

    def hideEvent(self, event: QHideEvent) -> None:
        super().hideEvent(event)
        # What was set counts, however quickly one leaves; what was only to be tried can wait.
        self.form.flush()
        self.tune.leave()
        if self._trial.leave():
            self._missed |= {"parameters"}

    def pieces(self) -> Iterator[object]:
        if self.name == setup_page(self.document) and not self.document.of_magnitudes:
            self.form.prepare(self.document.history.project.protection)
            yield self.form
        self.preview.change.make_canvas()
        yield self.preview.change

    # -- bringing up to date ------------------------------------------------------------------

    def refresh(self, changes: PageChanges) -> None:
        if (project := self.document.project) is None or self.stage.why_not(self.document):
            # Another method's run: nothing of an earlier one stays here.
            self._trial.drop()
            self._preview = None
            self.preview.show_state("")
            return
        label = methods(project.measure)[project.method].label
        self.set_heading(message("Tune {method}", uncapital(label)))
        self._show_rules(project)
        if changes != {"release"}:
            self._show_method(project)
        self._copy.setVisible(self.document.in_house)
        if changes & JUDGED:
            self._judge(project)
        self._tell()

    def _show_method(self, project: Project) -> None:
        house, domain = self.document.in_house, project.domain
        if project.of_magnitudes:
            declared = methods("magnitudes")[project.method]
            # What is chosen for magnitudes, a column of costs say, is for staff.
            self.form.setVisible(house)
            self.form.show_method(declared, project.parameters, house=house, domain=domain)
            self.help.setHtml(translate(method_help(declared, None)))
            return
        method = project.protection
        coins = (project.seed, project.fresh) if house else (None, False)
        self.form.show_method(method, project.values, coins=coins, house=house, domain=domain)
        self.help.setHtml(translate(method_help(method, project.problem if house else None)))
        self.tune.show_project(project)

    def _show_rules(self, project: Project) -> None:
        """Show last year's release where a method follows rules."""
        magnitudes = project.magnitudes if self.document.in_house else None
        ruled = magnitudes is not None and methods("magnitudes")[project.method].takes_rules
        self.last_year.show_file(magnitudes.like if ruled and magnitudes is not None else None)

    def _set_like(self, path: str) -> None:
        if (magnitudes := self.document.magnitudes) is not None:
            self.do(set_rules, rules=list(magnitudes.rules), like=path)

    def _tell(self) -> None:
        if (project := self.document.project) is None:
            self.set_sentence("")
            return
        house = self.document.in_house
        checked = house and not project.of_magnitudes
        unmet = project.protection.unmet(project.problem) if checked else {}
        set_visible(house, self.main_button, self.note)
        self.main_button.setEnabled(not (unmet or self._impossible))
        if unmet:
            self.set_sentence(message("Not possible here: {values}.", joined(unmet.values(), "; ")))
        elif self._preview is not None:
            self.set_sentence(expectation(self._preview))
        else:
            method = methods(project.measure)[project.method]
            self.set_sentence(message(method.help.splitlines()[0]))

    # -- the preview --------------------------------------------------------------------------

    def _judge(self, project: Project) -> None:
        said = ""
        if project.of_magnitudes:
            return
        if not self.document.in_house:
            house = self.document.has_original
            said = CONFIDENTIAL if house else message("This is how the table was made.")
        elif not project.protection.unmet(project.problem):
            try:
                self._try(project)
            except TabprotectError as error:
                self._trial.drop()
                self._refuse(error)
            return
        self._trial.drop()
        self._preview, self._impossible = None, False
        self.preview.show_state(said)

    def _try(self, project: Project) -> None:
        given = project.given

        def work(progress: Progress) -> Foreseen:
            preview = project.protection.preview(project.problem, project.taken, progress)
            return preview, *foreseen(project, progress)

        data = (project.table, project.record_keys, project.weights, project.at_risk)
        key = (data, project.method, project.parameters, given.get("cycles"))
        if self._trial.ask(message("try the method"), work, key, wait=WAIT):
            self._preview, self._impossible = None, False
            self.preview.show_state(message("Trying the method on this table\u2026"))

    def _goes(self, stage: str) -> None:
        """Say what the trial does; a search says what it may cost before it begins."""
        if not stage.startswith("trying"):
            self.preview.say(message("Trying the method on this table: {stage}.", stage))

    def _tried(self, found: Foreseen) -> None:
        if (project := self.document.project) is not None:
            self._preview, chance, remedies = found
            said = "" if chance.unlikely else chance.sentence
            self.preview.show_preview(self._preview, project.domain, said)
            if chance.unlikely:
                self.document.judging.know_remedies(project, remedies)
                self.preview.refusal.refuse(
                    chance.sentence
                    if chance.open
                    else message("Probably refused. {sentence}", chance.sentence),
                    remedies,
                    open_=chance.open,
                )
            self._tell()

    def _refuse(self, error: TabprotectError) -> None:
        """The method cannot even be tried as it is set."""
        project = self.document.project
        self._preview, self._impossible = None, True
        at_field = isinstance(error, ParameterError) and self.form.show_error(error)
        takes_cycles = project is not None and project.takes_cycles
        self.preview.show_error(error, cycles=takes_cycles and not at_field)
        self._tell()

    # -- doing --------------------------------------------------------------------------------

    def _ask_setting(self, name: str) -> None:
        if (project := self.document.project) is not None:
            ask_configuration(self, project.domain, self.form.fields[name].put, follows=True)

    def _set(self, given: dict[str, Any]) -> None:
        def failed(error: TabprotectError) -> None:
            if isinstance(error, ParameterError) and self.form.show_error(error):
                return
            if len(given) == 1:
                # Whatever is wrong came with this one field.
                hint = ". " + capital(error.hint) if error.hint else ""
                self.form.show_faults(dict.fromkeys(given, error.message + hint))
                return
            self.show_error(error)

        if self.document.of_magnitudes and given.get("cost") == "column":
            given["cost"] = "cost"
        self.document.run(set_parameters(**given), page=self.name, failed=failed)

    def words(self, project: Project) -> list[str]:
        tuned = {"tune": True, "tune_for": self.tune.chosen_use} if self.tune.wanted else {}
        return protect_words(project, tuned)

    def main_action(self) -> None:
        self.protect()

    def protect(self) -> None:
        """Run the method; what the gate refuses is held, and goes out with a reason only."""
        if not self.document.in_house:
            return
        self.form.flush()
        if self.document.of_magnitudes:
            self.do(protect)
        else:
            self.do(protect, draft=True, tune=self.tune.wanted, tune_for=self.tune.chosen_use)

    def show_error(
        self, error: TabprotectError, *, remedy_label: str = "", remedy: Callable[[], object] | None = None
    ) -> None:
        offers = error.suggestions if isinstance(error, InfeasibleError) else ()
        if offers:
            self.about.setCurrentWidget(self.preview)
            self.preview.refusal.refuse(error.message, offers)
            self.preview.refusal.setFocus()
            self.preview.ensureWidgetVisible(self.preview.refusal)
            return
        super().show_error(error, remedy_label=remedy_label, remedy=remedy)


class PerturbPage(RunPage):
    """The coin, the rule, what will happen."""

    stage = PERTURB


class MethodsPage(RunPage):
    """The form of a method that takes no cycles."""

    stage = METHODS


FIRST = 64
"""Per cent of the height that the first part has where both stand below each other."""


class FoldingSplitter(QSplitter):
    """Side by side from so many characters of width on; no part is ever hidden."""

    def __init__(self, *parts: QWidget, characters: int) -> None:
        super().__init__(Qt.Orientation.Horizontal, childrenCollapsible=False)
        self._characters, self._shared = characters, False
        for number, part in enumerate(parts):
            self.addWidget(part)
            self.setStretchFactor(number, 1)

    def _least(self) -> list[QSize]:
        return [present(self.widget(number)).minimumSizeHint() for number in range(self.count())]

    def minimumSizeHint(self) -> QSize:
        # However they stand now: they can always stand below each other.
        return QSize(max(one.width() for one in self._least()), super().minimumSizeHint().height())

    def resizeEvent(self, event: QResizeEvent) -> None:
        letters = self._characters * self.fontMetrics().averageCharWidth()
        least = sum(one.width() for one in self._least()) + self.handleWidth()
        wide = self.width() >= max(letters, least)
        wanted = Qt.Orientation.Horizontal if wide else Qt.Orientation.Vertical
        super().resizeEvent(event)
        if wanted != self.orientation() or not self._shared:
            self.setOrientation(wanted)
            self._shared = True
            # Below each other the first has the larger part: it is what one works in.
            self.setSizes([1, 1] if wide else [FIRST, 100 - FIRST])
