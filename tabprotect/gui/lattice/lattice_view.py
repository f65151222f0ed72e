"""The drawing of a lattice, or of a part of it: hover, pin, walk with the arrows, pan and zoom."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from PySide6.QtCore import QEvent, QPointF, QRectF, QSize, QSizeF, Qt, Signal
from PySide6.QtGui import (
    QColor,
    QFontMetricsF,
    QKeyEvent,
    QMouseEvent,
    QPainter,
    QPaintEvent,
    QPen,
    QResizeEvent,
    QWheelEvent,
)

from tabprotect.engine.query_space.lattice import Query
from tabprotect.engine.tables.bit_sets import bits
from tabprotect.gui.lattice.names import VariableLetters
from tabprotect.gui.lattice.node_looks import NodeLook, paint_node
from tabprotect.gui.look.drawn.drawing import Drawing
from tabprotect.gui.look.theme import GRID, Colours, colour, inked
from tabprotect.languages.messages import message
from tabprotect.languages.translation import tr, translate

Levels = Sequence[tuple[int, Sequence[Query]]]

FEW_EDGES = 40
"""All edges are drawn up to so many; more would hide the nodes."""

ZOOM = (0.4, 3.0)

SIZES = (1.45, 1.35, 1.25, 1.15, 1.05, 1.0, 0.92, 0.85, 0.78)
"""How large the nodes may be drawn; below the last one the drawing is panned."""


class LatticeView(Drawing):
    """Nodes by dimension, the grand total on top.

    Signals: ``focused`` (query, by mouse or keyboard), ``activated`` (query: clicked once more where
    nothing follows the pointer, or Enter).
    """

    focused = Signal(int)
    activated = Signal(int)

    def __init__(self, name: str) -> None:
        super().__init__(name)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setMouseTracking(True)
        self.letters: VariableLetters | None = None
        self.focus: Query = 0
        self.look: Callable[[Query], NodeLook] = lambda query: NodeLook(0)
        self.text: Callable[[Query], str] = str
        self.hover_focuses = True
        self.pinned = False
        """Whether a click holds what is looked at: the pointer may then cross other nodes."""
        self._levels: Levels = ()
        self._arrangement: Arrangement | None = None
        self._shift = QPointF()
        self._zoom = 1.0
        self._size = 1.0
        self._grab: QPointF | None = None
        self._dragged = False

    # -- what is drawn ------------------------------------------------------------------------

    def show_levels(self, levels: Levels, letters: VariableLetters | None) -> None:
        """Draw other nodes; ``text`` and ``look`` say how."""
        if list(levels) != list(self._levels) or letters != self.letters:
            self._levels, self.letters = levels, letters
            self._arrangement = None
            self.fit()
        self.update()

    @property
    def drawn(self) -> list[Query]:
        """The queries that are drawn."""
        return [query for _, queries in self._levels for query in queries]

    def set_focus(self, query: Query) -> None:
        """Put the focus ring on a node (which need not be drawn)."""
        self.focus = query
        if self._levels and not self.underMouse():
            self._reveal()
        self.update()

    def fit(self) -> None:
        """Show everything, as large as it goes."""
        self._zoom, self._shift = 1.0, QPointF()
        self.update()

    # -- geometry -----------------------------------------------------------------------------

    def _arranged(self) -> Arrangement:
        if (found := self._arrangement) is None:
            area = QRectF(self.rect())
            metrics = QFontMetricsF(self.figure_font())
            wide = self._box_widths(metrics)
            height = metrics.height() + 0.9 * GRID
            left = metrics.horizontalAdvance(tr("10-way") + " ") + GRID
            # The larger everything is drawn, the narrower it must be wrapped: as large as fits.
            for size in SIZES:
                room = max(area.width() - 2 * GRID, 20.0 * GRID) / size
                found = arrange(self._levels, wide, height, room, left)
                self._size = size
                if found.size.height() * size <= area.height() - 2 * GRID:
                    break
            assert found is not None
            self._arrangement = found
        return found

    def _box_widths(self, metrics: QFontMetricsF) -> dict[int, float]:
        wide = {}
        for dimension, queries in self._levels:
            texts = [self.text(q) for q in queries]
            longest = max((metrics.horizontalAdvance(t) for t in texts), default=0.0)
            wide[dimension] = max(longest + 1.5 * GRID, 3.5 * GRID)
        return wide

    def _scale(self, area: QRectF) -> float:
        # A file may be larger or smaller than the widget.
        arranged = self._arranged()
        shrink = area.width() / max(arranged.size.width() * self._size, 1.0)
        return self._size * self._zoom * min(shrink, 1.0)

    def _origin(self, area: QRectF, scale: float) -> QPointF:
        size = self._arranged().size
        x = (area.width() - size.width() * scale) / 2
        spare = area.height() - size.height() * scale
        y = max(spare / 2, 1.0 * GRID)
        # Some of the drawing always stays in sight.
        across = max(abs(x), area.width() / 3)
        down = max(-spare + 3 * GRID, area.height() / 3)
        shift = QPointF(min(max(self._shift.x(), -across), across), min(max(self._shift.y(), -down), down))
        return area.topLeft() + QPointF(x, y) + shift

    def _node_at(self, point: QPointF) -> Query | None:
        area = QRectF(self.rect())
        scale = self._scale(area)
        return self._arranged().at((point - self._origin(area, scale)) / scale)

    def box_of(self, query: Query) -> QRectF:
        """Return where a node stands on the widget."""
        area = QRectF(self.rect())
        scale = self._scale(area)
        box = self._arranged().boxes[query]
        return QRectF(self._origin(area, scale) + box.topLeft() * scale, box.size() * scale)

    def _reveal(self) -> None:
        """Pan until the focus is in sight."""
        if self.focus not in self._arranged().boxes:
            return
        box, area = self.box_of(self.focus), QRectF(self.rect()).adjusted(GRID, GRID, -GRID, -GRID)
        for low, high, move in (
            (box.left() - area.left(), box.right() - area.right(), QPointF(1, 0)),
            (box.top() - area.top(), box.bottom() - area.bottom(), QPointF(0, 1)),
        ):
            if low < 0:
                self._shift -= move * low
            elif high > 0:
                self._shift -= move * high

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._arrangement = None
        self._shift = QPointF()

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() in (QEvent.Type.FontChange, QEvent.Type.StyleChange):
            self._arrangement = None

    # -- drawing ------------------------------------------------------------------------------

    def draw(self, painter: QPainter, area: QRectF, colours: Colours) -> None:
        if not self._levels:
            return
        arranged = self._arranged()
        scale = self._scale(area)
        painter.save()
        painter.setClipRect(area)
        painter.fillRect(area, QColor(colours.base))
        painter.translate(self._origin(area, scale))
        painter.scale(scale, scale)
        self._draw_bands(painter, arranged, colours)
        self._draw_edges(painter, arranged, colours)
        for query in self.drawn:
            paint_node(painter, arranged.boxes[query], self.text(query), self.look(query), colours)
        if self.focus in arranged.boxes:
            ring = arranged.boxes[self.focus].adjusted(-3.5, -3.5, 3.5, 3.5)
            inked(painter, QPen(QColor(colours.focus), 2.5))
            painter.drawRoundedRect(ring, 8, 8)
        painter.restore()

    def paintEvent(self, event: QPaintEvent) -> None:
        super().paintEvent(event)
        if self.hasFocus():
            painter = QPainter(self)
            painter.setPen(QPen(colour("focus"), 2))
            painter.drawRect(self.rect().adjusted(1, 1, -1, -1))

    def _draw_bands(self, painter: QPainter, arranged: Arrangement, colours: Colours) -> None:
        painter.setPen(QColor(colours.quiet))
        flags = int(Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter)
        plain = self.letters is None or self.letters.lattice.plain
        for band in arranged.bands:
            # With levels a step down is a variable more, or one a level finer.
            words = (
                message("{dimension}-way", band.dimension)
                if plain
                else message("step {dimension}", band.dimension)
            )
            box = QRectF(0, band.top, 12 * GRID, band.bottom - band.top)
            painter.drawText(box, flags, translate(words) if band.dimension else "")

    def _draw_edges(self, painter: QPainter, arranged: Arrangement, colours: Colours) -> None:
        boxes = arranged.boxes
        for low, high in self._edges(arranged):
            start, end = boxes[low], boxes[high]
            mine = self.focus in (low, high)
            painter.setPen(QPen(QColor(colours.focus if mine else colours.border), 1.4))
            painter.drawLine(
                QPointF(start.center().x(), start.bottom()), QPointF(end.center().x(), end.top())
            )

    def _edges(self, arranged: Arrangement) -> list[tuple[Query, Query]]:
        """Pairs (smaller, larger): all where these are few, else those of the node in focus."""
        boxes = arranged.boxes
        edges = []
        few = len(boxes) <= FEW_EDGES
        for query in boxes if few else ():
            for v in bits(query):
                if query & ~(1 << v) in boxes:
                    edges.append((query & ~(1 << v), query))
        if len(edges) > FEW_EDGES or not few:
            edges = []
        if not edges and self.focus in boxes:
            for other in boxes:
                apart = other ^ self.focus
                if apart.bit_count() == 1:
                    edges.append((min(other, self.focus), max(other, self.focus)))
        return edges

    # -- mouse --------------------------------------------------------------------------------

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        if self._grab is not None:
            step = event.position() - self._grab
            if self._dragged or step.manhattanLength() > GRID / 2:
                self._dragged = True
                self._grab = event.position()
                self._shift += step
                self.update()
            return
        query = self._node_at(event.position()) if self._levels else None
        self.setCursor(Qt.CursorShape.ArrowCursor if query is None else Qt.CursorShape.PointingHandCursor)
        hovers = self.hover_focuses and not self.pinned
        if hovers and query is not None and query != self.focus:
            self.focused.emit(query)

    def mousePressEvent(self, event: QMouseEvent) -> None:
        self.setFocus(Qt.FocusReason.MouseFocusReason)
        if event.button() == Qt.MouseButton.LeftButton:
            self._grab, self._dragged = event.position(), False

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        dragged, self._grab = self._dragged, None
        if dragged or event.button() != Qt.MouseButton.LeftButton or not self._levels:
            return
        if (query := self._node_at(event.position())) is not None:
            again = query == self.focus
            if self.hover_focuses:
                self.pinned = not (again and self.pinned)
            elif again:
                self.activated.emit(query)
            self.focused.emit(query)

    def wheelEvent(self, event: QWheelEvent) -> None:
        if not self._levels:
            return
        if event.modifiers() & Qt.KeyboardModifier.ControlModifier:
            self._zoom_by(1.15 ** (event.angleDelta().y() / 120), event.position())
        else:
            pixels = event.pixelDelta()
            self._shift += QPointF(event.angleDelta() / 2 if pixels.isNull() else pixels)
        self.update()
        event.accept()

    def _zoom_by(self, factor: float, around: QPointF) -> None:
        area = QRectF(self.rect())
        before = self._scale(area)
        under = (around - self._origin(area, before)) / before
        self._zoom = min(max(self._zoom * factor, ZOOM[0]), ZOOM[1])
        after = self._scale(area)
        self._shift += around - (self._origin(area, after) + under * after)
        self.update()

    # -- keyboard -----------------------------------------------------------------------------

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if not self._levels or self.letters is None:
            super().keyPressEvent(event)
            return
        arranged, key = self._arranged(), event.key()
        lattice, here = self.letters.lattice, self.focus
        target: Query | None = None
        if here not in arranged.boxes:
            target = self.drawn[0]
        elif key in (Qt.Key.Key_Left, Qt.Key.Key_Right):
            target = arranged.beside(here, -1 if key == Qt.Key.Key_Left else 1)
        elif key == Qt.Key.Key_Up:
            target = arranged.nearest(here, list(lattice.below(here)))
        elif key == Qt.Key.Key_Down:
            target = arranged.nearest(here, list(lattice.above(here)))
        elif key == Qt.Key.Key_Home:
            target = 0
        elif key == Qt.Key.Key_End:
            target = lattice.full
        elif key in (Qt.Key.Key_Return, Qt.Key.Key_Enter, Qt.Key.Key_Space):
            if not event.modifiers():
                self.activated.emit(here)
                return
        elif event.text() in ("+", "=", "-"):
            self._zoom_by(1 / 1.15 if event.text() == "-" else 1.15, QPointF(self.rect().center()))
            return
        elif event.text() == "0":
            self.fit()
            return
        elif event.text() and not event.modifiers() & ~Qt.KeyboardModifier.ShiftModifier:
            target = self._toggled(event.text())
        else:
            super().keyPressEvent(event)
            return
        if target is not None:
            self.focused.emit(target)
            self._reveal()
            self.update()

    def _toggled(self, typed: str) -> Query | None:
        """A variable's letter puts it into the set in focus, or takes it out."""
        assert self.letters is not None
        letters, lattice = self.letters.letters, self.letters.lattice
        for wanted in (typed, typed.upper()):
            if wanted in letters:
                axis = lattice.axes[lattice.axis_of[letters.index(wanted)]]
                return self.focus & ~axis if self.focus & axis else self.focus | axis
        return None

    def sizeHint(self) -> QSize:
        return QSize(70 * GRID, 48 * GRID)


