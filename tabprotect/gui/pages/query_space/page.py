"""Which margins of the table may be published together: the lattice, and what follows from it."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from PySide6.QtCore import QSize, Qt, Signal
from PySide6.QtWidgets import QComboBox, QPushButton, QSpinBox, QStackedWidget, QTabWidget, QWidget

from tabprotect.engine.errors import TabprotectError
from tabprotect.engine.project.command import Order
from tabprotect.engine.project.project import Project
from tabprotect.engine.project.verbs.query_verbs import (
    perturb_beyond_plan,
    release_margin,
    set_release_criterion,
    set_release_plan,
    use_release_plan,
)
from tabprotect.engine.project.verbs.table_verbs import set_at_risk
from tabprotect.engine.query_space.lattice import Query
from tabprotect.engine.query_space.registered import criteria, criteria_of
from tabprotect.engine.sensitivity.small_count import SmallCount
from tabprotect.engine.ways_to_bound import BOUNDS_WAYS
from tabprotect.gui.base.background.job_view import JobView
from tabprotect.gui.base.background.jobs import Job
from tabprotect.gui.base.document import Document
from tabprotect.gui.base.page import Page, PageChanges
from tabprotect.gui.base.rule_field import RuleField
from tabprotect.gui.lattice.node_looks import Legend
from tabprotect.gui.lattice.space import CANDIDATE, RELEASED, Foresight, Space
from tabprotect.gui.lattice.words import state_sentence
from tabprotect.gui.look.buttons import choice, connected, named, silent
from tabprotect.gui.look.label import Label
from tabprotect.gui.look.layouts import (
    FlowLayout,
    filled,
    front_sets_height,
    held,
    in_column,
    in_row,
    set_visible,
)
from tabprotect.gui.look.theme import GRID
from tabprotect.gui.pages.query_space.lattice_panel import LatticePanel
from tabprotect.gui.pages.query_space.live_panel import LivePanel
from tabprotect.gui.pages.query_space.numbers_panel import NumbersPanel
from tabprotect.gui.pages.query_space.panel import SpacePanel
from tabprotect.gui.pages.query_space.query_space_files import QuerySpaceFiles
from tabprotect.gui.pages.query_space.wish_panel import WishPanel
from tabprotect.gui.pages.stages import QUERY_SPACE
from tabprotect.languages.messages import message
from tabprotect.languages.translation import tr, translate

HIDDEN = message(
    "What may go out together is worked out from the original: that is for staff only. A "
    "reader sees the tables that were published, and nothing of what was weighed before."
)


class QuerySpacePage(Page):
    """The page of the query space: which sub-tables may go out together."""

    stage = QUERY_SPACE

    def __init__(self, document: Document) -> None:
        super().__init__(document)
        self.space = Space(document)
        self.space.setParent(self)
        self.settings = connected(SettingsRow(), asked=self._ask)
        self.lattice = LatticePanel(self.space)
        self.focus = self.lattice.focus
        self.focus.cell_chosen.connect(lambda index: self.document.select(index))
        self.lattice.asked.connect(self.release)
        self.tabs = named(QTabWidget(documentMode=True), message("Views of the query space"))
        self.numbers = NumbersPanel(self.space)
        self.wishes = WishPanel(self.space)
        self.live = LivePanel(self.space)
        for panel, label in (
            (self.lattice, message("Lattice")),
            (self.wishes, message("Wish list")),
            (self.numbers, message("Numbers")),
            (self.live, message("Table server")),
        ):
            self.tabs.addTab(panel, translate(label))
            connected(panel, failed=self.show_error, changed=self._show_main)
            # The panel in front has the window; the others must not make it wider.
            panel.setMinimumWidth(50 * GRID)
        front_sets_height(self.tabs)
        self.tabs.currentChanged.connect(lambda _: self._show_all())
        self._lay_out()
        self._offer()
        self.space.changed.connect(self._show_all)
        connected(
            self.space,
            changed=self._warn,
            focus_changed=lambda _: self._show_focus(),
            foreseen=self._foreseen,
            failed=self._failed,
        )

    def _lay_out(self) -> None:
        """Lay out what is decided in the house above its views; or say that it is hidden."""
        self._shown = held(in_column(self.settings, (self.tabs, 1), margins=0, spacing=GRID))
        self._hidden = Label(HIDDEN, wordWrap=True, role="quiet")
        self._hidden.setAlignment(Qt.AlignmentFlag.AlignTop)
        self._stack = _Body()
        filled(self._stack, self._shown, self._hidden)
        self.body.addWidget(self._stack, 1)
        self.again = connected(
            QPushButton(tr("Look at every table")), clicked=lambda: self.space.refresh(again=True)
        )
        self.legend = Legend()
        filled(self.footer, self.again, (self.legend, 1))

    def _offer(self) -> None:
        """Offer what can be done with the plan, and with all that is known."""
        self.publish = named(
            QPushButton(tr("Publish the plan")),
            about=message(
                "Take the planned margins as the release; its set-up shows them before anything leaves"
            ),
            clicked=self.use_plan,
        )
        self.beyond = named(
            QPushButton(tr("Answer beyond it, perturbed")),
            about=message("Publish the planned margins exactly, and one perturbed table for everything else"),
            clicked=lambda: self._take(perturb_beyond_plan(), "perturb"),
        )
        filled(self.tools, self.publish, self.beyond)
        self.files = QuerySpaceFiles(
            self, lambda: self.space.regions, lambda caption: self.lattice.picture.svg(caption=caption)
        )
        self._export = self.files.button(message("Copy or export tables"), self.files.copy)
        self.tools.addWidget(self._export)

    def refresh(self, changes: PageChanges) -> None:
        project = self.document.project
        public = self.document.public
        self._stack.setCurrentIndex(1 if public else 0)
        set_visible(not public, self.legend, self._export)
        if public or project is None:
            # A refusal names cells.
            self.errors.clear()
            self.settings.forget()
            self.set_sentence(message("What may go out together is for staff to decide."))
            set_visible(False, self.main_button, self.publish, self.beyond, self.again)
            return
        margins = project.plan.margins
        set_visible(bool(margins), self.publish, self.beyond)
        self.publish.setText(
            translate(
                message("Publish the {margins} planned margins", len(margins))
                if len(margins) > 1
                else message("Publish the planned margin")
            )
        )
        self.settings.show_project(project)
        self.space.refresh()
        self._show_all()

    # -- what is shown ------------------------------------------------------------------------

    def _show_all(self) -> None:
        if self.document.public:
            return
        regions = self.space.regions
        self.again.setVisible(self.space.stopped)
        # What was found of another plan is no answer about this one.
        stale = regions is not None and self.space.busy and not regions.waiting
        if regions is None or stale:
            self.set_sentence(
                message("Looking at every table …")
                if self.space.busy
                else message("Nothing is known of the tables yet.")
            )
        else:
            self.set_sentence(state_sentence(regions))
        self._panel().refresh()
        self.legend.setVisible(self._panel() is self.lattice)
        self._show_focus()

    def _panel(self) -> SpacePanel:
        panel = self.tabs.currentWidget()
        assert isinstance(panel, SpacePanel)
        return panel

    def _show_focus(self) -> None:
        panel = self._panel()
        self.focus.refresh()
        panel.refocus()
        self._show_main()

    def _show_main(self) -> None:
        """The main action of the tab in front."""
        regions, query, panel = self.space.regions, self.space.focus, self._panel()
        self.main_button.setToolTip("")
        project = self.document.project
        plan = () if project is None or self.document.public else project.plan.margins
        # Where the main action is the same it stands there alone.
        self.publish.setVisible(bool(plan) and not (panel.plans and self._planned(panel)))
        if regions is None or self.document.public or panel is self.live:
            self.main_button.hide()
            return
        self.main_button.show()
        if panel.plans:
            planned = self._planned(panel)
            self.main_button.setText(
                translate(self.publish.text() if planned else message("Plan this release"))
            )
            self.main_button.setEnabled(bool(panel.margins()))
            return
        if not query:
            # The grand total goes out with any table.
            self.main_button.setText(tr("Add a table to the plan"))
            self.main_button.setEnabled(False)
            self.main_button.setToolTip(tr("<p>Choose one in the drawing first.</p>"))
            return
        region = int(regions.status[regions.at(query)])
        self.main_button.setText(tr("Add {query} to the plan", regions.letters.node(query)))
        self.main_button.setEnabled(region == CANDIDATE and not self.space.busy)
        if region not in (CANDIDATE, RELEASED):
            self.main_button.setToolTip(tr("<p>It may not go out: see beside it.</p>"))

    def _planned(self, panel: SpacePanel) -> bool:
        """Return True if what a panel has found is the plan already: the next step is to publish it."""
        project, margins = self.document.project, panel.margins()
        plan = () if project is None else project.plan.margins
        return bool(margins) and {*map(frozenset, margins)} == {*map(frozenset, plan)}

    def _warn(self) -> None:
        """Say so when the threshold lets nothing out at all, and name the cells."""
        if (regions := self.space.regions) is None or self.document.public:
            return
        try:
            regions.state.require_some_one_way()
        except TabprotectError as error:
            self.show_error(error)

    def _foreseen(self, found: Foresight) -> None:
        if found.query == self.space.focus and not self.document.public:
            self._show_focus()

    def _failed(self, error: TabprotectError) -> None:
        if not self.document.public:
            self.show_error(error)
        self._show_all()

    # -- what happens -------------------------------------------------------------------------

    def _ask(self, order: Order) -> None:
        self.document.run(order, page=self.name)
        if (project := self.document.project) is not None:
            # After an error the fields go back to what is still in force.
            self.settings.show_project(project)

    def use_plan(self) -> None:
        """Take the plan as the release and go where it can be run, perturbed or rounded first."""
        self._take(use_release_plan(), "methods")

    def _take(self, order: Order, page: str) -> None:
        before = self.document.project
        self.document.run(order, failed=self.show_error)
        if self.document.project is not before:
            self.document.page_asked.emit(page)

    def release(self, query: Query) -> None:
        """Plan to release a sub-table; one that may not go out only comes into focus."""
        if (regions := self.space.regions) is None or self.space.busy:
            return
        self.space.set_focus(query)
        if int(regions.status[regions.at(query)]) == CANDIDATE:
            names = list(regions.letters.lattice.names_of(query))
            self._watch(self.do(release_margin, variables=names))

    def _watch(self, job: Job | None) -> None:
        """Show on the page how far a plan is with its proof."""
        if job is None:
            return
        going = JobView(job)
        self.footer.addWidget(going, 1)
        self.main_button.setEnabled(False)
        job.ended.connect(going.deleteLater)
        job.ended.connect(self._show_main)

    def words(self, project: Project) -> list[str]:
        return self._panel().words(project)

    def choices(self) -> Mapping[str, Callable[[], object]]:
        files = self.files
        save, picture = (files.actions[kind].trigger for kind in ("csv", "svg"))
        return {"copy": files.copy.trigger, "save": save, "picture": picture}

    def main_action(self) -> None:
        panel = self._panel()
        if panel.plans:
            margins = panel.margins()
            if self._planned(panel):
                self.use_plan()
            elif margins:
                self._watch(self.do(set_release_plan, margins=margins))
        else:
            self.release(self.space.focus)


class _Body(QStackedWidget):
    """Takes the room there is: drawings and lists scroll by themselves, the page does not."""

    def hasHeightForWidth(self) -> bool:
        return False

    def sizeHint(self) -> QSize:
        return self.minimumSizeHint()


WAYS = {
    "auto": message("quickest exact"),
    "decomposable": message("closed form only"),
    "shuttle": "shuttle",
    "lp": message("linear programmes"),
    "integer": message("integer programmes"),
}


class SettingsRow(QWidget):
    """``asked`` carries a command's name and its arguments."""

    asked = Signal(object)

    def __init__(self) -> None:
        super().__init__()
        of_counts = criteria_of("counts")
        self.criterion = choice(
            message("Risk criterion"),
            {name: found.label for name, found in of_counts.items()},
            tips={name: message("<p>{help}</p>", found.help) for name, found in of_counts.items()},
        )
        _narrow(self.criterion, 30)
        self.threshold = named(
            QSpinBox(minimum=0, maximum=1_000_000),
            message("Least width of bounds"),
            tip=message("<p>Beta: a table may go out when the criterion is proved to be at least this.</p>"),
        )
        self.threshold.setMaximumWidth(9 * GRID)
        self.threshold.setKeyboardTracking(False)
        self.at_risk = connected(
            RuleField(message("Small: from")),
            rule_set=lambda rule: self.asked.emit(set_at_risk(rule=str(rule))),
        )
        self.bounds = choice(
            message("How bounds are found"),
            {name: WAYS.get(name, name) for name in BOUNDS_WAYS},
            tips={name: message("<p>{help}</p>", help_) for name, help_ in BOUNDS_WAYS.items()},
        )
        _narrow(self.bounds, 18)
        # A narrow window has the groups below each other.
        filled(
            FlowLayout(self, gap=GRID),
            _together(message("May go out when"), self.criterion, message("is at least"), self.threshold),
            self.at_risk,
            _together(message("Bounds"), self.bounds),
        )
        self.criterion.activated.connect(lambda _: self._ask("criterion"))
        self.bounds.activated.connect(lambda _: self._ask("bounds"))
        self.threshold.valueChanged.connect(
            lambda value: self.asked.emit(set_release_criterion(threshold=value))
        )

    def show_project(self, project: Project) -> None:
        """Show what is in force."""
        plan = project.plan
        self.criterion.setCurrentIndex(self.criterion.findData(plan.criterion))
        self.bounds.setCurrentIndex(self.bounds.findData(plan.bounds))
        with silent(self.threshold):
            self.threshold.setValue(plan.threshold)
        self.at_risk.show_rule(project.at_risk)
        found = criteria()[plan.criterion]
        self.criterion.setToolTip(tr("<p>{help}</p>", found.help))
        self.bounds.setToolTip(tr("<p>{BOUNDS_WAYS}</p>", BOUNDS_WAYS[self.bounds.currentData()]))

    def forget(self) -> None:
        """Show no rule of the house."""
        self.at_risk.show_rule(SmallCount())

    def _ask(self, name: str) -> None:
        box: QComboBox = getattr(self, name)
        self.asked.emit(set_release_criterion.order({name: box.currentData()}))


def _together(*parts: str | QWidget) -> QWidget:
    """Fields in one row, each behind its words."""
    group = QWidget()
    row = in_row(on=group, margins=0, spacing=GRID)
    label = None
    for part in parts:
        if isinstance(part, str):
            label = part = Label(part)
        elif label is not None:
            label.setBuddy(part)
        row.addWidget(part)
    return group


def _narrow(box: QComboBox, letters: int) -> None:
    """Let a list of long words be cut rather than make the page wider than the window."""
    box.setSizeAdjustPolicy(QComboBox.SizeAdjustPolicy.AdjustToMinimumContentsLengthWithIcon)
    box.setMinimumContentsLength(letters)
