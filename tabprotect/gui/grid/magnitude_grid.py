"""A magnitude table as a grid: totals and groups are cells of their own, hidden or not as any other."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt
from PySide6.QtCore import Signal
from PySide6.QtWidgets import QWidget

from tabprotect.engine.arrays import Arrays, Bools, Ints
from tabprotect.engine.project.placement import Placement
from tabprotect.engine.tables.domain import Domain, Index
from tabprotect.engine.tables.variable import Variable
from tabprotect.gui.grid.cells import room_for_letter
from tabprotect.gui.grid.grid_view import GridView
from tabprotect.gui.grid.placement_bar import PlacementBar
from tabprotect.gui.look.buttons import connected, present
from tabprotect.gui.look.layouts import in_column
from tabprotect.gui.look.theme import GRID, Written, colour, count_text
from tabprotect.languages.messages import message

STEP = "\u2003"
"""How far each level stands to the right of that above it."""

MOST_SHOWN = 5_000_000
"""Cells, with those without records, that a grid can lay out."""


def lines_of(variable: Variable) -> list[tuple[int, int]]:
    """The nodes of a variable as they stand below each other, each with its depth; the total is last."""
    tree = [variable.depths[row] for row in range(1, len(variable.levels))]
    out: list[tuple[int, int]] = []

    def add(codes: Ints, depth: int) -> None:
        if depth == len(tree):
            out.extend((int(code), depth) for code in codes.tolist())
            return
        nodes = tree[depth][codes]
        for node in dict.fromkeys(nodes.tolist()):
            out.append((int(node), depth))
            add(codes[nodes == node], depth + 1)

    add(np.arange(len(variable.categories), dtype=np.int64), 0)
    there = {node for node, _ in out}
    return [*out, *((node, 0) for node in range(len(variable.nodes)) if node not in there)]


@dataclass(frozen=True, eq=False)
class MagnitudeLayout:
    """The places of the cells of a magnitude table, whatever is shown of it.

    Attributes
    ----------
    variables
    key : int64 (cells,)
        Of the cells with records.
    """

    variables: tuple[Variable, ...]
    key: Ints

    @cached_property
    def lines(self) -> tuple[tuple[tuple[int, int], ...], ...]:
        """The nodes of each variable in the order of the screen, each with its depth."""
        return tuple(tuple(lines_of(variable)) for variable in self.variables)

    @cached_property
    def order(self) -> tuple[Ints, ...]:
        """The same without depths."""
        return tuple(np.array([n for n, _ in lines], dtype=np.int64) for lines in self.lines)

    @cached_property
    def place(self) -> tuple[Ints, ...]:
        """Return where each node stands."""
        return tuple(np.argsort(order) for order in self.order)

    @cached_property
    def domain(self) -> Domain:
        """The nodes as categories, so that what lays out a table lays out these."""
        return Domain(
            tuple(
                Variable(variable.name, tuple(STEP * depth + variable.written[node] for node, depth in lines))
                for variable, lines in zip(self.variables, self.lines, strict=True)
            )
        )

    @cached_property
    def number(self) -> Ints:
        """The number of the cell at each place, -1 without records."""
        sizes = tuple(len(variable.nodes) for variable in self.variables)
        found = np.full(int(np.prod(sizes)), -1, dtype=np.int64)
        found[self.key] = np.arange(len(self.key))
        return found.reshape(sizes)[np.ix_(*self.order)]

    @cached_property
    def total(self) -> Bools:
        """The places of totals and groups."""
        found = np.zeros(self.domain.shape, dtype=bool)
        for number, (variable, order) in enumerate(zip(self.variables, self.order, strict=True)):
            shape = [1] * len(self.variables)
            shape[number] = -1
            found |= (order >= len(variable.categories)).reshape(shape)
        return found

    def spread(self, values: Arrays) -> Arrays:
        """Values of the cells at their places; nothing without records."""
        found = np.zeros(self.number.shape, dtype=values.dtype)
        there = self.number >= 0
        found[there] = values[self.number[there]]
        return found

    def nodes(self, index: Index) -> Index:
        """The nodes that stand at a place."""
        return tuple(int(order[at]) for order, at in zip(self.order, index, strict=True))

    def index(self, nodes: Index) -> Index:
        """Return where nodes stand."""
        return tuple(int(place[node]) for place, node in zip(self.place, nodes, strict=True))


@dataclass(frozen=True, eq=False)
class ShownMagnitudes:
    """The contents of the cells of a magnitude table, each by the table's cells.

    Attributes
    ----------
    values : (cells,)
    text
        How one is written.
    letters : str (cells,)
        A letter beside each, empty for none.
    mark : bool (cells,)
        Cells that are unsafe.
    hatch, hidden : bool (cells,)
        Cells that are hatched, and those of them that say nothing else.
    """

    values: Arrays
    text: Written = count_text
    letters: npt.NDArray[np.str_] | None = None
    mark: Bools | None = None
    hatch: Bools | None = None
    hidden: Bools | None = None


class MagnitudeGrid(QWidget):
    """The grid with the bar that places its variables.

    ``current_changed`` carries the nodes of the cell that was gone to, ``placed`` another placement.
    """

    current_changed = Signal(object)
    placed = Signal(object)

    def __init__(self, name: str) -> None:
        super().__init__()
        self._layout: MagnitudeLayout | None = None
        self._shown: ShownMagnitudes | None = None
        self._placement: Placement | None = None
        self._only = False
        self.describe: Callable[[int], str] = lambda _number: ""
        self.bar = connected(PlacementBar(), placed=self.placed, layer_chosen=lambda _: self._fill())
        self.grid = connected(GridView(name), current_changed=self._gone)
        self.grid.model.describe = self._described
        in_column(self.bar, (self.grid, 1), on=self, margins=0, spacing=GRID)

    def show_magnitudes(
        self, variables: Sequence[Variable], key: Ints, placement: Placement, shown: ShownMagnitudes
    ) -> None:
        """Show values of a table's cells; a placement names its variables."""
        if (before := self._layout) is None or before.key is not key or before.variables != tuple(variables):
            self._layout = MagnitudeLayout(tuple(variables), key)
            self.bar.layers.cell = tuple(n - 1 for n in self._layout.domain.shape)
        self._shown, self._placement = shown, placement
        self._fill()

    def only(self, only: bool) -> None:
        """Show rows and columns with marked cells only."""
        self._only = only
        self._fill()

    @property
    def fits(self) -> bool:
        """Return True if it can be laid out."""
        return self._layout is None or self._layout.domain.size <= MOST_SHOWN

    def _fill(self) -> None:
        layout, shown, placement = self._layout, self._shown, self._placement
        if layout is None or shown is None or placement is None or not self.fits:
            return
        mark = None if shown.mark is None else layout.spread(shown.mark)
        grid = self.bar.layers.lay_out(layout.domain, placement, at_risk=mark)
        if self._only and mark is not None:
            grid = grid.only(mark)

        def laid(values: Arrays | None) -> Arrays | None:
            return None if values is None else grid.shown(grid.flat(layout.spread(values)))

        delegate = self.grid.delegate
        delegate.mark = None if mark is None else grid.shown(grid.flat(mark))
        delegate.hatch, delegate.hidden = laid(shown.hatch), laid(shown.hidden)
        delegate.letters = laid(shown.letters)
        delegate.ground = grid.shown(grid.flat(layout.total)).astype(np.uint8)
        delegate.grounds = [(colour("raised"), colour("quiet"))]
        metrics = self.grid.cells.fontMetrics()
        self.grid.room = (0 if shown.letters is None else room_for_letter(metrics), 0)
        values = present(laid(shown.values))
        self.grid.show_grid(grid, values, text=shown.text)
        self.grid.repaint_cells()

    def select(self, nodes: Index | None) -> None:
        """Go to a cell; in another layer if need be."""
        if (layout := self._layout) is None or nodes is None or len(nodes) != len(layout.variables):
            self.grid.set_current(None)
            return
        index = layout.index(nodes)
        if self.grid.layout_ is not None and not self.grid.layout_.same_layer(index):
            self.bar.layers.cell = index
            self._fill()
        self.grid.set_current(index)

    def next_marked(self, nodes: Index | None, step: int) -> Index | None:
        """The next marked cell after one, in the order of the screen; the first after the last."""
        layout, shown = self._layout, self._shown
        if layout is None or shown is None or shown.mark is None:
            return None
        flat = np.flatnonzero(layout.spread(shown.mark))
        if not len(flat):
            return None
        shape = layout.domain.shape
        here = -1 if nodes is None else int(np.ravel_multi_index(layout.index(nodes), shape))
        after = np.searchsorted(flat, here, side="right" if step > 0 else "left")
        at = flat[(after if step > 0 else after - 1) % len(flat)]
        return layout.nodes(tuple(int(n) for n in np.unravel_index(at, shape)))

    def _gone(self, index: Index | None) -> None:
        if self._layout is not None and index is not None:
            self.current_changed.emit(self._layout.nodes(index))

    def _described(self, row: int, column: int) -> str:
        layout, grid = self._layout, self.grid.layout_
        if layout is None or grid is None:
            return ""
        number = int(layout.number[grid.index(row, column)])
        return message("no records") if number < 0 else self.describe(number)


def magnitude_text(decimals: int, *, signed: bool = False) -> Written:
    """Return how a magnitude of 10^-decimals units is written, a change with its sign."""
    scale: int = 10**decimals

    def text(value: int) -> str:
        whole, part = divmod(abs(int(value)), scale)
        sign = "\u2212" if value < 0 else "+" if signed and value else ""
        if not decimals:
            return f"{sign}{count_text(whole)}"
        return message("{sign}{whole}.{part}", sign, count_text(whole), f"{part:0{decimals}d}")

    return text
