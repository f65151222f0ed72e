"""How a posterior is worked out: the way to it, and the work that it may take."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Way = Literal["auto", "exact", "monte_carlo"]
"""The way asked for: ``auto`` takes the exact way if its cost allows it."""


@dataclass(frozen=True, kw_only=True)
class Approach:
    """The way to a posterior and the work that it may take. ``None`` sets no limit of its own.

    Attributes
    ----------
    way
        ``auto`` takes the exact way where its cost, known beforehand, allows it.
    draws
        Originals that are drawn where the posterior is; 0 for none. By default as many as take
        well under a minute.
    steps
        Of the exact way through cells that more than one published sum joins, about half a
        microsecond each; beyond, it is given up. By default as many as take some seconds.
    weighing
        Nominal microseconds that weighing originals by the choice of a whole table may take, if
        the mechanism says more than its factors; 0 leaves out what this choice tells. Where it is
        given, chains are limited, too (``CHAIN_WORK``).
    """

    way: Way = "auto"
    draws: int | None = None
    steps: int | None = None
    weighing: float | None = None
