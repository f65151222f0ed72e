"""The result of a run: original, published and difference side by side, and the coins."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QColor
from PySide6.QtWidgets import QLabel, QSplitter, QVBoxLayout, QWidget

from tabprotect.engine.tables.domain import Index
from tabprotect.gui.coin_strip import CoinStrip
from tabprotect.gui.cycle_grid import CycleDelegate
from tabprotect.gui.document import Document
from tabprotect.gui.grid.layout import Layout
from tabprotect.gui.grid.view import GridView
from tabprotect.gui.label import Label
from tabprotect.gui.replay import Replay
from tabprotect.gui.theme import GRID, THEME, count_text, signed_text

PARTS = ("original", "published", "difference")

HIDDEN = (
    "The original, the difference and the coins stay in the house: a reader sees the published "
    "table and how it was made, never what it was made from."
)


class RunPanel(QWidget):
    """Three tables that scroll together, over the strip of coins. ``chosen`` carries a cell."""

    chosen = Signal(object)

    def __init__(self, document: Document) -> None:
        super().__init__()
        self.document = document
        self._layout: Layout | None = None
        self._replay: Replay | None = None
        self._following = False
        self.grids: dict[str, GridView] = {}
        self.titles: dict[str, QLabel] = {}
        self.sides: dict[str, QWidget] = {}
        self._sized: tuple[object, object] = (None, None)
        self.split = split = QSplitter(Qt.Orientation.Horizontal)
        split.setChildrenCollapsible(False)
        for part in PARTS:
            split.addWidget(self._side(part))
        self.running = CycleDelegate(self.grids["published"])
        self.running.dots = False
        self.running.inset = 5
        middle = self.grids["published"]
        middle.delegate = self.running
        middle.cells.setItemDelegate(self.running)
        self.hidden = Label(HIDDEN, wordWrap=True)
        self.hidden.setProperty("role", "quiet")
        self.coins = CoinStrip()
        self.coins.moved.connect(lambda _: self._fill())
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(GRID)
        column.addWidget(self.hidden)
        column.addWidget(split, 1)
        column.addWidget(self.coins)
        self._scroll_together()
        THEME.changed.connect(self._fill)

    def _side(self, part: str) -> QWidget:
        side = QWidget()
        title = Label(part.capitalize())
        title.setProperty("role", "section")
        grid = GridView(f"{part.capitalize()} table")
        # Three abreast: narrower than where a table stands alone.
        grid.room = (-GRID, 0)
        grid.shorten_labels(rows=14, columns=7)
        grid.current_changed.connect(self._moved)
        column = QVBoxLayout(side)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(GRID // 2)
        column.addWidget(title)
        column.addWidget(grid, 1)
        self.grids[part], self.titles[part], self.sides[part] = grid, title, side
        return side

    def _scroll_together(self) -> None:
        # The margins' bars are the visible ones; through the cells' bars they follow each other.
        for kind in ("horizontalScrollBar", "verticalScrollBar"):
            bars = [getattr(grid.cells, kind)() for grid in self.grids.values()]
            for bar in bars:
                for other in bars:
                    if other is not bar:
                        bar.valueChanged.connect(other.setValue)

    def show_run(self, layout: Layout | None, replay: Replay | None) -> None:
        """Show a run (or, without a replay, only what is published) in a layer."""
        self._layout = layout
        house = replay is not None
        for part in ("original", "difference"):
            self.sides[part].setVisible(house)
            if not house:
                self._empty(self.grids[part])
        self.hidden.setVisible(not house)
        self.coins.setVisible(house)
        if replay is not self._replay:
            self._replay = replay
            self.coins.show_replay(replay)
        self._fill()

    @staticmethod
    def _empty(grid: GridView) -> None:
        """Leave no count behind in what is merely hidden."""
        if grid.layout_ is not None:
            nothing = np.zeros(grid.layout_.shape, dtype=np.int64)
            grid.delegate.mark = None
            grid.show_grid(grid.layout_, nothing, text=_nothing)

    def select(self, index: Index | None) -> None:
        """Put the cursor of all three on a cell."""
        self._following = True
        for grid in self.grids.values():
            grid.set_current(index)
        self._following = False

    def _moved(self, index: Index) -> None:
        if not self._following:
            self.select(index)
            self.chosen.emit(index)

    # -- filling ------------------------------------------------------------------------------

    def _fill(self) -> None:
        layout, published = self._layout, self.document.published
        if layout is None or published is None:
            return
        self._following = True
        replay, steps = self._replay, self.coins.position
        state = published.counts
        self.titles["published"].setText("Published")
        if replay is not None and steps < len(replay):
            state = replay.table_after(steps)
            self.titles["published"].setText(
                f"After {count_text(steps)} of {count_text(len(replay))} coins"
            )
        self._mark_step(layout, replay, steps, state)
        self._show("published", state)
        if replay is not None:
            original = replay.record.problem.table.counts
            at_risk = replay.record.problem.at_risk.mask(original)
            self.grids["original"].delegate.mark = layout.flat(at_risk)
            self._show("original", original)
            self._show_difference(state - original)
        self._align()
        self._following = False
        self.select(self.document.selection)

    def _align(self) -> None:
        """Columns of one width, so that the tables scroll alike; row labels once."""
        house = self._replay is not None
        shown = [g for p, g in self.grids.items() if house or p == "published"]
        for number, grid in enumerate(shown):
            grid.show_row_labels(number == 0)
        every = [grid.widths for grid in shown]
        widths = max(w for w, _ in every), max(t for _, t in every)
        for grid in shown:
            grid.be_as_wide(widths)
        key = (self._layout, self._replay)
        if house and key != self._sized:
            self._sized = key
            labels = self.grids["original"].cells.rows.width()
            each = max((self.split.width() - labels) // 3, 1)
            self.split.setSizes([labels + each, each, each])

    def _mark_step(
        self, layout: Layout, replay: Replay | None, steps: int, state: npt.NDArray[np.int64]
    ) -> None:
        """Draw the cycle of the last step: what it did, or only where it lies and what stops it."""
        delegate = self.running
        delegate.sign = delegate.stuck = None
        if replay is None or not 0 < steps < len(replay):
            return
        step = steps - 1
        pattern = replay.moves.array(replay.pass_and_cycle(step)[1])
        done = replay.done(step)
        delegate.faint = not done
        delegate.sign = layout.flat((pattern * done).astype(np.int8) if done else pattern)
        if replay.is_blocked(step):
            delegate.stuck = layout.flat((pattern != 0) & (state == 0))

    def _show(self, part: str, counts: npt.NDArray[np.int64]) -> None:
        layout = self._layout
        assert layout is not None
        flat = layout.flat(counts)
        grid = self.grids[part]
        text = signed_text if part == "difference" else count_text
        margins = (flat.sum(axis=1), flat.sum(axis=0), flat.sum())
        grid.show_grid(layout, flat, margins=margins, text=text, margin_text=text)
        grid.repaint_cells()

    def _show_difference(self, difference: npt.NDArray[np.int64]) -> None:
        layout = self._layout
        assert layout is not None
        c = THEME.colours
        delegate = self.grids["difference"].delegate
        delegate.grounds = [
            (QColor(c.plus_fill), QColor(c.plus)),
            (QColor(c.minus_fill), QColor(c.minus)),
        ]
        flat = layout.flat(difference)
        delegate.ground = np.where(flat > 0, 1, np.where(flat < 0, 2, 0)).astype(np.uint8)
        self._show("difference", difference)


def _nothing(_: int) -> str:
    return ""
