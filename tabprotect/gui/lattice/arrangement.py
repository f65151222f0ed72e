"""Where the nodes stand: one band for each dimension, wrapped into rows where it is too wide."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from PySide6.QtCore import QPointF, QRectF, QSizeF

from tabprotect.engine.query_space.lattice import Query

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
        found = [q for q in among if q in self.boxes]
        return min(
            found,
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
        fit = max(1, int((room + GAP.width()) // (wide + GAP.width())))
        rows = max(1, -(-len(queries) // fit))
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
