"""A table as a heat map: the same grid, placement and headers as on the table page; squares also in their places."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from PySide6.QtCore import QRect, Signal
from PySide6.QtGui import QColor, QPainter, QPen, QResizeEvent
from PySide6.QtWidgets import QWidget

from tabprotect.engine.arrays import Arrays, Bools
from tabprotect.engine.project.placement import Placement
from tabprotect.engine.tables.domain import Domain, Index
from tabprotect.gui.grid.grid_view import GridView
from tabprotect.gui.grid.layout import Layout
from tabprotect.gui.grid.placement_bar import Layers
from tabprotect.gui.look.buttons import connected, emptied
from tabprotect.gui.look.drawn.shades import ScaleBar, class_colours, class_numbers, shade_numbers, shades
from tabprotect.gui.look.label import Label
from tabprotect.gui.look.layouts import filled, in_column, in_row
from tabprotect.gui.look.theme import GRID, THEME, Written, chance_number, colour, inked
from tabprotect.gui.plots.square_map import SquareMap
from tabprotect.languages.translation import translate


@dataclass(frozen=True)
class Scale:
    """The scale of a map: how numbers are written and coloured.

    Attributes
    ----------
    top
        Its end; ``None`` for the largest value of the whole table.
    flip
        Whether 0 takes the dark end.
    among
        Whether cells with the at-risk dot alone are coloured, where the map has chances.
    """

    text: Written
    top: float | None
    flip: bool = False
    among: bool = False

    @property
    def classes(self) -> bool:
        """Return True if the numbers are chances, which have fixed classes."""
        return self.text is chance_number


class HeatMap(QWidget):
    """One number per cell, coloured and written. ``chosen`` carries the cell under the cursor."""

    chosen = Signal(object)

    def __init__(self, name: str) -> None:
        super().__init__(accessibleName=translate(name))
        self.grid = GridView(name)
        self.scale = ScaleBar()
        self.layers = in_row(spacing=GRID)
        self._layer = connected(Layers(self._stand), chosen=self._fill)
        self.squares = connected(SquareMap(), chosen=self._moved)
        self.squares.hide()
        self._values: Arrays | None = None
        self._text: Written = str
        self._top, self._flip = 1.0, False
        self._kind = Scale(str, None)
        self._dots: Bools | None = None
        self._shown_dots: Bools | None = None
        self._showing = False
        self.grid.delegate.quiet_zeros = False
        self.grid.delegate.draw = self._draw_dot
        self.grid.current_changed.connect(self._moved)
        in_column(self.layers, (self.grid, 1), (self.squares, 2), on=self, margins=0, spacing=GRID)
        THEME.follow(self, HeatMap._paint)

    @property
    def layout_shown(self) -> Layout | None:
        """Return which cells stand where now."""
        return self.grid.layout_

    @property
    def values_shown(self) -> Arrays:
        """The numbers of the layer shown, (rows, columns)."""
        return self.grid.model.values

    @property
    def top(self) -> float:
        """The end of the scale."""
        return self._top

    @property
    def flip(self) -> bool:
        """Return True if 0 is at the dark end."""
        return self._flip

    def show_values(
        self,
        domain: Domain,
        placement: Placement,
        values: Arrays,
        *,
        scale: Scale,
        selection: Index | None,
        dots: Bools | None = None,
    ) -> None:
        """Show numbers of the table's shape.

        Parameters
        ----------
        selection
            The selected cell: its layer is shown.
        dots
            Cells with the at-risk dot.
        """
        self._values, self._text, self._dots = values, scale.text, dots
        self._top = float(values.max(initial=0)) if scale.top is None else scale.top
        self._flip, self._kind = scale.flip, scale
        ends = (scale.text(0.0), scale.text(self._top))
        low, high = reversed(ends) if scale.flip else ends
        self.scale.show_scale(low, high, classes=scale.classes)
        self._show(self._layer.lay_out(domain, placement, selection))
        self.set_selection(selection)
        self._place(selection)

    def set_selection(self, selection: Index | None) -> None:
        """Follow the selection, into another layer if need be."""
        if (layout := self.grid.layout_) is None:
            return
        self._showing = True
        if selection is not None and not layout.same_layer(selection):
            self._fill(selection)
        self.grid.set_current(selection)
        self._showing = False
        self._place(selection)

    def _place(self, cell: Index | None) -> None:
        """Squares of a grid where they lie, with the numbers of the other categories of a cell."""
        assert self._values is not None and self._layer.table is not None
        self.squares.show_squares(self._layer.table[0], self._values, self._grounds, self._text, cell)
        self.squares.setVisible(self.squares.filled)

    def _grounds(self, line: tuple[int | slice, ...]) -> list[QColor]:
        """The colours of some cells."""
        assert self._values is not None
        dots = None if self._dots is None or not self._kind.among else self._dots[line]
        if self._kind.classes:
            numbers, of = class_numbers(self._values[line], dots), class_colours(THEME.colours)
        else:
            numbers, of = shade_numbers(self._values[line], self._top, flip=self._flip), shades(THEME.colours)
        colours = [QColor(colour("base")), *(ground for ground, _ in of)]
        return [colours[number] for number in numbers.tolist()]

    def _fill(self, cell: Index) -> None:
        """Show the layer of a cell."""
        assert self._layer.table is not None
        self._show(self._layer.lay_out(*self._layer.table, cell))

    def _show(self, layout: Layout) -> None:
        assert self._values is not None
        values = np.ascontiguousarray(layout.flat(self._values))
        self._showing = True
        self._shown_dots = None if self._dots is None else layout.flat(self._dots)
        if self._kind.classes:
            among = self._shown_dots if self._kind.among else None
            self.grid.delegate.ground = class_numbers(values, among)
        else:
            self.grid.delegate.ground = shade_numbers(values, self._top, flip=self._flip)
        self.grid.show_grid(layout, values, text=self._text)
        self._showing = False
        self._paint()

    def _paint(self) -> None:
        grounds = class_colours if self._kind.classes else shades
        self.grid.delegate.grounds = grounds(THEME.colours)
        self.grid.repaint_cells()
        if self.squares.filled:
            self._place(self.squares.cell)
        self._fit()

    def _fit(self) -> None:
        """As high and wide as the cells need: the rest is for what stands beside and below."""
        cells = self.grid.cells
        layers = self.layers.sizeHint().height() + GRID if self._layer.lists else 0
        # Squares take what room there is.
        self.setMaximumHeight(16_000_000 if self.squares.filled else cells.maximumHeight() + layers)
        wide = cells.columns.defaultSectionSize() * self.grid.model.columnCount()
        scrolls = self.height() - layers < cells.maximumHeight()
        bar = cells.verticalScrollBar().sizeHint().width() + 2 if scrolls else 0
        cells.setMaximumWidth(min(wide + cells.rows.width() + bar, 16_000_000))

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._fit()

    def _draw_dot(self, painter: QPainter, rect: QRect, row: int, column: int, selected: bool) -> None:
        if self._shown_dots is not None and self._shown_dots[row, column]:
            inked(painter, QPen(colour("base"), 1), colour("at_risk"))
            painter.drawEllipse(rect.left() + 3, rect.top() + 3, 7, 7)

    def _moved(self, index: Index) -> None:
        if not self._showing:
            self._place(index)
            self.chosen.emit(index)

    def _stand(self) -> None:
        emptied(self.layers)
        for name, combo in self._layer.lists.items():
            combo.setMaximumWidth(22 * GRID)
            filled(self.layers, Label(name, role="quiet", buddy=combo), combo)
        if self._layer.lists:
            self.layers.addStretch(1)
