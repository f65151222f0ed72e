"""Log-linear models given a release, against all originals listed and weighed by their definition."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from scipy.special import gammaln
from scipy.stats import chi2

from tabprotect.engine.belief import model_fit
from tabprotect.engine.belief.evidence import RELEASE_ALONE
from tabprotect.engine.belief.model_fit import ModelReading, fit_releases, log_evidence, score_test
from tabprotect.engine.posterior.independence import ModelTest
from tabprotect.engine.posterior.log_linear import LogLinear, Pooled
from tabprotect.engine.posterior.strength import Strength, likely
from tabprotect.engine.protection.problem import Problem
from tabprotect.engine.protection.registered import methods
from tabprotect.engine.randomness import Randomness
from tabprotect.engine.release.release import Release
from tabprotect.engine.tables.domain import Domain
from tabprotect.engine.tables.table import Table

DOMAIN = Domain.of_shape((2, 2))


def evidence(tables: np.ndarray) -> np.ndarray:
    """Log probability under independence, by the integral itself: gamma total, Dirichlet margins.

    Three parameters of four cells: 3/8 of an observation in each cell.
    """
    x = tables.reshape(-1, 2, 2)
    rows, columns, total = x.sum(axis=2) + 0.75, x.sum(axis=1) + 0.75, x.sum(axis=(1, 2)) + 1.5
    log = gammaln(rows).sum(axis=1) + gammaln(columns).sum(axis=1) - gammaln(total)
    return np.asarray(log - gammaln(x + 1).sum(axis=(1, 2)))


def rounded(counts: list[list[int]], seed: int = 3) -> Release:
    table = Table.dense(Domain.of_shape(np.shape(counts)), counts)
    names = "A:B - 1"
    method = methods()["random_rounding"]
    return method.run(Problem(table), {"margins": names}, Randomness.seeded(seed)).release


def fits(published: int) -> dict[int, float]:
    """True counts that can be rounded to a multiple of three, and how likely each is to be."""
    near = {published + off: 1 - abs(off) / 3 for off in range(-2, 3)}
    return {count: chance for count, chance in near.items() if count >= 0}


def test_the_weight_of_a_table_is_that_of_the_integral() -> None:
    tables = np.random.default_rng(1).poisson(3.0, (60, 4))
    off = log_evidence(LogLinear.of(DOMAIN, "A + B"), tables) - evidence(tables)
    # Laplace's approximation; without the information it would be off by more than one.
    assert np.ptp(off) < 0.25


def test_imputed_tables_and_the_test_are_those_of_all_originals() -> None:
    release = rounded([[7, 2], [1, 5]])
    laws = [fits(int(count)) for count in release.tables[0].table.counts.reshape(-1)]
    tables = np.array(list(itertools.product(*laws)))
    chance = np.log([np.prod([law[c] for law, c in zip(laws, t, strict=True)]) for t in tables])
    model = LogLinear.of(DOMAIN, "A + B")
    weights = np.exp(chance + evidence(tables))
    weights /= weights.sum()
    reading = ModelReading.of([release], RELEASE_ALONE, Randomness.seeded(1))
    imputed = reading.imputed(model, 2_000)
    found = imputed.tables.reshape(-1, 4)
    assert imputed.effective > 200 and imputed.note == ""
    spread = np.sqrt(weights @ tables**2 - (weights @ tables) ** 2)
    assert np.abs(found.mean(axis=0) - weights @ tables) == pytest.approx(0, abs=0.2 * spread.max())
    assert np.abs(found.std(axis=0) - spread).max() < 0.15
    # The test: the fit under itself, what is expected under it, and what stays open.
    means = np.full(4, 4.0)
    for _ in range(200):
        own = np.exp(chance + (tables * np.log(means)).sum(axis=1) - gammaln(tables + 1).sum(axis=1))
        own /= own.sum()
        expected = own @ tables
        means = model.fit(expected.reshape(1, 2, 2)).reshape(-1)
    off = tables - expected
    true = score_test(model, means, expected, (own[:, None] * off).T @ off)
    told = reading.tested(model)
    assert told is not None
    assert (told.degrees, true.degrees) == pytest.approx((1, 1))
    assert told.statistic == pytest.approx(true.statistic, rel=0.25) and true.statistic > 1
    assert told.share_known == pytest.approx(true.share_known, abs=0.1) and true.share_known < 0.9
    # Cramer's V: all originals, as likely as around independence of every spread.
    found_v = reading.independence(0.95).strength
    likeliest = np.maximum(means, 1e-3)
    for _ in range(50):
        log = likely(tables, likeliest) + chance[:, None]
        each = np.exp(log - log.max())
        each /= each.sum()
        likeliest = model.fit((each.sum(axis=1) @ tables).reshape(1, 2, 2)).reshape(-1)
    listed = Strength.of(tables.reshape(-1, 2, 2), each, likeliest, 0.95, stands=told.p >= 0.05)
    assert found_v is not None and listed is not None
    assert found_v.interval == pytest.approx(listed.interval, abs=0.05)
    assert found_v.estimate == pytest.approx(listed.estimate, abs=0.05)


def test_a_known_table_has_pearsons_test() -> None:
    counts = np.array([[9, 3, 4], [2, 8, 5]])
    model = LogLinear.of(Domain.of_shape((2, 3)), "A + B")
    means = model.fit(counts[None]).reshape(-1)
    found = score_test(model, means, counts.reshape(-1).astype(float), np.zeros((6, 6)))
    naive = ModelTest.of_table(model, counts)
    assert found.degrees == pytest.approx(2)
    assert (found.statistic, found.p) == pytest.approx((naive.statistic, naive.p))
    # What stays open takes from the freedom: half of all variances doubles the statistic's weight.
    half = score_test(model, means, counts.reshape(-1).astype(float), np.diag(means) / 2)
    assert half.statistic == pytest.approx(2 * found.statistic)
    assert half.p == pytest.approx(chi2.sf(2 * found.statistic, 2))


def test_a_mixture_of_normal_laws_has_its_own_interval() -> None:
    ends = Pooled.mixed(np.array([[0.0], [0.0]]), np.array([[1.0], [1.0]]))
    assert ends[:, 0] == pytest.approx([-1.959964, 1.959964], abs=1e-5)
    apart = Pooled.mixed(np.array([[-10.0], [10.0]]), np.array([[1.0], [1.0]]))
    assert apart[:, 0] == pytest.approx([-11.644854, 11.644854], abs=1e-5)


def test_too_few_draws_give_no_interval(monkeypatch: pytest.MonkeyPatch) -> None:
    release = rounded([[7, 2, 3], [1, 5, 4]])
    reading = ModelReading.of([release], RELEASE_ALONE, Randomness.seeded(1))
    reading.draws._independent = 0.01
    monkeypatch.setattr(model_fit, "PLACES", 0)
    poor = fit_releases(reading, LogLinear.of(release.domain, "A*B"), draws=50)
    assert "too few" in poor.note and np.isnan(poor.interval(0)).all()


def test_a_model_that_is_far_off_is_tested_too() -> None:
    """Nearly all lies on the diagonal: tables drawn around independence are far from the release."""
    counts = np.full((4, 4), 1) + 59 * np.eye(4, dtype=np.int64)
    problem = Problem(Table.dense(Domain.of_shape((4, 4)), counts))
    given = {"margins": "A:B", "epsilon": 2.0}
    release = methods()["discrete_laplace"].run(problem, given, Randomness.seeded(5)).release
    found = ModelReading.of([release], RELEASE_ALONE, Randomness.seeded(1)).independence(0.95)
    assert found.test is not None and found.test.p < 1e-6
    assert found.strength is not None and found.strength.interval[0] > 0.8
