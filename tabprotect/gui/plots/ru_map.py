"""The risk-utility map: a point for each setting, with its runs, and the front that none beats.

Both axes grow to the right and upwards whatever their measure; words say which corner is better.
What goes beyond the limit of the gate is hollow.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from PySide6.QtCore import QPointF, QRectF, Qt, Signal
from PySide6.QtGui import QBrush, QColor, QKeyEvent, QPainter, QPainterPath, QPaintEvent, QPen

from tabprotect.engine.arrays import Floats, Ints
from tabprotect.gui.look.label import tip
from tabprotect.gui.look.theme import GRID, THEME, Colours, inked
from tabprotect.gui.plots.canvas import Canvas
from tabprotect.gui.plots.map_axis import Axis, AxisScale
from tabprotect.gui.plots.plot import Plot
from tabprotect.gui.plots.series_looks import SeriesLook
from tabprotect.languages.messages import joined, message
from tabprotect.languages.translation import translate

Place = tuple[int, int | None]
"""A setting, and one of its runs (its number in the comparison) or ``None`` for their mean."""

NAMED = 14
"""Settings up to which each is called by its name on the map, and not by its number alone."""

AROUND = ((1, 0), (1, 1), (1, -1), (-1, 0), (-1, 1), (-1, -1), (0, -1), (0, 1))
"""Where a name is tried around its mark, to the right first."""

AWAY = (3.0, 16.0, 30.0, 46.0)
"""How far from the mark, in pixels; a line leads to what is not beside it."""

CORNERS = {(1, 1): "\u2197", (1, -1): "\u2198", (-1, 1): "\u2196", (-1, -1): "\u2199"}
"""Towards the better corner, by the better directions of both axes."""

REACH = 12.0
"""Pixels around a point within which the mouse finds it."""

MEAN, RUN = 7.0, 2.6
"""Radius of a mean's and of a run's symbol in pixels."""


@dataclass(frozen=True, eq=False)
class PlottedConfiguration:
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
    beyond
        Whether it goes beyond the limit of the gate.
    """

    number: int
    label: str
    look: SeriesLook
    runs: Ints
    x: Floats
    y: Floats
    mean: tuple[float, float]
    low: tuple[float, float]
    high: tuple[float, float]
    beyond: bool = False

    @property
    def there(self) -> bool:
        """Return True if it has a place on the map."""
        return bool(np.isfinite(self.mean).all())


