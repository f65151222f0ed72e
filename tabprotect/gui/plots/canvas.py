"""One pyqtgraph plot: two axes, bars, lines, points, marked lines, direct labels.

Bars, lines and points stand in the plot's own units; labels are placed in pixels, and again after
each zoom or change of size. Only the lower axis zooms.
"""

from __future__ import annotations

import importlib
import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from html import escape
from types import ModuleType

import numpy as np
import numpy.typing as npt
from PySide6 import QtCore, QtGui, QtWidgets
from PySide6.QtCore import QPointF, QRectF, QSizeF, Qt
from PySide6.QtGui import (
    QBrush,
    QColor,
    QFont,
    QFontMetricsF,
    QPainter,
    QPainterPath,
    QPen,
    QPolygonF,
    QTransform,
)
from PySide6.QtWidgets import QGraphicsItem, QGraphicsPolygonItem, QGraphicsRectItem

from tabprotect.engine.arrays import Floats
from tabprotect.gui.look.buttons import connected
from tabprotect.gui.look.theme import THEME, Colours, chance_number, chance_text
from tabprotect.languages.messages import message
from tabprotect.languages.translation import translate


@dataclass(frozen=True)
class Mark:
    """A vertical line with its label: what is published (dashed), what is true (solid, diamond)."""

    value: float
    label: str
    true: bool = False


def merged(marks: Sequence[Mark], fits: Callable[[str], bool]) -> list[Mark]:
    """Marks at one value as one mark with both labels, where these fit beside each other."""
    out: list[Mark] = []
    for mark in marks:
        same = next((n for n, m in enumerate(out) if m.value == mark.value), None)
        label = mark.label if same is None else message("{label}, {label2}", out[same].label, mark.label)
        if same is None or not fits(label):
            out.append(mark)
        else:
            out[same] = Mark(mark.value, label, true=out[same].true or mark.true)
    return out


def nice_step(span: float, wanted: int) -> float:
    """The round step (1, 2 or 5 times a power of ten) that cuts ``span`` into about ``wanted``."""
    if span <= 0 or not math.isfinite(span):
        return 1.0
    raw = span / max(wanted, 1)
    power = 10.0 ** math.floor(math.log10(raw))
    return next(m * power for m in (1.0, 2.0, 5.0, 10.0) if m * power >= raw * (1 - 1e-9))


Ticks = Sequence[tuple[float, str]]

HATCH = 8
"""Pixels between the lines of a hatched bar, upwards."""

DIAMOND = 14
"""Pixels before the label of what is true."""

TICK = 4
"""Pixels between an axis and its numbers."""


@cache
def pyqtgraph() -> ModuleType:
    """The plotting library, set up from the palette."""
    # It takes 0.3 to 0.4 s to import: with the first plot, not when the program starts.
    import pyqtgraph as pg

    colours = THEME.colours
    pg.setConfigOptions(antialias=True, foreground=colours.text, background=colours.window)
    found: ModuleType = pg
    return found


def loaded_in_pieces() -> Iterator[object]:
    """Load the plotting library; between two pieces the window may do other things.

    Most of its import makes every class and enumeration of Qt, which Qt makes when first asked.
    """
    for module in (QtCore, QtGui, QtWidgets):
        for name in dir(module):
            yield getattr(module, name)
    for module_name in ("QtTest", "QtOpenGLWidgets", "QtSvg"):
        yield importlib.import_module(f"PySide6.{module_name}")
    yield pyqtgraph()


