"""The result of a run of cycles: the table with its changes, and the coins."""

from __future__ import annotations

from typing import cast

import numpy as np
from PySide6.QtCore import Signal
from PySide6.QtWidgets import QWidget

from tabprotect.engine.arrays import Ints
from tabprotect.engine.project.placement import Placement
from tabprotect.engine.project.verbs.table_verbs import placed
from tabprotect.engine.protection.problem import Protected
from tabprotect.engine.release.release import Release
from tabprotect.engine.tables.domain import Index
from tabprotect.engine.tables.moves import MoveSet
from tabprotect.gui.base.document import Document
from tabprotect.gui.grid.cycle_grid import CycleDelegate
from tabprotect.gui.grid.layout import Layout
from tabprotect.gui.grid.placement_bar import PlacementBar
from tabprotect.gui.grid.result_table import Result, ResultTable
from tabprotect.gui.look.buttons import connected
from tabprotect.gui.look.label import Label
from tabprotect.gui.look.layouts import in_column
from tabprotect.gui.look.theme import GRID
from tabprotect.gui.pages.run.coin_strip import CoinStrip, Replay
from tabprotect.languages.messages import message

HIDDEN = message(
    "The original, the changes and the coins are for staff only: a reader sees the published "
    "table and how it was made, never what it was made from."
)


class RunPanel(QWidget):
    """The table over the strip of coins. ``chosen`` carries a cell."""

    chosen = Signal(object)

    def __init__(self, document: Document) -> None:
        super().__init__()
        self.document = document
        self._layout: Layout | None = None
        self._replay: Replay | None = None
        self.placement = connected(PlacementBar(), placed=self._place, layer_chosen=self._choose_layer)
        self.table = connected(ResultTable(), chosen=self.chosen, total_chosen=document.select_total)
        grid = self.table.grid
        self.running = grid.delegate = CycleDelegate(grid)
        self.running.dots = False
        self.running.inset = 5
        grid.cells.setItemDelegate(self.running)
        self.hidden = Label(HIDDEN, wordWrap=True, role="quiet")
        self.coins = connected(CoinStrip(), moved=lambda _: self._fill())
        in_column(self.placement, self.hidden, (self.table, 1), self.coins, on=self, margins=0, spacing=GRID)

    def show_result(self, release: Release | None, protected: Protected | None) -> None:
        """Show a release; with the record of its run also what it was made from, and how."""
        replay = self._replay
        if release is None or protected is None:
            replay = None
        elif replay is None or replay.record is not protected.record:
            replay = Replay(cast(MoveSet, release.mechanism.parameters["cycles"]), protected.record)
        self.coins.repaint_pictures()
        self._lay_out()
        house = replay is not None
        if not house:
            self.table.forget()
        self.hidden.setVisible(not house)
        self.coins.setVisible(house)
        if replay is not self._replay:
            self._replay = replay
            self.coins.show_replay(replay)
        self._fill()

    def select(self, index: Index | None) -> None:
        """Put the cursor on a cell, in its layer."""
        if index is not None and self._layout is not None and not self._layout.same_layer(index):
            self._choose_layer(index)
        self.table.select(index)

    # -- which layer --------------------------------------------------------------------------

    def _lay_out(self) -> None:
        self._layout = None
        if (project := self.document.project) is None or self.document.published is None:
            return
        domain, selected = project.domain, self.document.selection
        self.placement.setVisible(domain.ndim > 2)
        self._layout = self.placement.lay_out(domain, project.shown_placement, selected)

    def _choose_layer(self, index: Index) -> None:
        if self.document.selection not in (None, index):
            self.document.select(index)
        self._lay_out()
        self._fill()

    def _place(self, placement: Placement) -> None:
        self.document.run(placed(placement))

    # -- filling ------------------------------------------------------------------------------

    def _fill(self) -> None:
        layout, published = self._layout, self.document.published
        if layout is None or published is None:
            return
        replay, steps = self._replay, self.coins.position
        state, truth, mark = published.counts, None, None
        if replay is not None:
            problem = replay.record.problem
            truth, mark = problem.table.counts, problem.at_risk.mask(problem.table.counts)
            state = replay.table_after(steps)
        self._mark_step(layout, replay, steps, state)
        result = Result(layout, state, truth, mark=mark)
        self.table.show_result(result, self.document.selection, key=replay)

    def _mark_step(self, layout: Layout, replay: Replay | None, steps: int, state: Ints) -> None:
        """Draw the cycle of the last step: what it did, or only where it lies and what stops it."""
        delegate = self.running
        delegate.sign = delegate.stuck = None
        if replay is None or not 0 < steps < len(replay):
            return
        step = steps - 1
        pattern = replay.pattern(step)
        done = replay.done(step)
        delegate.faint = not done
        delegate.sign = layout.flat((pattern * done).astype(np.int8) if done else pattern)
        if replay.is_blocked(step):
            delegate.stuck = layout.flat((pattern != 0) & (state == 0))
