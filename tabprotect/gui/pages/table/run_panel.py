"""The result of a run of cycles: the table with its changes, and the coins."""

from __future__ import annotations

from dataclasses import dataclass
from typing import cast

import numpy as np
import numpy.typing as npt
from PySide6.QtCore import QRectF, QSize, QStringListModel, Qt, QTimer, Signal
from PySide6.QtGui import QBrush, QPainter, QPen
from PySide6.QtWidgets import (
    QAbstractItemView,
    QFrame,
    QListView,
    QStyle,
    QStyledItemDelegate,
    QStyleOptionViewItem,
    QToolButton,
    QWidget,
)

from tabprotect.engine.arrays import Ints
from tabprotect.engine.project.verbs.table_verbs import placed
from tabprotect.engine.protection.problem import Protected, RunEvidence, Steps
from tabprotect.engine.release.release import Release
from tabprotect.engine.tables.domain import Index
from tabprotect.engine.tables.moves import MoveSet
from tabprotect.gui.base.document import Document
from tabprotect.gui.grid.cycle_grid import CycleDelegate
from tabprotect.gui.grid.layout import Layout
from tabprotect.gui.grid.placement_bar import PlacementBar
from tabprotect.gui.grid.result_table import Result, ResultTable
from tabprotect.gui.look.buttons import connected, named, tool_button
from tabprotect.gui.look.drawn import icons
from tabprotect.gui.look.label import Label, tip
from tabprotect.gui.look.layouts import in_column, in_row, set_enabled
from tabprotect.gui.look.lists.listing import AnyIndex
from tabprotect.gui.look.theme import GRID, colour, inked
from tabprotect.languages.messages import message
from tabprotect.languages.translation import tr, translate

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
        self.placement = connected(
            PlacementBar(),
            placed=lambda where: self.document.run(placed(where)),
            layer_chosen=self._choose_layer,
        )
        self.table = connected(ResultTable(), chosen=self.chosen, total_chosen=document.select_total)
        grid = self.table.grid
        self.running = grid.delegate = CycleDelegate(grid)
        self.running.dots = False
        self.running.inset = 5
        grid.cells.setItemDelegate(self.running)
        self.hidden = Label(HIDDEN, wordWrap=True, role="quiet")
        self.coins = connected(CoinStrip(), moved=lambda _: self._fill())
        in_column(self.placement, self.hidden, (self.table, 1), self.coins, on=self, margins=0, spacing=GRID)

    @property
    def begins(self) -> QWidget:
        """What the keyboard begins with."""
        return self.table.grid.cells

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
        self._layout = self.placement.layers.lay_out(domain, project.shown_placement, selected)

    def _choose_layer(self, index: Index) -> None:
        if self.document.selection not in (None, index):
            self.document.select(index)
        self._lay_out()
        self._fill()

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


SIGNS = {1: "+", -1: "\u2212", 0: "leave"}


