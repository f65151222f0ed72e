"""A colour and a shape for each of many things: either of them alone tells them apart enough."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from math import cos, pi, sin

from PySide6.QtCore import QPointF, Qt
from PySide6.QtGui import QBrush, QColor, QIcon, QPainter, QPen, QPixmap, QPolygonF

from tabprotect.gui.look.theme import Colours


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
    "triangle down": _round(3, pi),
    "star": _round(5, 0.0, 0.42),
    "hexagon": _round(6, pi / 6),
    "triangle left": _round(3, -pi / 2),
    "four-pointed star": _round(4, 0.0, 0.38),
    "triangle right": _round(3, pi / 2),
    "pentagon": _round(5),
}
"""Corners in units of the symbol's radius; none for the circle."""

INKS = ("plus", "minus", "released", "unreleasable", "at_risk", "quiet", "text")
"""Colours of the palette, by meaning: one set of hues in the whole window."""


@dataclass(frozen=True)
class Look:
    """How one thing is marked everywhere: a colour of the palette and a shape."""

    ink: str
    shape: str

    def colour(self, colours: Colours) -> QColor:
        """The colour in a theme."""
        return QColor(getattr(colours, self.ink))

    def paint(
        self,
        painter: QPainter,
        at: QPointF,
        radius: float,
        colours: Colours,
        *,
        opacity: float = 1.0,
        filled: bool = True,
    ) -> None:
        """Draw the symbol around a point."""
        ink = self.colour(colours)
        ink.setAlphaF(opacity)
        painter.setPen(QPen(ink if not filled else QColor(colours.base), 1.2 if filled else 1.4))
        painter.setBrush(QBrush(ink) if filled else QBrush(Qt.BrushStyle.NoBrush))
        corners = SHAPES[self.shape]
        if corners:
            painter.drawPolygon(QPolygonF([at + QPointF(x, y) * radius for x, y in corners]))
        else:
            painter.drawEllipse(at, 0.88 * radius, 0.88 * radius)

    def icon(self, size: int, colours: Colours) -> QIcon:
        """The symbol as an icon of ``size`` pixels."""
        out = QPixmap(size, size)
        out.fill(Qt.GlobalColor.transparent)
        painter = QPainter(out)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        self.paint(painter, QPointF(size / 2, size / 2), size / 2 - 1.5, colours)
        painter.end()
        return QIcon(out)


def looks(names: Iterable[str]) -> dict[str, Look]:
    """A look for each different name, in the order of their first appearance."""
    shapes = tuple(SHAPES)
    return {
        name: Look(INKS[n % len(INKS)], shapes[n % len(shapes)])
        for n, name in enumerate(dict.fromkeys(names))
    }
