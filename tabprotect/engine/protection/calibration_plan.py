"""How the posterior of a method is put to the test: what a method declares for its calibration."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from tabprotect.engine.sensitivity.small_count import SmallCount

SQUARE = ((0.6, 1.2), (1.0, 0.4))
"""Small counts, where posteriors matter, and zeros."""


@dataclass(frozen=True)
class CalibrationPlan:
    """One simulation in which the beliefs of a method's readers have to come true.

    Originals are drawn from independent Poisson counts, protected, and inferred with that prior.

    Attributes
    ----------
    parameters
        Of the method; ``None`` for those it names as worth a trial.
    means
        Of the original counts, in the shape of the table.
    runs
        Originals to draw: the budget. A dear posterior takes fewer.
    at_risk
        What the method is told to protect.
    """

    parameters: Mapping[str, object] | None = None
    means: tuple[object, ...] = SQUARE
    runs: int = 150
    at_risk: SmallCount = field(default_factory=SmallCount)
