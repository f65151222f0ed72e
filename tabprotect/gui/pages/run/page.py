"""The run page: a method's form, what it will do to this table, its help; then run and result."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import cached_property
from typing import Any

from PySide6.QtCore import Qt, QTimer
from PySide6.QtGui import QHideEvent, QResizeEvent
from PySide6.QtWidgets import QSplitter, QStackedWidget, QTabWidget, QTextBrowser, QWidget

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
from tabprotect.engine.tables.domain import Index
from tabprotect.gui.base.background.background_task import BackgroundTask
from tabprotect.gui.base.document import Document
from tabprotect.gui.base.page import Page, PageChanges
from tabprotect.gui.base.rule_field import no_rule
from tabprotect.gui.base.stage import setup_page
from tabprotect.gui.forms.parameters.configuration_dialog import ask_configuration
from tabprotect.gui.forms.parameters.method_form import MethodForm
from tabprotect.gui.look.buttons import connected, faces, named
from tabprotect.gui.look.label import Label
from tabprotect.gui.look.layouts import filled, held, in_column
from tabprotect.gui.look.theme import GRID
from tabprotect.gui.pages.run.last_year import LastYear
from tabprotect.gui.pages.run.method_result import MethodResult
from tabprotect.gui.pages.run.preview_panel import PreviewPanel, expectation, method_help, result_sentence
from tabprotect.gui.pages.run.run_panel import RunPanel
from tabprotect.gui.pages.run.tune_choice import TuneChoice
from tabprotect.gui.pages.stages import MethodsStage, PerturbStage
from tabprotect.languages.messages import capital, joined, message
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

NOT_RUN = message(
    "Nothing has been run yet: here stand the published counts beside the true ones, once the method "
    "has run. Nothing leaves the house by that."
)


class RunPage(Page):
    """Two faces: the set-up with its preview, and what a run published.

    Everything follows from the project's method and the parameters it declares. Methods for magnitudes
    are not tried before they are run: beside their form stands their help alone.
    """

    main_label = message("Run")

    def __init__(self, document: Document) -> None:
        super().__init__(document)
        self._preview: Preview | None = None
        self._impossible = False
        self._unruled = False
        """True if the method follows rules and none is given."""
        self._seen: object = None
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
        self._faces = faces({"setup": message("Set-up"), "result": message("Result")}, self.show_face)
        for button in self._faces.values():
            self.tools.addWidget(named(button, message("Show the {lower}", button.text().lower())))
        self.stack = QStackedWidget()
        self.stack.addWidget(self.setup)
        self._empty = Label(NOT_RUN, wordWrap=True, alignment=Qt.AlignmentFlag.AlignCenter, role="quiet")
        self.stack.addWidget(self._empty)
        self.no_rule = no_rule(document)
        filled(self.body, (self.stack, 1), (self.no_rule, 1))
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
            gate_asked=lambda: document.page_asked.emit("release"),
        )
        self.preview.go_mend.clicked.connect(lambda: document.page_asked.emit("cycles"))
        document.judging.changed.connect(self._helped)
        document.selection_changed.connect(self._selected)
        self.show_face("setup")

    @cached_property
    def run(self) -> RunPanel:
        """The result of a sequence of cycles: with its coins. Made when there is one."""
        panel = connected(RunPanel(self.document), chosen=self.document.select)
        self.stack.addWidget(panel)
        return panel

    @cached_property
    def result(self) -> MethodResult:
        """The result of any other method. Made when there is one."""
        panel = connected(
            MethodResult(), chosen=self.document.select, total_chosen=self.document.select_total
        )
        self.stack.addWidget(panel)
        return panel

    def choices(self) -> Mapping[str, Callable[[], object]]:
        if self.why_not(self.document):
            return dict.fromkeys(("run", "setup", "result"), lambda: None)
        return {
            "run": self.protect,
            "setup": lambda: self.show_face("setup"),
            "result": lambda: self.show_face("result"),
        }

    def hideEvent(self, event: QHideEvent) -> None:
        super().hideEvent(event)
        # What was set counts, however quickly one leaves; what was only to be tried can wait.
        self.form.flush()
        if "run" in vars(self):
            self.run.coins.stop()
        self.tune.leave()
        if self._trial.leave():
            self._missed |= {"parameters"}

    # -- faces --------------------------------------------------------------------------------

    @property
    def face(self) -> str:
        """``setup`` or ``result``, which an empty one is not: there the method can still be run."""
        front = self.stack.currentWidget()
        return "setup" if front in (self.stack.widget(0), self._empty) else "result"

    def show_face(self, name: str) -> None:
        """Show the set-up, or what was published where there is something."""
        project = self.document.project
        if name == "result" and project is not None and project.release is not None:
            self.stack.setCurrentWidget(self.run if project.takes_cycles else self.result)
        elif name == "result" and project is not None and self.document.in_house:
            self.stack.setCurrentWidget(self._empty)
        else:
            name = "setup"
            self.stack.setCurrentIndex(0)
        self._faces[name].setChecked(True)
        self._tell()

    def pieces(self) -> Iterator[object]:
        yield self.run if self.name == "perturb" else self.result
        if self.name == setup_page(self.document) and not self.document.of_magnitudes:
            self.form.prepare(self.document.history.project.protection)
            yield self.form
        for plot in (self.preview.change, self.preview.blocked):
            plot.make_canvas()
            yield plot

    # -- bringing up to date ------------------------------------------------------------------

    def refresh(self, changes: PageChanges) -> None:
        if (project := self.document.project) is None or self.why_not(self.document):
            # Another method's run: nothing of an earlier one stays here.
            self._trial.drop()
            self._preview = None
            self.preview.show_state("")
            self._show_result(None)
            return
        self._show_rules(project)
        if changes != {"release"}:
            self._show_method(project)
        self._copy.setVisible(self.document.in_house)
        self._faces["result"].setEnabled(project.release is not None or self.document.in_house)
        if changes & JUDGED:
            self._judge(project)
        self._show_result(project)
        self._show_refusal(project)

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
        """Show last year's release, or that a rule is missing, where a method follows rules."""
        magnitudes = project.magnitudes if self.document.in_house else None
        ruled = magnitudes is not None and methods("magnitudes")[project.method].takes_rules
        self._unruled = ruled and magnitudes is not None and not magnitudes.rules
        self.stack.setVisible(not self._unruled)
        self.no_rule.setVisible(self._unruled)
        if self.document.of_magnitudes:
            self.last_year.show_file(magnitudes.like if ruled and magnitudes is not None else None)

    def _set_like(self, path: str) -> None:
        if (magnitudes := self.document.magnitudes) is not None:
            self.do(set_rules, rules=list(magnitudes.rules), like=path)

    def _show_result(self, project: Project | None) -> None:
        release = None if project is None else project.release
        protected = project.protected if project is not None and self.document.in_house else None
        cycles = project is not None and project.takes_cycles
        for name, mine in (("run", cycles), ("result", not cycles)):
            if name in vars(self) or (release is not None and mine):
                shown = (release, protected) if mine else (None, None)
                getattr(self, name).show_result(*shown)
        if release is None:
            self.show_face("setup")
        elif release is not self._seen or self.face == "result":
            self.show_face("result")
        else:
            self._tell()
        self._seen = release

    def _tell(self) -> None:
        project, result = self.document.project, self.face == "result"
        if project is None:
            self.set_sentence("")
            return
        house = self.document.in_house
        checked = house and not result and not project.of_magnitudes
        unmet = project.protection.unmet(project.problem) if checked else {}
        self.main_button.setVisible(house or result)
        self.main_button.setEnabled(result or not (unmet or self._impossible or self._unruled))
        self.main_button.setText(
            translate(message("See what readers would know") if result else message("Run"))
        )
        if self._unruled:
            self.set_sentence(message("No rule is given yet."))
        elif not result and unmet:
            self.set_sentence(message("Not possible here: {values}.", joined(unmet.values(), "; ")))
        elif not result and self._preview is not None:
            self.set_sentence(expectation(self._preview))
        elif not result:
            method = methods(project.measure)[project.method]
            self.set_sentence(message(method.help.splitlines()[0]))
        elif house and project.protected is not None:
            self.set_sentence(result_sentence(project.protected))
        else:
            several = project.release is not None and len(project.release.tables) > 1
            self.set_sentence(
                message("These are the published tables, as every reader sees them.")
                if several
                else message("This is the published table, as every reader sees it.")
            )

    def _show_refusal(self, project: Project) -> None:
        """Show what the gate refused as a draft; what to do instead stands at the set-up."""
        said = (
            ""
            if project.published or project.of_magnitudes or not self.document.in_house
            else project.against
        )
        if not said:
            return
        self.show_face("setup")
        self.about.setCurrentWidget(self.preview)
        helps = self.document.judging.remedies(project) or ()
        verdict = None if project.protected is None else project.protected.record.verdict
        whole = verdict is None or verdict.passed is not None
        self.preview.refusal.refuse(said, helps, drawn=True, open_=not whole)

    def _helped(self) -> None:
        """Take what helps, which is known by now."""
        project = self.document.project
        if self.isVisible() and project is not None and not self.why_not(self.document):
            self._show_refusal(project)

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
            self._show_refusal(project)
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
        if self.face == "result":
            self.document.page_asked.emit("check")
        else:
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
        QTimer.singleShot(0, self, self._make_result)

    def _make_result(self) -> None:
        """Make what will show the result while the method runs, not when all else turns to it."""
        if (project := self.document.project) is not None and self.document.in_house:
            _ = self.run if project.takes_cycles else self.result

    def show_error(
        self, error: TabprotectError, *, remedy_label: str = "", remedy: Callable[[], object] | None = None
    ) -> None:
        offers = error.suggestions if isinstance(error, InfeasibleError) else ()
        if offers:
            self.show_face("setup")
            self.about.setCurrentWidget(self.preview)
            self.preview.refusal.refuse(error.message, offers)
            self.preview.refusal.setFocus()
            self.preview.ensureWidgetVisible(self.preview.refusal)
            return
        super().show_error(error, remedy_label=remedy_label, remedy=remedy)

    def _selected(self, index: Index | None) -> None:
        if self.isVisible() and self.face == "result":
            shown = self.stack.currentWidget()
            assert isinstance(shown, (RunPanel, MethodResult))
            shown.select(index)


class PerturbPage(PerturbStage, RunPage):
    """The coin, the rule, what will happen; then the run and its coins."""


class MethodsPage(MethodsStage, RunPage):
    """The form under the method's own name."""

    def refresh(self, changes: PageChanges) -> None:
        if (project := self.document.project) is not None:
            self.set_heading(methods(project.measure)[project.method].label)
        super().refresh(changes)


class FoldingSplitter(QSplitter):
    """Side by side from so many characters of width on; no part is ever hidden."""

    def __init__(self, *parts: QWidget, characters: int) -> None:
        super().__init__(Qt.Orientation.Horizontal, childrenCollapsible=False)
        self._characters = characters
        for number, part in enumerate(parts):
            self.addWidget(part)
            self.setStretchFactor(number, 1)

    def resizeEvent(self, event: QResizeEvent) -> None:
        wide = self.width() >= self._characters * self.fontMetrics().averageCharWidth()
        wanted = Qt.Orientation.Horizontal if wide else Qt.Orientation.Vertical
        if wanted != self.orientation():
            self.setOrientation(wanted)
        super().resizeEvent(event)
