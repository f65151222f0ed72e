"""The cycles page: which cells move together, and what follows from it."""

from __future__ import annotations

from pathlib import Path
from typing import cast

import numpy as np
import numpy.typing as npt
from PySide6.QtCore import Qt, QTimer
from PySide6.QtGui import QAction, QHideEvent
from PySide6.QtWidgets import (
    QFileDialog,
    QHBoxLayout,
    QLabel,
    QPushButton,
    QSplitter,
    QStackedWidget,
    QToolButton,
    QVBoxLayout,
    QWidget,
)

from tabprotect.engine.cycles import files, reach
from tabprotect.engine.cycles.algebra import CycleAlgebra
from tabprotect.engine.cycles.designs import DESIGNS
from tabprotect.engine.cycles.report import CycleReport, check
from tabprotect.engine.errors import InputError, TabprotectError
from tabprotect.engine.progress import Progress
from tabprotect.engine.project.cycle_verbs import BY_HAND
from tabprotect.engine.project.placement import Placement
from tabprotect.engine.tables.domain import Index
from tabprotect.engine.tables.moves import MoveSet, Violation
from tabprotect.engine.tables.table import Table
from tabprotect.gui.cycle_grid import CycleGrid, Overlay
from tabprotect.gui.cycle_list import CycleList
from tabprotect.gui.cycle_walk import walk_steps
from tabprotect.gui.document import Document
from tabprotect.gui.grid.layout import Layout
from tabprotect.gui.grid.placement_bar import PlacementBar
from tabprotect.gui.pages.page import Changes, Page
from tabprotect.gui.proof_panel import Functional, ProofPanel
from tabprotect.gui.template_cards import TemplateCards
from tabprotect.gui.theme import GRID, count_text, signed_text

STRUCTURE = frozenset({"table", "cycles", "placement", "release", "view", "everything"})
JUDGED = STRUCTURE | {"parameters", "at_risk"}

WAIT = 120
"""Milliseconds of rest before a cycle set is examined."""

MOST_BROKEN = 5
"""Broken sums of the selected cycle that are listed under the table."""

MOST_OUTLINED = 50
"""Broken sums whose cells are outlined."""

MOST_LOOKED_AT = 50
"""Cells of a cycle that are looked at to find out whether it is in sight."""

QUICK_ENTRIES = 20_000
"""Cycle sets of up to so many entries are checked for the badge whenever something changes."""

FILES = "Cycle sets (*.json);;4ti2 matrices (*.mat *.mar *.gra);;All files (*)"


