"""Squares of a grid where they lie, each in the colour of its number."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from PySide6.QtCore import QPointF, Signal
from PySide6.QtGui import QBrush, QColor, QPen

from tabprotect.engine.arrays import Arrays, Floats
from tabprotect.engine.tables.domain import Domain, Index
from tabprotect.engine.tables.groupings.squares import squares_of
from tabprotect.gui.look.theme import GRID, Written
from tabprotect.gui.plots.canvas import Canvas, nice_step
from tabprotect.gui.plots.plot import Plot
from tabprotect.languages.messages import joined, message

KM = 1000.0
"""Metres."""

Grounds = Callable[[tuple[int | slice, ...]], list[QColor]]
"""The colours of a line of cells of a table."""


class SquareMap(Plot):
    """A map of the squares of one variable, for one category of each other; ``chosen`` carries a cell."""

    chosen = Signal(object)

    def __init__(self) -> None:
        super().__init__(message("Map of the squares"))
        self.corners: Floats = np.zeros((0, 2))
        """The south-west corners, (squares, 2): km to the east and to the north."""
        self.sides: Floats = np.zeros(0)
        """Their sides in km, (squares,)."""
        self.brushes: list[QBrush] = []
        self.words: list[str] = []
        self._of, self._axis = "", 0
        self.cell: Index = ()
        self.setMinimumHeight(24 * GRID)

    def show_squares(
        self, domain: Domain, values: Arrays, grounds: Grounds, text: Written, cell: Index | None
    ) -> None:
        """Show the first variable of squares beside the other categories of a cell; nothing without any."""
        grids = ((axis, squares_of(v.categories, alike=False)) for axis, v in enumerate(domain.variables))
        self._axis, squares = next((one for one in grids if one[1]), (0, ()))
        self.corners = np.array([(one.east, one.north) for one in squares]).reshape(-1, 2) / KM
        if squares:
            self.sides = np.array([one.side for one in squares]) / KM
            self.cell = (0,) * domain.ndim if cell is None else cell
            line = tuple(slice(None) if axis == self._axis else code for axis, code in enumerate(self.cell))
            self.brushes = [QBrush(ground) for ground in grounds(line)]
            codes = domain.variables[self._axis].categories
            self.words = [f"{c}: {text(n)}" for c, n in zip(codes, values[line].tolist(), strict=True)]
            said = [v.categories[c] for v, c in zip(domain.variables, self.cell, strict=True)]
            self._of = joined((one for axis, one in enumerate(said) if axis != self._axis), ", ")
            self.say(message("{number} squares: {of}", len(squares), self._of))
        self.refresh()

    @property
    def filled(self) -> bool:
        return bool(len(self.corners))

    @property
    def title(self) -> str:
        return message("km to the east; to the left: km to the north. {of}", self._of)

    @property
    def numbers(self) -> str:
        return "00000"

    def span(self) -> tuple[float, float]:
        low, high = self.corners[:, 0].min(), (self.corners[:, 0] + self.sides).max()
        return float(low), float(high)

    def arrange(self, canvas: Canvas) -> None:
        low, high = float(self.corners[:, 1].min()), float((self.corners[:, 1] + self.sides).max())
        wide, tall = canvas.size
        # A square is one on the screen, too.
        if (high - low) / tall < canvas.unit[0]:
            high = low + tall * canvas.unit[0]
        else:
            more = wide * (high - low) / tall
            canvas.limit(self.span()[0], self.span()[0] + more, narrowest=None)
            canvas.low, canvas.high = self.span()[0], self.span()[0] + more
        step = nice_step(high - low, 5)
        across, up = (
            [(n * step, f"{n * step:g}") for n in range(int(np.ceil(first / step)), int(last / step) + 1)]
            for first, last in ((canvas.low, canvas.high), (low, high))
        )
        canvas.plane(low, high, across, up)
        canvas.bars(
            self.corners[:, 0],
            self.sides,
            self.sides,
            pen=QPen(QColor(canvas.colours.border), 1),
            brush=self.brushes,
            floor=self.corners[:, 1],
        )

    def _at(self, east: float, north: float) -> int | None:
        off = np.array((east, north)) - self.corners
        found = np.flatnonzero(((off >= 0) & (off < self.sides[:, None])).all(axis=1))
        return int(found[0]) if len(found) else None

    def tip(self, value: float, height: float) -> str:
        found = self._at(value, height)
        return "" if found is None else self.words[found]

    def pressed(self, at: QPointF, *, twice: bool) -> None:
        found = self._at(at.x(), at.y())
        if found is not None:
            self.chosen.emit((*self.cell[: self._axis], found, *self.cell[self._axis + 1 :]))
