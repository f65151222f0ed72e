"""The posterior of one cell: prior as outline, posterior as bars, published and true value marked.

The user and the intruder stand side by side on one axis.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from PySide6.QtCore import Qt
from PySide6.QtGui import QBrush, QColor, QPen

from tabprotect.engine.arrays import Bools, Floats, Ints
from tabprotect.engine.release.verdict_figures import READER, Who
from tabprotect.gui.look.theme import chance_number, count_text
from tabprotect.gui.plots.canvas import Canvas, Mark, merged
from tabprotect.gui.plots.plot import Plot
from tabprotect.languages.messages import capital, in_100, joined, message
from tabprotect.languages.translation import tr, translate

WIDE, NARROW = 12, 4
"""Zooming helps from so many counts on, and shows at least so many."""

SLIM = 8
"""Bars of fewer pixels are not hatched, and the prior is one outline, not one for each."""

TAIL = 5e-4
"""Outer values that nobody gives a larger probability are left out of the picture."""


@dataclass(frozen=True)
class DrawnBelief:
    """The belief of one reader about the cell, as it is drawn.

    Attributes
    ----------
    who
        ``user`` or ``intruder``.
    values : int64 (n,)
        Counts, ascending.
    chances : float64 (n,)
        Their posterior probabilities.
    prior : float64 (n,) or None
        The prior over the same counts, where it is known.
    """

    who: Who
    values: Ints
    chances: Floats
    prior: Floats | None = None


class CellHistogram(Plot):
    """Shows up to two beliefs about one cell."""

    def __init__(self) -> None:
        super().__init__(message("How likely each count of the selected cell is"))
        self.beliefs: tuple[DrawnBelief, ...] = ()
        self.published: int | None = None
        self.true: int | None = None

    def show_beliefs(
        self, beliefs: tuple[DrawnBelief, ...], *, published: int | None, true: int | None
    ) -> None:
        """Show what is believed; ``true`` only in the house, ``published`` where there is one."""
        self.beliefs, self.published, self.true, self.empty = beliefs, published, true, ""
        self.say(self._words())
        self.refresh()

    def show_nothing(self, why: str) -> None:
        """Show a sentence instead."""
        self.beliefs, self.true, self.empty = (), None, why
        self.say(why)
        self.refresh()

    def _words(self) -> str:
        parts = [message("Not published.")]
        if self.published is not None:
            parts = [message("Published {published}.", count_text(self.published))]
        if self.true is not None:
            parts.append(message("True count {true}.", count_text(self.true)))
        for belief in self.beliefs:
            said = joined(
                (
                    message("{v}: {c}", count_text(v), in_100(c))
                    for v, c in zip(belief.values.tolist(), belief.chances.tolist(), strict=True)
                    if c >= TAIL
                ),
                ", ",
            )
            parts.append(message("{who} thinks: {said}.", capital(READER[belief.who]), said))
        return joined(parts, " ")

    # -- plotting -----------------------------------------------------------------------------

    @property
    def filled(self) -> bool:
        return bool(self.beliefs)

    @property
    def title(self) -> str:
        return message("true count; how likely each is, in 100")

    def span(self) -> tuple[float, float]:
        values = [mark for mark in (self.published, self.true) if mark is not None]
        for belief in self.beliefs:
            seen = belief.values[belief.chances >= TAIL]
            values += [int(seen.min()), int(seen.max())] if len(seen) else []
        return min(values) - 0.5, max(values) + 0.5

    @property
    def narrowest(self) -> float | None:
        low, high = self.span()
        return float(NARROW) if high - low >= WIDE else None

    def arrange(self, canvas: Canvas) -> None:
        marks = []
        if self.published is not None:
            marks.append(Mark(self.published, message("published {published}", count_text(self.published))))
        if self.true is not None:
            marks.append(
                Mark(self.true, message("true {true} [staff only]", count_text(self.true)), true=True)
            )
        marks = merged(marks, canvas.fits)
        canvas.axes(
            max(float(b.chances.max(initial=0.0)) for b in self.beliefs),
            rows=len(marks),
            headroom=2.3 if len(self.beliefs) > 1 else 1.3,
            ticks=self._ticks(canvas),
            in_100=True,
        )
        canvas.marks(marks)
        bar = min(0.8 / len(self.beliefs), 5.5 * canvas.line * canvas.unit[0])
        shifts = [(number - len(self.beliefs) / 2) * bar for number in range(len(self.beliefs))]
        for belief, shift in zip(self.beliefs, shifts, strict=True):
            self._put_bars(canvas, belief, shift=shift, bar=bar)
        for belief, shift in zip(self.beliefs, shifts, strict=True):
            self._put_labels(canvas, belief, shift=shift, bar=bar)
        self._put_prior_label(canvas)

    @staticmethod
    def _seen(canvas: Canvas, belief: DrawnBelief) -> Bools:
        return (belief.values > canvas.low - 0.5) & (belief.values < canvas.high + 0.5)

    @staticmethod
    def _ticks(canvas: Canvas) -> list[tuple[float, str]]:
        low, high = math.ceil(canvas.low), math.floor(canvas.high)
        room = canvas.metrics.horizontalAdvance(count_text(high)) + 8
        every = max(1, math.ceil(room * canvas.unit[0]))
        first = math.ceil(low / every) * every
        return [(value, count_text(value)) for value in range(first, high + 1, every)]

    def _put_bars(self, canvas: Canvas, belief: DrawnBelief, *, shift: float, bar: float) -> None:
        colours, pixel, seen = canvas.colours, canvas.unit[0], self._seen(canvas, belief)
        left = belief.values[seen].astype(np.float64) + shift
        chances = belief.chances[seen]
        width = max(bar - 1.5 * pixel, pixel)
        hatched = belief.who == "intruder"
        slim = bar < SLIM * pixel
        ink = QColor(colours.quiet if hatched else colours.accent)
        # The ground, not nothing, so that a hatched bar hides the lines behind it.
        brush = QBrush(QColor(colours.base) if hatched and not slim else ink)
        left = left + 0.5 * pixel
        canvas.bars(left, width, chances, pen=QPen(ink, 1), brush=brush)
        if hatched and not slim and len(left):
            canvas.hatch(left, width, chances, ink=colours.quiet)
        if belief.prior is not None:
            outline = QPen(QColor(colours.text), 1.2, Qt.PenStyle.DotLine)
            height = belief.prior[seen]
            if slim:
                values = belief.values[seen]
                if len(values):
                    first, last = int(values[0]), int(values[-1])
                    whole = np.zeros(last - first + 1)
                    whole[values - first] = height
                    canvas.steps(np.arange(first, last + 2, dtype=np.float64) - 0.5, whole, pen=outline)
            else:
                no_fill = QBrush(Qt.BrushStyle.NoBrush)
                canvas.bars(left - 0.5 * pixel, bar - 0.5 * pixel, height, pen=outline, brush=no_fill)

    def _put_labels(self, canvas: Canvas, belief: DrawnBelief, *, shift: float, bar: float) -> None:
        colours, line = canvas.colours, canvas.line
        ink = colours.text if belief.who == "intruder" else colours.accent
        best = int(np.argmax(belief.chances))
        slim = bar < SLIM * canvas.unit[0]
        for number in [best] if slim else np.flatnonzero(self._seen(canvas, belief)).tolist():
            chance = float(belief.chances[number])
            middle = int(belief.values[number]) + shift + bar / 2
            if not canvas.low < middle < canvas.high or chance < TAIL:
                continue
            text = chance_number(chance)
            size = canvas.metrics.horizontalAdvance(text) + 2
            if size > bar / canvas.unit[0] + 2 and number != best:
                continue
            left, top = canvas.x(middle) - size / 2, canvas.y(chance) - line - 3
            canvas.label(text, left, top, ink=ink)
            if number == best and len(self.beliefs) > 1:
                # Outwards from the pair of bars, so that two names never meet.
                name = canvas.metrics.horizontalAdvance(translate(READER[belief.who])) + 2
                start = left + size - name if belief is self.beliefs[0] else left
                canvas.label(READER[belief.who], start, top - line, ink=ink)

    def _put_prior_label(self, canvas: Canvas) -> None:
        """Name the dotted outline where it stands highest above the bars."""
        best, at = 0.0, None
        for belief in self.beliefs:
            if belief.prior is None:
                continue
            bars = np.zeros(len(belief.values))
            for other in self.beliefs:
                _, here, there = np.intersect1d(belief.values, other.values, return_indices=True)
                bars[here] = np.maximum(bars[here], other.chances[there])
            above = np.where(
                (belief.values > canvas.low) & (belief.values < canvas.high),
                np.minimum(belief.prior, canvas.top) - bars,
                -np.inf,
            )
            place = int(np.argmax(above))
            if above[place] > best + 1e-9:
                best = float(above[place])
                at = (int(belief.values[place]), min(float(belief.prior[place]), canvas.top))
        if at is None or best / canvas.unit[1] < 2.4 * canvas.line:
            return
        size = canvas.metrics.horizontalAdvance(tr("assumed before")) + 2
        left = min(max(canvas.x(at[0]) - size / 2, 0), canvas.size[0] - size)
        canvas.label(message("assumed before"), left, canvas.y(at[1]) + 4, ink=canvas.colours.text)

    def tip(self, value: float, height: float) -> str:
        count = round(value)
        lines = [message("count {count}", count_text(count))]
        for belief in self.beliefs:
            found = belief.chances[belief.values == count]
            lines.append(
                message("{who}: {found:.4g}", READER[belief.who], float(found[0]) if len(found) else 0.0)
            )
        return joined(lines, "\n")
