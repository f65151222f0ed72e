"""The compare page: several methods and settings side by side on the open table."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import TYPE_CHECKING

from PySide6.QtCore import Qt, QTimer
from PySide6.QtWidgets import QPushButton, QStackedWidget, QWidget

from tabprotect.engine.cycles.designs import DESIGNS
from tabprotect.engine.errors import ParameterError, TabprotectError
from tabprotect.engine.progress import Progress
from tabprotect.engine.project.command import Order
from tabprotect.engine.project.project import Project
from tabprotect.engine.project.verbs.compare_verbs import compare as compare_words
from tabprotect.engine.project.verbs.compare_verbs import comparison_of, set_comparison
from tabprotect.engine.project.verbs.cycle_verbs import set_cycles
from tabprotect.engine.project.verbs.magnitude_verbs import compare_magnitudes
from tabprotect.engine.project.verbs.release_verbs import protect, set_method, set_parameters
from tabprotect.engine.protection.registered import methods
from tabprotect.gui.base.background.background_task import BackgroundTask, same
from tabprotect.gui.base.document import Document
from tabprotect.gui.base.page import Page, PageChanges
from tabprotect.gui.look.buttons import Scrolling, connected, named, present, push_button
from tabprotect.gui.look.label import Label
from tabprotect.gui.look.layouts import FlowLayout, filled, held, in_column, set_visible, split
from tabprotect.gui.look.theme import GRID
from tabprotect.gui.pages.compare.comparison_view import ComparisonFiles, ComparisonView
from tabprotect.gui.pages.compare.magnitude_ways import (
    BROKEN,
    MEASURES,
    WaysCompared,
    compare_ways,
    way_names,
    ways_key,
)
from tabprotect.gui.pages.compare.runs_panel import RunsPanel
from tabprotect.gui.pages.compare.words import (
    BELIEF,
    CHANGE,
    EMPTY,
    KNOWN,
    PUBLIC,
    READER,
    failures,
    names,
    sentence,
    waiting_text,
)
from tabprotect.gui.pages.compare.words import titles as whole_names
from tabprotect.gui.pages.stages import COMPARE
from tabprotect.gui.plots.ru_map import Place
from tabprotect.gui.plots.series_looks import SeriesLook, series_looks
from tabprotect.languages.messages import message
from tabprotect.languages.translation import translate

if TYPE_CHECKING:
    from tabprotect.gui.pages.compare.magnitude_ways import Compared

WAYS = message("Ways to protect these sums, each tried on this table: what it gives away, and what it loses.")

NEAR = message(
    "A guess is near within the share that the p rule names, else 10 %. A hidden sum is lost whole; hollow: "
    "somebody comes too near. Trial runs, nothing is published."
)

DESIGN_PREFIX = "order-"

EASE = 300
"""Milliseconds between two looks at a comparison that is running."""


class ComparePage(Page):
    """Left the settings; right the risk-utility map above the measures."""

    stage = COMPARE

    def __init__(self, document: Document) -> None:
        super().__init__(document)
        self.place: Place | None = None
        self._whole = True
        self._labels: tuple[str, ...] = ()
        self._about: tuple[object, ...] = ()
        self._asked: object = None
        self._comparing: BackgroundTask[Compared] = BackgroundTask(
            self, document.jobs, self._compared, self._failed, came=self._came, stopped=self._ended
        )
        self._magnitudes = document.of_magnitudes
        self.runs = RunsPanel()
        opens = {"opens": message("Return sets the method up")} if self._magnitudes else {}
        self.view = ComparisonView(**opens)
        self.files = ComparisonFiles(
            self, lambda: self.comparison, lambda caption: self.view.map.svg(caption=caption)
        )
        self._ease = QTimer(self, singleShot=True, interval=EASE)
        self.fitting = push_button(message("Take every method that fits"), self.take_fitting)
        self.open_button = push_button(
            message("Set the method up") if self._magnitudes else message("Open this release"),
            lambda: self.open_release(self.place),
        )
        self.copy_button = self.command_button(name=message("Copy the comparison as a command line"))
        self._empty = Label(
            wordWrap=True, alignment=Qt.AlignmentFlag.AlignCenter, name=message("What this page is for")
        )
        self.stack = QStackedWidget()
        filled(self.stack, self._taught(), self.view)
        area = named(Scrolling(self.stack), focus=Qt.FocusPolicy.NoFocus)
        self.body.addWidget(split(self.runs, (area, 1), sizes=(30 * GRID, 84 * GRID)), 1)
        others = FlowLayout(gap=GRID)
        filled(others, *self._buttons[:-1])
        self.footer.addLayout(others, 1)
        self._note = Label(wordWrap=True, role="quiet")
        if self._magnitudes:
            self.footer.insertWidget(0, self._note, 1)
        self._connect()

    def _taught(self) -> QWidget:
        """The empty state: what belongs here, and one button to begin with."""
        middle = Qt.AlignmentFlag.AlignHCenter
        return held(in_column(1, self._empty, (self.fitting, 0, middle), 2, spacing=2 * GRID))

    def _connect(self) -> None:
        view = self.view
        connected(self.runs, changed=self.change, chosen=lambda c: self.choose((c, None)))
        connected(view, chosen=self.choose, opened=self.open_release, axes_changed=self._tell)
        view.table.export_asked.connect(lambda: self.files.ask("csv"))
        self._ease.timeout.connect(self._show_more)

    def choices(self) -> Mapping[str, Callable[[], object]]:
        return {
            "compare": self.compare,
            "open": lambda: self.open_release(self.place),
            "csv": lambda: self.files.ask("csv"),
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
    def comparison(self) -> Compared | None:
        """The runs that were compared so far."""
        return self._comparing.answer

    @property
    def running(self) -> bool:
        """Return True if a comparison runs now."""
        return self._comparing.running

    def refresh(self, changes: PageChanges) -> None:
        if (project := self.document.project) is None or not self.editable:
            self._hide()
            return
        self._offer_measures()
        about = (
            ways_key(project)
            if self._magnitudes
            else (project.table, str(project.at_risk), project.record_keys)
        )
        if not same(about, self._about):
            self._about = about
            self._forget()
        self._show()

    def _offer_measures(self) -> None:
        if self._magnitudes:
            self.view.fill_axes(MEASURES)
            return
        # Measures bring in inference, and that brings in scipy.
        from tabprotect.engine.assessment.registered import measures

        self.view.fill_axes(measures().values(), risk=BELIEF, utility=CHANGE)

    def _forget(self) -> None:
        """Another table: nothing of the old comparison is kept, and none goes on."""
        self._comparing.drop()
        self.place, self._labels, self._asked = None, (), None

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
        return (self.copy_button, self.open_button, self.main_button)

    def _show(self) -> None:
        """Show the settings, and of the comparison what there is of it."""
        if (project := self.document.project) is None or not self.editable:
            return
        found, plan = self.comparison, project.comparison
        if not self._magnitudes:
            failed: dict[int, str] = {}
            if found is not None and not isinstance(found, WaysCompared) and self._labels == plan.runs:
                failed = {c: why for c in range(len(plan.runs)) if (why := failures(found, c))}
            self.runs.show_plan(project, self._looks(project), failed)
        self.runs.setVisible(not self._magnitudes)
        ready = self._magnitudes or bool(plan.runs)
        self.stack.setCurrentIndex(int(ready or found is not None))
        self._empty.setText(translate(EMPTY))
        if found is None:
            self.view.show_nothing(WAYS if self._magnitudes else waiting_text(plan, running=self.running))
        else:
            self._show_found(found)
        set_visible(True, *self._buttons)
        self.fitting.setVisible(not self._magnitudes)
        self._note.setText(NEAR)
        self.copy_button.setEnabled(ready)
        self.main_button.setEnabled(True)
        begin = message("Compare") if ready else message("Compare every method that fits")
        self.main_button.setText(translate(message("Stop, keep what is there") if self.running else begin))
        self._tell()
        self.choose(self.place)

    def _looks(self, project: Project) -> Mapping[str, SeriesLook]:
        """The mark of every method, or way."""
        if self._magnitudes:
            return series_looks(way_names())
        return series_looks(run.partition(" ")[0] for run in (*self._labels, *project.comparison.runs))

    def _show_found(self, found: Compared) -> None:
        project = present(self.document.project)
        looks = self._looks(project)
        if isinstance(found, WaysCompared):
            titles = called = found.names
            of, limit = [way.method for way in found.configurations], (BROKEN, 0.0)
        else:
            titles, called = whole_names(self._labels), names(self._labels)
            of = [one.spec.method for one in found.configurations]
            limit = (KNOWN, project.limits.limits(project.at_risk).share)
        shown = [looks[name] for name in of]
        self.view.show_comparison(found, titles, called, shown, running=self.running, limit=limit)

    def _show_more(self) -> None:
        """Show what came in meanwhile; the settings, where somebody may be typing, stay."""
        found = self.comparison
        if self.document.project is None or found is None or not self.editable or not self.isVisible():
            return
        self._show_found(found)
        self._tell()
        self.choose(self.place)

    def _tell(self) -> None:
        project, found = self.document.project, self.comparison
        if project is None or not self.editable:
            return
        if project.magnitudes is not None and not project.magnitudes.rules:
            self.set_sentence(message("No rule is given yet."))
            return
        if found is None:
            self.set_sentence(
                WAYS
                if self._magnitudes
                else message("Nothing was compared yet.")
                if project.comparison.runs
                else message("Every method that fits, side by side over many runs of each.")
            )
            return
        risk, utility = self.view.axes
        if isinstance(found, WaysCompared):
            tried = len(found.configurations)
            called: tuple[str, ...] = found.names if self._whole else way_names()
        else:
            called = names(self._labels)
            tried = len(called) if self._whole else len({run.configuration for run in found.runs})
        changed = not self._magnitudes and self._asked != project.comparison
        self.set_sentence(sentence(found, called, risk, utility, tried=tried, changed=changed))

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
        self.open_button.setEnabled(self._run() is not None and not self.running)
        said = "" if place is None or found is None else self.view.words(place)
        self.open_button.setAccessibleDescription(translate(said))

    def _run(self) -> int | None:
        """The chosen run, or the first one of the chosen setting that did not fail; of ways a method."""
        found, place = self.comparison, self.place
        if found is None or place is None:
            return None
        if isinstance(found, WaysCompared):
            return place[0] if found.configurations[place[0]].method in methods("magnitudes") else None
        if place[1] is not None:
            return None if found.runs[place[1]].error else place[1]
        return next(
            (n for n, r in enumerate(found.runs) if r.configuration == place[0] and not r.error), None
        )

    # -- doing --------------------------------------------------------------------------------

    def words(self, project: Project) -> list[str]:
        return compare_magnitudes(project) if project.of_magnitudes else compare_words(project)

    def change(self, order: Order) -> None:
        """Change what is compared."""

        def failed(error: TabprotectError) -> None:
            self.show_error(error)
            self._show()

        self.errors.clear()
        self.document.run(order, page=self.name, failed=failed)

    def take_fitting(self) -> None:
        """Compare every method that can be run on this table as it comes."""
        if (project := self.document.project) is None or not self.editable:
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

    def main_action(self) -> None:
        project = self.document.project
        if self.running:
            self._comparing.cancel()
            return
        if project is not None and not project.comparison.runs and not self._magnitudes:
            self.take_fitting()
        self.compare()

    def compare(self) -> None:
        """Run the comparison beside the window, over all cores."""
        if (project := self.document.project) is None or not self.editable or self.running:
            return
        self.errors.clear()
        self._whole = False
        if project.magnitudes is not None:
            if project.magnitudes.rules:
                self._comparing.ask(message("comparing ways to protect"), partial(compare_ways, project))
                self._show()
            return
        plan = project.comparison
        if not plan.runs:
            return
        asked = comparison_of(project)

        def work(progress: Progress) -> Compared:
            from tabprotect.engine.assessment.comparing.compare import compare
            from tabprotect.engine.assessment.comparing.run_spec import parse_spec

            specs = [spec for text in plan.runs for spec in parse_spec(text)]
            return compare(
                project.problem, specs, asked, runs_per_method=plan.runs_per_method, progress=progress
            )

        self._comparing.ask(message("comparing methods"), work)
        self._asked = plan
        self._labels = plan.runs
        self._show()

    def _came(self, found: Compared) -> None:
        if not self._ease.isActive():
            self._ease.start()

    def _compared(self, found: Compared) -> None:
        self._whole = True
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
        self.when_seen(self._show, "comparison")

    def open_release(self, place: Place | None) -> None:
        """Make a run's release the project's: its method, its parameters, its seed."""
        if place is not None:
            self.choose(place)
        number, found = self._run(), self.comparison
        if number is None or found is None or not self.editable or self.running:
            return
        if isinstance(found, WaysCompared):
            self.do(set_method, method=found.configurations[number].method)
            self._show_release()
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
        if (job := self.do(protect, seed=run.seed, draft=True)) is not None:
            # The pages turn to the new release first; the one that is asked for is shown after that.
            job.finished.connect(lambda _: QTimer.singleShot(0, self, self._show_release))

    def _show_release(self) -> None:
        self.document.page_asked.emit("table")


def _cycles(given: object) -> Order:
    """The cycle set that a run took: a design, a file, or the default."""
    if given is None:
        return set_cycles()
    text = str(given)
    design = text in DESIGNS or text.startswith(DESIGN_PREFIX)
    return set_cycles(kind=text) if design else set_cycles(file=text)
