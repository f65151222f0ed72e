"""The posterior of one cell: prior as outline, posterior as bars, published and true value marked.

The user and the intruder stand side by side on one axis.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from PySide6.QtCore import QEvent, QPointF, QRectF, Qt
from PySide6.QtGui import QBrush, QColor, QFontMetricsF, QHelpEvent, QPainter, QPen
from PySide6.QtWidgets import QToolTip

from tabprotect.gui.plots.axes import (
    CENTRE,
    LEFT,
    RIGHT,
    Frame,
    Mark,
    draw_chances,
    draw_label,
    draw_marks,
    draw_title,
    lay_out,
    merged,
)
from tabprotect.gui.plots.figure import Figure
from tabprotect.gui.theme import Colours, chance_text, count_text

TAIL = 5e-4
"""Outer values that nobody gives a larger probability are left out of the picture."""


@dataclass(frozen=True)
class Belief:
    """What one reader believes about the cell.

    Attributes
    ----------
    who
        "user" or "intruder".
    values : int64 (n,)
        Counts, ascending.
    chances : float64 (n,)
        Their posterior probabilities.
    prior : float64 (n,) or None
        The prior over the same counts, where it is known.
    """

    who: str
    values: npt.NDArray[np.int64]
    chances: npt.NDArray[np.float64]
    prior: npt.NDArray[np.float64] | None = None


class CellHistogram(Figure):
    """Shows up to two beliefs about one cell."""

    def __init__(self) -> None:
        super().__init__("Posterior of the selected cell")
        self.beliefs: tuple[Belief, ...] = ()
        self.published = 0
        self.true: int | None = None
        self.empty = ""
        self._frame: Frame | None = None

    def show_beliefs(
        self, beliefs: tuple[Belief, ...], *, published: int, true: int | None
    ) -> None:
        """Show what is believed; ``true`` only in the house."""
        self.beliefs, self.published, self.true, self.empty = beliefs, published, true, ""
        self.say(self._words())

    def show_nothing(self, why: str) -> None:
        """Show a sentence instead."""
        self.beliefs, self.true, self.empty = (), None, why
        self.say(why)

    def _words(self) -> str:
        parts = [f"Published {count_text(self.published)}."]
        if self.true is not None:
            parts.append(f"True value {count_text(self.true)}.")
        for belief in self.beliefs:
            said = ", ".join(
                f"{count_text(v)}: {chance_text(c)}"
                for v, c in zip(belief.values.tolist(), belief.chances.tolist(), strict=True)
                if c >= TAIL
            )
            parts.append(f"The {belief.who} believes {said}.")
        return " ".join(parts)

    # -- drawing ------------------------------------------------------------------------------

    def _range(self) -> tuple[int, int]:
        values = [self.published] if self.true is None else [self.published, self.true]
        for belief in self.beliefs:
            seen = belief.values[belief.chances >= TAIL]
            values += [int(seen.min()), int(seen.max())] if len(seen) else []
        return min(values), max(values)

    def draw(self, painter: QPainter, area: QRectF, colours: Colours) -> None:
        if not self.beliefs:
            painter.setPen(QColor(colours.quiet))
            flags = int(Qt.AlignmentFlag.AlignCenter | Qt.TextFlag.TextWordWrap)
            painter.drawText(area.adjusted(24, 0, -24, 0), flags, self.empty)
            return
        low, high = self._range()
        peak = max(float(b.chances.max(initial=0.0)) for b in self.beliefs)
        marks = [Mark(self.published, f"published {count_text(self.published)}")]
        if self.true is not None:
            marks.append(Mark(self.true, f"true {count_text(self.true)} [house]", true=True))
        marks = merged(marks)
        frame = lay_out(
            area,
            painter.font(),
            low=low - 0.5,
            high=high + 0.5,
            peak=peak,
            rows=len(marks),
            headroom=2.3 if len(self.beliefs) > 1 else 1.3,
        )
        self._frame = frame
        draw_chances(painter, frame, colours)
        draw_marks(painter, frame, marks, colours)
        width = frame.area.width() / (high - low + 1)
        bar = min(0.8 * width / len(self.beliefs), 5.5 * QFontMetricsF(painter.font()).height())
        for number, belief in enumerate(self.beliefs):
            shift = (number - len(self.beliefs) / 2) * bar
            self._draw_bars(painter, frame, belief, shift=shift, bar=bar, colours=colours)
        for number, belief in enumerate(self.beliefs):
            shift = (number - len(self.beliefs) / 2) * bar
            self._draw_labels(painter, frame, belief, shift=shift, bar=bar, colours=colours)
        self._draw_values(painter, frame, low, high, colours)
        self._draw_prior_label(painter, frame, width, colours)
        draw_title(painter, frame, "true count", colours)

    def _draw_prior_label(
        self, painter: QPainter, frame: Frame, width: float, colours: Colours
    ) -> None:
        """Name the dotted outline where it stands highest above the bars."""
        best, at = 0.0, None
        for belief in self.beliefs:
            if belief.prior is None:
                continue
            for value, prior in zip(belief.values.tolist(), belief.prior.tolist(), strict=True):
                bars = max(float(b.chances[b.values == value].max(initial=0)) for b in self.beliefs)
                if frame.low < value < frame.high and min(prior, frame.top) - bars > best + 1e-9:
                    best, at = min(prior, frame.top) - bars, (value, min(prior, frame.top))
        metrics = QFontMetricsF(painter.font())
        line = metrics.height()
        if at is None or best / frame.top * frame.area.height() < 2.4 * line:
            return
        size = metrics.horizontalAdvance("prior") + 6
        box = QRectF(frame.x(at[0]) - size / 2, frame.y(at[1]) + 3, size, line)
        draw_label(painter, box, "prior", ink=colours.text, ground=colours.base)

    @staticmethod
    def _brush(belief: Belief, colours: Colours) -> QBrush:
        if belief.who == "intruder":
            return QBrush(QColor(colours.quiet), Qt.BrushStyle.BDiagPattern)
        return QBrush(QColor(colours.accent))

    @staticmethod
    def _ink(belief: Belief, colours: Colours) -> str:
        return colours.text if belief.who == "intruder" else colours.accent

    def _draw_bars(
        self,
        painter: QPainter,
        frame: Frame,
        belief: Belief,
        *,
        shift: float,
        bar: float,
        colours: Colours,
    ) -> None:
        edge = QColor(colours.quiet if belief.who == "intruder" else colours.accent)
        for number, (value, chance) in enumerate(
            zip(belief.values.tolist(), belief.chances.tolist(), strict=True)
        ):
            if not frame.low < value < frame.high:
                continue
            left = frame.x(value) + shift
            y = frame.y(chance)
            box = QRectF(left + 0.5, y, max(bar - 1.5, 1.0), frame.area.bottom() - y)
            # A veil first, so that a hatched bar hides the lines behind it.
            painter.fillRect(box, QColor(colours.base))
            painter.setPen(QPen(edge, 1))
            painter.setBrush(self._brush(belief, colours))
            painter.drawRect(box)
            if belief.prior is not None:
                y = frame.y(min(float(belief.prior[number]), frame.top))
                painter.setPen(QPen(QColor(colours.text), 1.2, Qt.PenStyle.DotLine))
                painter.setBrush(Qt.BrushStyle.NoBrush)
                painter.drawRect(QRectF(left, y, bar - 0.5, frame.area.bottom() - y))

    def _draw_labels(
        self,
        painter: QPainter,
        frame: Frame,
        belief: Belief,
        *,
        shift: float,
        bar: float,
        colours: Colours,
    ) -> None:
        metrics = QFontMetricsF(painter.font())
        ink, line = self._ink(belief, colours), metrics.height()
        best = int(np.argmax(belief.chances))
        for number, (value, chance) in enumerate(
            zip(belief.values.tolist(), belief.chances.tolist(), strict=True)
        ):
            if not frame.low < value < frame.high or chance < TAIL:
                continue
            text = chance_text(chance)
            size = metrics.horizontalAdvance(text) + 4
            if size > bar + 6 and number != best:
                continue
            middle = frame.x(value) + shift + bar / 2
            y = frame.y(chance) - line - 1
            box = QRectF(middle - size / 2, y, size, line)
            draw_label(painter, box, text, ink=ink, ground=colours.base)
            if number == best and len(self.beliefs) > 1:
                self._draw_name(painter, belief, box, ink, colours)

    def _draw_name(
        self, painter: QPainter, belief: Belief, box: QRectF, ink: str, colours: Colours
    ) -> None:
        # Outwards from the pair of bars, so that two names never meet.
        width = QFontMetricsF(painter.font()).horizontalAdvance(belief.who) + 4
        first = belief is self.beliefs[0]
        left = box.right() - width if first else box.left()
        name = QRectF(left, box.top() - box.height(), width, box.height())
        flags = RIGHT if first else LEFT
        draw_label(painter, name, belief.who, ink=ink, ground=colours.base, flags=flags)

    @staticmethod
    def _draw_values(
        painter: QPainter, frame: Frame, low: int, high: int, colours: Colours
    ) -> None:
        metrics = QFontMetricsF(painter.font())
        width = frame.area.width() / (high - low + 1)
        every = max(1, math.ceil((metrics.horizontalAdvance(count_text(high)) + 8) / width))
        painter.setPen(QColor(colours.text))
        for value in range(low, high + 1):
            if value % every == 0:
                box = QRectF(frame.x(value) - 40, frame.area.bottom() + 3, 80, metrics.height())
                painter.drawText(box, CENTRE, count_text(value))

    def event(self, event: QEvent) -> bool:
        if event.type() == QEvent.Type.ToolTip and isinstance(event, QHelpEvent):
            text = self._tip(QPointF(event.pos()))
            QToolTip.showText(event.globalPos(), text, self)
            return True
        return super().event(event)

    def _tip(self, at: QPointF) -> str:
        if self._frame is None or not self.beliefs or not self._frame.area.contains(at):
            return ""
        share = (at.x() - self._frame.area.left()) / self._frame.area.width()
        value = round(self._frame.low + share * (self._frame.high - self._frame.low))
        lines = []
        for belief in self.beliefs:
            found = belief.chances[belief.values == value]
            lines.append(f"{belief.who}: {float(found[0]) if len(found) else 0.0:.4g}")
        return f"count {count_text(value)}\n" + "\n".join(lines)
