"""The result of a run of cycles: original, published and difference, and the coins."""

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
from tabprotect.gui.grid.grid_view import GridView
from tabprotect.gui.grid.layout import Layout
from tabprotect.gui.grid.placement_bar import PlacementBar
from tabprotect.gui.grid.three_tables import ThreeTables
from tabprotect.gui.look.label import Label
from tabprotect.gui.look.layouts import in_column
from tabprotect.gui.look.theme import GRID, count_text
from tabprotect.gui.pages.run.coin_replay import Replay
from tabprotect.gui.pages.run.coin_strip import CoinStrip
from tabprotect.languages.said import say
from tabprotect.languages.speaking import tell

HIDDEN = say(
    "The original, the changes and the coins are for staff only: a reader sees the published "
    "table and how it was made, never what it was made from."
)


class RunPanel(QWidget):
    """Three tables over the strip of coins. ``chosen`` carries a cell."""

    chosen = Signal(object)

    def __init__(self, document: Document) -> None:
        super().__init__()
        self.document = document
        self._layout: Layout | None = None
        self._layer: Index = ()
        self._replay: Replay | None = None
        self.placement = PlacementBar()
        self.placement.placed.connect(self._place)
        self.placement.layer_chosen.connect(self._choose_layer)
        self.tables = ThreeTables()
        self.tables.chosen.connect(self.chosen)
        self.tables.total_chosen.connect(document.select_total)
        self.running = CycleDelegate(self.grids["published"])
        self.running.dots = False
        self.running.inset = 5
        middle = self.grids["published"]
        middle.delegate = self.running
        middle.cells.setItemDelegate(self.running)
        self.hidden = Label(HIDDEN, wordWrap=True, role="quiet")
        self.coins = CoinStrip()
        self.coins.moved.connect(lambda _: self._fill())
        in_column(
            self.placement,
            self.hidden,
            (self.tables, 1),
            self.coins,
            on=self,
            margins=0,
            spacing=GRID,
        )

    @property
    def grids(self) -> dict[str, GridView]:
        """The three grids by their part."""
        return self.tables.grids

    def show_result(self, release: Release | None, protected: Protected | None) -> None:
        """Show a release; with the record of its run also what it was made from, and how."""
        replay = self._replay
        if release is None or protected is None:
            replay = None
        elif replay is None or replay.record is not protected.record:
            moves = cast(MoveSet, release.mechanism.parameters["cycles"])
            replay = Replay(moves, protected.record)
        self.coins.repaint_pictures()
        self._lay_out()
        house = replay is not None
        self.tables.show_house(house)
        self.hidden.setVisible(not house)
        self.coins.setVisible(house)
        if replay is not self._replay:
            self._replay = replay
            self.coins.show_replay(replay)
        self._fill()

    def select(self, index: Index | None) -> None:
        """Put the cursor of all three on a cell, in its layer."""
        if index is not None and self._layout is not None and not self._layout.same_layer(index):
            self._choose_layer(index)
        self.tables.select(index)

    # -- which layer --------------------------------------------------------------------------

    def _lay_out(self) -> None:
        project = self.document.project
        if project is None or self.document.published is None:
            self._layout = None
            return
        domain = project.domain
        if self.document.selection is not None:
            self._layer = self.document.selection
        elif len(self._layer) != domain.ndim or any(
            i >= n for i, n in zip(self._layer, domain.shape, strict=True)
        ):
            self._layer = (0,) * domain.ndim
        placement = project.placement or Placement.of(domain)
        self.placement.setVisible(domain.ndim > 2)
        self.placement.show_placement(domain, placement, self._layer)
        self._layout = Layout(domain, placement, self._layer)

    def _choose_layer(self, index: Index) -> None:
        selected = self.document.selection
        self._layer = tuple(int(i) for i in index)
        if selected is not None and selected != self._layer:
            self.document.select(self._layer)
        self._lay_out()
        self._fill()

    def _place(self, placement: Placement) -> None:
        self.document.run(placed(placement))

    # -- filling ------------------------------------------------------------------------------

    def _fill(self) -> None:
        layout, published = self._layout, self.document.published
        if layout is None or published is None:
            return
        self.tables.begin(layout)
        replay, steps = self._replay, self.coins.position
        state = published.counts
        title = self.tables.titles["published"]
        title.setText(tell("Published"))
        if replay is not None and steps < len(replay):
            state = replay.table_after(steps)
            title.setText(
                tell("After {steps} of {replay} coins", count_text(steps), count_text(len(replay)))
            )
        self._mark_step(layout, replay, steps, state)
        self.tables.show_part("published", state)
        if replay is not None:
            original = replay.record.problem.table.counts
            at_risk = replay.record.problem.at_risk.mask(original)
            self.grids["original"].delegate.mark = layout.flat(at_risk)
            self.tables.show_part("original", original)
            self.tables.show_difference(state - original)
        self.tables.end((layout, replay), self.document.selection)

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