GAP = QSizeF(7.0, 8.0)
"""Between two boxes of a band."""

BAND_GAP = 20.0
"""Between two bands."""


@dataclass(frozen=True)
class Band:
    """One dimension: its nodes and how high it stands."""

    dimension: int
    queries: tuple[Query, ...]
    top: float
    bottom: float


@dataclass(frozen=True)
class Arrangement:
    """Boxes in the drawing's own coordinates."""

    boxes: Mapping[Query, QRectF]
    bands: tuple[Band, ...]
    size: QSizeF

    def at(self, point: QPointF) -> Query | None:
        """The node under a point."""
        for band in self.bands:
            if band.top <= point.y() <= band.bottom:
                for query in band.queries:
                    if self.boxes[query].contains(point):
                        return query
        return None

    def nearest(self, query: Query, among: Sequence[Query]) -> Query | None:
        """The node of ``among`` that stands closest beside ``query``."""
        here = self.boxes[query].center()
        return min(
            [q for q in among if q in self.boxes],
            key=lambda q: (
                abs(self.boxes[q].center().x() - here.x()),
                abs(self.boxes[q].center().y() - here.y()),
            ),
            default=None,
        )

    def beside(self, query: Query, step: int) -> Query | None:
        """The next node of the same band; ``None`` at its ends."""
        band = next(b for b in self.bands if query in b.queries)
        at = band.queries.index(query) + step
        return band.queries[at] if 0 <= at < len(band.queries) else None


