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
from PySide6.QtGui import QBrush, QColor, QKeyEvent, QPainterPath, QPen

from tabprotect.engine.arrays import Floats, Ints
from tabprotect.gui.look.label import tip
from tabprotect.gui.look.theme import GRID, THEME
from tabprotect.gui.plots.canvas import Canvas, nice_step
from tabprotect.gui.plots.plot import Plot
from tabprotect.gui.plots.series_looks import SeriesLook
from tabprotect.languages.said import joined, say
from tabprotect.languages.speaking import told

Place = tuple[int, int | None]
"""A setting, and one of its runs (its number in the comparison) or ``None`` for their mean."""

NAMED = 8
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
        return say("{label} ({unit})", self.label, self.unit)

    @property
    def sign(self) -> int:
        """1, or -1 where low is better: values times it grow towards the better end."""
        return 1 if self.higher_is_better else -1


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

    @property
    def there(self) -> bool:
        """Whether it has a place on the map."""
        return bool(np.isfinite(self.mean).all())


def _ends(values: Floats) -> tuple[float, float]:
    """The part of an axis that holds the values, from zero where that costs little room."""
    values = values[np.isfinite(values)]
    low, high = (float(values.min()), float(values.max())) if len(values) else (0.0, 1.0)
    if 0 <= low <= high / 2:
        low = 0.0
    if high - low < 1e-9 * max(abs(high), 1.0):
        high = low + (0.1 * abs(low) or 1.0)
    room = high - low
    return low - 0.06 * room, high + 0.06 * room


def _ticks(low: float, high: float, sign: int, wanted: int) -> list[tuple[float, str]]:
    """Round values between two ends with their texts, at their place on a signed axis."""
    step = nice_step(high - low, wanted)
    # The room beside a zero is for the points that stand at it.
    low = 0.0 if -0.1 * high < low < 0 else low
    digits = max(0, -math.floor(math.log10(step) + 1e-9))
    out = []
    for n in range(math.ceil(low / step - 1e-9), math.floor(high / step + 1e-9) + 1):
        text = f"{n * step:.{digits}f}".replace("-", "\u2212")
        out.append((sign * n * step, text))
    return out


