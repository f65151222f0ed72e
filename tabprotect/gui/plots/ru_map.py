"""The risk-utility map: a point for each run, its setting's mean with bars, and the front.

To the right is always more private and upwards always more useful: an axis whose measure is
better when low runs backwards.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from PySide6.QtCore import QPointF, QRectF, Qt, Signal
from PySide6.QtGui import (
    QColor,
    QFocusEvent,
    QFontMetricsF,
    QKeyEvent,
    QMouseEvent,
    QPainter,
    QPainterPath,
    QPen,
)
from PySide6.QtWidgets import QToolTip

from tabprotect.engine.arrays import Floats, Ints
from tabprotect.gui.look.drawing import Drawing
from tabprotect.gui.look.label import tip
from tabprotect.gui.look.theme import GRID, THEME, Colours
from tabprotect.gui.plots.marks import nice_step
from tabprotect.gui.plots.symbols import Look

Place = tuple[int, int | None]
"""A setting, and one of its runs (its number in the comparison) or ``None`` for their mean."""

NAMED = 4
"""Settings up to which each is called by its name on the map, and not by its number alone."""

REACH = 12.0
"""Pixels around a point within which the mouse finds it."""

MEAN, RUN = 7.0, 3.6
"""Radius of a mean's and of a run's symbol in pixels."""


@dataclass(frozen=True)
class Axis:
    """One axis of the map: the measure's name and unit, and where it is better."""

    label: str
    unit: str
    higher_is_better: bool

    @property
    def title(self) -> str:
        """The name with its unit."""
        return f"{self.label} ({self.unit})"


@dataclass(frozen=True, eq=False)
class Setting:
    """One method with its parameters on the map.

    Attributes
    ----------
    number
        From 0 up; it is called one more.
    runs : int64 (runs,)
        Their numbers in the comparison.
    x, y : float64 (runs,)
        Risk and utility, NaN where there is none.
    mean, low, high
        (x, y): the mean, and between which 95 % of the runs lie; NaN where there is none.
    """

    number: int
    label: str
    look: Look
    runs: Ints
    x: Floats
    y: Floats
    mean: tuple[float, float]
    low: tuple[float, float]
    high: tuple[float, float]

    @property
    def there(self) -> bool:
        """Whether it has a place on the map."""
        return bool(np.isfinite(self.mean).all())


@dataclass(frozen=True)
class _Scale:
    """Values of one axis to pixels."""

    low: float
    high: float
    first: float
    last: float

    @classmethod
    def of(cls, values: Floats, *, backwards: bool, first: float, last: float) -> _Scale:
        values = values[np.isfinite(values)]
        low, high = (float(values.min()), float(values.max())) if len(values) else (0.0, 1.0)
        # From zero where this costs less than half of the room.
        if 0 <= low <= high / 2:
            low = 0.0
        if high - low < 1e-9 * max(abs(high), 1.0):
            high = low + (0.1 * abs(low) or 1.0)
        room = high - low
        low, high = low - 0.06 * room, high + 0.06 * room
        return cls(high, low, first, last) if backwards else cls(low, high, first, last)

    def at(self, value: float) -> float:
        """The pixel of a value."""
        share = (value - self.low) / (self.high - self.low)
        return self.first + share * (self.last - self.first)

    def ticks(self, wanted: int) -> list[tuple[float, str]]:
        """Round values along the axis, with their texts."""
        low, high = min(self.low, self.high), max(self.low, self.high)
        step = nice_step(high - low, wanted)
        # The room beside a zero is for the points that stand at it.
        low = 0.0 if -0.1 * high < low < 0 else low
        digits = max(0, -math.floor(math.log10(step) + 1e-9))
        out = []
        for n in range(math.ceil(low / step - 1e-9), math.floor(high / step + 1e-9) + 1):
            text = f"{n * step:.{digits}f}".replace("-", "\u2212")
            out.append((n * step, text.removeprefix("0") if text.startswith("0.") else text))
        return out


