"""The common log odds ratio: its likelihood against the definition, and where a release says nothing."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from scipy.special import comb, gammaln

from tabprotect.engine.belief.association import Association
from tabprotect.engine.belief.evidence import RELEASE_ALONE
from tabprotect.engine.belief.log_odds import _Curve, log_odds
from tabprotect.engine.belief.model_fit import Reading
from tabprotect.engine.errors import ParameterError
from tabprotect.engine.protection.problem import Problem
from tabprotect.engine.protection.registered import methods
from tabprotect.engine.randomness import Randomness
from tabprotect.engine.tables.domain import Domain
from tabprotect.engine.tables.table import Table

STRATA = np.array([[[3, 1, 2], [1, 0, 4]], [[2, 2, 0], [6, 1, 5]]])
"""Two by two by three: the last axis is the stratum."""


def conditional(table: np.ndarray, beta: float) -> float:
    """Log of Fisher's noncentral hypergeometric law of each stratum, by its definition."""
    log = 0.0
    for k in range(table.shape[2]):
        (a, b), (c, d) = table[:, :, k].tolist()
        row, column, n = c + d, b + d, a + b + c + d
        law = {
            x: comb(row, x) * comb(n - row, column - x) * np.exp(beta * x)
            for x in range(max(0, row + column - n), min(row, column) + 1)
        }
        log += np.log(law[d] / sum(law.values()))
    return log


def test_a_known_table_has_the_conditional_likelihood() -> None:
    model = Association.of(Domain.of_shape((2, 2, 3)), ("A", "B"))
    curve = _Curve(model, *model.fitted(STRATA.astype(np.float64)))
    curve.add(curve.beta, STRATA[None])
    found, grid = curve.log, curve._grid
    true = np.array([conditional(STRATA, beta) for beta in grid])
    assert found - found[80] == pytest.approx(true - true[80], abs=1e-6)


def test_more_categories_have_their_conditional_likelihood_too() -> None:
    """By listing all tables with the sums of one."""
    table = np.array([[3, 1, 2], [1, 2, 1], [0, 1, 4]])
    model = Association.of(Domain.of_shape((3, 3)), ("A", "B"))
    curve = _Curve(model, *model.fitted(table.astype(np.float64)))
    curve.add(curve.beta, table[None])
    inner = np.array(list(itertools.product(range(7), repeat=4))).reshape(-1, 2, 2)
    right = table.sum(axis=1)[:2] - inner.sum(axis=2)
    above = np.concatenate([inner, right[:, :, None]], axis=2)
    every = np.concatenate([above, table.sum(axis=0) - above.sum(axis=1)[:, None]], axis=1)
    every = every[(every >= 0).all(axis=(1, 2))]
    weights, statistic = (
        -gammaln(every + 1).sum(axis=(1, 2)),
        (every * model.scores).sum(axis=(1, 2)),
    )
    near = np.abs(curve._grid - curve.beta) <= 2.5
    true = np.array(
        [
            beta * (table * model.scores).sum() - np.log(np.exp(weights + beta * statistic).sum())
            for beta in curve._grid[near]
        ]
    )
    found = curve.log[near]
    # Without the information about the sums it would be off by more than a half.
    assert np.abs((found - found.max()) - (true - true.max())).max() < 0.05


def test_what_says_nothing_leaves_the_likelihood_flat() -> None:
    for shape, far in (((2, 2, 3), 1.0), ((3, 4), 0.2)):
        model = Association.of(Domain.of_shape(shape), ("A", "B"))
        generator = np.random.default_rng(4)
        curve = _Curve(model, *model.fitted(generator.gamma(6.0, 0.5, shape)))
        for place in (curve.beta, curve.beta - far, curve.beta + far):
            means = curve.means(place)
            curve.add(place, generator.poisson(means, (1_000, *shape)))
        near = np.abs(curve._grid - curve.beta) <= far
        # A wrong share of a place, or a weight to the power two, is off by more than one.
        assert np.ptp(curve.log[near]) < 0.25
        assert np.ptp(curve.log) > 0.25 or shape == (2, 2, 3)


def test_the_interval_of_a_release() -> None:
    table = Table.dense(Domain.of_shape((2, 2, 3)), 4 * STRATA + 6)
    release = (
        methods()["discrete_laplace"]
        .run(Problem(table), {"margins": "A:B:C", "epsilon": 1.0}, Randomness.seeded(3))
        .release
    )
    found = log_odds(Reading.of([release], RELEASE_ALONE, Randomness.seeded(1)), ("A", "B"))
    low, high = found.interval
    assert low < found.estimate < high and found.level == 0.95 and found.effective > 100
    alone = _Curve(
        model := Association.of(table.domain, ("A", "B")),
        *model.fitted(table.counts.astype(np.float64)),
    )
    alone.add(alone.beta, table.counts[None])
    # Noise takes something, and not nearly all.
    near, far = alone.quantiles([0.025, 0.975])
    assert 1.0 < (high - low) / (far - near) < 3.0


def test_what_has_no_odds_ratio_is_refused() -> None:
    domain = Domain.of_shape((2, 3))
    with pytest.raises(ParameterError, match="with itself"):
        Association.of(domain, ("A", "A"))
    with pytest.raises(ParameterError, match="one category"):
        Association.of(Domain.of_shape((2, 1)), ("A", "B"))


def test_the_places_of_the_draws_have_their_shares() -> None:
    """A release that makes large statistics unlikely, by a law that is known at each place."""
    model = Association.of(Domain.of_shape((3, 4)), ("A", "B"))
    generator = np.random.default_rng(8)
    curve = _Curve(model, *model.fitted(generator.gamma(6.0, 0.5, (3, 4))))
    tilt = np.exp(-0.08 * model.scores)
    places = (curve.beta, curve.beta - 0.2, curve.beta + 0.2)
    for place in places:
        means = curve.means(place) * tilt
        curve.add(place, generator.poisson(means, (1_000, 3, 4)))
    near = np.abs(curve._grid - curve.beta) <= 0.2
    true = np.array([(curve.means(b) * (tilt - 1)).sum() for b in curve._grid[near]])
    found = curve.log[near]
    assert np.ptp(true) > 0.5
    assert np.abs((found - found.mean()) - (true - true.mean())).max() < 0.1
