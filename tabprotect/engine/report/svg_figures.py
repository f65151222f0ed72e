"""Charts as inline SVG: bars from zero, labelled with their numbers."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from markupsafe import Markup

from tabprotect.engine.arrays import Ints
from tabprotect.engine.release.release import PublishedTable
from tabprotect.languages.messages import message
from tabprotect.languages.number_formats import NARROW, grouped
from tabprotect.languages.translation import translate

WIDTH, HEIGHT = 640, 190
_TOP, _FOOT = 22, 44

CLASSES = ((0, 0), (1, 1), (2, 2), (3, 5), (6, 10), (11, 20), (21, 100), (101, None))
"""Classes of counts, first and last."""

REACH = 6
"""Changes beyond this are pooled."""


def count_text(value: int) -> str:
    """A whole number as print writes it."""
    return grouped(value, NARROW)


def bars(labels: Sequence[str], values: Sequence[int], *, axis: str, said: str) -> Markup:
    """Vertical bars.

    Parameters
    ----------
    axis
        The axis title, with the unit.
    said
        The chart in words, for those who cannot see it.
    """
    highest, step = max([*values, 1]), WIDTH / max(len(values), 1)
    base = HEIGHT - _FOOT
    drawn, numbers, ticks = Markup(""), Markup(""), Markup("")
    text = Markup('<text x="{:.1f}" y="{:.1f}">{}</text>')
    for place, (label, value) in enumerate(zip(labels, values, strict=True)):
        height, centre = (base - _TOP) * value / highest, step * (place + 0.5)
        drawn += Markup('<rect x="{:.1f}" y="{:.1f}" width="{:.1f}" height="{:.1f}"/>').format(
            centre - step * 0.36, base - height, step * 0.72, height
        )
        numbers += text.format(centre, base - height - 6, count_text(value))
        ticks += text.format(centre, base + 16, translate(label))
    # As attributes, because not every printer applies the page's styles to a chart.
    return Markup(
        '<svg viewBox="0 0 {} {}" role="img" aria-label="{}">'
        '<g fill="#2f6f9f">{}</g>'
        '<line x1="0" y1="{}" x2="{}" y2="{}" stroke="#1b2430"/>'
        '<g font-size="12" text-anchor="middle" font-family="DejaVu Sans, Arial, sans-serif">'
        '<g fill="#1b2430">{}</g><g fill="#5a6472">{}{}</g></g></svg>'
    ).format(
        *(WIDTH, HEIGHT, translate(said), drawn),
        *(base, WIDTH, base),
        *(numbers, ticks, text.format(WIDTH / 2, HEIGHT - 6, translate(axis))),
    )


def size_bars(published: PublishedTable) -> Markup:
    """The chart of published cells by class of count; suppressed ones apart. Public."""
    counts = published.table.cells[1]
    counts = counts[counts != 0]
    suppressed = 0 if published.suppressed is None else int(published.suppressed.sum())
    zeros = published.table.domain.size - suppressed - len(counts)
    labels, values = [], []
    for first, last in CLASSES:
        inside = counts >= first if last is None else (counts >= first) & (counts <= last)
        labels.append(
            message("over {first}", first - 1)
            if last is None
            else str(first)
            if first == last
            else f"{first}–{last}"
        )
        values.append(zeros if last == 0 else int(inside.sum()))
    if below := int((counts < 0).sum()):
        labels.insert(0, message("below 0"))
        values.insert(0, below)
    return bars(
        labels, values, axis=message("published count"), said=message("Number of cells by published count")
    )


def change_bars(moved: Ints) -> Markup:
    """The chart of cells by the change of their count. Confidential."""
    low = max(int(moved.min(initial=0)), -REACH)
    high = min(int(moved.max(initial=0)), REACH)
    low, high = min(low, -1), max(high, 1)
    clipped = np.clip(moved, low, high)
    labels, values = [], []
    for change in range(low, high + 1):
        sign = "+" if change > 0 else ""
        # In symbols, because words would be wider than a bar.
        beyond = "≥ " if change == REACH else "≤ " if change == -REACH else ""
        labels.append(f"{beyond}{sign}{count_text(change)}")
        values.append(int((clipped == change).sum()))
    return bars(
        labels,
        values,
        axis=message("published less true count"),
        said=message("Number of cells by the change of their count"),
    )