def arrange(
    levels: Sequence[tuple[int, Sequence[Query]]],
    box_width: Mapping[int, float],
    box_height: float,
    width: float,
    left: float,
) -> Arrangement:
    """Bands of (dimension, queries) from top to bottom.

    Parameters
    ----------
    box_width
        The width of a box by dimension.
    width
        To wrap at.
    left
        Room at the left for the bands' labels.
    """
    boxes: dict[Query, QRectF] = {}
    bands: list[Band] = []
    room = max(width - left, 1.0)
    top = 0.0
    for dimension, queries in levels:
        wide = box_width[dimension]
        rows = max(1, -(-len(queries) // max(1, int((room + GAP.width()) // (wide + GAP.width())))))
        # Rows of about the same length look like a band, not like a paragraph.
        per_row = max(1, -(-len(queries) // rows))
        y = top
        for row in range(rows):
            here = queries[row * per_row : (row + 1) * per_row]
            line = len(here) * (wide + GAP.width()) - GAP.width()
            x = left + (room - line) / 2
            for query in here:
                boxes[query] = QRectF(x, y, wide, box_height)
                x += wide + GAP.width()
            y += box_height + GAP.height()
        bands.append(Band(dimension, tuple(queries), top, y - GAP.height()))
        top = y - GAP.height() + BAND_GAP
    return Arrangement(boxes, tuple(bands), QSizeF(width, max(top - BAND_GAP, 1.0)))
