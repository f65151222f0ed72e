"""What a reader believes of sums that are rounded to a base: to compare with other methods.

Who is alone in a cell put in the sum. Given the rounded one it is one of the whole numbers that round to
it, all alike; the best guess comes within a share p of those from its upper end down to the end times
(1 - p) / (1 + p). What rounded sums tell together is not weighed.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from tabprotect.engine.arrays import Bools, Floats, Ints

MOST_POWERS = 18
"""Bases are looked for up to 10 to this power."""


def rounded(value: Ints, base: int) -> Ints:
    """The nearest multiples of the base, halves away from 0."""
    size = (2 * np.abs(value) + base) // (2 * base) * base
    return np.asarray(np.sign(value) * size)


def rounding_beliefs(published: Ints, base: int, within: float) -> Floats:
    """The probability of the best guess for who is alone in each cell, float64 (cells,).

    Parameters
    ----------
    within
        How near counts, as a share of the true value.
    """
    size = np.abs(published)
    # Multiples but 0 are reached from half a base below, that included.
    least = np.where(size > 0, size - base // 2, 0)
    most = size + (base + 1) // 2 - 1
    near = np.ceil(most * (1 - within) / (1 + within) - 1e-9)
    found = np.minimum(most - np.maximum(near, least) + 1, most - least + 1)
    return np.asarray(found / np.maximum(most - least + 1, 1), dtype=np.float64)


def bases() -> Iterator[int]:
    """The bases that tables are rounded to: 1, 2, 5, 10, ..."""
    for power in range(MOST_POWERS):
        yield from (digit * 10**power for digit in (1, 2, 5))


def least_base(value: Ints, unsafe: Bools, within: float, limit: float) -> int | None:
    """The least base with which no unsafe sum is known with more than the limit; ``None`` for none."""
    inside = value[unsafe]
    for base in bases():
        beliefs = rounding_beliefs(rounded(inside, base), base, within)
        if float(beliefs.max(initial=0.0)) <= limit:
            return base
    return None
