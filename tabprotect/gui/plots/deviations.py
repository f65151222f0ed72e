"""Small multiples: for each setting, how far published counts lie from the true ones."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from PySide6.QtCore import QSize, Qt, Signal
from PySide6.QtGui import QBrush, QMouseEvent, QPen, QResizeEvent
from PySide6.QtWidgets import QFrame, QLabel, QWidget

from tabprotect.engine.arrays import Floats
from tabprotect.gui.look.label import Label
from tabprotect.gui.look.layouts import in_column, in_grid, in_row
from tabprotect.gui.look.roles import dress
from tabprotect.gui.look.theme import GRID, THEME, chance_text, moved_text, signed_text
from tabprotect.gui.plots.canvas import Canvas
from tabprotect.gui.plots.plot import Plot
from tabprotect.gui.plots.series_looks import SeriesLook
from tabprotect.languages.messages import joined, message
from tabprotect.languages.translation import tr, translate

WIDEST, NARROWEST = 12, 4
"""Counts to either side that get a bar each; what lies beyond stands at the last bar."""

TAIL = 0.99
"""The share of deviations that the axis shows."""

SYMBOL = 12
"""Pixels of a setting's symbol."""


@dataclass(frozen=True, eq=False)
class DeviationPanel:
    """One setting: deviations of all compared cells, or why there is none."""

    number: int
    label: str
    look: SeriesLook
    deviations: Floats
    reason: str = ""

    @property
    def name(self) -> str:
        """Number and label."""
        return message("{number} {label}", self.number + 1, self.label)

    @property
    def figures(self) -> str:
        """The two figures of the panel, or why there is none."""
        if not len(self.deviations):
            return self.reason
        unchanged = chance_text(float((np.abs(self.deviations) < 0.5).mean()))
        mean = moved_text(float(np.abs(self.deviations).mean()))
        return message("{unchanged} unchanged, {mean} off on average", unchanged, mean)

    def shares(self, reach: int) -> Floats:
        """The share of cells at each deviation from ``-reach`` to ``reach``, (2 reach + 1,)."""
        at = np.clip(np.rint(self.deviations), -reach, reach).astype(np.int64) + reach
        return np.bincount(at, minlength=2 * reach + 1) / max(len(at), 1)


class DeviationPlot(Plot):
    """The shares of one panel."""

    def __init__(self, panel: DeviationPanel, reach: int, peak: float) -> None:
        super().__init__(message("Deviations of {name}", panel.name))
        self.panel, self.reach, self.peak = panel, reach, peak
        self.setMinimumSize(20 * GRID, 9 * GRID)
        # A click anywhere on the panel chooses its setting.
        self.setAttribute(Qt.WidgetAttribute.WA_TransparentForMouseEvents)
        self.say(message("{name}: {figures}", panel.name, panel.figures))

    def sizeHint(self) -> QSize:
        return self.minimumSize()

    @property
    def filled(self) -> bool:
        return bool(len(self.panel.deviations))

    @property
    def title(self) -> str:
        return ""

    def span(self) -> tuple[float, float]:
        return -self.reach - 0.6, self.reach + 0.6

    def arrange(self, canvas: Canvas) -> None:
        reach = self.reach
        ticks = [(float(value), signed_text(value)) for value in (-reach, 0, reach)]
        canvas.axes(self.peak, rows=0, headroom=0.2, ticks=ticks)
        shares = self.panel.shares(reach)
        at = np.arange(-reach, reach + 1, dtype=np.float64)[shares > 0] - 0.45
        ink = self.panel.look.colour(canvas.colours)
        canvas.bars(at, 0.9, shares[shares > 0], pen=QPen(ink, 1), brush=QBrush(ink))


class Deviations(QWidget):
    """One small histogram for each setting, all on the same axes.

    ``chosen`` carries the number of the setting that was clicked.
    """

    chosen = Signal(int)

    def __init__(self) -> None:
        super().__init__(accessibleName=tr("Deviations of every setting"))
        self.panels: tuple[DeviationPanel, ...] = ()
        self.current: int | None = None
        self._frames: list[_Frame] = []
        self._empty = Label(wordWrap=True)
        self._empty.setAlignment(Qt.AlignmentFlag.AlignCenter)
        dress(self._empty, "quiet")
        self._grid = in_grid(on=self, margins=4, across=GRID, down=GRID)
        self._grid.addWidget(self._empty, 0, 0)
        THEME.follow(self, Deviations._repaint)

    def show_panels(self, panels: Sequence[DeviationPanel], *, empty: str = "") -> None:
        """Show panels, or a sentence where there is none."""
        self.panels = tuple(panels)
        self.setAccessibleDescription(
            translate(
                joined((message("{name}: {figures}", p.name, p.figures) for p in panels), "; ") or empty
            )
        )
        self._empty.setText(translate(empty))
        self._empty.setVisible(not panels)
        for frame in self._frames:
            frame.hide()
            frame.deleteLater()
        reach = self.reach
        peak = max([float(p.shares(reach).max()) for p in panels if len(p.deviations)] or [1.0])
        self._frames = [_Frame(panel, reach, peak) for panel in self.panels]
        for frame in self._frames:
            frame.chosen.connect(self.chosen)
        self.set_current(self.current)
        self._place()

    def _repaint(self) -> None:
        # A bound method, not a lambda: it goes when the widget goes.
        self.show_panels(self.panels, empty=self._empty.text())

    def set_current(self, number: int | None) -> None:
        """Frame the panel of a setting."""
        self.current = number
        for frame in self._frames:
            frame.mark(chosen=frame.panel.number == number)

    @property
    def reach(self) -> int:
        """The largest deviation with a bar of its own."""
        every = [np.abs(p.deviations) for p in self.panels if len(p.deviations)]
        if not every:
            return NARROWEST
        far = max(float(np.quantile(one, TAIL)) for one in every)
        return int(np.clip(np.ceil(far), NARROWEST, WIDEST))

    def _place(self) -> None:
        least = max(24 * GRID, 22 * self.fontMetrics().averageCharWidth())
        columns = max(1, min(self.width() // least, len(self._frames)))
        for number, frame in enumerate(self._frames):
            self._grid.addWidget(frame, number // columns, number % columns)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._place()


class _Frame(QFrame):
    """A panel with its symbol, its name and its figures; a click chooses its setting."""

    chosen = Signal(int)

    def __init__(self, panel: DeviationPanel, reach: int, peak: float) -> None:
        super().__init__()
        self.panel = panel
        self.setObjectName("panel")
        self.setAccessibleName(translate(panel.name))
        symbol = QLabel(pixmap=panel.look.icon(SYMBOL, THEME.colours).pixmap(SYMBOL, SYMBOL))
        name, figures = Label(panel.name, wordWrap=True), Label(panel.figures, wordWrap=True)
        dress(figures, "quiet")
        column = in_column(in_row(symbol, (name, 1)), figures, on=self, margins=(6, 4, 6, 4), spacing=2)
        if len(panel.deviations):
            column.addWidget(DeviationPlot(panel, reach, peak), 1)
        else:
            column.addStretch(1)

    def mark(self, *, chosen: bool) -> None:
        """Frame it, where its setting is chosen."""
        colours = THEME.colours
        edge = f"2px solid {colours.focus}" if chosen else f"1px solid {colours.border}"
        self.setStyleSheet(f"QFrame#panel {{ border: {edge}; }}")

    def mousePressEvent(self, event: QMouseEvent) -> None:
        self.chosen.emit(self.panel.number)