class RiskUtilityMap(Plot):
    """``chosen`` and ``opened`` carry a :data:`Place`."""

    chosen = Signal(object)
    opened = Signal(object)

    def __init__(self) -> None:
        super().__init__(say("Risk-utility map"))
        self.settings: tuple[PlottedConfiguration, ...] = ()
        self.axes: tuple[Axis, Axis] | None = None
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
    ) -> None:
        """Show settings; ``axes`` are risk and utility, ``front`` the settings none beats."""
        self.settings, self.axes, self.front = tuple(settings), axes, tuple(front)
        on = joined((f"{c + 1}" for c in front), ", ") or "none"
        self.say(
            say(
                "{label} to the right (more private), {label2} upwards (more useful). "
                "{sum} settings; on the front: {on}. "
                "Arrow keys walk the points, Return opens the release.",
                axes[0].label,
                axes[1].label,
                sum(s.there for s in settings),
                on,
            )
        )
        self.refresh()

    def show_nothing(self, why: str) -> None:
        """Show a sentence instead; nothing that was shown is kept."""
        self.settings, self.axes, self.front, self.place = (), None, (), None
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
        return "0000.0"

    @property
    def title(self) -> str:
        return "" if self.axes is None else say("{title}; more private \u2192", self.axes[0].title)

    @property
    def _shown(self) -> list[PlottedConfiguration]:
        return [s for s in self.settings if s.there]

    def _values(self, n: int) -> Floats:
        """All values along an axis: 0 risk, 1 utility."""
        shown = self._shown
        ends = [np.array([s.mean[n], s.low[n], s.high[n]]) for s in shown]
        return np.concatenate([*ends, *((s.x, s.y)[n] for s in shown)])

    def _signed(self, n: int) -> tuple[float, float]:
        """The ends of an axis on the plane, where better is more."""
        assert self.axes is not None
        low, high = _ends(self._values(n))
        return (low, high) if self.axes[n].higher_is_better else (-high, -low)

    def span(self) -> tuple[float, float]:
        return self._signed(0)

    def _point(self, x: float, y: float) -> QPointF:
        assert self.axes is not None
        return QPointF(self.axes[0].sign * x, self.axes[1].sign * y)

    def places(self) -> list[tuple[Place, QPointF]]:
        """Every point on the plane (better is more), runs before means, from left to right."""
        if not self.filled:
            return []
        runs: list[tuple[Place, QPointF]] = []
        means: list[tuple[Place, QPointF]] = []
        for s in self._shown:
            means.append(((s.number, None), self._point(*s.mean)))
            for run, a, b in zip(s.runs.tolist(), s.x.tolist(), s.y.tolist(), strict=True):
                if math.isfinite(a) and math.isfinite(b):
                    runs.append(((s.number, run), self._point(a, b)))
        for some in (runs, means):
            some.sort(key=lambda one: (one[1].x(), one[1].y()))
        return [*runs, *means]

    def arrange(self, canvas: Canvas) -> None:
        assert self.axes is not None
        wide, tall = canvas.size
        risk, utility = self.axes
        room = canvas.metrics.horizontalAdvance("0.000") + 3 * GRID
        low, high = self._signed(1)
        # The words in the corner take a line: no point lies under them.
        high += (high - low) * (canvas.line + MEAN) / tall
        canvas.plane(
            low,
            high,
            _ticks(*_ends(self._values(0)), risk.sign, max(2, int(wide / room))),
            _ticks(*_ends(self._values(1)), utility.sign, max(2, int(tall / (3 * canvas.line)))),
        )
        self._put_front(canvas)
        for s in self._shown:
            pen, brush = s.look.tools(canvas.colours, faint=True)
            there = np.isfinite(s.x) & np.isfinite(s.y)
            if len(s.runs) > 1 and there.any():
                x, y = risk.sign * s.x[there], utility.sign * s.y[there]
                canvas.symbols(x, y, s.look.path, RUN, pen=pen, brush=brush)
        taken = []
        for s in self._shown:
            self._put_spread(canvas, s)
            at = self._point(*s.mean)
            pen, brush = s.look.tools(canvas.colours)
            canvas.symbols([at.x()], [at.y()], s.look.path, MEAN, pen=pen, brush=brush)
            left, top = canvas.x(at.x()) - MEAN, canvas.y(at.y()) - MEAN
            taken.append(QRectF(left, top, 2 * MEAN, 2 * MEAN))
        words = say("\u2191 more useful: {title}", utility.title)
        canvas.label(words, 4, 2, ink=canvas.colours.quiet)
        taken.append(
            QRectF(0, 0, canvas.metrics.horizontalAdvance(told(words)) + 8, canvas.line + 4)
        )
        for s in self._shown:
            self._put_name(canvas, s, taken)
        self._put_choice(canvas)

    def _put_front(self, canvas: Canvas) -> None:
        """Steps to the right and down: all below and left of them is beaten."""
        on = sorted(
            (self._point(*s.mean) for s in self._shown if s.number in self.front),
            key=lambda p: p.x(),
        )
        if not on:
            return
        x, y = [canvas.low], [on[0].y()]
        for point in on:
            x += [x[-1], point.x()]
            y += [point.y(), point.y()]
        x.append(x[-1])
        y.append(canvas.floor)
        pen = QPen(QColor(canvas.colours.quiet), 1.6, Qt.PenStyle.DashLine)
        canvas.lines(x, y, pen=pen)

    def _put_spread(self, canvas: Canvas, s: PlottedConfiguration) -> None:
        at, low, high = (self._point(*p) for p in (s.mean, s.low, s.high))
        cap_x, cap_y = 3 * canvas.unit[0], 3 * canvas.unit[1]
        x, y = [low.x(), high.x(), at.x(), at.x()], [at.y(), at.y(), low.y(), high.y()]
        for end in (low, high):
            x += [end.x(), end.x(), at.x() - cap_x, at.x() + cap_x]
            y += [at.y() - cap_y, at.y() + cap_y, end.y(), end.y()]
        canvas.lines(x, y, pen=QPen(s.look.colour(canvas.colours), 1.6), pairs=True)

    def _put_name(self, canvas: Canvas, s: PlottedConfiguration, taken: list[QRectF]) -> None:
        """The number with the name, or alone where there is no room for the name."""
        at = self._point(*s.mean)
        x, y, tall = canvas.x(at.x()), canvas.y(at.y()), canvas.line
        number, named = f"{s.number + 1}", len(self._shown) <= NAMED
        for text in (say("{number} {label}", number, s.label), number):
            wide = canvas.metrics.horizontalAdvance(told(text)) + 4
            if text != number and (wide > 0.45 * canvas.size[0] or not named):
                continue
            for left in (x + MEAN + 3, x - MEAN - 3 - wide):
                for top in (y - tall - 2, y + 2):
                    place = QRectF(left, top, wide, tall)
                    inside = left >= 0 and left + wide <= canvas.size[0]
                    if inside and not any(place.intersects(other) for other in taken):
                        taken.append(place)
                        canvas.label(text, left, top, ink=s.look.colour(canvas.colours))
                        return

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
        place = self.nearest(at)
        if place is None:
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
