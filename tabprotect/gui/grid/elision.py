"""Long labels that have little room: what tells them apart stays in sight."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import takewhile

from PySide6.QtCore import Qt
from PySide6.QtGui import QFontMetrics

DOTS = "\u2026"

ASKED = 500
"""Labels of one variable that are compared; any others are looked at one by one."""

FEW = 8
"""Letters up to which the beginning of a label says more than its two ends."""

Shared = tuple[str, str]
"""What all labels begin and end with, in whole words."""


def shared(texts: Sequence[str]) -> Shared:
    """What all labels begin and end with; nothing of a single one."""
    asked = texts[:ASKED]
    if len(asked) < 2:
        return "", ""
    begin = _begin(asked)
    begin = begin[: begin.rfind(" ") + 1]
    end = _begin([text[len(begin) :][::-1] for text in asked])[::-1]
    return begin, end[end.find(" ") :] if " " in end else ""


def _begin(texts: Sequence[str]) -> str:
    """The signs that all texts begin with."""
    alike = takewhile(lambda signs: len(set(signs)) == 1, zip(*texts, strict=False))
    return "".join(signs[0] for signs in alike)


def elided(metrics: QFontMetrics, text: str, room: int, common: Shared = ("", "")) -> str:
    """A label in so many pixels: what it shares with the others gives way first."""
    room = max(room, 0)
    begin, end = common
    if not (text.startswith(begin) and text.endswith(end) and len(begin) + len(end) < len(text)):
        begin, end = "", ""
    own = text[len(begin) : len(text) - len(end)]
    # Long labels often differ at their end; of a few letters the first say most.
    few = room < FEW * metrics.averageCharWidth()
    otherwise = Qt.TextElideMode.ElideRight if few else Qt.TextElideMode.ElideMiddle
    if metrics.horizontalAdvance(text) <= room or not begin + end:
        return metrics.elidedText(text, otherwise, room)
    if metrics.horizontalAdvance(begin + own + DOTS) <= room:
        return metrics.elidedText(text, Qt.TextElideMode.ElideRight, room)
    before = DOTS if begin else ""
    if metrics.horizontalAdvance(before + own + DOTS) <= room:
        return metrics.elidedText(before + own + end, Qt.TextElideMode.ElideRight, room)
    return metrics.elidedText(own, otherwise, room)
