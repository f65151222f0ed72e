"""The compare page: several methods and settings side by side on the open table."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

from PySide6.QtCore import Qt, QTimer
from PySide6.QtWidgets import QPushButton, QStackedWidget, QWidget

from tabprotect.engine.cycles.designs import DESIGNS
from tabprotect.engine.errors import ParameterError, TabprotectError
from tabprotect.engine.progress import Progress
from tabprotect.engine.project.command import Order
from tabprotect.engine.project.examples import PREFIX, load_example
from tabprotect.engine.project.project import Project
from tabprotect.engine.project.verbs.compare_verbs import compare as compare_words
from tabprotect.engine.project.verbs.compare_verbs import comparison_scope, set_comparison
from tabprotect.engine.project.verbs.cycle_verbs import set_cycles
from tabprotect.engine.project.verbs.release_verbs import protect, set_method, set_parameters
from tabprotect.engine.protection.registered import methods
from tabprotect.gui.base.background.background_task import BackgroundTask
from tabprotect.gui.base.document import Document
from tabprotect.gui.base.page import Page, PageChanges
from tabprotect.gui.base.stage import setup_page
from tabprotect.gui.look.buttons import named, push_button, scrolling
from tabprotect.gui.look.label import Label
from tabprotect.gui.look.layouts import FlowLayout, filled, held, in_column, split
from tabprotect.gui.look.theme import GRID
from tabprotect.gui.pages.compare.comparison_view import ComparisonFiles, ComparisonView
from tabprotect.gui.pages.compare.runs_panel import RunsPanel
from tabprotect.gui.pages.compare.words import EMPTY, PUBLIC, READER, failures, names, sentence, waiting_text
from tabprotect.gui.pages.stages import CompareStage
from tabprotect.gui.plots.ru_map import Place
from tabprotect.gui.plots.series_looks import SeriesLook, series_looks
from tabprotect.languages.messages import message
from tabprotect.languages.translation import translate

if TYPE_CHECKING:
    from tabprotect.engine.assessment.comparing.comparison import Comparison

SOURCE = "langsrud-lupp"
"""The example whose source compares cell keys with small count rounding."""

SOURCES_RUNS = (message("cell_key D=5 V=3 js=2"), message("small_count_rounding base=3"))
"""The settings of that comparison."""

SOURCES_NUMBER = 400
"""Runs of each of them: enough for its intervals to two decimals, in half a minute."""

DESIGN_PREFIX = "order-"

EASE = 300
"""Milliseconds between two looks at a comparison that is running."""


class ComparePage(CompareStage, Page):
    """Left the settings; right the risk-utility map above the measures or the deviations."""

    def __init__(self, document: Document) -> None:
        super().__init__(document)
        self.set_heading(message("Protect"))
        self.comparison: Comparison | None = None
        self.place: Place | None = None
        self._whole = True
        self._labels: tuple[str, ...] = ()
        self._about: tuple[object, ...] = ()
        self._asked: object = None
        self._comparing: BackgroundTask[Comparison] = BackgroundTask(
            self, document.jobs, self._compared, self._failed, came=self._came, stopped=self._ended
        )
        self._after_open = False
        self.runs = RunsPanel()
        self.view = ComparisonView(document.jobs)
        self.files = ComparisonFiles(
            self, lambda: self.comparison, lambda caption: self.view.map.svg(caption=caption)
        )
        self._ease = QTimer(self, singleShot=True, interval=EASE)
        self.fitting = push_button(message("Take every method that fits"), self.take_fitting)
        self.source = push_button(
            message("The paper's comparison"),
            self.compare_as_source,
            name=message("Compare cell keys with small count rounding, as the paper"),
        )
        self.open_button = push_button(message("Open this release"), lambda: self.open_release(self.place))
        self.copy_button = self.command_button(name=message("Copy the comparison as a command line"))
        self._empty = Label(
            wordWrap=True, alignment=Qt.AlignmentFlag.AlignCenter, name=message("What this page is for")
        )
        self.stack = QStackedWidget()
        filled(self.stack, self._taught(), self.view)
        area = named(scrolling(self.stack), focus=Qt.FocusPolicy.NoFocus)
        self.body.addWidget(split(self.runs, (area, 1), sizes=(30 * GRID, 84 * GRID)), 1)
        others = FlowLayout(gap=GRID)
        filled(others, self.copy_button, self.source, self.open_button)
        self.footer.addLayout(others, 1)
        self._connect()

    def _taught(self) -> QWidget:
        """The empty state: what belongs here, and one button to begin with."""
        middle = Qt.AlignmentFlag.AlignHCenter
        return held(in_column(1, self._empty, (self.fitting, 0, middle), 2, spacing=2 * GRID))

    def _connect(self) -> None:
        view = self.view
        self.runs.changed.connect(self.change)
        self.runs.chosen.connect(lambda c: self.choose((c, None)))
        view.chosen.connect(self.choose)
        view.opened.connect(self.open_release)
        view.failed.connect(self._tell_failure)
        view.axes_changed.connect(self._tell)
        view.table.export_asked.connect(self.files.ask)
        self._ease.timeout.connect(self._show_more)

    def choices(self) -> Mapping[str, Callable[[], object]]:
        return {
            "compare": self.compare,
            "source": self.compare_as_source,
            "open": lambda: self.open_release(self.place),
            "csv": self.files.ask,
            "svg": lambda: self.files.ask("svg"),
        }

    def without_work(self) -> frozenset[str]:
        if not self.editable:
            return frozenset(self.choices())
        files = frozenset({"csv", "svg"}) if self.comparison is None else frozenset()
        return files if self.open_button.isEnabled() else files | {"open"}

    # -- bringing up to date ------------------------------------------------------------------

    @property
    def editable(self) -> bool:
        """Return True if anything may be compared: in the house, in the house's view."""
        return self.document.in_house

    def shows_original(self) -> bool:
        return self.editable

    @property
    def running(self) -> bool:
        """Return True if a comparison runs now."""
        return self._comparing.running

    def refresh(self, changes: PageChanges) -> None:
        project = self.document.project
        if project is None or not self.editable:
            self._hide()
            return
        self.view.fill_axes()
        about = (project.table, project.at_risk, project.record_keys)
        if not self._about or any(a is not b and a != b for a, b in zip(about, self._about, strict=True)):
            self._about = about
            self._forget()
        self._show()
        if self._after_open and project.source == PREFIX + SOURCE:
            self._after_open = False
            # Once the command that opened it is over.
            QTimer.singleShot(0, self, self._compare_source)

    def _forget(self) -> None:
        """Another table: nothing of the old comparison is kept, and none goes on."""
        self._comparing.drop()
        self.comparison, self.place, self._labels, self._asked = None, None, (), None

    def _hide(self) -> None:
        """No table, or a reader's view: nothing of the house stays in any widget."""
        self.runs.show_nothing()
        self.runs.hide()
        self.view.show_nothing("")
        self.stack.setCurrentIndex(0)
        self._empty.setText(translate(PUBLIC if self.document.has_original else READER))
        self.open_button.setAccessibleDescription("")
        for button in (*self._buttons, self.fitting):
            button.hide()
        self.set_sentence("")

    @property
    def _buttons(self) -> tuple[QPushButton, ...]:
        return (self.copy_button, self.source, self.open_button, self.main_button)

    def _show(self) -> None:
        """Show the settings, and of the comparison what there is of it."""
        project = self.document.project
        if project is None or not self.editable:
            return
        found, plan = self.comparison, project.comparison
        failed = {}
        if found is not None and self._labels == plan.runs:
            failed = {c: why for c in range(len(plan.runs)) if (why := failures(found, c))}
        marks = series_looks(run.partition(" ")[0] for run in (*self._labels, *plan.runs))
        self.runs.show()
        self.runs.show_plan(project, marks, failed)
        self.stack.setCurrentIndex(1 if plan.runs or found is not None else 0)
        self._empty.setText(translate(EMPTY))
        if found is None:
            self.view.show_nothing(waiting_text(plan, running=self.running))
        else:
            self._show_found(found, marks)
        for button in (*self._buttons, self.fitting):
            button.show()
        self.copy_button.setEnabled(bool(plan.runs))
        compare = message("Compare") if plan.runs else message("Compare every method that fits")
        self.main_button.setText(translate(message("Stop, keep what is there") if self.running else compare))
        self._tell()
        self.choose(self.place)

    def _show_found(self, found: Comparison, marks: Mapping[str, SeriesLook]) -> None:
        project = self.document.project
        assert project is not None
        limit = project.limits.limits(project.at_risk).share
        self.view.show_comparison(found, self._labels, marks, running=self.running, limit=limit)

    def _show_more(self) -> None:
        """Show what came in meanwhile; the settings, where somebody may be typing, stay."""
        project, found = self.document.project, self.comparison
        if project is None or found is None or not self.editable or not self.isVisible():
            return
        marks = series_looks(run.partition(" ")[0] for run in (*self._labels, *project.comparison.runs))
        self._show_found(found, marks)
        self._tell()
        self.choose(self.place)

    def _tell(self) -> None:
        project, found = self.document.project, self.comparison
        if project is None or not self.editable:
            return
        if found is None:
            self.set_sentence(
                message("Nothing was compared yet.")
                if project.comparison.runs
                else message("Every method that fits, side by side over many runs of each.")
            )
            return
        risk, utility = self.view.axes
        self.set_sentence(
            sentence(
                found,
                names(self._labels),
                risk,
                utility,
                whole=self._whole,
                changed=self._asked != project.comparison,
            )
        )

    # -- the choice ---------------------------------------------------------------------------

    def choose(self, place: Place | None) -> None:
        """Choose a run or a setting: on the map, in the table and in the list."""
        found = self.comparison
        if place is not None and found is not None:
            # Fewer runs are there while a comparison goes on anew.
            if place[0] >= len(found.configurations):
                place = None
            elif place[1] is not None and (
                place[1] >= len(found.runs) or found.runs[place[1]].configuration != place[0]
            ):
                place = (place[0], None)
        self.place = place
        self.view.set_place(place)
        self.runs.set_current(None if place is None else place[0])
        run = self._run()
        self.open_button.setEnabled(run is not None and not self.running)
        said = "" if place is None or found is None else self.view.words(place)
        self.open_button.setAccessibleDescription(translate(said))

    def _run(self) -> int | None:
        """The chosen run, or the first one of the chosen setting that did not fail."""
        found, place = self.comparison, self.place
        if found is None or place is None:
            return None
        if place[1] is not None:
            return None if found.runs[place[1]].error else place[1]
        return next(
            (n for n, r in enumerate(found.runs) if r.configuration == place[0] and not r.error), None
        )

    # -- doing --------------------------------------------------------------------------------

    def words(self, project: Project) -> list[str]:
        return compare_words(project)

    def change(self, order: Order) -> None:
        """Change what is compared."""

        def failed(error: TabprotectError) -> None:
            self.show_error(error)
            self._show()

        self.errors.clear()
        self.document.run(order, page=self.name, failed=failed)

    def take_fitting(self) -> None:
        """Compare every method that can be run on this table as it comes."""
        project = self.document.project
        if project is None or not self.editable:
            return
        names = []
        for name, method in methods().items():
            try:
                method.resolve(project.domain, {})
            except TabprotectError:
                continue
            if not method.unmet(project.problem):
                names.append(name)
        self.change(set_comparison(runs=names))

    def compare_as_source(self) -> None:
        """Open the example, take its source's settings, and compare: one click."""
        project = self.document.project
        if project is not None and project.source == PREFIX + SOURCE and not project.edited:
            self._compare_source()
            return
        self._after_open = True
        self.document.open_asked.emit(PREFIX + SOURCE)
        self.document.page_asked.emit(self.name)

    def _compare_source(self) -> None:
        own = load_example(SOURCE).comparison
        self.change(
            set_comparison(
                runs=list(SOURCES_RUNS),
                runs_per_method=SOURCES_NUMBER,
                margins=own["margins"],
                key=[name.strip() for name in own["key"].split(",")],
                sensitive=own["sensitive"],
            )
        )
        if not self.errors.isVisible():
            self.compare()

    def main_action(self) -> None:
        project = self.document.project
        if self.running:
            self._comparing.cancel()
            return
        if project is not None and not project.comparison.runs:
            self.take_fitting()
        self.compare()

    def compare(self) -> None:
        """Run the comparison beside the window, over all cores."""
        project = self.document.project
        if project is None or not self.editable or self.running:
            return
        plan = project.comparison
        if not plan.runs:
            return
        self.errors.clear()
        scope = comparison_scope(project)

        def work(progress: Progress) -> Comparison:
            from tabprotect.engine.assessment.comparing.compare import compare
            from tabprotect.engine.assessment.comparing.run_spec import parse_spec

            specs = [spec for text in plan.runs for spec in parse_spec(text)]
            return compare(
                project.problem,
                specs,
                runs_per_method=plan.runs_per_method,
                seed=project.seed,
                scope=scope,
                progress=progress,
            )

        self._comparing.ask(message("comparing methods"), work)
        self._asked = plan
        self.comparison, self._labels, self._whole = None, plan.runs, False
        self._show()

    def _came(self, found: Comparison) -> None:
        self.comparison, self._whole = found, False
        if not self._ease.isActive():
            self._ease.start()

    def _compared(self, found: Comparison) -> None:
        self.comparison, self._whole = found, True
        self._ended()

    def _failed(self, error: TabprotectError) -> None:
        self._tell_failure(error)
        self._ended()

    def _tell_failure(self, error: TabprotectError) -> None:
        if isinstance(error, ParameterError):
            error.hint = error.hint or message("change or remove the setting")
        self.show_error(error)

    def _ended(self) -> None:
        self._ease.stop()
        if self.isVisible():
            self._show()
        else:
            self._missed |= {"comparison"}

    def open_release(self, place: Place | None) -> None:
        """Make a run's release the project's: its method, its parameters, its seed."""
        if place is not None:
            self.choose(place)
        number, found = self._run(), self.comparison
        if number is None or found is None or not self.editable or self.running:
            return
        run = found.runs[number]
        self.errors.clear()
        spec = found.configurations[run.configuration].spec
        given = dict(spec.given)
        cycles = given.pop("cycles", None)
        self.do(set_method, method=spec.method)
        if any(p.kind == "cycles" for p in methods()[spec.method].parameters):
            self.change(_cycles(cycles))
        if given:
            self.do(set_parameters, **given)
        # What the gate refuses is held all the same: it was asked to be looked at.
        job = self.do(protect, seed=run.seed, draft=True)
        if job is not None:
            # The pages turn to the new release first; the one that is asked for is shown after that.
            job.finished.connect(lambda _: QTimer.singleShot(0, self, self._show_release))

    def _show_release(self) -> None:
        self.document.page_asked.emit(setup_page(self.document))


def _cycles(given: object) -> Order:
    """The cycle set that a run took: a design, a file, or the default."""
    if given is None:
        return set_cycles()
    text = str(given)
    design = text in DESIGNS or text.startswith(DESIGN_PREFIX)
    return set_cycles(kind=text) if design else set_cycles(file=text)
