"""An axis of the risk-utility map: it always grows to the right or upwards, in powers of ten where
some values lie far off from the others, with a lane of its own for zero."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from tabprotect.engine.arrays import Floats
from tabprotect.gui.plots.canvas import nice_step
from tabprotect.languages.messages import message

FAR = 8.0
"""How many times the middle value the largest one is where the axis counts in powers of ten."""

LANE = 0.4
"""Powers of ten between the lane of zero and the smallest value above it."""

SHARES = ("share of the small counts", "probability", "share")
"""Units of values from 0 to 1 that are written in per cent."""


@dataclass(frozen=True)
class Axis:
    """The meaning of an axis: the measure's name and unit, and where it is better."""

    label: str
    unit: str
    higher_is_better: bool

    @property
    def title(self) -> str:
        """The name with its unit; per cent stand at the numbers."""
        return self.label if self.shares else message("{label} ({unit})", self.label, self.unit)

    @property
    def shares(self) -> bool:
        """Return True if its values are written in per cent."""
        return self.unit in SHARES

    @property
    def sign(self) -> int:
        """1, or -1 where low is better."""
        return 1 if self.higher_is_better else -1

    def text(self, value: float, digits: int) -> str:
        """A value of a tick."""
        if self.shares:
            return f"{100 * value:.{max(0, digits - 2)}f}\u202f%"
        return f"{value:.{digits}f}".replace("-", "\u2212")


@dataclass(frozen=True)
class AxisScale:
    """The places of values on an axis.

    Attributes
    ----------
    low, high
        The ends, as places.
    least
        The smallest value above zero on a scale of powers of ten; ``None`` on an even one.
    """

    low: float
    high: float
    least: float | None = None

    @classmethod
    def of(cls, values: Floats, *, middle: Floats) -> AxisScale:
        """A scale for values; how far off some lie is judged by those in the ``middle`` of each."""
        values = values[np.isfinite(values)]
        above = middle[np.isfinite(middle) & (middle > 0)]
        whole = len(above) > 1 and values.min() >= 0
        if whole and above.max() > FAR * np.median(above):
            least = float(max(values[values > 0].min(), values.max() / 1e4))
            low = math.log10(least) - (LANE if values.min() == 0 else 0.0)
            room = math.log10(values.max()) - low
            return cls(low - 0.06 * room, low + 1.06 * room, least)
        low, high = (float(values.min()), float(values.max())) if len(values) else (0.0, 1.0)
        if 0 <= low <= high / 2:
            low = 0.0
        if high - low < 1e-9 * max(abs(high), 1.0):
            high = low + (0.1 * abs(low) or 1.0)
        room = high - low
        return cls(low - 0.06 * room, high + 0.06 * room)

    def place(self, value: float) -> float:
        """Return where a value stands: more is always further to the right or up."""
        if self.least is None or not math.isfinite(value):
            return value
        return math.log10(value) if value >= self.least else math.log10(self.least) - LANE

    def ticks(self, axis: Axis, wanted: int) -> list[tuple[float, str]]:
        """Round values with their texts, at their places."""
        if self.least is not None:
            return self._powers(axis, wanted)
        step = nice_step(self.high - self.low, wanted)
        # The room beside a zero is for the points that stand at it.
        low = 0.0 if -0.1 * self.high < self.low < 0 else self.low
        digits = max(0, -math.floor(math.log10(step) + 1e-9))
        first, last = math.ceil(low / step - 1e-9), math.floor(self.high / step + 1e-9)
        return [(n * step, axis.text(n * step, digits)) for n in range(first, last + 1)]

    def _powers(self, axis: Axis, wanted: int) -> list[tuple[float, str]]:
        assert self.least is not None
        first, last = math.floor(self.low), math.ceil(self.high)
        found = [(0.0, 0)] if self.low < math.log10(self.least) - LANE / 2 else []
        for steps in ((1, 2, 5), (1, 3), (1,)):
            values = [(m * 10.0**n, max(0, -n)) for n in range(first, last + 1) for m in steps]
            inside = [
                (value, digits)
                for value, digits in values
                if self.least * (1 - 1e-9) <= value and math.log10(value) <= self.high
            ]
            if len(inside) <= wanted:
                break
        return [(self.place(value), axis.text(value, digits)) for value, digits in found + inside]
