"""Large numbers as print has them: in groups of three figures, or by a power of ten."""

from __future__ import annotations

import math

NARROW = "\N{NARROW NO-BREAK SPACE}"
"""Between groups of three figures, wherever people read them as print has them."""


def grouped(count: int, space: str) -> str:
    """A whole number in groups of three figures apart by ``space``, with a true minus sign."""
    return f"{count:,}".replace(",", space).replace("-", "\N{MINUS SIGN}")


LARGE = 1_000_000
"""From here on a number of possibilities is told by its first figure and a power of ten."""

_RAISED = str.maketrans("0123456789", "\u2070\u00b9\u00b2\u00b3\u2074\u2075\u2076\u2077\u2078\u2079")


def large(count: int, space: str) -> str:
    """A number of possibilities: in full, or as ``4 × 10⁶⁶``."""
    if count < LARGE:
        return grouped(count, space)
    power = int(math.log10(count))
    # The logarithm is rounded: the figure before the point decides.
    power += (count >= 10 ** (power + 1)) - (count < 10**power)
    first = (2 * count // 10**power + 1) // 2
    if first == 10:
        first, power = 1, power + 1
    return f"{first} × 10{str(power).translate(_RAISED)}"
