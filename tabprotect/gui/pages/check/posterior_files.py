"""The posterior as files: figures as SVG and PNG, numbers as CSV.

What holds anything of the original says CONFIDENTIAL in its name and in its content; in public
view nothing of the original can be written.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from PySide6.QtCore import QPointF, QRectF, QSize, QSizeF, Qt
from PySide6.QtGui import QColor, QFont, QFontMetricsF, QImage, QPainter, QPen

from tabprotect.engine.formats.text.csv_rows import csv_rows
from tabprotect.engine.posterior.analysis import AnalysisSummary
from tabprotect.engine.posterior.posterior import Posterior
from tabprotect.engine.progress import Progress
from tabprotect.engine.sensitivity.small_count import SmallCount
from tabprotect.engine.tables.domain import Index
from tabprotect.engine.tables.table import Table
from tabprotect.gui.base.believed.cell import published_count
from tabprotect.gui.base.exporter import MARK
from tabprotect.gui.grid.layout import Layout
from tabprotect.gui.look.drawn.drawing import CENTRE, RIGHT, Sheet
from tabprotect.gui.look.drawn.shades import class_colours, class_numbers, shade_numbers, shades
from tabprotect.gui.look.theme import GRID, Colours, chance_number
from tabprotect.gui.pages.check.cell_figures import LEVEL
from tabprotect.languages.messages import message
from tabprotect.languages.translation import translate

if TYPE_CHECKING:
    pass


def table_csv(
    posteriors: dict[str, Posterior], progress: Progress, *, rule: SmallCount, original: Table | None
) -> bytes:
    """A row per cell: labels, published count, and the figures of each person.

    With an original, its column and every P(true) column have the mark in their names.
    """
    first = next(iter(posteriors.values()))
    domain = first.published.domain
    head = [*domain.names, "published"]
    columns: list[list[Any]] = [_shown(first, first.published.counts)]
    if original is not None:
        head.append(f"original_{MARK}")
        columns.append(original.counts.reshape(-1).tolist())
    for who, posterior in posteriors.items():
        progress.report(message("working out the figures"), 0.0)
        low, high = posterior.interval(LEVEL)
        figures: dict[str, np.ndarray] = {
            "mean": posterior.mean,
            "mode": posterior.mode,
            "low_90": low,
            "high_90": high,
            "entropy_bits": posterior.entropy,
            "p_published": posterior.probability(first.published.counts),
            f"p_{rule.low}_to_{rule.high}": posterior.small(rule),
        }
        if original is not None:
            figures[f"p_true_{MARK}"] = posterior.probability(original.counts)
        for name, values in figures.items():
            head.append(f"{who}_{name}")
            columns.append(_shown(first, values) if name == "p_published" else values.reshape(-1).tolist())

    def rows() -> Iterator[Sequence[object]]:
        for key, row in enumerate(zip(*columns, strict=True)):
            if key % 4096 == 0:
                progress.report(message("writing the rows"), key / domain.size)
            yield [*domain.labels(domain.unflat(key)), *row]

    return csv_rows(head, rows()).encode()


def _shown(posterior: Posterior, values: np.ndarray) -> list[Any]:
    """Cell by cell, nothing where no count is published."""
    flat = values.reshape(-1).tolist()
    if posterior.hidden is None:
        return flat
    hidden = posterior.hidden.reshape(-1).tolist()
    return ["" if gone else value for value, gone in zip(flat, hidden, strict=True)]


def cell_csv(posteriors: dict[str, Posterior], index: Index, *, true: int | None) -> bytes:
    """A row per possible count of one cell: prior and posterior of each person."""
    given = {who: p.distribution(index) for who, p in posteriors.items()}
    values = np.unique(np.concatenate([v for v, _ in given.values()]))
    first = next(iter(posteriors.values()))
    head = [*first.published.domain.names, "count", "is_published"]
    if true is not None:
        head.append(f"is_true_{MARK}")
    columns: list[list[float]] = []
    for who, posterior in posteriors.items():
        own, chances = given[who]
        head += [f"{who}_prior", f"{who}_posterior"]
        columns.append(posterior.prior_distribution(index, values).tolist())
        wide = np.zeros(len(values))
        wide[np.searchsorted(values, own)] = chances
        columns.append(wide.tolist())
    labels = first.published.domain.labels(index)
    marked = [published_count(first, index), *([] if true is None else [true])]
    rows = (
        [*labels, value, *(int(value == one) for one in marked), *figures]
        for value, *figures in zip(values.tolist(), *columns, strict=True)
    )
    return csv_rows(head, rows).encode()


def draws_csv(summary: AnalysisSummary, *, true: float | None) -> bytes:
    """A row per drawn table: the analysis on it; on the published table and, in the house, the true one."""
    head = ["draw", "value", "published"] + ([f"original_{MARK}"] if true is not None else [])
    rest = [summary.published] + ([true] if true is not None else [])
    rows = ([number, value, *rest] for number, value in enumerate(summary.values.tolist(), 1))
    return csv_rows(head, rows).encode()


WRITTEN = 2_500
"""Layers of more cells are drawn as coloured points without numbers."""

LABEL = 24
"""Characters of a label that fit."""

UNCUT = int(Qt.TextFlag.TextDontClip)


def _cut(text: str) -> str:
    return text if len(text) <= LABEL else f"{text[: LABEL - 1]}\u2026"


class HeatFigure:
    """One layer: row and column labels, a shade and a number per cell.

    No widget, as the pictures on the pages are: it is drawn beside the window.
    """

    def __init__(
        self,
        name: str,
        layout: Layout,
        values: np.ndarray,
        *,
        text: Callable[[Any], str],
        top: float,
        flip: bool,
    ) -> None:
        self._name, self._values, self._text = name, values, text
        self._top, self._flip = top, flip
        rows, columns = values.shape
        self._written = values.size <= WRITTEN
        self._rows, self._columns = (
            [
                _cut(layout.label(n, down=down)) if self._written else ""
                for n in range(rows if down else columns)
            ]
            for down in (True, False)
        )

    def sheet(self, *, font: QFont, dpi: int, caption: str) -> Sheet:
        """The figure with its caption, as large as it needs to be."""
        size = self._best_size(QFontMetricsF(font))
        return Sheet(translate(self._name), caption, size, font, dpi, self.draw)

    def _best_size(self, metrics: QFontMetricsF) -> QSize:
        """Room for every number, or one point and more per cell."""
        rows, columns = self._values.shape
        left = self._left(metrics) + 3 * GRID
        if not self._written:
            return QSize(int(left) + max(columns, 400), max(rows, 300) + 8 * GRID)
        words = [*self._columns, translate(self._text(self._top)), translate(self._text(0.0))]
        cell = max(map(metrics.horizontalAdvance, words)) + 2 * GRID
        tall = 1.5 * metrics.height()
        return QSize(int(left + columns * cell), int(rows * tall + 3 * tall) + 4 * GRID)

    def _left(self, metrics: QFontMetricsF) -> float:
        """Room of the row labels."""
        return metrics.horizontalAdvance(max(self._rows, key=len, default="") + "  ") + GRID

    @property
    def _title(self) -> str:
        low, high = self._text(0.0), self._text(self._top)
        dark = low if self._flip else high
        return message("{name}: {low} to {high}, dark is {dark}", self._name, low, high, dark)

    def draw(self, painter: QPainter, area: QRectF, colours: Colours) -> None:
        """Draw into a rectangle in the given colours; the painter's font is set."""
        rows, columns = self._values.shape
        metrics = QFontMetricsF(painter.font())
        line = metrics.height()
        plane = area.adjusted(self._left(metrics), 0, -GRID / 2, -2 * line - GRID)
        wide, tall = plane.width() / columns, plane.height() / rows
        if self._text is chance_number:
            numbers = np.maximum(class_numbers(self._values, None), 1) - 1
            grounds = class_colours(colours)
        else:
            numbers = shade_numbers(self._values, self._top, flip=self._flip) - 1
            grounds = shades(colours)
        palette = np.array([(g.red(), g.green(), g.blue()) for g, _ in grounds], dtype=np.uint8)
        pixels = np.ascontiguousarray(palette[numbers])
        picture = QImage(pixels.data, columns, rows, 3 * columns, QImage.Format.Format_RGB888)
        painter.drawImage(plane, picture)
        painter.setPen(QPen(QColor(colours.border), 1.5))
        painter.drawLine(plane.bottomLeft(), plane.bottomRight())
        painter.setPen(QColor(colours.quiet))
        below = QRectF(plane.left(), plane.bottom() + GRID / 2 + line, plane.width(), line)
        painter.drawText(below, CENTRE | UNCUT, translate(self._title))
        if not self._written:
            return
        for row, label in enumerate(self._rows):
            beside = QRectF(area.left(), plane.top() + row * tall, plane.left() - area.left(), tall)
            painter.drawText(beside.adjusted(0, 0, -GRID / 2, 0), RIGHT | UNCUT, label)
        painter.setPen(QColor(colours.text))
        for column, label in enumerate(self._columns):
            under = QRectF(plane.left() + column * wide, plane.bottom() + GRID / 2, wide, line)
            painter.drawText(under, CENTRE | UNCUT, label)
        for (row, column), number in np.ndenumerate(numbers):
            corner = plane.topLeft() + QPointF(column * wide, row * tall)
            painter.setPen(grounds[number][1])
            words = translate(self._text(self._values[row, column].item()))
            painter.drawText(QRectF(corner, QSizeF(wide, tall)), CENTRE | UNCUT, words)
