"""The simulation that a method declares for testing that its posterior is calibrated."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from tabprotect.engine.sensitivity.small_count import SmallCount

SQUARE = ((0.6, 1.2), (1.0, 0.4))
"""Small counts, where posteriors matter, and zeros."""


@dataclass(frozen=True)
class CalibrationPlan:
    """One simulation that tests whether readers' beliefs are calibrated.

    Originals are drawn from independent Poisson counts, protected, and inferred with that prior.

    Attributes
    ----------
    parameters
        Parameters of the method; ``None`` for its trial parameters.
    means
        Means of the original counts, in the shape of the table.
    runs
        Number of originals to draw; a costly posterior takes fewer.
    at_risk
        The rule that says which cells the method protects.
    """

    parameters: Mapping[str, object] | None = None
    means: tuple[object, ...] = SQUARE
    runs: int = 150
    at_risk: SmallCount = field(default_factory=SmallCount)