class CyclesPage(Page):
    """The list of cycles, the table with one of them over it, and the proof panel."""

    name = "cycles"
    label = "Cycles"
    icon = "cycles"
    hint = "Which cells move together, so that every margin stays."
    main_label = "Perturb with these cycles"

    def __init__(self, document: Document) -> None:
        super().__init__(document)
        self._moves: MoveSet | None = None
        self._layer: Index = ()
        self._report: CycleReport | None = None
        self._blocked: npt.NDArray[np.bool_] | None = None
        self._functional: Functional | None = None
        self._key: tuple[object, ...] = ()
        self._immovable_at = -1
        self.list = CycleList()
        self.grid = CycleGrid()
        self.proof = ProofPanel()
        self.templates = TemplateCards()
        self.placement = PlacementBar()
        self._broken = QHBoxLayout()
        self._broken_row = QWidget()
        self._legend = QLabel(wordWrap=True)
        self._legend.setProperty("role", "quiet")
        self._wait = QTimer(self, singleShot=True, interval=WAIT)
        self._build_tools()
        self._build_body()
        self._connect()

    def _build_tools(self) -> None:
        self._tools: dict[str, QToolButton] = {}
        for name, text, tip, checkable in (
            ("chances", "Chances", "How many cycles touch each cell, as a heat map", True),
            ("walk", "Walk", "Draw the walk of the cycle (also when the mouse is on it)", True),
            ("templates", "Templates", "Choose a cycle set from a template", True),
            ("split", "Split", "Cut each cycle into its connected parts", False),
            ("import", "Import\u2026", "Take a cycle set from a JSON or 4ti2 file", False),
            ("export", "Export\u2026", "Write the cycle set to a JSON or 4ti2 file", False),
        ):
            button = QToolButton(text=text, toolTip=tip, checkable=checkable)
            button.setAccessibleName(tip)
            button.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
            self._tools[name] = button
            self.tools.addWidget(button)

    def _build_body(self) -> None:
        middle = QWidget()
        column = QVBoxLayout(middle)
        column.setContentsMargins(GRID, 0, GRID, 0)
        column.setSpacing(GRID)
        self._broken_row.setLayout(self._broken)
        self._broken.setContentsMargins(0, 0, 0, 0)
        self._broken.setSpacing(GRID // 2)
        column.addWidget(self.grid, 1)
        column.addWidget(self._broken_row)
        split = QSplitter(Qt.Orientation.Horizontal)
        split.setChildrenCollapsible(False)
        split.addWidget(self.list)
        split.addWidget(middle)
        split.addWidget(self.proof)
        split.setStretchFactor(1, 1)
        split.setSizes([20 * GRID, 60 * GRID, 29 * GRID])
        empty = QLabel(wordWrap=True, alignment=Qt.AlignmentFlag.AlignCenter)
        empty.setProperty("role", "quiet")
        self._empty = empty
        self.stack = QStackedWidget()
        self._work = split
        for widget in (split, self.templates, empty):
            self.stack.addWidget(widget)
        self.body.addWidget(self.placement)
        self.body.addWidget(self.stack, 1)
        self.footer.addWidget(self._legend, 1)
        self.footer.addStretch(0)
        self.setFocusProxy(self.grid.grid.cells)

    def _connect(self) -> None:
        document = self.document
        self._wait.timeout.connect(self._examine)
        self._tools["chances"].toggled.connect(lambda _: self._paint())
        self._tools["walk"].toggled.connect(self._show_walk)
        self._tools["templates"].toggled.connect(self._show_templates)
        self._tools["split"].clicked.connect(lambda: document.apply("split_cycles", page=self.name))
        self._tools["import"].clicked.connect(self.ask_import)
        self._tools["export"].clicked.connect(self.ask_export)
        self.templates.chosen.connect(self._take_template)
        self.list.chosen.connect(document.select_cycle)
        self.list.add_asked.connect(self.add_cycle)
        self.list.duplicate_asked.connect(self.duplicate_cycle)
        self.list.remove_asked.connect(self.remove_cycle)
        self.list.moved.connect(self.move_cycle)
        self.grid.chosen.connect(document.select)
        self.grid.sign_asked.connect(self._flip)
        self.placement.placed.connect(self._place)
        self.placement.layer_chosen.connect(self._choose_layer)
        self.proof.jump_asked.connect(self._jump)
        self.proof.functionals_asked.connect(self._ask_functionals)
        self.proof.functional_chosen.connect(self._show_functional)
        self.proof.next_immovable_asked.connect(self._next_immovable)
        self.proof.chances_asked.connect(lambda: self._tools["chances"].setChecked(True))
        self.proof.blocked_asked.connect(lambda: self.list.filter.setText("blocked"))
        document.cycle_selected.connect(self._cycle_selected)
        document.selection_changed.connect(self._cell_selected)

    def menu_actions(self) -> list[tuple[str, QAction]]:
        rows = (
            ("Choose a &template", "Ctrl+Shift+P", self._tools["templates"].toggle),
            ("&Add a cycle", "", self.add_cycle),
            ("&Duplicate the cycle", "", self.duplicate_cycle),
            ("&Split into connected parts", "", self._tools["split"].click),
            ("&Import cycles\u2026", "", self.ask_import),
            ("&Export cycles\u2026", "", self.ask_export),
        )
        out = []
        for text, keys, run in rows:
            action = QAction(text, self)
            action.setShortcut(keys)
            action.triggered.connect(lambda _=False, r=run: r())
            out.append(("Protect", action))
        return out

    @classmethod
    def why_not(cls, document: Document) -> str:
        if document.project is None:
            return "Open a table first."
        if document.project.domain.ndim < 2:
            return "A cycle needs at least two variables."
        return ""

    @classmethod
    def problems(cls, document: Document) -> int:
        project = document.project
        if project is None or project.moves is None or len(project.moves.cells) > QUICK_ENTRIES:
            return 0
        return len({v.cycle for v in project.moves.violations(most=100)})

    @property
    def editable(self) -> bool:
        """Whether cycles may be changed: in the house, in the house's view."""
        return self.document.has_original and not self.document.public

    def hideEvent(self, event: QHideEvent) -> None:
        super().hideEvent(event)
        if self._wait.isActive():
            # Nobody looks: examine the cycles when the page comes up again.
            self._wait.stop()
            self._key = ()
            self._missed |= {"cycles"}

    # -- bringing up to date ------------------------------------------------------------------

    def refresh(self, changes: Changes) -> None:
        project = self.document.project
        if project is None:
            return
        self.list.repaint_pictures()
        for name in ("templates", "split", "import"):
            self._tools[name].setEnabled(self.editable)
        self.main_button.setVisible(self.editable)
        if not self.editable:
            self._tools["templates"].setChecked(False)
        try:
            moves: MoveSet | None = project.cycles
        except TabprotectError as error:
            moves = None
            self._empty.setText(f"{error.message}. {error.hint}".strip())
        if changes & STRUCTURE:
            self._take(moves)
        self.templates.show_domain(project.domain)
        self._choose_front()
        if moves is None:
            self.set_sentence("This table has no cycles.")
            return
        placement = project.placement or Placement.of(project.domain)
        self.placement.show_placement(project.domain, placement, self._layer)
        if changes & JUDGED:
            self._invalidate()
        self._paint()

    def _take(self, moves: MoveSet | None) -> None:
        project = self.document.project
        assert project is not None
        same = moves is self._moves
        self._moves = moves
        domain = project.domain
        selected = self.document.selection
        if selected is not None:
            self._layer = selected
        elif len(self._layer) != domain.ndim or any(
            i >= n for i, n in zip(self._layer, domain.shape, strict=True)
        ):
            self._layer = (0,) * domain.ndim
        self._functional = None
        self.list.show_moves(
            moves,
            project.placement or Placement.of(domain),
            editable=self.editable,
            where=self._origin(),
        )
        if moves is not None:
            cycle = self.document.selected_cycle
            if cycle is None or cycle >= len(moves):
                self.document.select_cycle(0)
            self.list.select(self.document.selected_cycle)
        if not same:
            self._blocked = None

    def _origin(self) -> str:
        assert self.document.project is not None
        if not self.editable:
            # Where the house took its cycles from (perhaps a file) is its own affair.
            return ""
        origin = self.document.project.cycles_from
        if origin in DESIGNS:
            return DESIGNS[origin].label
        if origin.startswith("order-"):
            return f"keeps {origin.removeprefix('order-')}-way margins"
        if origin == BY_HAND:
            return origin
        return f"from {origin}" if origin else "default for this shape"

    def _choose_front(self) -> None:
        if self._moves is None and not self._tools["templates"].isChecked():
            self.stack.setCurrentWidget(self._empty)
        elif self._tools["templates"].isChecked():
            self.stack.setCurrentWidget(self.templates)
        else:
            self.stack.setCurrentWidget(self._work)
        working = self.stack.currentWidget() is self._work
        self._legend.setVisible(working)
        project = self.document.project
        self.placement.setVisible(working and project is not None and project.domain.ndim > 2)

    def _layout(self) -> Layout:
        project = self.document.project
        assert project is not None
        return Layout(
            project.domain, project.placement or Placement.of(project.domain), self._layer
        )

    def _paint(self) -> None:
        """Draw the table with what lies over it."""
        moves, cycle = self._moves, self.document.selected_cycle
        if moves is None or self.document.project is None:
            return
        table = self.document.shown_table
        counts = None if table is None else table.counts
        chances = self._tools["chances"].isChecked()
        immovable = None
        if self._report is not None and self._report.immovable:
            immovable = np.zeros(moves.domain.shape, dtype=np.bool_)
            immovable[tuple(np.array(self._report.immovable).T)] = True
        overlay = Overlay(
            counts=counts,
            at_risk=None if self.document.public else self.document.at_risk,
            immovable=immovable,
        )
        touched = (moves.touches[0] + moves.touches[1]).reshape(moves.domain.shape)
        if chances:
            overlay = Overlay(counts=counts, touches=touched)
        elif self._functional is not None:
            weight = np.zeros(moves.domain.shape, dtype=np.int64)
            for index, factor in self._functional.items():
                weight[index] = factor
            overlay = Overlay(counts=counts, weight=weight)
        elif cycle is not None and cycle < len(moves):
            overlay = Overlay(
                counts=counts,
                sign=moves.array(cycle),
                stuck=self._stuck(moves, cycle, counts),
                at_risk=overlay.at_risk,
                immovable=immovable,
                unbalanced=self._unbalanced(moves),
                steps=walk_steps(moves, cycle),
            )
        self.grid.show_overlay(self._layout(), moves.margins, overlay)
        self.grid.select(self.document.selection)
        self._show_broken()
        self._legend.setText(self._legend_text(touched, chances=chances))

    def _legend_text(self, touched: npt.NDArray[np.int64], *, chances: bool) -> str:
        if chances:
            low, high = int(touched.min()), int(touched.max())
            span = f"{low} times" if low == high else f"{low} to {high} times"
            return f"Chances per cell: each is touched {span} in one pass. The darker, the more."
        if self._functional is not None:
            return "Outlined: the cells of a combination that every outcome publishes exactly."
        parts = ["+ raised, \u2212 lowered"]
        if self.editable:
            parts.append("click, or press + \u2212 0, to change a sign")
        if self.grid.cell_delegate.unbalanced is not None:
            parts.append("dashed: cells of a broken sum")
        if self.document.shown_table is not None:
            parts.append("hatched: a zero that blocks the cycle")
            parts.append("padlock: no cycle can move the cell")
        return "; ".join(parts) + "."

    def _stuck(
        self, moves: MoveSet, cycle: int, counts: npt.NDArray[np.int64] | None
    ) -> npt.NDArray[np.bool_] | None:
        if counts is None:
            return None
        cells, signs = moves.entries(cycle)
        zero = counts.reshape(-1)[cells] == 0
        rule = self._rule
        if rule == "none" or (
            rule == "negative" and not ((zero & (signs > 0)).any() and (zero & (signs < 0)).any())
        ):
            return None
        out = np.zeros(counts.size, dtype=np.bool_)
        out[cells[zero]] = True
        return out.reshape(counts.shape)

    @property
    def _rule(self) -> str:
        assert self.document.project is not None
        return str(self.document.project.values.get("blocking", "any_zero"))

    def _unbalanced(self, moves: MoveSet) -> npt.NDArray[np.bool_] | None:
        """Cells of the broken sums that the edges of the table have no place for."""
        layout, domain = self._layout(), moves.domain
        layers = set(layout.placement.layers)
        edges = ({*layout.placement.rows} | layers, {*layout.placement.columns} | layers)
        inside = [v for v in self.broken() if set(v.margin) not in edges][:MOST_OUTLINED]
        if not inside:
            return None
        out = np.zeros(domain.shape, dtype=np.bool_)
        for violation in inside:
            fixed = dict(zip(violation.margin, violation.index, strict=True))
            out[tuple(fixed.get(name, slice(None)) for name in domain.names)] = True
        return out

    # -- broken sums --------------------------------------------------------------------------

    def broken(self) -> list[Violation]:
        """The sums that the selected cycle breaks."""
        moves, cycle = self._moves, self.document.selected_cycle
        if moves is None or cycle is None or cycle >= len(moves):
            return []
        return moves.take([cycle]).violations(most=100)

    def _show_broken(self) -> None:
        while (item := self._broken.takeAt(0)) is not None:
            if (widget := item.widget()) is not None:
                widget.hide()
                widget.deleteLater()
        found = self.broken()
        self._broken_row.setVisible(bool(found))
        if not found:
            return
        cycle = self.document.selected_cycle
        assert cycle is not None
        self._broken.addWidget(QLabel(f"Cycle {cycle + 1} breaks"))
        for violation in found[:MOST_BROKEN]:
            named = ", ".join(violation.labels) or "the total"
            button = QPushButton(f"{named}: {signed_text(violation.amount)}")
            button.setToolTip(f"<p>{violation.margin}: go to a cell of this sum.</p>")
            button.setAccessibleName(
                f"Broken sum {named}, {signed_text(violation.amount)}: go there"
            )
            button.clicked.connect(lambda _=False, v=violation: self._go_to(v))
            self._broken.addWidget(button)
        if len(found) > MOST_BROKEN:
            self._broken.addWidget(QLabel(f"and {len(found) - MOST_BROKEN} more"))
        self._broken.addStretch(1)

    def _go_to(self, violation: Violation) -> None:
        """Select a cell of the broken sum, one of the cycle's own."""
        moves, cycle = self._moves, self.document.selected_cycle
        if moves is None or cycle is None:
            return
        cells, _ = moves.entries(cycle)
        keys = moves.domain.project_keys(cells, violation.margin)
        wanted = moves.domain.project(violation.margin).flat(violation.index)
        at = np.flatnonzero(keys == wanted)
        if len(at):
            self.document.select(moves.domain.unflat(int(cells[at[0]])))
            self.grid.grid.cells.setFocus()

    def _jump(self) -> None:
        if self._report is not None and self._report.violations:
            violation = self._report.violations[0]
            self.list.filter.clear()
            self.document.select_cycle(violation.cycle)
            self._tools["chances"].setChecked(False)
            self._go_to(violation)

    # -- the report ---------------------------------------------------------------------------

    def _question(self) -> tuple[object, ...]:
        project = self.document.project
        assert project is not None
        values = project.values
        return (
            self._moves,
            self.document.shown_table,
            self._rule,
            values.get("passes", 1),
        )

    def _invalidate(self) -> None:
        key = self._question()
        if len(key) == len(self._key) and all(
            a is b or a == b if not isinstance(a, (MoveSet, Table)) else a is b
            for a, b in zip(key, self._key, strict=True)
        ):
            self._show_report()
            return
        self._key = key
        self._report = None
        self.proof.show_state("Examining the cycles\u2026")
        self._tell()
        self._wait.start()

    def _examine(self) -> None:
        key = self._key
        if self._moves is None or self.document.project is None or key != self._question():
            return
        moves, table, rule, passes = key
        assert isinstance(moves, MoveSet)

        def work(progress: Progress) -> tuple[CycleReport, npt.NDArray[np.bool_] | None]:
            progress.report("examining the cycles", 0.0)
            shown = cast("Table | None", table)
            blocked = None if shown is None else reach.blocked_cycles(moves, shown, str(rule))
            report = check(
                moves, table=shown, rule=str(rule), passes=cast(int, passes), progress=progress
            )
            return report, blocked

        job = self.document.jobs.question("examine the cycles", work, name="cycle report")
        job.finished.connect(lambda result: self._examined(key, result))
        job.failed.connect(self._not_examined)

    def _examined(
        self, key: tuple[object, ...], result: tuple[CycleReport, npt.NDArray[np.bool_] | None]
    ) -> None:
        if key is not self._key:
            return
        self._report, self._blocked = result
        self._immovable_at = -1
        self._show_report()
        self._paint()

    def _not_examined(self, error: Exception) -> None:
        if not isinstance(error, TabprotectError):
            raise error
        self.proof.show_state("")
        self.show_error(error)

    def _show_report(self) -> None:
        report = self._report
        if report is None:
            return
        self.proof.show_state("")
        self.proof.show_report(report)
        self.list.mark(
            blocked=self._blocked,
            broken=frozenset(v.cycle for v in report.violations),
            cycle=self.document.selected_cycle,
        )
        self._tell()

    def _tell(self) -> None:
        moves, report = self._moves, self._report
        if moves is None:
            return
        shape = " \u00d7 ".join(map(str, moves.domain.shape))
        number = len(moves)
        text = f"{count_text(number)} cycle{'' if number == 1 else 's'} over this {shape} table"
        if report is not None and not report.preserves_margins:
            broken = len(report.violations)
            text += (
                f" break{'s' if number == 1 else ''} {count_text(broken)} "
                f"sum{'' if broken == 1 else 's'} and cannot be used before that is mended"
            )
        elif report is not None:
            text += (
                f" keep{'s' if number == 1 else ''} every margin; what a reader can believe is "
                + ("computed exactly" if report.exact else "estimated, with its error")
            )
            if report.blocked_share is not None:
                whose = "the published table" if self.document.public else "this table"
                text += f"; on {whose} {_blocked_text(report.blocked_share)}"
        self.main_button.setEnabled(report is None or report.preserves_margins)
        if self.document.shown_table is None:
            text += ". Counts are not shown: nothing is published yet"
        self.set_sentence(f"{text}.")

    # -- known combinations and immovable cells -----------------------------------------------

    def _ask_functionals(self) -> None:
        moves, table = self._moves, self.document.shown_table
        if moves is None:
            return

        def work(progress: Progress) -> list[Functional] | None:
            progress.report("looking for what stays exactly known", 0.0)
            return CycleAlgebra(moves).known_functionals()

        job = self.document.jobs.question(
            "what stays exactly known", work, name="known functionals"
        )
        job.finished.connect(
            lambda found: (
                self.proof.show_functionals(found, moves.domain, table)
                if moves is self._moves
                else None
            )
        )

    def _show_functional(self, functional: Functional | None) -> None:
        self._functional = functional
        self._tools["chances"].setChecked(False)
        self._paint()

    def _next_immovable(self) -> None:
        if self._report is None or not self._report.immovable:
            return
        self._immovable_at = (self._immovable_at + 1) % len(self._report.immovable)
        self.document.select(self._report.immovable[self._immovable_at])

    # -- selection ----------------------------------------------------------------------------

    def _cycle_selected(self, cycle: int | None) -> None:
        if not self.isVisible():
            return
        self._functional = None
        self.list.select(cycle)
        self._paint()
        self._bring_into_sight(cycle)

    def _bring_into_sight(self, cycle: int | None) -> None:
        """Scroll to the first cell of a cycle, unless some of it is seen already."""
        moves = self._moves
        if moves is None or cycle is None or cycle >= len(moves):
            return
        cells, _ = moves.entries(cycle)
        layout, view = self._layout(), self.grid.grid.cells
        places = [layout.position(moves.domain.unflat(int(c))) for c in cells[:MOST_LOOKED_AT]]
        shown = [self.grid.grid.model.index(*at) for at in places if at is not None]
        seen = view.viewport().rect()
        if shown and not any(seen.contains(view.visualRect(at).center()) for at in shown):
            view.scrollTo(shown[0])

    def _cell_selected(self, index: Index | None) -> None:
        if not self.isVisible() or self._moves is None:
            return
        if index is not None and not self._layout().same_layer(index):
            self._choose_layer(index)
        self.grid.select(index)

    def _choose_layer(self, index: Index) -> None:
        project = self.document.project
        assert project is not None
        self._layer = tuple(int(i) for i in index)
        placement = project.placement or Placement.of(project.domain)
        self.placement.show_placement(project.domain, placement, self._layer)
        self._paint()

    def _place(self, placement: Placement) -> None:
        self.document.apply(
            "place",
            page=self.name,
            rows=list(placement.rows),
            columns=list(placement.columns),
            layers=list(placement.layers),
        )

    # -- changing the cycles ------------------------------------------------------------------

    def _flip(self, index: Index, sign: int) -> None:
        cycle = self.document.selected_cycle
        if self.editable and cycle is not None:
            self.document.apply(
                "flip_cycle_cell", page=self.name, cycle=cycle, index=list(index), sign=sign
            )

    def add_cycle(self) -> None:
        """Add a swap at the end and select it."""
        if self.editable and self._moves is not None:
            self.document.apply("add_cycle", page=self.name)
            self.document.select_cycle(len(self._moves) - 1)

    def duplicate_cycle(self) -> None:
        """Put a copy after the selected cycle and select it."""
        cycle = self.document.selected_cycle
        if not self.editable or self._moves is None or cycle is None:
            return
        cells, signs = self._moves.entries(cycle)
        unflat = self._moves.domain.unflat
        self.document.apply(
            "add_cycle",
            page=self.name,
            plus=[list(unflat(int(c))) for c in cells[signs > 0]],
            minus=[list(unflat(int(c))) for c in cells[signs < 0]],
            at=cycle + 1,
        )
        self.document.select_cycle(cycle + 1)

    def remove_cycle(self) -> None:
        """Take the selected cycle out."""
        cycle = self.document.selected_cycle
        if self.editable and cycle is not None:
            self.document.apply("remove_cycle", page=self.name, cycle=cycle)

    def move_cycle(self, cycle: int, to: int) -> None:
        """Give a cycle another place; it stays selected."""
        if self.editable:
            self.document.apply("move_cycle", page=self.name, cycle=cycle, to=to)
            self.document.select_cycle(to)

    def _take_template(self, kind: str) -> None:
        self._tools["templates"].setChecked(False)
        self.list.filter.clear()
        self.document.select_cycle(0)
        self.document.apply("set_cycles", page=self.name, kind=kind)

    def _show_templates(self, wanted: bool) -> None:
        if wanted and self.document.project is not None:
            self.templates.show_domain(self.document.project.domain)
        self._choose_front()
        if wanted:
            next(iter(self.templates.cards.values())).setFocus()

    def _show_walk(self, wanted: bool) -> None:
        self.grid.show_walk = wanted
        self._paint()

    # -- files --------------------------------------------------------------------------------

    def ask_import(self) -> None:
        """Ask for a file; the window stays alive meanwhile."""
        if self.editable:
            dialog = QFileDialog(self.window(), "Import cycles", "", FILES)
            dialog.setFileMode(QFileDialog.FileMode.ExistingFile)
            dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
            dialog.fileSelected.connect(self.import_file)
            dialog.open()

    def import_file(self, path: str) -> None:
        """Take the cycle set of a file; a bad one leaves everything as it was."""
        self.document.apply("set_cycles", page=self.name, file=path)

    def ask_export(self) -> None:
        """Ask for a file to write to."""
        dialog = QFileDialog(self.window(), "Export cycles", "cycles.json", FILES)
        dialog.setAcceptMode(QFileDialog.AcceptMode.AcceptSave)
        dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        dialog.fileSelected.connect(self.export_file)
        dialog.open()

    def export_file(self, path: str) -> None:
        """Write the cycle set: JSON, or 4ti2 by the ending."""
        if self._moves is None:
            return
        try:
            files.write(self._moves, Path(path))
        except TabprotectError as error:
            self.show_error(error)
        except OSError as error:
            self.show_error(
                InputError(
                    f"cannot be written: {error.strerror}",
                    file=path,
                    hint="choose another folder, or make room on the disk",
                )
            )

    def main_action(self) -> None:
        self.document.page_asked.emit("perturb")


def _blocked_text(share: float) -> str:
    if share in (0.0, 1.0):
        return "all of it is blocked" if share else "nothing is blocked"
    return f"{share:.0%} of them are blocked".replace("%", " %")
