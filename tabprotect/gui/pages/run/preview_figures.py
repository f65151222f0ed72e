"""Two small figures of a preview: how a small cell changes, and which cycles are blocked."""

from __future__ import annotations

import numpy as np
from PySide6.QtCore import QSize, Qt
from PySide6.QtGui import QBrush, QColor, QPen

from tabprotect.engine.arrays import Floats
from tabprotect.engine.percent import percent
from tabprotect.gui.look.theme import GRID, chance_text, count_text, signed_text
from tabprotect.gui.plots.canvas import Canvas
from tabprotect.gui.plots.plot import Plot

TAIL = 5e-4
"""Rarer changes at the ends are left out of the picture."""


class ChangeFigure(Plot):
    """Probability of each change of a small cell, with the number over each bar."""

    def __init__(self) -> None:
        super().__init__("Distribution of the change of a small cell")
        self._change: dict[int, float] = {}
        self.setMinimumSize(24 * GRID, 15 * GRID)

    def sizeHint(self) -> QSize:
        return QSize(40 * GRID, 18 * GRID)

    def show_change(self, change: dict[int, float]) -> None:
        """Draw a distribution of published minus original."""
        likely = [v for v, p in change.items() if p >= TAIL]
        span = range(min(likely), max(likely) + 1) if likely else ()
        self._change = {v: change.get(v, 0.0) for v in span}
        self.say("; ".join(f"{signed_text(v)}: {chance_text(p)}" for v, p in self._change.items()))
        self.refresh()

    @property
    def filled(self) -> bool:
        return bool(self._change)

    @property
    def title(self) -> str:
        return "change of the count (published \u2212 original)"

    def span(self) -> tuple[float, float]:
        # Few changes stay narrow bars.
        middle, reach = (min(self._change) + max(self._change)) / 2, len(self._change) / 2
        return middle - max(reach, 2.5), middle + max(reach, 2.5)

    def arrange(self, canvas: Canvas) -> None:
        values = np.array(list(self._change))
        chances = np.array(list(self._change.values()))
        ticks = [(float(v), signed_text(v)) for v in values.tolist()]
        canvas.axes(float(chances.max()), rows=0, headroom=1.3, ticks=ticks)
        colours = canvas.colours
        inks = [
            colours.border if v == 0 else colours.plus if v > 0 else colours.minus for v in values
        ]
        brushes = [QBrush(QColor(ink)) for ink in inks]
        canvas.bars(values - 0.38, 0.76, chances, pen=QPen(Qt.PenStyle.NoPen), brush=brushes)
        for value, chance in zip(values.tolist(), chances.tolist(), strict=True):
            text = chance_text(chance)
            size = canvas.metrics.horizontalAdvance(text) + 2
            if size <= 1 / canvas.unit[0]:
                left, top = canvas.x(value) - size / 2, canvas.y(chance) - canvas.line - 3
                canvas.label(text, left, top, ink=colours.text)


class BlockedFigure(Plot):
    """How often each cycle is blocked, most often first, as a skyline."""

    def __init__(self) -> None:
        super().__init__("Blocked share by cycle, sorted")
        self._shares: Floats = np.zeros(0)
        self.setMinimumSize(24 * GRID, 11 * GRID)

    def sizeHint(self) -> QSize:
        return QSize(40 * GRID, 13 * GRID)

    def show_shares(self, by_cycle: Floats) -> None:
        """Draw the blocked share of every cycle."""
        self._shares = np.sort(np.clip(by_cycle, 0.0, 1.0))[::-1]
        always = int((self._shares > 1 - 1e-9).sum())
        never = int((self._shares < 1e-9).sum())
        self.say(
            f"{count_text(always)} of {count_text(len(self._shares))} cycles are always blocked, "
            f"{count_text(never)} never"
        )
        self.refresh()

    @property
    def filled(self) -> bool:
        return bool(len(self._shares))

    @property
    def title(self) -> str:
        number = len(self._shares)
        return "1 cycle" if number == 1 else f"{count_text(number)} cycles, most blocked first"

    @property
    def numbers(self) -> str:
        return "100 %"

    def span(self) -> tuple[float, float]:
        return 0.0, float(len(self._shares))

    def arrange(self, canvas: Canvas) -> None:
        ticks = [(share, percent(share)) for share in (0.0, 0.5, 1.0)]
        canvas.plane(0.0, 1.1, [], ticks)
        # More cycles than pixels: every pixel shows the cycle that falls on it.
        columns = int(min(len(self._shares), max(canvas.size[0], 1)))
        step = len(self._shares) / columns
        picked = np.linspace(0, len(self._shares) - 1, columns).astype(np.int64)
        ink = QColor(canvas.colours.unreleasable)
        gap = canvas.unit[0] if step > 4 * canvas.unit[0] else 0.0
        left = np.arange(columns, dtype=np.float64) * step
        pen = QPen(Qt.PenStyle.NoPen)
        canvas.bars(left, step - gap, self._shares[picked], pen=pen, brush=QBrush(ink))
