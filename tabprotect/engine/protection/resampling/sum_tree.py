"""Independent counts, given their sum: exact draws, and the probability of the sum.

The counts are joined two by two, like ones first, so that a table of a million cells has some
thousand different joined distributions. A draw splits the sum downwards.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from tabprotect.engine.arrays import Floats, Ints

NEGLIGIBLE = 1e-30
"""Ends of a joined distribution below this chance are cut off."""

DIRECT = 2_000
"""Length up to which distributions are convolved directly; beyond by Fourier transform."""


@dataclass(frozen=True, eq=False)
class SumTree:
    """The distribution of the sum of independent counts, and how the sum comes apart.

    Attributes
    ----------
    first
        Smallest possible sum.
    chances : float64 (sums,)
        Probability of ``first, first + 1, ...``.
    law
        Number of the distribution, of a single count; -1 of a sum.
    left, right
        What is added; ``None`` for a single count.
    """

    first: int
    chances: Floats
    law: int = -1
    left: SumTree | None = None
    right: SumTree | None = None

    @classmethod
    def of(cls, laws: Sequence[tuple[int, Floats]], times: Sequence[int] | Ints) -> SumTree:
        """Join ``times[k]`` counts with the distribution ``laws[k]`` (first count, chances)."""
        parts: list[SumTree] = []
        for number, ((first, chances), many) in enumerate(zip(laws, times, strict=True)):
            power = cls(first, chances, number)
            left = int(many)
            while left:
                if left & 1:
                    parts.append(power)
                left >>= 1
                if left:
                    power = cls._joined(power, power)
        if not parts:
            return cls(0, np.ones(1))
        while len(parts) > 1:
            # Short ones first: what is long is joined as seldom as possible.
            parts.sort(key=lambda part: len(part.chances))
            joined = [cls._joined(a, b) for a, b in zip(parts[::2], parts[1::2], strict=False)]
            parts = joined + parts[len(joined) * 2 :]
        return parts[0]

    @classmethod
    def _joined(cls, a: SumTree, b: SumTree) -> SumTree:
        chances = _convolved(a.chances, b.chances)
        kept = np.flatnonzero(chances > NEGLIGIBLE)
        begin, end = int(kept[0]), int(kept[-1]) + 1
        return cls(a.first + b.first + begin, chances[begin:end], -1, a, b)

    @cached_property
    def laws(self) -> Ints:
        """The law of each count in the order of :meth:`draw`, int64 (counts,)."""
        if self.left is None or self.right is None:
            return np.full(1 if self.law >= 0 else 0, self.law, dtype=np.int64)
        return np.concatenate([self.left.laws, self.right.laws])

    def chance(self, total: int) -> float:
        """Probability of a sum."""
        at = total - self.first
        return float(self.chances[at]) if 0 <= at < len(self.chances) else 0.0

    def draw(self, total: int, generator: np.random.Generator) -> Ints:
        """The counts, given that they add up to ``total`` (possible), int64 (counts,)."""
        found: Ints = self._draw(np.array([total], dtype=np.int64), generator)[0]
        return found

    def _draw(self, totals: Ints, generator: np.random.Generator) -> Ints:
        """Independent draws, one for each total, int64 (totals, counts)."""
        a, b = self.left, self.right
        if a is None or b is None:
            return totals[:, None] if self.law >= 0 else np.zeros((len(totals), 0), np.int64)
        mine = np.empty_like(totals)
        u = generator.random(len(totals))
        order = np.argsort(totals, kind="stable")
        sums, begins = np.unique(totals[order], return_index=True)
        ends = np.append(begins[1:], len(totals))
        for total, begin, end in zip(sums.tolist(), begins, ends, strict=True):
            low = max(a.first, total - b.first - len(b.chances) + 1)
            high = min(a.first + len(a.chances) - 1, total - b.first)
            weight = a.chances[low - a.first : high - a.first + 1]
            other = b.chances[total - high - b.first : total - low - b.first + 1]
            cumulative = np.cumsum(weight * other[::-1])
            which = order[begin:end]
            at = np.searchsorted(cumulative, u[which] * cumulative[-1], side="right")
            mine[which] = low + np.minimum(at, high - low)
        if a is b:
            both = a._draw(np.concatenate([mine, totals - mine]), generator)
            return np.concatenate([both[: len(totals)], both[len(totals) :]], axis=1)
        return np.concatenate([a._draw(mine, generator), b._draw(totals - mine, generator)], axis=1)


def _convolved(a: Floats, b: Floats) -> Floats:
    if min(len(a), len(b)) <= DIRECT:
        return np.convolve(a, b)
    length = len(a) + len(b) - 1
    size = 1 << (length - 1).bit_length()
    product = np.fft.rfft(a, size) * np.fft.rfft(b, size)
    # What is left of rounding must not look like a possible sum.
    found = np.fft.irfft(product, size)[:length]
    return np.where(found > 1e-18, found, 0.0)
