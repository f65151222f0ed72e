"""A colour and a shape for each of many things: either of them alone tells them apart enough."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from math import cos, pi, sin

from PySide6.QtCore import QPointF, Qt
from PySide6.QtGui import QBrush, QColor, QIcon, QPainterPath, QPen, QPixmap, QPolygonF

from tabprotect.gui.look.theme import Colours, inked, smooth_painter
from tabprotect.languages.messages import message


def _round(corners: int, turn: float = 0.0, inner: float = 1.0) -> tuple[tuple[float, float], ...]:
    """A regular figure or a star around the origin, its first corner upwards."""
    every = pi / corners
    return tuple(
        (
            (1.0 if k % 2 == 0 else inner) * sin(k * every + turn),
            -(1.0 if k % 2 == 0 else inner) * cos(k * every + turn),
        )
        for k in range(2 * corners)
        if inner != 1.0 or k % 2 == 0
    )


_ARM = 0.34
_QUARTER = ((-_ARM, -1.0), (_ARM, -1.0), (_ARM, -_ARM))
_CROSS = tuple(
    corner
    for turn in ((1, 0, 0, 1), (0, -1, 1, 0), (-1, 0, 0, -1), (0, 1, -1, 0))
    for corner in ((turn[0] * x + turn[1] * y, turn[2] * x + turn[3] * y) for x, y in _QUARTER)
)

SHAPES: dict[str, tuple[tuple[float, float], ...]] = {
    "circle": (),
    "square": _round(4, pi / 4),
    "triangle": _round(3),
    "diamond": _round(4),
    "cross": _CROSS,
    message("triangle down"): _round(3, pi),
    "star": _round(5, 0.0, 0.42),
    "hexagon": _round(6, pi / 6),
    message("triangle left"): _round(3, -pi / 2),
    message("four-pointed star"): _round(4, 0.0, 0.38),
    message("triangle right"): _round(3, pi / 2),
    "pentagon": _round(5),
}
"""Corners in units of the symbol's radius; none for the circle."""

INKS = ("plus", "minus", "released", "unreleasable", "quiet", "text")
"""Colours of the palette, by meaning; amber is left to small counts."""


@dataclass(frozen=True)
class SeriesLook:
    """The mark of one thing everywhere: a colour of the palette and a shape."""

    ink: str
    shape: str

    def colour(self, colours: Colours) -> QColor:
        """The colour in a theme."""
        return QColor(getattr(colours, self.ink))

    @property
    def path(self) -> QPainterPath:
        """The shape around the origin, of radius 1/2."""
        path, corners = QPainterPath(), SHAPES[self.shape]
        if corners:
            path.addPolygon(QPolygonF([QPointF(x, y) / 2 for x, y in corners]))
            path.closeSubpath()
        else:
            path.addEllipse(QPointF(0, 0), 0.44, 0.44)
        return path

    def tools(self, colours: Colours, *, faint: bool = False) -> tuple[QPen, QBrush]:
        """Pen and brush of the symbol, or of a ``faint`` one that is not filled."""
        ink = self.colour(colours)
        if faint:
            ink.setAlphaF(0.45)
            return QPen(ink, 1.4), QBrush(Qt.BrushStyle.NoBrush)
        return QPen(QColor(colours.base), 1.2), QBrush(ink)

    def icon(self, size: int, colours: Colours) -> QIcon:
        """The symbol as an icon of ``size`` pixels."""
        out = QPixmap(size, size)
        out.fill(Qt.GlobalColor.transparent)
        painter = smooth_painter(out)
        pen, brush = self.tools(colours)
        pen.setCosmetic(True)
        inked(painter, pen, brush)
        painter.translate(size / 2, size / 2)
        painter.scale(size - 3, size - 3)
        painter.drawPath(self.path)
        painter.end()
        return QIcon(out)


def series_looks(names: Iterable[str]) -> dict[str, SeriesLook]:
    """A look for each different name, in the order of their first appearance."""
    shapes = tuple(SHAPES)
    return {
        name: SeriesLook(INKS[n % len(INKS)], shapes[(n + n // len(shapes)) % len(shapes)])
        for n, name in enumerate(dict.fromkeys(names))
    }