class RiskUtilityMap(Plot):
    """``chosen`` and ``opened`` carry a :data:`Place`."""

    chosen = Signal(object)
    opened = Signal(object)

    def __init__(self, opens: str = message("Return opens the release")) -> None:
        """``opens`` says what happens to the chosen point when it is opened."""
        super().__init__(message("Risk-utility map"))
        self.opens = opens
        self.settings: tuple[PlottedConfiguration, ...] = ()
        self.axes: tuple[Axis, Axis] | None = None
        self.limit: float | None = None
        self.front: tuple[int, ...] = ()
        self.place: Place | None = None
        self.words: Callable[[Place], str] = lambda place: ""
        THEME.follow(self, RiskUtilityMap._fit)
        self._fit()

    def _fit(self) -> None:
        # Titles and numbers take four lines: the points must have room beside them.
        self.setMinimumSize(36 * GRID, max(24 * GRID, 13 * self.fontMetrics().height()))

    def show_settings(
        self,
        settings: Sequence[PlottedConfiguration],
        axes: tuple[Axis, Axis],
        front: Sequence[int],
        *,
        limit: float | None = None,
    ) -> None:
        """Show settings; ``axes`` are risk and utility, ``front`` the settings none beats, ``limit``
        the risk beyond which nothing may leave."""
        self.settings, self.axes, self.front = tuple(settings), axes, tuple(front)
        self.limit = limit
        on = joined((s.label for s in self.settings if s.number in self.front), ", ") or "none"
        self.say(
            message(
                "{label} to the right, {label2} upwards; better is {corner}. "
                "{sum} settings; no other beats: {on}. "
                "Arrow keys walk the points, {opens}.",
                axes[0].label,
                axes[1].label,
                CORNERS[axes[0].sign, axes[1].sign],
                sum(s.there for s in settings),
                on,
                self.opens,
            )
        )
        self.refresh()

    def show_nothing(self, why: str) -> None:
        """Show a sentence instead; nothing that was shown is kept."""
        self.settings, self.axes, self.front, self.place = (), None, (), None
        self.limit = None
        self.empty = why
        self.say(why)
        self.refresh()

    def set_place(self, place: Place | None) -> None:
        """Mark a run or a mean without telling anybody."""
        if place != self.place:
            self.place = place
            self.refresh()

    # -- plotting -----------------------------------------------------------------------------

    @property
    def filled(self) -> bool:
        return self.axes is not None and bool(self._shown)

    @property
    def keyed(self) -> bool:
        return True

    @property
    def numbers(self) -> str:
        return "0000.0 %"

    @property
    def title(self) -> str:
        return "" if self.axes is None else self.axes[0].title

    @property
    def _shown(self) -> list[PlottedConfiguration]:
        return [s for s in self.settings if s.there]

    def _values(self, n: int) -> Floats:
        """All values along an axis: 0 risk, 1 utility."""
        shown = self._shown
        ends = [np.array([s.mean[n], s.low[n], s.high[n]]) for s in shown]
        return np.concatenate([*ends, *((s.x, s.y)[n] for s in shown)])

    def _scale(self, n: int) -> AxisScale:
        """Return where values stand along an axis."""
        middle = np.array([s.mean[n] for s in self._shown])
        return AxisScale.of(self._values(n), middle=middle)

    def span(self) -> tuple[float, float]:
        scale = self._scale(0)
        return scale.low, scale.high

    def _point(self, x: float, y: float) -> QPointF:
        across, up = self._scales
        return QPointF(across.place(x), up.place(y))

    @property
    def _scales(self) -> tuple[AxisScale, AxisScale]:
        return self._scale(0), self._scale(1)

    def places(self) -> list[tuple[Place, QPointF]]:
        """Every point on the plane, runs before means, from left to right."""
        if not self.filled:
            return []
        across, up = self._scales
        runs: list[tuple[Place, QPointF]] = []
        means: list[tuple[Place, QPointF]] = []
        for s in self._shown:
            means.append(((s.number, None), QPointF(across.place(s.mean[0]), up.place(s.mean[1]))))
            for run, a, b in zip(s.runs.tolist(), s.x.tolist(), s.y.tolist(), strict=True):
                if math.isfinite(a) and math.isfinite(b):
                    runs.append(((s.number, run), QPointF(across.place(a), up.place(b))))
        for some in (runs, means):
            some.sort(key=lambda one: (one[1].x(), one[1].y()))
        return [*runs, *means]

    def arrange(self, canvas: Canvas) -> None:
        assert self.axes is not None
        wide, tall = canvas.size
        across, up = self._scales
        room = canvas.metrics.horizontalAdvance("00.0 %") + 3 * GRID
        # The words above take a line: no point lies under them.
        high = up.high + (up.high - up.low) * (canvas.line + MEAN) / tall
        canvas.plane(
            up.low,
            high,
            across.ticks(self.axes[0], max(2, int(wide / room))),
            up.ticks(self.axes[1], max(2, int(tall / (2 * canvas.line)))),
        )
        self._put_front(canvas)
        for s in self._shown:
            ink = s.look.colour(canvas.colours)
            ink.setAlphaF(0.35)
            there = np.isfinite(s.x) & np.isfinite(s.y)
            if len(s.runs) > 1 and there.any():
                x = [across.place(value) for value in s.x[there].tolist()]
                y = [up.place(value) for value in s.y[there].tolist()]
                pen, brush = QPen(Qt.PenStyle.NoPen), QBrush(ink)
                canvas.symbols(x, y, s.look.path, RUN, pen=pen, brush=brush)
        taken = self._put_words(canvas)
        for s in self._shown:
            if self.place is not None and self.place[0] == s.number:
                self._put_spread(canvas, s)
            at = self._point(*s.mean)
            pen, brush = s.look.tools(canvas.colours)
            if s.beyond:
                pen, brush = QPen(s.look.colour(canvas.colours), 2), QBrush(canvas.colours.base)
            canvas.symbols([at.x()], [at.y()], s.look.path, MEAN, pen=pen, brush=brush)
            left, top = canvas.x(at.x()) - MEAN, canvas.y(at.y()) - MEAN
            taken.append(QRectF(left, top, 2 * MEAN, 2 * MEAN))
        for s in self._shown:
            self._put_name(canvas, s, taken)
        self._put_choice(canvas)

    def _put_words(self, canvas: Canvas) -> list[QRectF]:
        """Return what the left axis counts, the better corner and the limit; where these words stand."""
        assert self.axes is not None
        quiet, metrics = canvas.colours.quiet, canvas.metrics
        above = self.axes[1].title
        corner = message("{arrow} better", CORNERS[self.axes[0].sign, self.axes[1].sign])
        end = canvas.size[0] - metrics.horizontalAdvance(translate(corner)) - 8
        canvas.label(above, 4, 2, ink=quiet)
        canvas.label(corner, end, 2, ink=quiet)
        taken = [QRectF(0, 0, canvas.size[0], canvas.line + 4)]
        x = None if self.limit is None else self._scale(0).place(self.limit)
        if x is None or not canvas.low < x < canvas.high:
            return taken
        pen = QPen(QColor(canvas.colours.error), 1, Qt.PenStyle.DashLine)
        canvas.lines([x, x], [canvas.floor, canvas.top], pen=pen)
        words = message("more may not leave")
        wide = metrics.horizontalAdvance(translate(words)) + 4
        left = min(canvas.x(x) + 4, canvas.size[0] - wide)
        canvas.label(words, left, canvas.line + 6, ink=canvas.colours.error)
        return [*taken, QRectF(left, canvas.line + 6, wide, canvas.line)]

    def _put_front(self, canvas: Canvas) -> None:
        """Steps around the better corner: all beyond them is beaten."""
        assert self.axes is not None
        across, up = (axis.sign for axis in self.axes)
        on = sorted(
            (self._point(*s.mean) for s in self._shown if s.number in self.front),
            key=lambda p: across * p.x(),
        )
        if not on:
            return
        x, y = [canvas.low if across > 0 else canvas.high], [on[0].y()]
        for point in on:
            x += [x[-1], point.x()]
            y += [point.y(), point.y()]
        x.append(x[-1])
        y.append(canvas.floor if up > 0 else canvas.top)
        canvas.lines(x, y, pen=QPen(QColor(canvas.colours.quiet), 1, Qt.PenStyle.DotLine))

    def _put_spread(self, canvas: Canvas, s: PlottedConfiguration) -> None:
        at, low, high = (self._point(*p) for p in (s.mean, s.low, s.high))
        cap_x, cap_y = 3 * canvas.unit[0], 3 * canvas.unit[1]
        x, y = [low.x(), high.x(), at.x(), at.x()], [at.y(), at.y(), low.y(), high.y()]
        for end in (low, high):
            x += [end.x(), end.x(), at.x() - cap_x, at.x() + cap_x]
            y += [at.y() - cap_y, at.y() + cap_y, end.y(), end.y()]
        canvas.lines(x, y, pen=QPen(s.look.colour(canvas.colours), 1.6), pairs=True)

    def _put_name(self, canvas: Canvas, s: PlottedConfiguration, taken: list[QRectF]) -> None:
        """The name where it covers nothing, or the number where there is no room for it."""
        at, tall = self._point(*s.mean), canvas.line
        x, y = canvas.x(at.x()), canvas.y(at.y())
        area = QRectF(0, 0, *canvas.size)
        number, named = f"{s.number + 1}", len(self._shown) <= NAMED
        for text in (s.label, number) if named else (number,):
            wide = canvas.metrics.horizontalAdvance(translate(text)) + 4
            for away in AWAY:
                for across, down in AROUND:
                    middle = QPointF(
                        x + across * (MEAN + away + wide / 2),
                        y + down * (MEAN + away / 2 + tall / 2 if across else MEAN + away + tall / 2),
                    )
                    place = QRectF(middle.x() - wide / 2, middle.y() - tall / 2, wide, tall)
                    if not area.contains(place) or any(place.intersects(o) for o in taken):
                        continue
                    taken.append(place)
                    if away > AWAY[0]:
                        self._lead(canvas, QPointF(x, y), place, s)
                    ink = s.look.colour(canvas.colours)
                    canvas.label(text, place.left(), place.top(), ink=ink)
                    return

    def _lead(self, canvas: Canvas, at: QPointF, place: QRectF, s: PlottedConfiguration) -> None:
        """A line from a mark to its name."""
        ends = (min(max(at.x(), place.left()), place.right()), min(max(at.y(), place.top()), place.bottom()))
        x = [canvas.low + value * canvas.unit[0] for value in (at.x(), ends[0])]
        y = [canvas.top - value * canvas.unit[1] for value in (at.y(), ends[1])]
        canvas.lines(x, y, pen=QPen(s.look.colour(canvas.colours), 1))

    def _put_choice(self, canvas: Canvas) -> None:
        point = dict(self.places()).get(self.place) if self.place is not None else None
        if point is None or self.place is None:
            return
        x, y, radius = [point.x()], [point.y()], MEAN + 4
        if self.place[1] is not None:
            look = next(s.look for s in self.settings if s.number == self.place[0])
            pen, brush = look.tools(canvas.colours)
            canvas.symbols(x, y, look.path, RUN + 1, pen=pen, brush=brush)
            radius = RUN + 4
        ring = QPainterPath()
        ring.addEllipse(QPointF(0, 0), 0.5, 0.5)
        pen = QPen(QColor(canvas.colours.focus), 2.2)
        canvas.symbols(x, y, ring, radius, pen=pen, brush=QBrush(Qt.BrushStyle.NoBrush))

    def _fill(self, canvas: Canvas, colours: Colours) -> None:
        canvas.widget.setBackground(QColor(colours.base))
        super()._fill(canvas, colours)

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        inked(painter, QPen(QColor(THEME.colours.border), 1), QColor(THEME.colours.base))
        painter.drawRoundedRect(QRectF(self.rect()).adjusted(0.5, 0.5, -0.5, -0.5), 4, 4)
        painter.end()
        super().paintEvent(event)

    # -- mouse and keys -----------------------------------------------------------------------

    def nearest(self, at: QPointF) -> Place | None:
        """The point of the map within reach of a point of the plane."""
        if self._canvas is None:
            return None
        across, up = self._canvas.unit
        best, found = REACH, None
        for place, point in self.places():
            away = math.hypot((point.x() - at.x()) / across, (point.y() - at.y()) / up)
            # A mean stands in front of the runs.
            away -= 4.0 if place[1] is None else 0.0
            if away < best:
                best, found = away, place
        return found

    def tip(self, value: float, height: float) -> str:
        place = self.nearest(QPointF(value, height))
        return "" if place is None else tip(self.words(place))

    def pressed(self, at: QPointF, *, twice: bool) -> None:
        if (place := self.nearest(at)) is None:
            return
        if twice:
            self.opened.emit(place)
        else:
            self._choose(place)

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
