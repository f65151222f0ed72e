"""Figures over the seeds of one configuration, and the Pareto front of configurations."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from tabprotect.engine.arrays import Floats
from tabprotect.engine.plain_values.encoding import Encodable

ALMOST = 1e-12
"""Means closer than this are equal: they are sums of rounded figures."""

FEW = 4
"""Values of a measure up to which the share of the runs is told of each."""

DIGITS = 9
"""Figures that agree so far are one value."""


@dataclass(frozen=True)
class Spread(Encodable):
    """One measure over the runs of one configuration. Confidential.

    Attributes
    ----------
    runs
        Runs that have a figure.
    mean, deviation
        Mean and standard deviation over the runs (0 for a single one).
    low, high
        The range of 95 % of the runs.
    shares
        The share of the runs that have each value, where few are possible; the usual one first.
    """

    runs: int
    mean: float
    deviation: float
    low: float
    high: float
    shares: Mapping[float, float] = field(default_factory=dict)
    json_keys = "runs mean deviation low high shares"

    @classmethod
    def of(cls, values: Sequence[float | None]) -> Spread | None:
        """The spread of the runs that have a figure; ``None`` when no run has."""
        found = np.array([value for value in values if value is not None], dtype=np.float64)
        if not len(found):
            return None
        low, high = np.quantile(found, [0.025, 0.975])
        deviation = float(found.std(ddof=1)) if len(found) > 1 else 0.0
        times = Counter(found.round(DIGITS).tolist()).most_common()
        few = 1 < len(times) <= min(FEW, len(found) // 2)
        shares = {value: number / len(found) for value, number in times} if few else {}
        return cls(len(found), float(found.mean()), deviation, float(low), float(high), shares)


def front(points: Floats, higher_is_better: Sequence[bool]) -> list[int]:
    """The points that no other point beats: at least as good in all, and better in one.

    Parameters
    ----------
    points : float64 (points, figures)
        NaN where there is no figure; such a point is never on the front.
    higher_is_better
        One for each figure.

    Returns
    -------
    list of int
        Ascending.
    """
    good = np.where(higher_is_better, points, -points)
    there = np.flatnonzero(~np.isnan(good).any(axis=1))
    on = []
    for k in there.tolist():
        ahead = good[there] - good[k]
        beaten = (ahead >= -ALMOST).all(axis=1) & (ahead > ALMOST).any(axis=1)
        if not beaten.any():
            on.append(k)
    return on
