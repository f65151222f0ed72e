"""How many sub-tables there are by dimension: released, candidates, refused."""

from __future__ import annotations

import numpy as np
from PySide6.QtCore import QRectF, Qt
from PySide6.QtGui import QBrush, QColor, QFontMetricsF, QPainter, QPen

from tabprotect.engine.arrays import Ints
from tabprotect.gui.lattice.space import CANDIDATE, REGION_WORDS, RELEASED, UNKNOWN, UNRELEASABLE
from tabprotect.gui.look.drawn.drawing import LEFT, RIGHT, Drawing
from tabprotect.gui.look.theme import GRID, Colours, count_text, inked
from tabprotect.languages.messages import joined, message
from tabprotect.languages.translation import tr, translate

ORDER = (RELEASED, CANDIDATE, UNKNOWN, UNRELEASABLE)


class DimensionBars(Drawing):
    """A bar for each dimension, as long as the share of its sub-tables in each region."""

    def __init__(self) -> None:
        super().__init__(message("Tables by dimension"))
        self.counts: Ints = np.zeros((4, 0), dtype=np.int64)

    def show_counts(self, counts: Ints) -> None:
        """Show counts (4, K + 1) by region and dimension."""
        self.counts = counts
        said = []
        for dimension in range(counts.shape[1]):
            parts = [
                message(
                    "{counts} {words}",
                    count_text(int(counts[region, dimension])),
                    translate(REGION_WORDS[region]),
                )
                for region in ORDER
                if counts[region, dimension]
            ]
            said.append(message("{value}: {parts}", tr("{dimension}-way", dimension), joined(parts, ", ")))
        self.say(joined(said, "; "))

    def draw(self, painter: QPainter, area: QRectF, colours: Colours) -> None:
        total = self.counts.sum(axis=0)
        if not len(total):
            return
        metrics = QFontMetricsF(painter.font())
        line = min((area.height() - metrics.height()) / len(total), 1.6 * metrics.height())
        font = painter.font()
        if line < metrics.height():
            font.setPointSizeF(font.pointSizeF() * max(line / metrics.height(), 0.7))
            painter.setFont(font)
            metrics = QFontMetricsF(font)
        name = metrics.horizontalAdvance(tr("10-way") + " ")
        figure = metrics.horizontalAdvance("0\u202f000 of 0\u202f000 ")
        bars = area.adjusted(name, 0, -figure - GRID / 2, 0)
        painter.setPen(QColor(colours.quiet))
        head = QRectF(bars.right(), area.top(), figure + GRID / 2, metrics.height())
        painter.drawText(head, RIGHT, tr("released"))
        for dimension, whole in enumerate(total.tolist()):
            y = area.top() + metrics.height() + dimension * line
            painter.setPen(QColor(colours.quiet))
            painter.drawText(QRectF(area.left(), y, name, line), LEFT, tr("{dimension}-way", dimension))
            x = bars.left()
            for region in ORDER:
                if (wide := bars.width() * int(self.counts[region, dimension]) / max(whole, 1)) > 0:
                    self._bar(painter, QRectF(x, y + line * 0.16, wide, line * 0.68), region, colours)
                x += wide
            painter.setPen(QColor(colours.text))
            said = message(
                "{counts} of {whole}", count_text(int(self.counts[RELEASED, dimension])), count_text(whole)
            )
            painter.drawText(QRectF(bars.right(), y, figure + GRID / 2, line), RIGHT, translate(said))

    @staticmethod
    def _bar(painter: QPainter, box: QRectF, region: int, colours: Colours) -> None:
        ink = QColor(colours.released if region == RELEASED else colours.unreleasable)
        if region == CANDIDATE:
            inked(painter, QPen(QColor(colours.quiet), 1), QColor(colours.base))
        elif region == UNKNOWN:
            inked(painter, QPen(QColor(colours.quiet), 1, Qt.PenStyle.DashLine), QColor(colours.base))
        else:
            pattern = Qt.BrushStyle.SolidPattern if region == RELEASED else Qt.BrushStyle.BDiagPattern
            inked(painter, QPen(ink, 1), QBrush(ink, pattern))
        painter.drawRect(box)