class Canvas:
    """A plot's widget, and what is put on it.

    Attributes
    ----------
    widget
        The ``PlotWidget``.
    box
        Its view: where the bars stand.
    """

    def __init__(self, arrange: Callable[[Canvas], None], *, held: bool = False) -> None:
        pg = pyqtgraph()
        self.widget = pg.PlotWidget(background=None)
        # Focus, name and words belong to the figure around it; a file that is dropped, to the window.
        for part in (self.widget, self.widget.viewport()):
            part.setFocusPolicy(Qt.FocusPolicy.NoFocus)
            part.setAcceptDrops(False)
        self.plot = self.widget.getPlotItem()
        self.plot.setMenuEnabled(False)
        self.plot.hideButtons()
        self.plot.setContentsMargins(0, 0, 4, 0)
        self.box = self.plot.getViewBox()
        self.box.setDefaultPadding(0)
        self.box.disableAutoRange()
        self.left, self.bottom = self.plot.getAxis("left"), self.plot.getAxis("bottom")
        for axis in (self.left, self.bottom):
            axis.enableAutoSIPrefix(False)
        self.colours = THEME.colours
        self._font = QFont()
        self.metrics = QFontMetricsF(self._font)
        self.low, self.high, self.floor, self.top = 0.0, 1.0, 0.0, 1.0
        self._items: list[QGraphicsItem] = []
        self._arrange = arrange
        self._arranging = False
        self._held = held
        self._due = False
        self.widget.scene().sigPrepareForPaint.connect(self._put_in_place)
        connected(self.box, sigResized=lambda *_: self.arrange(), sigXRangeChanged=lambda *_: self.arrange())

    # -- what is seen -------------------------------------------------------------------------

    def dress(self, colours: Colours, font: QFont, *, title: str, numbers: str = "0.000") -> None:
        """Set colours, font, what the lower axis counts, and the room of the left one's texts."""
        self.colours, self._font, self.metrics = colours, font, QFontMetricsF(font)
        for axis in (self.left, self.bottom):
            axis.setStyle(tickFont=font, tickLength=0, tickTextOffset=TICK, tickAlpha=0)
        self.left.setPen(QPen(Qt.PenStyle.NoPen))
        self.bottom.setPen(QPen(QColor(colours.border), 1.5))
        self.left.setTextPen(QColor(colours.quiet))
        self.bottom.setTextPen(QColor(colours.text))
        self.left.setWidth(self.metrics.horizontalAdvance(numbers) + 2 * TICK)
        # The axis takes it as HTML; names of categories may hold anything.
        self.bottom.setLabel(escape(translate(title)), color=colours.quiet)
        self.bottom.label.setFont(font)
        self.bottom.setHeight((2 if title else 1) * self.line + TICK + 2)
        # The axis puts its words in their place only when its own size changes.
        self.bottom.resizeEvent(None)

    def limit(self, low: float, high: float, *, narrowest: float | None) -> None:
        """Show ``low`` to ``high``; zoom and pan stay within, if ``narrowest`` allows any."""
        least = high - low if narrowest is None else narrowest
        with self.holding():
            self.box.setLimits(xMin=low, xMax=high, minXRange=least, maxXRange=high - low)
            self.box.setMouseEnabled(x=narrowest is not None, y=False)
            self.box.setXRange(low, high, padding=0)

    def look(self, low: float, high: float) -> None:
        """Zoom to a part of the value axis."""
        self.box.setXRange(low, high, padding=0)
        # It may have been that part already.
        self.arrange()

    @contextmanager
    def holding(self) -> Iterator[None]:
        """Put things in place once, after several changes, each of which would do it."""
        held, self._held = self._held, True
        yield
        self.plot.layout.activate()
        self._held = held
        self.arrange()

    def arrange(self) -> None:
        """Take everything away, and put it in place for the present size and part once it is painted.

        A page that comes up changes the size several times before it is.
        """
        if self._arranging or self._held:
            return
        for item in self._items:
            self.box.removeItem(item)
        self._items = []
        self.low, self.high = map(float, self.box.viewRange()[0])
        self._due = True
        self.widget.viewport().update()

    def _put_in_place(self) -> None:
        if not self._due or self._held:
            return
        self._due, self._arranging = False, True
        try:
            self._arrange(self)
        finally:
            self._arranging = False
        self.box.updateMatrix()

    def paint(self, painter: QPainter, area: QRectF) -> None:
        """Paint into a file."""
        self._held = True
        self.widget.resize(area.size().toSize())
        self.widget.resizeEvent(None)
        self.plot.layout.activate()
        self._held = False
        self.arrange()
        self.widget.render(painter, area, self.widget.rect())

    # -- measures -----------------------------------------------------------------------------

    @property
    def line(self) -> float:
        """The height of a line of text in pixels."""
        return self.metrics.height()

    @property
    def size(self) -> tuple[float, float]:
        """Width and height of the part with the bars, in pixels."""
        return max(self.box.width(), 1.0), max(self.box.height(), 1.0)

    @property
    def unit(self) -> tuple[float, float]:
        """Return what one pixel is worth on the lower axis and on the left one."""
        return (self.high - self.low) / self.size[0], (self.top - self.floor) / self.size[1]

    def x(self, value: float) -> float:
        """Return where a value stands, in pixels from the left."""
        return (value - self.low) / self.unit[0]

    def y(self, value: float) -> float:
        """Return where a value of the left axis stands, in pixels from the top."""
        return self.size[1] - (value - self.floor) / self.unit[1]

    # -- what is put on it --------------------------------------------------------------------

    def axes(
        self, peak: float, *, rows: int, headroom: float = 0.5, ticks: Ticks, in_100: bool = False
    ) -> None:
        """Set both axes for probabilities from zero; the bars are at most ``peak`` high.

        Parameters
        ----------
        rows
            Lines of labels above the bars, one for each mark.
        headroom
            Lines of labels on top of the highest bar.
        in_100
            Whether the lower axis says that they are in 100, and numbers stand alone.
        """
        tall = self.size[1]
        above = rows * (self.line + 2) + 4
        self.top = max(peak, 1e-9) * tall / max(tall - above - headroom * self.line, tall / 3)
        self.box.setYRange(0, self.top, padding=0)
        end = self.top * (1 - above / tall)
        step = nice_step(end, 4)
        digits = 1 if step < 0.01 else 0
        numbers = [n * step for n in range(int(min(end, 1.0) / step + 1e-9) + 1)]
        text = chance_number if in_100 else chance_text
        self.left.setTicks([[(c, translate(text(c, digits=digits))) for c in numbers]])
        self._grid(numbers[1:], angle=0)
        self.bottom.setTicks([list(ticks)])

    def plane(self, floor: float, top: float, across: Ticks, up: Ticks) -> None:
        """Set the ends of the left axis, and round values with their texts along both, with a grid."""
        self.floor, self.top = floor, top
        self.box.setYRange(floor, top, padding=0)
        # A number at the very top would be cut.
        up = [tick for tick in up if self.y(tick[0]) >= self.line / 2]
        for axis, ticks, angle in ((self.bottom, across, 90), (self.left, up, 0)):
            axis.setTicks([list(ticks)])
            self._grid([value for value, _ in ticks], angle=angle)

    def _grid(self, values: Iterable[float], *, angle: int) -> None:
        # Not the axis's own grid: with it the axis leaves out numbers at its ends, the 0.
        for value in values:
            pen = QPen(QColor(self.colours.border), 1)
            pen.setCosmetic(True)
            self._put(pyqtgraph().InfiniteLine(value, angle=angle, pen=pen), depth=-2)

    def bars(
        self,
        left: Floats,
        width: Floats | float,
        height: Floats,
        *,
        pen: QPen,
        brush: QBrush | Sequence[QBrush],
        floor: Floats | float = 0.0,
    ) -> None:
        """Bars from zero, or a floor, in one brush or one for each."""
        pen.setCosmetic(True)
        pg = pyqtgraph()
        painted = {"brush": brush} if isinstance(brush, QBrush) else {"brushes": list(brush)}
        self._put(pg.BarGraphItem(x0=left, width=width, y0=floor, height=height, pen=pen, **painted))

    def lines(self, x: npt.ArrayLike, y: npt.ArrayLike, *, pen: QPen, pairs: bool = False) -> None:
        """A line through points, or with ``pairs`` from each odd one to the next."""
        pen.setCosmetic(True)
        connect = "pairs" if pairs else "all"
        x, y = np.asarray(x, dtype=np.float64), np.asarray(y, dtype=np.float64)
        self._put(pyqtgraph().PlotCurveItem(x, y, connect=connect, pen=pen))

    def symbols(
        self,
        x: npt.ArrayLike,
        y: npt.ArrayLike,
        shape: QPainterPath,
        radius: float,
        *,
        pen: QPen,
        brush: QBrush,
    ) -> None:
        """A symbol at every point: a path of radius 1/2, drawn with a radius in pixels."""
        pen.setCosmetic(True)
        item = pyqtgraph().ScatterPlotItem(
            np.asarray(x, dtype=np.float64),
            np.asarray(y, dtype=np.float64),
            symbol=shape,
            size=2 * radius,
            pen=pen,
            brush=brush,
        )
        self._put(item)

    def hatch(self, left: Floats, width: float, height: Floats, *, ink: str) -> None:
        """Slanted lines over bars from zero, the same distance apart whatever the zoom.

        Lines of their own, as a hatched brush is lost in SVG files.
        """
        x, y = self.unit
        wide = width / x
        starts, ends = [], []
        for at, tall in zip(left.tolist(), (height / y).tolist(), strict=True):
            # Pixels from the bar's lower left corner; a line climbs to the right.
            shift = np.arange(HATCH - wide, tall, HATCH)
            first, last = np.maximum(-shift, 0), np.minimum(tall - shift, wide)
            starts.append(np.column_stack([at + first * x, (first + shift) * y]))
            ends.append(np.column_stack([at + last * x, (last + shift) * y]))
        lines = np.stack([np.concatenate(starts), np.concatenate(ends)], axis=1).reshape(-1, 2)
        pen = QPen(QColor(ink), 1)
        pen.setCosmetic(True)
        self._put(pyqtgraph().PlotCurveItem(*lines.T, connect="pairs", pen=pen))

    def steps(self, edges: Floats, height: Floats, *, pen: QPen) -> None:
        """An outline over neighbouring values, (n + 1,) edges and (n,) heights."""
        pen.setCosmetic(True)
        self._put(pyqtgraph().PlotCurveItem(edges, height, stepMode="center", pen=pen))

    def fits(self, label: str) -> bool:
        """Return True if the label of a mark is no wider than the plot."""
        return self.metrics.horizontalAdvance(translate(label)) + DIAMOND + 4 <= self.size[0]

    def marks(self, marks: Sequence[Mark]) -> None:
        """Marked lines down to the axis, each with its label on a line of its own above the bars.

        ``marks`` as :func:`merged` returns them; :meth:`axes` was told a row for each.
        """
        wide, tall = self.size
        for row, mark in enumerate(marks):
            if not self.low <= mark.value <= self.high:
                continue
            ink = self.colours.at_risk if mark.true else self.colours.text
            pen = QPen(QColor(ink), 2, Qt.PenStyle.SolidLine if mark.true else Qt.PenStyle.DashLine)
            pen.setCosmetic(True)
            upper = row * (self.line + 2)
            end = 1 - (upper + self.line) / tall
            line = pyqtgraph().InfiniteLine(mark.value, angle=90, pen=pen, span=(0, max(end, 0)))
            self._put(line, depth=-1)
            diamond = DIAMOND if mark.true else 0
            width = self.metrics.horizontalAdvance(translate(mark.label)) + 4
            at = self.x(mark.value) - (width + diamond) / 2
            at = min(max(at, 0), wide - width - diamond)
            if diamond:
                self._diamond(QPointF(at + 6, upper + self.line / 2), ink)
            self.label(mark.label, at + diamond, upper, ink=ink)

    def _diamond(self, middle: QPointF, ink: str) -> None:
        x, y = self.unit
        corners = [QPointF(0, -5), QPointF(4, 0), QPointF(0, 5), QPointF(-4, 0)]
        place = QTransform(x, 0, 0, -y, self.low, self.top)
        sign = QGraphicsPolygonItem(place.map(QPolygonF([middle + c for c in corners])))
        sign.setPen(QPen(Qt.PenStyle.NoPen))
        sign.setBrush(QColor(ink))
        self._put(sign)

    def label(self, text: str, left: float, top: float, *, ink: str | QColor) -> None:
        """A text with its upper left corner at a pixel, lines and bars veiled behind it."""
        x, y = self.unit
        item = pyqtgraph().TextItem(translate(text), color=QColor(ink), anchor=(0, 0))
        item.textItem.document().setDocumentMargin(1)
        item.setFont(self._font)
        item.setPos(self.low + left * x, self.top - top * y)
        self._put(item, depth=1)
        # Not the text's own filling: in a file it is painted in the place it has on the screen.
        size = item.textItem.boundingRect()
        corner = QPointF(self.low + left * x, self.top - (top + size.height()) * y)
        ground = QGraphicsRectItem(QRectF(corner, QSizeF(size.width() * x, size.height() * y)))
        veil = QColor(self.colours.base)
        veil.setAlphaF(0.82)
        ground.setPen(QPen(Qt.PenStyle.NoPen))
        ground.setBrush(veil)
        self._put(ground, depth=0.5)

    def _put(self, item: QGraphicsItem, *, depth: float = 0) -> None:
        item.setZValue(depth)
        self.box.addItem(item, ignoreBounds=True)
        self._items.append(item)