@dataclass(frozen=True, eq=False)
class Replay:
    """A finished run, step by step whatever the order of the cycles; confidential like its record."""

    moves: MoveSet
    record: RunEvidence

    @property
    def steps(self) -> Steps:
        """Return what the coins said and what was done."""
        assert self.record.steps is not None
        return self.record.steps

    def __len__(self) -> int:
        return int(self.steps.coins.size)

    def cycle(self, step: int) -> int:
        """Return which cycle a step is, from 0; -1 where none could be taken."""
        return int(self.steps.cycles[step])

    def pattern(self, step: int) -> npt.NDArray[np.int8]:
        """The cycle of a step as an array of the table's shape; empty where none was taken."""
        if (cycle := self.cycle(step)) < 0:
            return np.zeros(self.moves.domain.shape, dtype=np.int8)
        return self.moves.array(cycle)

    def coin(self, step: int) -> int:
        """Return what the coin said."""
        return int(self.steps.coins.reshape(-1)[step])

    def done(self, step: int) -> int:
        """Return what was done: 0 also where the step was blocked."""
        return int(self.steps.effective.reshape(-1)[step])

    def is_blocked(self, step: int) -> bool:
        """Return True if the step was blocked."""
        return bool(self.steps.blocked.reshape(-1)[step])

    def table_after(self, steps: int) -> Ints:
        """The running table after so many steps, of the table's shape. O(entries)."""
        done = np.flatnonzero(self.steps.effective.reshape(-1)[:steps])
        by_cycle = np.zeros(len(self.moves), dtype=np.int64)
        np.add.at(by_cycle, self.steps.cycles[done], self.steps.effective.reshape(-1)[done])
        state = self.record.problem.table.counts.reshape(-1).copy()
        moves = self.moves
        np.add.at(state, moves.cells, moves.signs * by_cycle[moves.rows])
        return state.reshape(moves.domain.shape)

    def step_text(self, step: int) -> str:
        """One step in words."""
        if (cycle := self.cycle(step)) < 0:
            return message(
                "Step {step} of {self}: no cycle runs through positive cells, the table stays.",
                step + 1,
                len(self),
            )
        passes, each = self.steps.coins.shape
        where = message("cycle {cycle}", cycle + 1)
        if passes > 1:
            where = message("pass {step}, {where}", step // each + 1, where)
        coin, done = self.coin(step), self.done(step)
        if self.is_blocked(step):
            what = message("the coin says {SIGNS}, the cycle is blocked by a zero", SIGNS[coin])
        elif not coin:
            what = message("the coin says leave")
        else:
            what = (
                message("the coin says {SIGNS}: the cycle is added", SIGNS[coin])
                if done > 0
                else message("the coin says {SIGNS}: the cycle is subtracted", SIGNS[coin])
            )
        return message("Step {step} of {self}, {where}: {what}.", step + 1, len(self), where, what)


PACE = 700
"""Milliseconds between two steps while playing; long runs go faster."""

LONGEST = 60_000
"""Milliseconds that playing a whole run may take."""


class CoinModel(QStringListModel):
    """One item per step.

    Qt counts the items itself, as a view asks for their number as often as there are any: a run
    may have a hundred thousand steps.
    """

    def __init__(self) -> None:
        super().__init__()
        self.replay: Replay | None = None
        self.position = 0

    def show_replay(self, replay: Replay | None) -> None:
        """Take another run."""
        self.replay = replay
        self.setStringList([])
        # A list of as many strings would be handed over one by one.
        self.insertRows(0, 0 if replay is None else len(replay))

    def data(self, index: AnyIndex, role: int = Qt.ItemDataRole.DisplayRole) -> object:
        if self.replay is None:
            return None
        if role == Qt.ItemDataRole.DisplayRole:
            return {1: "+", -1: "\u2212", 0: "\u00b7"}[self.replay.coin(index.row())]
        if role in (Qt.ItemDataRole.ToolTipRole, Qt.ItemDataRole.AccessibleTextRole):
            text = translate(self.replay.step_text(index.row()))
            return tip(text) if role == Qt.ItemDataRole.ToolTipRole else text
        return None


class CoinItem(QStyledItemDelegate):
    """A coin: its side as a sign; hatched where the cycle was blocked; paler before its turn."""

    def sizeHint(self, option: QStyleOptionViewItem, index: AnyIndex) -> QSize:
        size = max(3 * GRID, option.fontMetrics.height() + GRID)
        return QSize(size, size)

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: AnyIndex) -> None:
        model = index.model()
        assert isinstance(model, CoinModel) and model.replay is not None
        step = index.row()
        coin = model.replay.coin(step)
        rect = QRectF(option.rect)
        size = min(rect.width(), rect.height()) - 6
        disc = QRectF(0, 0, size, size)
        disc.moveCenter(rect.center())
        painter.save()
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        if step == model.position - 1:
            painter.fillRect(rect, colour("selection"))
        if step >= model.position:
            painter.setOpacity(0.4)
        name = {1: "plus", -1: "minus", 0: "border"}[coin]
        inked(painter, QPen(colour(name), 1.5), colour(f"{name}_fill") if coin else colour("base"))
        painter.drawEllipse(disc)
        if coin and model.replay.is_blocked(step):
            painter.setBrush(QBrush(colour("unreleasable"), Qt.BrushStyle.BDiagPattern))
            painter.drawEllipse(disc)
        painter.setPen(colour(name if coin else "quiet"))
        font = painter.font()
        font.setBold(True)
        painter.setFont(font)
        painter.drawText(disc, int(Qt.AlignmentFlag.AlignCenter), str(model.data(index)))
        if option.state & QStyle.StateFlag.State_HasFocus:
            painter.setOpacity(1.0)
            inked(painter, QPen(colour("focus"), 2))
            painter.drawRect(rect.adjusted(1, 1, -1, -1))
        painter.restore()


