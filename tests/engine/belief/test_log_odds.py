"""The common log odds ratio: its likelihood against the definition, and where a release says nothing."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from scipy.special import comb, gammaln

from tabprotect.engine.belief.association import Association
from tabprotect.engine.belief.evidence import RELEASE_ALONE
from tabprotect.engine.belief.log_odds import LEAST_TOLD, _Curve, log_odds
from tabprotect.engine.belief.model_fit import ModelReading
from tabprotect.engine.belief.table_draws import TableDraws
from tabprotect.engine.errors import ParameterError
from tabprotect.engine.posterior.prior import Uniform
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


def curve_of(table: np.ndarray) -> _Curve:
    """The likelihood of a known table."""
    draws = TableDraws()
    draws.take(Uniform(), table[None])
    model = Association.of(Domain.of_shape(table.shape), ("A", "B"))
    return _Curve(model, table + model.smoothing, draws)


def test_a_known_table_has_the_conditional_likelihood() -> None:
    curve = curve_of(STRATA)
    true = np.array([conditional(STRATA, beta) for beta in curve.grid])
    assert curve.log - curve.log[80] == pytest.approx(true - true[80], abs=1e-6)


def test_more_categories_have_their_conditional_likelihood_too() -> None:
    """By listing all tables with the sums of one."""
    table = np.array([[3, 1, 2], [1, 2, 1], [0, 1, 4]])
    curve = curve_of(table)
    inner = np.array(list(itertools.product(range(7), repeat=4))).reshape(-1, 2, 2)
    right = table.sum(axis=1)[:2] - inner.sum(axis=2)
    above = np.concatenate([inner, right[:, :, None]], axis=2)
    every = np.concatenate([above, table.sum(axis=0) - above.sum(axis=1)[:, None]], axis=1)
    every = every[(every >= 0).all(axis=(1, 2))]
    scores = np.outer(np.arange(3), np.arange(3))
    weights, statistic = -gammaln(every + 1).sum(axis=(1, 2)), (every * scores).sum(axis=(1, 2))
    near = np.abs(curve.grid - curve.grid[80]) <= 2.5
    true = np.array(
        [
            beta * (table * scores).sum() - np.log(np.exp(weights + beta * statistic).sum())
            for beta in curve.grid[near]
        ]
    )
    found = curve.log[near]
    # Without the information about the sums it would be off by more than a half.
    assert np.abs((found - found.max()) - (true - true.max())).max() < 0.05


def test_the_prior_of_a_known_table_is_that_of_jeffreys() -> None:
    """The square root of Fisher's information, by the law of the table given its sums."""
    curve = curve_of(STRATA[:, :, :1])
    (a, b), (c, d) = STRATA[:, :, 0].tolist()
    x = np.arange(max(0, b + d - a - b), min(c + d, b + d) + 1)
    each = comb(c + d, x) * comb(a + b, b + d - x) * np.exp(np.multiply.outer(curve.grid, x))
    each /= each.sum(axis=1, keepdims=True)
    spread = np.sqrt(each @ x**2 - (each @ x) ** 2)
    near = np.abs(curve.grid) <= 4
    found = np.exp(curve.prior)[near]
    assert found / found.max() == pytest.approx(spread[near] / spread[near].max(), rel=0.02)


@pytest.mark.parametrize("shape", [(2, 2, 1), (2, 2, 2)])
def test_tables_of_the_same_sums_share_one_law(shape: tuple[int, ...]) -> None:
    """All tables of a few records: their sums are as likely at every log odds ratio."""
    limit = 5 if shape[2] == 1 else 3
    every = np.array(list(itertools.product(range(limit), repeat=int(np.prod(shape)))))
    model = Association.of(Domain.of_shape(shape), ("A", "B"))
    draws = TableDraws()
    draws.take(Uniform(), every.reshape(-1, *shape))
    law = _Curve(model, np.ones(shape), draws).law(every)
    tables = every.reshape(-1, *shape)
    sums = np.stack([tables.sum(axis=1), tables.sum(axis=2)], axis=1).reshape(len(every), -1)
    # All others with these sums are listed, too.
    whole = sums.max(axis=1) < limit
    _, at = np.unique(sums[whole], axis=0, return_inverse=True)
    for k in range(at.max() + 1):
        chance = np.exp(law[whole][at.reshape(-1) == k]).sum(axis=0)
        assert chance == pytest.approx(np.full(len(chance), chance[0]), rel=1e-6)


def test_a_release_is_read_as_by_listing_all_originals() -> None:
    """A two by two table under Laplace noise: every original, weighed by definition."""
    table = Table.dense(Domain.of_shape((2, 2)), np.array([[4, 1], [2, 5]]))
    asked = {"margins": "A:B - 1", "epsilon": 1.0}
    method = methods()["discrete_laplace"]
    release = method.run(Problem(table), asked, Randomness.seeded(5)).release
    reading = ModelReading.of([release], RELEASE_ALONE, Randomness.seeded(1))
    found = log_odds(reading, ("A", "B"))
    every = np.array(list(itertools.product(range(16), repeat=4))).reshape(-1, 2, 2)
    # Noise of the cells alone: what is said of one says nothing of another.
    told = np.zeros(len(every))
    for first, second in itertools.product(range(2), repeat=2):
        values, chances = reading.found.distribution((first, second))
        each = np.full(int(values.max()) + 17, 1e-300)
        each[values] = chances
        told += np.log(each)[every[:, first, second]]
    model = Association.of(table.domain, ("A", "B"))
    draws = TableDraws()
    draws.take(Uniform(), every)
    curve = _Curve(model, table.counts + 0.5, draws)
    each = np.exp(curve.law(every) + told[:, None])
    density = each.sum(axis=0)
    scores = np.gradient(curve.law(every), curve.grid, axis=1)
    mean = (each * scores).sum(axis=0) / density
    open_ = (each * scores**2).sum(axis=0) / density - mean**2
    whole = -(each * np.gradient(scores, curve.grid, axis=1)).sum(axis=0) / density
    density *= np.sqrt(whole * np.maximum(1 - open_ / whole, LEAST_TOLD))
    ends = np.cumsum(density * np.gradient(curve.grid))
    low, middle, high = np.interp([0.025, 0.5, 0.975], ends / ends[-1], curve.grid)
    assert found.interval[0] == pytest.approx(low, abs=0.3)
    assert found.estimate == pytest.approx(middle, abs=0.15)
    assert found.interval[1] == pytest.approx(high, abs=0.3)


def test_the_interval_of_a_release() -> None:
    table = Table.dense(Domain.of_shape((2, 2, 3)), 4 * STRATA + 6)
    release = (
        methods()["discrete_laplace"]
        .run(Problem(table), {"margins": "A:B:C", "epsilon": 1.0}, Randomness.seeded(3))
        .release
    )
    found = log_odds(ModelReading.of([release], RELEASE_ALONE, Randomness.seeded(1)), ("A", "B"))
    low, high = found.interval
    assert low < found.estimate < high and found.level == 0.95 and found.effective > 100
    # Noise takes something, and not nearly all.
    near, far = curve_of(table.counts).quantiles([0.025, 0.975])
    assert 1.0 < (high - low) / (far - near) < 3.0


def test_what_has_no_odds_ratio_is_refused() -> None:
    domain = Domain.of_shape((2, 3))
    with pytest.raises(ParameterError, match="with itself"):
        Association.of(domain, ("A", "A"))
    with pytest.raises(ParameterError, match="one category"):
        Association.of(Domain.of_shape((2, 1)), ("A", "B"))
