"""Small multiples: for each setting, how far published counts lie from the true ones."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from PySide6.QtCore import QPointF, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QColor, QFontMetricsF, QMouseEvent, QPainter, QPen, QResizeEvent

from tabprotect.engine.arrays import Floats
from tabprotect.gui.look.drawing import Drawing
from tabprotect.gui.look.theme import GRID, THEME, Colours, chance_text, number_text
from tabprotect.gui.plots.symbols import Look

WIDEST, NARROWEST = 12, 4
"""Counts to either side that get a bar each; what lies beyond stands at the last bar."""

TAIL = 0.99
"""The share of deviations that the axis shows."""


@dataclass(frozen=True, eq=False)
class Panel:
    """One setting: deviations of all compared cells, or why there is none."""

    number: int
    label: str
    look: Look
    deviations: Floats
    reason: str = ""

    @property
    def words(self) -> str:
        """What the panel shows, in words."""
        if not len(self.deviations):
            return f"{self.number + 1} {self.label}: {self.reason}"
        unchanged = chance_text(float((np.abs(self.deviations) < 0.5).mean()))
        mean = number_text(float(np.abs(self.deviations).mean()))
        return f"{self.number + 1} {self.label}: {unchanged} unchanged, {mean} off on average"


class Deviations(Drawing):
    """One small histogram for each setting, all on the same axes.

    ``chosen`` carries the number of the setting that was clicked.
    """

    chosen = Signal(int)

    def __init__(self) -> None:
        super().__init__("Deviations of every setting")
        self.panels: tuple[Panel, ...] = ()
        self.current: int | None = None
        self.empty = ""
        THEME.changed.connect(self._fit)

    def show_panels(self, panels: Sequence[Panel], *, empty: str = "") -> None:
        """Show panels, or a sentence where there is none."""
        self.panels, self.empty = tuple(panels), empty
        self.say("; ".join(panel.words for panel in panels) or empty)
        self._fit()

    def set_current(self, number: int | None) -> None:
        """Frame the panel of a setting."""
        self.current = number
        self.update()

    # -- layout -------------------------------------------------------------------------------

    def _cell(self, width: float) -> tuple[int, float, float]:
        """Panels side by side, and the width and height of each."""
        metrics = QFontMetricsF(self.figure_font())
        least = max(24 * GRID, 22 * metrics.averageCharWidth())
        columns = max(1, min(int(width / least), max(len(self.panels), 1)))
        return columns, width / columns, 4 * metrics.height() + 8 * GRID

    def _fit(self) -> None:
        columns, _, tall = self._cell(float(self.width()))
        rows = -(-len(self.panels) // columns)
        self.setMinimumHeight(max(18 * GRID, int(rows * tall)))
        self.update()

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._fit()

    def sizeHint(self) -> QSize:
        return QSize(44 * GRID, self.minimumHeight())

    def mousePressEvent(self, event: QMouseEvent) -> None:
        columns, wide, tall = self._cell(float(self.width()))
        column, row = int(event.position().x() / wide), int(event.position().y() / tall)
        n = row * columns + column
        if column < columns and n < len(self.panels):
            self.chosen.emit(self.panels[n].number)

    # -- drawing ------------------------------------------------------------------------------

    @property
    def reach(self) -> int:
        """The largest deviation with a bar of its own."""
        every = [np.abs(p.deviations) for p in self.panels if len(p.deviations)]
        if not every:
            return NARROWEST
        far = max(float(np.quantile(one, TAIL)) for one in every)
        return int(np.clip(np.ceil(far), NARROWEST, WIDEST))

    def shares(self, panel: Panel) -> Floats:
        """The share of cells at each deviation from ``-reach`` to ``reach``, (2 reach + 1,)."""
        reach = self.reach
        at = np.clip(np.rint(panel.deviations), -reach, reach).astype(np.int64) + reach
        return np.bincount(at, minlength=2 * reach + 1) / max(len(at), 1)

    def draw(self, painter: QPainter, area: QRectF, colours: Colours) -> None:
        if not self.panels:
            painter.setPen(QColor(colours.quiet))
            flags = int(Qt.AlignmentFlag.AlignCenter | Qt.TextFlag.TextWordWrap)
            painter.drawText(area.adjusted(24, 0, -24, 0), flags, self.empty)
            return
        columns, wide, tall = self._cell(area.width())
        shares = [self.shares(p) for p in self.panels]
        top = max([float(s.max()) for s in shares if len(s)] + [1e-9])
        for n, (panel, share) in enumerate(zip(self.panels, shares, strict=True)):
            row, column = divmod(n, columns)
            left, upper = area.left() + column * wide, area.top() + row * tall
            place = QRectF(left, upper, wide, tall).adjusted(4, 4, -4, -4)
            self._draw_panel(painter, place, panel, share / top, colours)

    def _draw_panel(
        self, painter: QPainter, place: QRectF, panel: Panel, heights: Floats, colours: Colours
    ) -> None:
        metrics = QFontMetricsF(painter.font())
        line = metrics.height()
        chosen = panel.number == self.current
        painter.setBrush(QColor(colours.base))
        edge = colours.focus if chosen else colours.border
        painter.setPen(QPen(QColor(edge), 2 if chosen else 1))
        painter.drawRect(place)
        inner = place.adjusted(6, 4, -6, -4)
        panel.look.paint(painter, QPointF(inner.left() + 5, inner.top() + line / 2), 5, colours)
        painter.setPen(QColor(colours.text))
        name = metrics.elidedText(
            f"{panel.number + 1} {panel.label}",
            Qt.TextElideMode.ElideRight,
            max(inner.width() - 16, 0.0),
        )
        painter.drawText(QPointF(inner.left() + 15, inner.top() + metrics.ascent()), name)
        if not len(panel.deviations):
            painter.setPen(QColor(colours.quiet))
            flags = int(Qt.AlignmentFlag.AlignCenter | Qt.TextFlag.TextWordWrap)
            painter.drawText(inner.adjusted(0, line, 0, 0), flags, panel.reason)
            return
        foot = inner.bottom() - line - 2
        high = foot - inner.top() - 2 * line - 4
        bar = inner.width() / len(heights)
        ink = panel.look.colour(colours)
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(ink)
        for k, height in enumerate(heights.tolist()):
            if height > 0:
                size = max(height * high, 1.0)
                painter.drawRect(QRectF(inner.left() + k * bar + 0.5, foot - size, bar - 1, size))
        painter.setPen(QPen(QColor(colours.border), 1))
        painter.drawLine(QPointF(inner.left(), foot), QPointF(inner.right(), foot))
        painter.setPen(QColor(colours.quiet))
        said = panel.words.rpartition(": ")[2]
        said = metrics.elidedText(said, Qt.TextElideMode.ElideRight, inner.width())
        painter.drawText(QPointF(inner.left(), inner.top() + line + metrics.ascent()), said)
        reach = self.reach
        texts = {0: f"\u2212{reach}", reach: "0", 2 * reach: f"+{reach}"}
        for k, text in texts.items():
            size = metrics.horizontalAdvance(text)
            at = inner.left() + (k + 0.5) * bar - size / 2
            at = min(max(at, inner.left()), inner.right() - size)
            painter.drawText(QPointF(at, foot + 1 + metrics.ascent()), text)