class CoinStrip(QWidget):
    """``moved`` carries the number of steps done, from 0 to all."""

    moved = Signal(int)

    def __init__(self) -> None:
        super().__init__()
        self.model = CoinModel()
        self.view = named(
            QListView(flow=QListView.Flow.LeftToRight, uniformItemSizes=True),
            message("Coins of the run, in order"),
        )
        self.view.setModel(self.model)
        self.view.setItemDelegate(CoinItem(self.view))
        self.view.setWrapping(False)
        self.view.setFrameShape(QFrame.Shape.NoFrame)
        self.view.setHorizontalScrollMode(QAbstractItemView.ScrollMode.ScrollPerPixel)
        self.view.setVerticalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.view.setSelectionMode(QAbstractItemView.SelectionMode.NoSelection)
        self.view.setFixedHeight(6 * GRID)
        self._words = Label(wordWrap=True, name=message("This step in words"))
        self._timer = connected(QTimer(self), timeout=lambda: self.go(self.position + 1))
        self.buttons: dict[str, QToolButton] = {}
        row = in_row(spacing=GRID // 2)
        for name, picture, text, hint in (
            ("first", "", message("Original"), message("Back to the original")),
            ("back", "left", "", message("One step back")),
            ("play", "play", message("Play"), message("Play the coins one by one")),
            ("forward", "right", "", message("One step forward")),
            ("last", "", message("Published"), message("On to the published table")),
        ):
            button = tool_button(text, tip=hint, name=hint, focus=Qt.FocusPolicy.StrongFocus)
            button.setProperty("picture", picture)
            if picture and text:
                button.setToolButtonStyle(Qt.ToolButtonStyle.ToolButtonTextBesideIcon)
            self.buttons[name] = button
            row.addWidget(button)
        for name, step in (("back", -1), ("forward", 1)):
            self.buttons[name].setAutoRepeat(True)
            self.buttons[name].clicked.connect(lambda _=False, s=step: self.go(self.position + s))
        self.buttons["first"].clicked.connect(lambda: self.go(0))
        self.buttons["last"].clicked.connect(lambda: self.go(self.model.rowCount()))
        self.buttons["play"].clicked.connect(self.toggle)
        row.addSpacing(GRID)
        row.addWidget(self._words, 1)
        in_column(row, self.view, on=self, margins=0, spacing=0)
        connected(
            self.view,
            clicked=lambda index: self.go(index.row() + 1),
            activated=lambda index: self.go(index.row() + 1),
        )
        self.repaint_pictures()

    @property
    def position(self) -> int:
        """Return how many steps are done in what is shown."""
        return self.model.position

    @property
    def words(self) -> str:
        """This step in words."""
        return self._words.text()

    @property
    def playing(self) -> bool:
        """Return True if it moves by itself."""
        return self._timer.isActive()

    def repaint_pictures(self) -> None:
        """In the colours of the theme in force."""
        for button in self.buttons.values():
            if button.property("picture"):
                button.setIcon(icons.icon(button.property("picture")))

    def show_replay(self, replay: Replay | None) -> None:
        """Take another run, at its end: the published table. Whoever brings it is not told."""
        self.stop()
        self.model.show_replay(replay)
        self._stand(self.model.rowCount())

    def go(self, position: int) -> None:
        """Show the table after so many steps."""
        if (position := int(np.clip(position, 0, self.model.rowCount()))) == self.model.rowCount():
            self.stop()
        if position != self.model.position:
            self._stand(position)
            self.moved.emit(position)

    def _stand(self, position: int) -> None:
        self.model.position = position
        self.view.viewport().update()
        if position and self.model.replay is not None:
            self.view.scrollTo(self.model.index(position - 1))
        self._tell()

    def toggle(self) -> None:
        """Play from here (from the beginning when at the end), or stop."""
        if self.playing:
            self.stop()
            return
        if self.position == self.model.rowCount():
            self.go(0)
        self._timer.start(int(min(PACE, max(LONGEST / max(self.model.rowCount(), 1), 20))))
        self._tell()

    def stop(self) -> None:
        """Stand still."""
        self._timer.stop()
        self._tell()

    def _tell(self) -> None:
        replay, position = self.model.replay, self.model.position
        self.buttons["play"].setText(translate(message("Stop") if self.playing else message("Play")))
        at_start, at_end = position <= 0, position == self.model.rowCount()
        set_enabled(not at_start, self.buttons["first"], self.buttons["back"])
        set_enabled(not at_end, self.buttons["forward"], self.buttons["last"])
        if replay is None:
            self._words.clear()
        elif at_start:
            self._words.setText(tr("Before the first coin: the original."))
        else:
            self._words.setText(translate(replay.step_text(position - 1)))
