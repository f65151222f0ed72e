"""Marked values and round steps: what the axes of all plots share."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from tabprotect.languages.said import say


@dataclass(frozen=True)
class Mark:
    """A vertical line with its label: what is published (dashed), what is true (solid, diamond)."""

    value: float
    label: str
    true: bool = False


def merged(marks: Sequence[Mark], fits: Callable[[str], bool]) -> list[Mark]:
    """Marks at one value as one mark with both labels, where these fit beside each other."""
    out: list[Mark] = []
    for mark in marks:
        same = next((n for n, m in enumerate(out) if m.value == mark.value), None)
        label = (
            mark.label if same is None else say("{label}, {label2}", out[same].label, mark.label)
        )
        if same is None or not fits(label):
            out.append(mark)
        else:
            out[same] = Mark(mark.value, label, true=out[same].true or mark.true)
    return out


def nice_step(span: float, wanted: int) -> float:
    """The round step (1, 2 or 5 times a power of ten) that cuts ``span`` into about ``wanted``."""
    if span <= 0 or not math.isfinite(span):
        return 1.0
    raw = span / max(wanted, 1)
    power = 10.0 ** math.floor(math.log10(raw))
    return next(m * power for m in (1.0, 2.0, 5.0, 10.0) if m * power >= raw * (1 - 1e-9))
