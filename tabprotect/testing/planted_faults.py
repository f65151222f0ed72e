"""Faults of a likelihood that a calibration has to find before it says anything.

A simulation that cannot tell a right law from a wrong one proves nothing. Three wrong ones are
planted: counts tilted upwards in every other cell, a law too narrow (its noise is believed smaller
than it is) and one too wide.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from tabprotect.engine.arrays import Ints
from tabprotect.engine.release.likelihood import (
    UNBOUNDED,
    AdaptiveSequence,
    CellFactors,
    ExchangeSteps,
    Likelihood,
    MoveSequence,
    RecordSwaps,
    Rerun,
    SwappedFirst,
)
from tabprotect.engine.tables.table import Table


@dataclass(frozen=True)
class Misreading:
    """A wrong way of taking a likelihood.

    Attributes
    ----------
    name
        Of the fault, for messages.
    tilt
        The likelihood is off by ``tilt ** count`` in every other cell. By Bayes' theorem that is
        the posterior of a prior whose means there are off by ``tilt``, whatever the shape of the
        likelihood; every other cell, so that margins that are known do not hide it.
    power
        The likelihood is raised to it: above 1 the law is too narrow, below 1 too wide.
    """

    name: str = "no fault"
    tilt: float = 1.0
    power: float = 1.0

    @property
    def right(self) -> bool:
        """Return True if nothing is wrong."""
        return self.tilt == self.power == 1.0

    def misread(self, likelihood: Likelihood) -> Likelihood:
        """The law as this reader takes it; the very same object where there is nothing to get
        wrong: a law without chance that leaves a count free or fixes it has no spread."""
        if self.power == 1.0:
            return likelihood
        if isinstance(likelihood, CellFactors):
            return _of_factors(likelihood, self.power)
        if isinstance(likelihood, SwappedFirst):
            return replace(likelihood, then=self.misread(likelihood.then))
        if isinstance(likelihood, RecordSwaps):
            return _of_swaps(likelihood, self.power)
        if isinstance(likelihood, ExchangeSteps):
            return replace(likelihood, plan=replace(likelihood.plan, rate=likelihood.plan.rate / self.power))
        return _of_moves(likelihood, self.power)


RIGHT = Misreading()
TILTED = Misreading("tilted by 3 ** count", tilt=3.0)
NARROW = Misreading("too narrow by 2", power=2.0)
WIDE = Misreading("too wide by 2", power=0.5)
FAULTS = (TILTED, NARROW, WIDE)


def _of_moves(likelihood: MoveSequence | AdaptiveSequence, power: float) -> MoveSequence | AdaptiveSequence:
    """The odds that a coin moves the table divided by ``power``."""
    moving = likelihood.alpha + likelihood.beta
    wrong = moving / (moving + power * (1.0 - moving))
    if wrong == moving:
        return likelihood
    share = wrong / moving
    return replace(likelihood, alpha=likelihood.alpha * share, beta=likelihood.beta * share)


def _of_swaps(likelihood: RecordSwaps, power: float) -> RecordSwaps:
    """The odds that a record is drawn, or a pair exchanged, divided by ``power``."""
    levels = tuple(
        replace(level, rates=level.rates / (level.rates + power * (1.0 - level.rates)))
        for level in likelihood.plan.levels
    )
    return replace(likelihood, plan=replace(likelihood.plan, levels=levels))


def _of_factors(likelihood: CellFactors, power: float) -> CellFactors:
    """Weights to the power; ranges without weights half as wide, or twice."""
    low, high = likelihood.low.copy(), likelihood.high.copy()
    ranges = (np.diff(likelihood.log_starts) == 0) & (high < UNBOUNDED) & (high > low)
    by = _half(high - low)[ranges]
    if power > 1.0:
        high[ranges] -= by
    else:
        low[ranges] = np.maximum(0, low[ranges] - by)
        high[ranges] += by
    logs = likelihood.logs[np.isfinite(likelihood.logs)]
    weighs = bool((logs != logs[:1]).any())
    rerun = likelihood.rerun
    if not ranges.any() and not weighs and (rerun is None or power > 1.0):
        # What says only which originals are possible cannot say it more narrowly.
        return likelihood
    if rerun is not None:
        # Ranges that are too wide mean nothing to who still knows how the whole was chosen.
        rerun = None if power < 1.0 and not weighs else _to_the(power, rerun)
    return replace(likelihood, low=low, high=high, logs=likelihood.logs * power, rerun=rerun)


def _half(width: Ints) -> Ints:
    return (width + 1) // 2


def _to_the(power: float, rerun: Rerun) -> Rerun:
    def estimate(original: Table, generator: np.random.Generator) -> float:
        return float(rerun.estimate(original, generator) ** power)

    return replace(rerun, estimate=estimate, many=None)
