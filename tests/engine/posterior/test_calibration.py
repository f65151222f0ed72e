"""The calibration harness itself: quiet where all is right, loud where a fault was planted."""

from __future__ import annotations

from math import comb, log

import numpy as np

from tabprotect.engine.posterior.prior import Poisson
from tabprotect.engine.release.likelihood import UNBOUNDED, CellFactors, Likelihood, independent
from tabprotect.engine.release.mechanism import Mechanism
from tabprotect.engine.release.release import PublishedTable, Release
from tabprotect.engine.tables.domain import Domain
from tabprotect.engine.tables.table import Table
from tabprotect.testing.calibration import HIDDEN, Calibration, calibrate

DOMAIN = Domain.of_shape((2, 3))
MEANS = np.array([0.7, 1.5, 2.5, 1.0, 0.4, 3.0])
NOISE, HIDE = 2, 0.3


def release_of(original: Table, generator: np.random.Generator) -> Release:
    """Binomial noise in every cell, none below 0; cells hidden at random where the count is 1."""
    noise = generator.binomial(2 * NOISE, 0.5, DOMAIN.shape) - NOISE
    hidden = (original.counts == 1) & (generator.random(DOMAIN.shape) < HIDE)
    noisy = Table.dense(DOMAIN, np.maximum(original.counts + noise, 0))
    return Release((PublishedTable.hiding(noisy, hidden),), Mechanism("noise", DOMAIN, {"noise": NOISE}))


def _weigh(published: int) -> tuple[int, int, np.ndarray]:
    low, high = max(published - NOISE, 0), published + NOISE
    chances = []
    for true in range(low, high + 1):
        noises = [published - true] if published else range(-NOISE, -true + 1)
        chance = sum(comb(2 * NOISE, n + NOISE) / 4**NOISE for n in noises)
        chances.append(log(chance) + (log(1 - HIDE) if true == 1 else 0.0))
    return low, high, np.array(chances)


def likelihood_of(release: Release) -> CellFactors:
    return independent(release.tables[0], _weigh, hidden=(1, 1, None))


def calibrated(likelihood: object, runs: int) -> Calibration:
    return calibrate(
        release_of,
        likelihood,  # type: ignore[arg-type]
        Poisson(MEANS),
        lambda generator: Table.dense(DOMAIN, generator.poisson(MEANS).reshape(2, 3)),
        runs=runs,
        generator=np.random.default_rng(3),
    )


def test_right_beliefs_come_true() -> None:
    found = calibrated(likelihood_of, 400)
    assert found.worst_z < 4.5 and found.bins >= 15, str(found)


def test_a_tilt_shows() -> None:
    def wrong(release: Release) -> Likelihood:
        def tilted(published: int) -> tuple[int, int, np.ndarray]:
            low, high, logs = _weigh(published)
            return low, high, logs + 0.3 * np.arange(len(logs))

        return independent(release.tables[0], tilted, hidden=(1, 1, None))

    assert calibrated(wrong, 400).worst_z > 6


def test_a_forgotten_rule_shows_in_its_status() -> None:
    """Hidden cells taken for any count: the fault is where the rule was forgotten."""

    def wrong(release: Release) -> Likelihood:
        return independent(release.tables[0], _weigh, hidden=(0, UNBOUNDED, None))

    found = calibrated(wrong, 250)
    assert (
        max(
            abs(b.z)
            for name, bins in found.by_status.items()
            if name.startswith(HIDDEN)
            for b in bins.values()
        )
        > 6
    )