class RiskUtilityMap(Drawing):
    """``chosen`` and ``opened`` carry a :data:`Place`."""

    chosen = Signal(object)
    opened = Signal(object)

    def __init__(self) -> None:
        super().__init__("Risk-utility map")
        self.settings: tuple[Setting, ...] = ()
        self.axes: tuple[Axis, Axis] | None = None
        self.front: tuple[int, ...] = ()
        self.place: Place | None = None
        self.empty = ""
        self.words: Callable[[Place], str] = lambda place: ""
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setMouseTracking(True)
        THEME.changed.connect(self._fit)
        self._fit()

    def _fit(self) -> None:
        # Titles and numbers take four lines: the points must have room beside them.
        self.setMinimumSize(36 * GRID, max(24 * GRID, 13 * self.fontMetrics().height()))
        self.update()

    def show_settings(
        self, settings: Sequence[Setting], axes: tuple[Axis, Axis], front: Sequence[int]
    ) -> None:
        """Show settings; ``axes`` are risk and utility, ``front`` the settings none beats."""
        self.settings, self.axes, self.front = tuple(settings), axes, tuple(front)
        on = ", ".join(f"{c + 1}" for c in front) or "none"
        self.say(
            f"{axes[0].label} to the right (more private), {axes[1].label} upwards (more useful). "
            f"{sum(s.there for s in settings)} settings; on the front: {on}. "
            "Arrow keys walk the points, Return opens the release."
        )

    def show_nothing(self, why: str) -> None:
        """Show a sentence instead; nothing that was shown is kept."""
        self.settings, self.axes, self.front, self.place = (), None, (), None
        self.empty = why
        self.say(why)

    def set_place(self, place: Place | None) -> None:
        """Mark a run or a mean without telling anybody."""
        if place != self.place:
            self.place = place
            self.update()

    # -- where things are ---------------------------------------------------------------------

    @property
    def filled(self) -> bool:
        """Whether there is a point."""
        return self.axes is not None and any(s.there for s in self.settings)

    def _scales(self, area: QRectF, metrics: QFontMetricsF) -> tuple[_Scale, _Scale]:
        assert self.axes is not None
        line = metrics.height()
        left = area.left() + metrics.horizontalAdvance("0000.0") + GRID
        box = QRectF(
            QPointF(left, area.top() + line + GRID),
            QPointF(area.right() - 2 * GRID, area.bottom() - 2 * line - 1.5 * GRID),
        )
        scales = []
        for n, (axis, first, last) in enumerate(
            zip(self.axes, (box.left(), box.bottom()), (box.right(), box.top()), strict=True)
        ):
            shown = [s for s in self.settings if s.there]
            values = np.concatenate(
                [np.array([s.mean[n], s.low[n], s.high[n]]) for s in shown]
                + [(s.x, s.y)[n] for s in shown]
            )
            backwards = not axis.higher_is_better
            scales.append(_Scale.of(values, backwards=backwards, first=first, last=last))
        return scales[0], scales[1]

    def places(self) -> list[tuple[Place, QPointF]]:
        """Every point with its pixel, runs before means, from left to right."""
        if not self.filled:
            return []
        x, y = self._scales(QRectF(self.rect()), QFontMetricsF(self.figure_font()))
        runs: list[tuple[Place, QPointF]] = []
        means: list[tuple[Place, QPointF]] = []
        for s in self.settings:
            if not s.there:
                continue
            means.append(((s.number, None), QPointF(x.at(s.mean[0]), y.at(s.mean[1]))))
            for run, a, b in zip(s.runs.tolist(), s.x.tolist(), s.y.tolist(), strict=True):
                if math.isfinite(a) and math.isfinite(b):
                    runs.append(((s.number, run), QPointF(x.at(a), y.at(b))))
        for some in (runs, means):
            some.sort(key=lambda one: (one[1].x(), -one[1].y()))
        return [*runs, *means]

    def _nearest(self, at: QPointF) -> Place | None:
        best, found = REACH, None
        for place, point in self.places():
            away = math.hypot(point.x() - at.x(), point.y() - at.y())
            # A mean stands in front of the runs.
            away -= 4.0 if place[1] is None else 0.0
            if away < best:
                best, found = away, place
        return found

    # -- drawing ------------------------------------------------------------------------------

    def draw(self, painter: QPainter, area: QRectF, colours: Colours) -> None:
        metrics = QFontMetricsF(painter.font())
        if not self.filled:
            painter.setPen(QColor(colours.quiet))
            flags = int(Qt.AlignmentFlag.AlignCenter | Qt.TextFlag.TextWordWrap)
            painter.drawText(area.adjusted(24, 0, -24, 0), flags, self.empty)
            return
        x, y = self._scales(area, metrics)
        self._draw_axes(painter, area, metrics, (x, y), colours)
        shown = [s for s in self.settings if s.there]
        self._draw_front(painter, shown, (x, y), colours)
        for s in shown:
            for a, b in zip(s.x.tolist(), s.y.tolist(), strict=True):
                if len(s.runs) > 1 and math.isfinite(a) and math.isfinite(b):
                    at = QPointF(x.at(a), y.at(b))
                    s.look.paint(painter, at, RUN, colours, opacity=0.45, filled=False)
        for s in shown:
            self._draw_bars(painter, s, (x, y), colours)
        taken: list[QRectF] = []
        for s in shown:
            at = QPointF(x.at(s.mean[0]), y.at(s.mean[1]))
            taken.append(QRectF(at.x() - MEAN, at.y() - MEAN, 2 * MEAN, 2 * MEAN))
        for s in shown:
            at = QPointF(x.at(s.mean[0]), y.at(s.mean[1]))
            s.look.paint(painter, at, MEAN, colours)
            self._draw_label(
                painter, s, at, (x, metrics), taken, colours, named=len(shown) <= NAMED
            )
        self._draw_choice(painter, (x, y), colours)
        if self.hasFocus():
            painter.setBrush(Qt.BrushStyle.NoBrush)
            painter.setPen(QPen(QColor(colours.focus), 2))
            painter.drawRect(area.adjusted(1, 1, -1, -1))

    def _draw_axes(
        self,
        painter: QPainter,
        area: QRectF,
        metrics: QFontMetricsF,
        scales: tuple[_Scale, _Scale],
        colours: Colours,
    ) -> None:
        assert self.axes is not None
        x, y = scales
        box = QRectF(QPointF(x.first, y.last), QPointF(x.last, y.first))
        line = metrics.height()
        painter.fillRect(box, QColor(colours.base))
        grid = QPen(QColor(colours.raised), 1)
        wide = metrics.horizontalAdvance("0.000") + 3 * GRID
        for value, text in x.ticks(max(2, int(box.width() / wide))):
            at = x.at(value)
            painter.setPen(grid)
            painter.drawLine(QPointF(at, box.top()), QPointF(at, box.bottom()))
            painter.setPen(QColor(colours.text))
            left = min(at - wide / 2, area.right() - wide)
            there = QRectF(left, box.bottom() + 3, wide, line)
            painter.drawText(there, int(Qt.AlignmentFlag.AlignHCenter), text)
        for value, text in y.ticks(max(2, int(box.height() / (3 * line)))):
            at = y.at(value)
            painter.setPen(grid)
            painter.drawLine(QPointF(box.left(), at), QPointF(box.right(), at))
            painter.setPen(QColor(colours.text))
            there = QRectF(area.left(), at - line / 2, box.left() - 4 - area.left(), line)
            flags = Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter
            painter.drawText(there, int(flags), text)
        painter.setPen(QPen(QColor(colours.border), 1.5))
        painter.setBrush(Qt.BrushStyle.NoBrush)
        painter.drawRect(box)
        below = QRectF(box.left(), box.bottom() + line + 5, box.width(), line + 2)
        _title(painter, below, self.axes[0].title, "more private \u2192", colours)
        above = QRectF(box.left(), area.top() + 2, box.width(), line + 2)
        _title(painter, above, self.axes[1].title, "\u2191 more useful", colours, first=True)

    def _draw_front(
        self,
        painter: QPainter,
        shown: list[Setting],
        scales: tuple[_Scale, _Scale],
        colours: Colours,
    ) -> None:
        """Steps to the right and down: all below and left of them is beaten."""
        x, y = scales
        on = sorted(
            (QPointF(x.at(s.mean[0]), y.at(s.mean[1])) for s in shown if s.number in self.front),
            key=lambda p: p.x(),
        )
        if not on:
            return
        path = QPainterPath(QPointF(x.first, on[0].y()))
        for before, point in zip([None, *on[:-1]], on, strict=True):
            if before is not None:
                path.lineTo(before.x(), point.y())
            path.lineTo(point)
        path.lineTo(on[-1].x(), y.first)
        pen = QPen(QColor(colours.quiet), 1.6, Qt.PenStyle.DashLine)
        painter.setPen(pen)
        painter.setBrush(Qt.BrushStyle.NoBrush)
        painter.drawPath(path)

    @staticmethod
    def _draw_bars(
        painter: QPainter, s: Setting, scales: tuple[_Scale, _Scale], colours: Colours
    ) -> None:
        x, y = scales
        at = QPointF(x.at(s.mean[0]), y.at(s.mean[1]))
        painter.setPen(QPen(s.look.colour(colours), 1.6))
        ends = (x.at(s.low[0]), x.at(s.high[0])), (y.at(s.low[1]), y.at(s.high[1]))
        painter.drawLine(QPointF(ends[0][0], at.y()), QPointF(ends[0][1], at.y()))
        painter.drawLine(QPointF(at.x(), ends[1][0]), QPointF(at.x(), ends[1][1]))
        for end in ends[0]:
            painter.drawLine(QPointF(end, at.y() - 3), QPointF(end, at.y() + 3))
        for end in ends[1]:
            painter.drawLine(QPointF(at.x() - 3, end), QPointF(at.x() + 3, end))

    @staticmethod
    def _draw_label(
        painter: QPainter,
        s: Setting,
        at: QPointF,
        room: tuple[_Scale, QFontMetricsF],
        taken: list[QRectF],
        colours: Colours,
        *,
        named: bool,
    ) -> None:
        """The number with the name, or alone where there is no room for the name."""
        x, metrics = room
        tall = metrics.height()
        for text in (f"{s.number + 1} {s.label}", f"{s.number + 1}"):
            wide = metrics.horizontalAdvance(text) + 4
            long = text != f"{s.number + 1}"
            if long and (wide > 0.45 * (x.last - x.first) or not named):
                continue
            for left, top in (
                (at.x() + MEAN + 3, at.y() - tall - 2),
                (at.x() + MEAN + 3, at.y() + 2),
                (at.x() - MEAN - 3 - wide, at.y() - tall - 2),
                (at.x() - MEAN - 3 - wide, at.y() + 2),
            ):
                place = QRectF(left, top, wide, tall)
                inside = x.first <= left and left + wide <= x.last
                if inside and not any(place.intersects(other) for other in taken):
                    taken.append(place)
                    veil = QColor(colours.base)
                    veil.setAlphaF(0.8)
                    painter.fillRect(place, veil)
                    painter.setPen(s.look.colour(colours))
                    painter.drawText(place, int(Qt.AlignmentFlag.AlignCenter), text)
                    return

    def _draw_choice(
        self, painter: QPainter, scales: tuple[_Scale, _Scale], colours: Colours
    ) -> None:
        s = next((s for s in self.settings if self.place and s.number == self.place[0]), None)
        if s is None or self.place is None or not s.there:
            return
        x, y = scales
        a, b, radius = s.mean[0], s.mean[1], MEAN + 4
        found = np.flatnonzero(s.runs == (-1 if self.place[1] is None else self.place[1]))
        if len(found):
            a, b, radius = float(s.x[found[0]]), float(s.y[found[0]]), RUN + 4
        if not (math.isfinite(a) and math.isfinite(b)):
            return
        at = QPointF(x.at(a), y.at(b))
        if len(found):
            s.look.paint(painter, at, RUN + 1, colours)
        painter.setBrush(Qt.BrushStyle.NoBrush)
        painter.setPen(QPen(QColor(colours.focus), 2.2))
        painter.drawEllipse(at, radius, radius)

    # -- mouse and keys -----------------------------------------------------------------------

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        place = self._nearest(event.position())
        if place is None:
            QToolTip.hideText()
        else:
            QToolTip.showText(event.globalPosition().toPoint(), tip(self.words(place)), self)

    def mousePressEvent(self, event: QMouseEvent) -> None:
        place = self._nearest(event.position())
        if place is not None and event.button() == Qt.MouseButton.LeftButton:
            self._choose(place)

    def mouseDoubleClickEvent(self, event: QMouseEvent) -> None:
        place = self._nearest(event.position())
        if place is not None:
            self.opened.emit(place)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Left and Right walk all points, Up and Down the means, Return opens."""
        every = [place for place, _ in self.places()]
        key = Qt.Key(event.key())
        if key in (Qt.Key.Key_Return, Qt.Key.Key_Enter) and self.place is not None:
            self.opened.emit(self.place)
        elif key in (Qt.Key.Key_Left, Qt.Key.Key_Right) and every:
            runs = [p for p in every if p[1] is not None] or every
            self._step(runs, 1 if key == Qt.Key.Key_Right else -1)
        elif key in (Qt.Key.Key_Up, Qt.Key.Key_Down) and every:
            means = sorted(p for p in every if p[1] is None)
            here = (self.place[0], None) if self.place is not None else None
            self._step(means, 1 if key == Qt.Key.Key_Down else -1, here)
        else:
            super().keyPressEvent(event)

    def _step(self, among: list[Place], by: int, here: Place | None = None) -> None:
        here = here or self.place
        if here in among:
            self._choose(among[(among.index(here) + by) % len(among)])
        else:
            self._choose(among[0 if by > 0 else -1])

    def _choose(self, place: Place) -> None:
        self.set_place(place)
        self.chosen.emit(place)

    def focusInEvent(self, event: QFocusEvent) -> None:
        super().focusInEvent(event)
        self.update()

    def focusOutEvent(self, event: QFocusEvent) -> None:
        super().focusOutEvent(event)
        self.update()


def _title(
    painter: QPainter,
    area: QRectF,
    text: str,
    towards: str,
    colours: Colours,
    *,
    first: bool = False,
) -> None:
    """An axis' title, and where the axis leads at its better end (or ``first``)."""
    metrics = QFontMetricsF(painter.font())
    arrow = metrics.horizontalAdvance(towards) + 2 * GRID
    shown = metrics.elidedText(text, Qt.TextElideMode.ElideRight, max(area.width() - arrow, 0.0))
    left, right = int(Qt.AlignmentFlag.AlignLeft), int(Qt.AlignmentFlag.AlignRight)
    painter.setPen(QColor(colours.quiet))
    painter.drawText(area.adjusted(arrow if first else 0.0, 0, 0, 0), left, shown)
    painter.setPen(QColor(colours.accent))
    painter.drawText(area, left if first else right, towards)
