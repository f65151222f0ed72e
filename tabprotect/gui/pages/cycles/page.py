"""The cycles page: which cells move together, and what follows from it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace

import numpy as np
from PySide6.QtCore import Qt
from PySide6.QtGui import QAction, QHideEvent
from PySide6.QtWidgets import QMenu, QStackedWidget, QToolButton, QWidget

from tabprotect.engine.cycles.designs import DESIGNS, connected_parts, is_named
from tabprotect.engine.errors import TabprotectError
from tabprotect.engine.project.project import Project
from tabprotect.engine.project.verbs.cycle_verbs import BY_HAND, check
from tabprotect.engine.project.verbs.release_verbs import BY_FIGURES
from tabprotect.engine.project.verbs.table_verbs import placed
from tabprotect.engine.protection.cycle_runs.cycle_parameters import BLOCKING
from tabprotect.engine.tables.domain import Index
from tabprotect.engine.tables.moves import MoveSet, Violation
from tabprotect.gui.base.document import Document
from tabprotect.gui.base.page import Page, PageChanges
from tabprotect.gui.grid.cycle_grid import CycleGrid, Overlay
from tabprotect.gui.grid.layout import Layout
from tabprotect.gui.grid.placement_bar import PlacementBar
from tabprotect.gui.look.buttons import connected, present, tool_button
from tabprotect.gui.look.label import Label, tip
from tabprotect.gui.look.layouts import filled, held, in_column
from tabprotect.gui.look.theme import GRID
from tabprotect.gui.pages.cycles import cycle_overlays
from tabprotect.gui.pages.cycles.broken_margins import (
    BrokenSums,
    broken_sums,
    cell_of,
    cells_inside,
    named_sums,
)
from tabprotect.gui.pages.cycles.cycle_editor import CycleEditor
from tabprotect.gui.pages.cycles.cycle_examination import Examination, Examined, sentence
from tabprotect.gui.pages.cycles.cycle_list import CycleList
from tabprotect.gui.pages.cycles.proof_panel import Functional, ProofPanel
from tabprotect.gui.pages.cycles.templates.cycle_source import Choosing
from tabprotect.gui.pages.cycles.workbench import Workbench
from tabprotect.gui.pages.stages import CYCLES, QUICK_ENTRIES
from tabprotect.languages.messages import capital, joined, message
from tabprotect.languages.translation import tr, translate

STRUCTURE = frozenset({"table", "cycles", "placement", "release", "view", "everything"})
JUDGED = STRUCTURE | {"parameters", "at_risk"}

MOST_LOOKED_AT = 50
"""Cells of a cycle that are looked at to find out whether it is in sight."""


UNPUBLISHED = message("Nothing is published yet, so no counts are shown.")


class CyclesPage(Page):
    """The list of cycles, the table with one of them over it, and the proof panel."""

    stage = CYCLES

    def __init__(self, document: Document) -> None:
        super().__init__(document)
        self._moves: MoveSet | None = None
        self._functional: Functional | None = None
        self._immovable_at = -1
        self.examination = Examination(document, self)
        self.editor = CycleEditor(self)
        self.list = CycleList()
        self.grid = CycleGrid()
        self.proof = ProofPanel()
        self.choosing = Choosing(document)
        self.placement = PlacementBar()
        self.broken = BrokenSums()
        self._legend = Label(wordWrap=True, role="quiet")
        self._tools: dict[str, QToolButton | QAction] = {}
        for name, text, words in (
            (
                "chances",
                message("How often cells move"),
                message("How many cycles touch each cell, as a heat map"),
            ),
            ("templates", message("Ready-made sets"), message("Choose a cycle set from a template")),
        ):
            button = tool_button(
                text, tip=words, checkable=True, name=words, focus=Qt.FocusPolicy.StrongFocus
            )
            self._tools[name] = button
            self.tools.addWidget(button)
        more = tool_button(
            message("More"), name=message("More about the cycles"), focus=Qt.FocusPolicy.StrongFocus
        )
        menu = QMenu(more)
        for name, text, run in (
            ("split", message("Split into connected parts"), self.editor.split),
            ("import", message("Import\u2026"), self.editor.ask_import),
            ("export", message("Export\u2026"), self.editor.ask_export),
        ):
            self._tools[name] = connected(
                menu.addAction(translate(text)), triggered=lambda _=False, run=run: run()
            )
        menu.aboutToShow.connect(self._offer_split)
        more.setMenu(menu)
        more.setPopupMode(QToolButton.ToolButtonPopupMode.InstantPopup)
        self.tools.addWidget(more)
        self._build_body()
        self._connect()

    def _build_body(self) -> None:
        middle = held(in_column((self.grid, 1), self.broken, margins=(GRID, 0, GRID, 0), spacing=GRID))
        self._work = Workbench(self.list, middle, self.proof)
        self.empty = Label(wordWrap=True, alignment=Qt.AlignmentFlag.AlignCenter, role="quiet")
        self.stack = QStackedWidget()
        filled(self.stack, self._work, self.choosing, self.empty)
        filled(self.body, self.placement, (self.stack, 1))
        filled(self.footer, (self._legend, 1), 0)
        self.begins = self.grid.grid.cells

    def _connect(self) -> None:
        document, editor = self.document, self.editor
        connected(
            self.examination,
            answered=self._answered,
            chosen=lambda: self.refresh(JUDGED),
            failed=self.show_error,
            functionals_found=self._list_functionals,
        )
        self._tools["chances"].toggled.connect(lambda _: self._paint())
        self._tools["templates"].toggled.connect(self._show_templates)
        connected(
            self.choosing, chosen=self._take_template, done=lambda: self._tools["templates"].setChecked(False)
        )
        connected(
            self.list,
            chosen=document.select_cycle,
            add_asked=editor.add,
            duplicate_asked=editor.duplicate,
            remove_asked=editor.remove,
            moved=editor.move,
        )
        connected(self.grid, chosen=document.select, sign_asked=editor.flip, mend_asked=editor.mend)
        editor.begun.connect(self._draw_anew)
        connected(self.broken, chosen=self._go_to, mend_asked=editor.mend)
        self.placement.placed.connect(lambda where: self.document.run(placed(where), page=self.name))
        # Not within the layout that showing the words begins: they would be hidden and shown at once.
        self._work.placed.connect(self._place_words, Qt.ConnectionType.QueuedConnection)
        self.placement.layer_chosen.connect(self._choose_layer)
        connected(
            self.proof,
            jump_asked=self._jump,
            functionals_asked=self.examination.find_functionals,
            functional_chosen=self._show_functional,
            next_immovable_asked=self._next_immovable,
            chances_asked=lambda: self._tools["chances"].setChecked(True),
            blocked_asked=lambda: self.list.filter.setText(tr("blocked")),
        )
        connected(document, cycle_selected=self._cycle_selected, selection_changed=self._cell_selected)

    def words(self, project: Project) -> list[str]:
        return check(project)

    def choices(self) -> Mapping[str, Callable[[], object]]:
        return {
            "templates": self._tools["templates"].toggle,
            "add": self.editor.add,
            "duplicate": self.editor.duplicate,
            "split": self.editor.split,
            "import": self.editor.ask_import,
            "export": self.editor.ask_export,
        }

    def hideEvent(self, event: QHideEvent) -> None:
        super().hideEvent(event)
        self._put_off()

    def _put_off(self) -> None:
        if self.examination.leave():
            # Nobody looks: the cycles are examined when the page comes up again.
            self._missed |= {"cycles"}

    def _offer_split(self) -> None:
        """Offer to split where a cycle has several parts."""
        moves = self._moves
        apart = moves is not None and (
            len(moves.cells) > QUICK_ENTRIES or len(connected_parts(moves)) > len(moves)
        )
        self._tools["split"].setEnabled(self.editor.allowed and apart)

    # -- bringing up to date ------------------------------------------------------------------

    def refresh(self, changes: PageChanges) -> None:
        if (project := self.document.project) is None:
            return
        editable = self.editor.allowed
        self.list.repaint_pictures()
        for name in ("templates", "split", "import"):
            self._tools[name].setEnabled(editable)
        self.main_button.setVisible(editable)
        if not editable:
            self._tools["templates"].setChecked(False)
        if not self.examination.known(project):
            self._moves = None
            self.set_sentence(message("Choosing cycles for the kept sums…"))
            self.empty.setText(tr("They are tried on synthetic tables with the same margins."))
            self._choose_front()
            return
        try:
            moves: MoveSet | None = project.cycles
        except TabprotectError as error:
            moves = None
            said = (error.message, error.hint)
            self.empty.setText(translate(joined((capital(t) + "." for t in said if t), " ")))
        coming = False
        if moves is not None and changes & JUDGED:
            # First of all: what is known about other cycles must not be drawn over these.
            coming = self.examination.ask(self._examined(project, moves))
            if not self.isVisible():
                self._put_off()
        if changes & STRUCTURE:
            self._take(project, moves)
        self._choose_front()
        self.choosing.show_project(project)
        if moves is None:
            self.set_sentence(message("This table has no cycles."))
            return
        self.placement.layers.lay_out(project.domain, project.shown_placement)
        if coming:
            self.proof.show_state(message("Examining the cycles\u2026"))
            self._tell()
            self._paint()
        else:
            self._answered()

    def _examined(self, project: Project, moves: MoveSet) -> Examined:
        passes, steps = project.values.get("passes") or 1, project.values.get("n_cover", 0)
        assert isinstance(passes, int) and isinstance(steps, int)
        if steps:
            passes = -(-steps // len(moves))
        return Examined(moves, self.document.shown_table, self._rule(project), passes)

    @staticmethod
    def _rule(project: Project) -> str:
        rule = project.values.get("blocking")
        if rule is None and project.moves is None and project.takes_cycles:
            # Chosen with the cycles.
            rule = project.resolved[BLOCKING]
        return str(rule or "any_zero")

    def _take(self, project: Project, moves: MoveSet | None) -> None:
        self._moves = moves
        self._functional = None
        self.placement.layers.lay_out(project.domain, project.shown_placement, self.document.selection)
        self.list.show_moves(
            moves, project.shown_placement, editable=self.editor.allowed, where=self._origin(project)
        )
        if moves is not None:
            if (cycle := self.document.selected_cycle) is None or cycle >= len(moves):
                self.document.select_cycle(None if self.editor.drawing else 0)
            self.list.select(self.document.selected_cycle)

    def _origin(self, project: Project) -> str:
        if not self.editor.allowed:
            # Where the house took its cycles from (perhaps a file) is its own affair.
            return ""
        if (origin := project.cycles_from) in DESIGNS:
            return DESIGNS[origin].label
        if origin.startswith("order-"):
            return message("keeps {removeprefix}-way margins", origin.removeprefix("order-"))
        if origin == BY_HAND or origin.endswith(BY_FIGURES) or is_named(origin):
            return origin
        return (
            message("from {origin}", origin) if origin else message("chosen so that the kept sums stay exact")
        )

    def _choose_front(self) -> None:
        work: QWidget = self.empty if self._moves is None else self._work
        front = self.choosing if self._tools["templates"].isChecked() else work
        self.stack.setCurrentWidget(front)
        self._tools["chances"].setEnabled(front is self._work)
        self._place_words()
        project = self.document.project
        wide = project is not None and project.domain.ndim > 2
        self.placement.setVisible(front is self._work and wide)

    def _answered(self) -> None:
        """Show what is known about the cycles."""
        report, moves = self.examination.report, self._moves
        if report is None or moves is None:
            return
        self._immovable_at = -1
        self.proof.show_state("")
        self.proof.show_report(report)
        self.list.mark(
            blocked=self.examination.blocked,
            broken=named_sums(report.violations),
            cycle=self.document.selected_cycle,
        )
        self._tell()
        self._paint()

    def _tell(self) -> None:
        if self._moves is None:
            return
        report = self.examination.report
        whose = message("the published table") if self.document.public else message("this table")
        project = self.document.project
        rule = "" if project is None else self._rule(project)
        text = sentence(self._moves, report, whose=whose, rule=rule)
        unpublished = self.document.shown_table is None
        self.set_sentence(message("{text}. {UNPUBLISHED}", text, UNPUBLISHED) if unpublished else text + ".")
        self.main_button.setEnabled(report is None or report.preserves_margins)

    # -- drawing ------------------------------------------------------------------------------

    def _layout(self) -> Layout:
        project = present(self.document.project)
        return Layout(project.domain, project.shown_placement, self.placement.layers.cell)

    def _paint(self) -> None:
        """Draw the table with what lies over it."""
        project, moves, cycle = self.document.project, self._moves, self.document.selected_cycle
        if moves is None or project is None or moves.domain.shape != project.domain.shape:
            return
        table = self.document.shown_table
        counts = None if table is None else table.counts
        found: list[Violation] = []
        layout = self._layout()
        if self._tools["chances"].isChecked():
            overlay = cycle_overlays.of_chances(moves, counts)
        elif self._functional is not None:
            overlay = cycle_overlays.of_combination(moves, self._functional, counts)
        elif cycle is None or cycle >= len(moves):
            signs = np.zeros(moves.domain.shape, dtype=np.int8) if self.editor.drawing else None
            overlay = Overlay(counts=counts, sign=signs)
        else:
            found = broken_sums(moves, cycle)
            rule, report = self._rule(project), self.examination.report
            overlay = replace(
                cycle_overlays.of_cycle(moves, cycle, counts, rule=rule, report=report),
                at_risk=None if self.document.public else self.document.at_risk,
                unbalanced=cells_inside(found, layout, moves.domain),
            )
        self.grid.show_overlay(layout, moves.margins, overlay)
        self.grid.select(self.document.selection)
        self.broken.show_sums(cycle or 0, found, editable=self.editor.allowed)
        said = cycle_overlays.legend(overlay, editable=self.editor.allowed)
        if overlay.sign is not None and cycle is not None:
            said += cycle_overlays.layers(moves, cycle, layout.placement)
        self._legend.setText(translate(said))
        self._place_words()

    def _place_words(self) -> None:
        """The legend below the table; in a low window the table has its room, and its words."""
        low = self._work.place == "left"
        self._legend.setVisible(self.stack.currentWidget() is self._work and not low)
        self.grid.setToolTip(translate(tip(self._legend.text()) if low else ""))

    # -- going about --------------------------------------------------------------------------

    def _go_to(self, violation: Violation) -> None:
        """Select a cell of a sum that the selected cycle breaks."""
        moves, cycle = self._moves, self.document.selected_cycle
        if moves is not None and cycle is not None:
            self.document.select(cell_of(violation, moves, cycle))
            self.grid.grid.cells.setFocus()

    def _jump(self) -> None:
        if (report := self.examination.report) is not None and report.violations:
            self.list.filter.clear()
            self.document.select_cycle(report.violations[0].cycle)
            self._tools["chances"].setChecked(False)
            self._go_to(report.violations[0])

    def _list_functionals(self, found: list[Functional] | None) -> None:
        if self._moves is not None:
            self.proof.show_functionals(found, self._moves.domain, self.document.shown_table)

    def _show_functional(self, functional: Functional | None) -> None:
        self._functional = functional
        self._tools["chances"].setChecked(False)
        self._paint()

    def _next_immovable(self) -> None:
        if (report := self.examination.report) is not None and report.immovable:
            self._immovable_at = (self._immovable_at + 1) % len(report.immovable)
            self.document.select(report.immovable[self._immovable_at])

    @property
    def _current(self) -> bool:
        """Return True if the cycles shown are of the open project: a selection may come before they are."""
        project, moves = self.document.project, self._moves
        return (
            self.isVisible()
            and project is not None
            and moves is not None
            and moves.domain.shape == project.domain.shape
            and len(self.placement.layers.cell) == project.domain.ndim
        )

    def _cycle_selected(self, cycle: int | None) -> None:
        if not self._current:
            return
        self._functional = None
        self.editor.drawing = False
        self.list.select(cycle)
        self._paint()
        self._bring_into_sight(cycle)

    def _bring_into_sight(self, cycle: int | None) -> None:
        """Scroll to the first cell of a cycle, unless some of it is seen already."""
        if (moves := self._moves) is None or cycle is None or cycle >= len(moves):
            return
        cells, _ = moves.entries(cycle)
        layout, view = self._layout(), self.grid.grid.cells
        places = [layout.position(moves.domain.unflat(int(c))) for c in cells[:MOST_LOOKED_AT]]
        shown = [self.grid.grid.model.index(*at) for at in places if at is not None]
        if not any(places):
            # It lies in other layers: the first of them.
            self._choose_layer(moves.domain.unflat(int(cells[0])))
            layout = self._layout()
            places = [layout.position(moves.domain.unflat(int(c))) for c in cells[:MOST_LOOKED_AT]]
            shown = [self.grid.grid.model.index(*at) for at in places if at is not None]
        seen = view.viewport().rect()
        if shown and not any(seen.contains(view.visualRect(at).center()) for at in shown):
            view.scrollTo(shown[0])

    def _cell_selected(self, index: Index | None) -> None:
        if not self._current:
            return
        if index is not None and not self._layout().same_layer(index):
            self._choose_layer(index)
        self.grid.select(index)

    def _choose_layer(self, index: Index) -> None:
        project = present(self.document.project)
        self.placement.layers.lay_out(project.domain, project.shown_placement, index)
        self._paint()

    def _draw_anew(self) -> None:
        """Show the table without a cycle over it: the first sign begins one."""
        self.set_sentence(message("Your cycle is empty: click a cell, or press + or \u2212."))
        self._paint()
        self.grid.grid.cells.setFocus()

    def _take_template(self, kind: str) -> None:
        self._tools["templates"].setChecked(False)
        self.list.filter.clear()
        self.editor.take_template(kind)

    def _show_templates(self, wanted: bool) -> None:
        project = self.document.project
        if wanted and project is not None:
            self.choosing.begin(project)
        self._choose_front()
        if wanted:
            self.choosing.focus_first()

    def main_action(self) -> None:
        self.document.page_asked.emit("perturb")
