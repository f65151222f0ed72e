"""The spread of an analysis over possible originals, with its value on the published table."""

from __future__ import annotations

import math

import numpy as np
from PySide6.QtGui import QBrush, QColor, QPen

from tabprotect.engine.arrays import Floats
from tabprotect.gui.plots.canvas import Canvas, Mark, merged, nice_step
from tabprotect.gui.plots.plot import Plot
from tabprotect.languages.messages import joined, message

FEWEST, MOST = 8, 40
"""Bars."""


def number(value: float) -> str:
    """A statistic for an axis: three significant figures, a true minus sign."""
    return f"{value:.3g}".replace("-", "\u2212")


class SpreadPlot(Plot):
    """A histogram of numbers, one per drawn table."""

    def __init__(self, name: str = message("Spread over drawn tables")) -> None:
        super().__init__(name)
        self.values: Floats = np.zeros(0)
        self.marks: tuple[Mark, ...] = ()
        self.label = ""

    def show_values(self, values: Floats, *, marks: tuple[Mark, ...], label: str) -> None:
        """Show the finite ones of the numbers, marked values, and what is counted."""
        self.values = values[np.isfinite(values)]
        self.marks = tuple(mark for mark in marks if math.isfinite(mark.value))
        self.label = label
        said = joined((mark.label for mark in self.marks), "; ")
        spread = ""
        if len(self.values):
            low, high = number(float(self.values.min())), number(float(self.values.max()))
            spread = message("from {low} to {high}; ", low, high)
        self.say(message("{label}: {spread}{said}.", label, spread, said))
        self.refresh()

    def show_nothing(self, why: str) -> None:
        """Show a sentence instead."""
        self.values, self.marks, self.empty = np.zeros(0), (), why
        self.say(why)
        self.refresh()

    # -- plotting -----------------------------------------------------------------------------

    @property
    def filled(self) -> bool:
        return bool(len(self.values))

    @property
    def title(self) -> str:
        return self.label

    def _ends(self) -> tuple[float, float, int]:
        """Ends of the bars, and how many there are."""
        ends = [float(self.values.min()), float(self.values.max()), *(m.value for m in self.marks)]
        low, high = min(ends), max(ends)
        if high - low < 1e-9 * max(abs(high), 1.0):
            low, high = low - 0.5, high + 0.5
        bars = int(np.clip(math.sqrt(len(self.values)), FEWEST, MOST))
        room = (high - low) / bars
        return low - room / 2, high + room / 2, bars

    def _shares(self) -> tuple[Floats, Floats]:
        low, high, bars = self._ends()
        counts, edges = np.histogram(self.values, bins=bars, range=(low, high))
        return counts / len(self.values), edges

    def span(self) -> tuple[float, float]:
        low, high, _ = self._ends()
        return low, high

    @property
    def narrowest(self) -> float | None:
        low, high, bars = self._ends()
        return 2 * (high - low) / bars

    def arrange(self, canvas: Canvas) -> None:
        marks = merged(self.marks, canvas.fits)
        shares, edges = self._shares()
        canvas.axes(float(shares.max()), rows=len(marks), ticks=self._ticks(canvas))
        colours = canvas.colours
        canvas.marks(marks)
        some = shares > 0
        canvas.bars(
            edges[:-1][some],
            float(edges[1] - edges[0]),
            shares[some],
            pen=QPen(QColor(colours.window), 1),
            brush=QBrush(QColor(colours.accent)),
        )

    @staticmethod
    def _ticks(canvas: Canvas) -> list[tuple[float, str]]:
        wide = canvas.metrics.horizontalAdvance(number(canvas.high)) + 24
        step = nice_step(canvas.high - canvas.low, max(int(canvas.size[0] / wide), 2))
        first, last = math.ceil(canvas.low / step), math.floor(canvas.high / step)
        return [(n * step, number(n * step)) for n in range(first, last + 1)]

    def tip(self, value: float, height: float) -> str:
        shares, edges = self._shares()
        place = int(np.clip(np.searchsorted(edges, value, side="right") - 1, 0, len(shares) - 1))
        low, high = number(float(edges[place])), number(float(edges[place + 1]))
        return message("{low} to {high}\n{shares:.4g} of the draws", low, high, shares[place])
