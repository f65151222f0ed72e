"""Candidates on the risk-utility curve: one is chosen by a click, a slider or the arrow keys."""

from __future__ import annotations

import math
from collections.abc import Sequence

from PySide6.QtCore import QPointF, Signal
from PySide6.QtGui import QBrush, QColor, QPainterPath, QPen
from PySide6.QtWidgets import QSizePolicy

from tabprotect.engine.percent import percent
from tabprotect.engine.protection.cycle_runs.offers import Offer
from tabprotect.gui.look.theme import GRID
from tabprotect.gui.plots.axis_marks import nice_step
from tabprotect.gui.plots.canvas import Canvas
from tabprotect.gui.plots.plot import Plot

REACH = 2 * GRID
"""Pixels around a point within which the mouse finds it."""


class OfferCurve(Plot):
    """Change of a count to the right, counts published unchanged upwards.

    ``chosen`` and ``hovered`` carry the number of a candidate; ``hovered`` -1 where there is none.
    """

    chosen = Signal(int)
    hovered = Signal(int)

    def __init__(self) -> None:
        super().__init__("Risk and change of each candidate")
        self.setMinimumHeight(16 * GRID)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Expanding)
        self._offers: Sequence[Offer] = ()
        self._at = self._over = -1

    def show_offers(self, offers: Sequence[Offer], at: int) -> None:
        """Show candidates, one of them chosen."""
        self._offers, self._at, self._over = offers, at, -1
        self.say(
            "; ".join(
                f"{offer.words}: {percent(offer.figures.unchanged)} of the small counts unchanged"
                for offer in offers
            )
        )
        self.refresh()

    # -- plotting -----------------------------------------------------------------------------

    @property
    def filled(self) -> bool:
        return bool(self._offers)

    @property
    def title(self) -> str:
        return "mean change of a count"

    @property
    def numbers(self) -> str:
        return "100 %"

    def span(self) -> tuple[float, float]:
        return 0.0, max(offer.figures.change for offer in self._offers) * 1.1 or 1.0

    def arrange(self, canvas: Canvas) -> None:
        points, colours = self._points(), canvas.colours
        step = nice_step(canvas.high, 5)
        across = [(n * step, f"{n * step:.3g}") for n in range(int(canvas.high / step) + 1)]
        canvas.plane(0.0, 1.2, across, [(s, percent(s)) for s in (0.0, 0.5, 1.0)])
        canvas.label("small counts published unchanged", 4, 2, ink=colours.quiet)
        x, y = [p.x() for p in points], [p.y() for p in points]
        canvas.lines(x, y, pen=QPen(QColor(colours.border), 1.5))
        circle = QPainterPath()
        circle.addEllipse(QPointF(0, 0), 0.5, 0.5)
        for k, (here, change) in enumerate(zip(points, x, strict=True)):
            near = k in (self._at, self._over)
            canvas.symbols(
                *([here.x()], [here.y()], circle, 6.0 if near else 4.5),
                pen=QPen(QColor(colours.accent), 2),
                brush=QBrush(QColor(colours.accent if k == self._at else colours.base)),
            )
            if near:
                left, top = canvas.x(here.x()) - 2 * GRID, canvas.y(here.y())
                over = top - canvas.line - 1.5 * GRID
                canvas.label(f"{change:.2f}", left, max(over, 0.0), ink=colours.text)

    def _points(self) -> list[QPointF]:
        return [QPointF(o.figures.change, o.figures.unchanged) for o in self._offers]

    # -- mouse --------------------------------------------------------------------------------

    def _found(self, at: QPointF) -> int:
        if self._canvas is None:
            return -1
        across, up = self._canvas.unit
        away = [
            (math.hypot((p.x() - at.x()) / across, (p.y() - at.y()) / up), k)
            for k, p in enumerate(self._points())
        ]
        best = min(away, default=(REACH + 1.0, -1))
        return best[1] if best[0] <= REACH else -1

    def tip(self, value: float, height: float) -> str:
        """What is hovered over is told to whoever listens; the tooltip names it."""
        over = self._found(QPointF(value, height))
        if over != self._over:
            self._over = over
            self.hovered.emit(over)
            if self._canvas is not None:
                self._canvas.arrange()
        return "" if over < 0 else self._offers[over].words

    def pressed(self, at: QPointF, *, twice: bool) -> None:
        found = self._found(at)
        if found >= 0:
            self.chosen.emit(found)
