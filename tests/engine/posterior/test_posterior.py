"""Figures of a posterior against plain sums over its distributions; analyses over draws."""

from __future__ import annotations

from math import log2

import numpy as np
import pytest
from scipy import stats

from tabprotect.engine.cycles.designs import design
from tabprotect.engine.errors import ParameterError
from tabprotect.engine.posterior import analysis
from tabprotect.engine.posterior.how_found import how_right
from tabprotect.engine.posterior.infer import infer
from tabprotect.engine.posterior.posterior import Posterior
from tabprotect.engine.release.likelihood import MoveSequence
from tabprotect.engine.sensitivity.small_count import SmallCount
from tabprotect.engine.tables.domain import Domain
from tabprotect.engine.tables.table import Table

COUNTS = np.array([[0, 1, 3, 2], [2, 1, 0, 5], [7, 2, 1, 1]])


@pytest.fixture(scope="module")
def found() -> Posterior:
    moves = design(Domain.of_shape((3, 4)), "bands")
    table = Table.dense(moves.domain, COUNTS)
    return infer(MoveSequence(table, moves, 0.35, 0.25, 2, "negative"))


def test_figures_of_every_cell(found: Posterior) -> None:
    truth = np.random.default_rng(0).integers(0, 6, COUNTS.shape)
    at_truth, at_two = found.probability(truth), found.probability(2)
    small = found.small(SmallCount(1, 2))
    low, high = found.interval(0.8)
    for index in np.ndindex(3, 4):
        values, chances = found.distribution(index)
        law = dict(zip(values.tolist(), chances.tolist(), strict=True))
        assert values.tolist() == sorted(values.tolist()) and min(law) >= 0
        assert sum(law.values()) == pytest.approx(1)
        mean = sum(v * p for v, p in law.items())
        assert found.mean[index] == pytest.approx(mean)
        assert found.interval_of(index, 0.8) == (low[index], high[index])
        assert found.standard_deviation[index] ** 2 == pytest.approx(
            sum(p * (v - mean) ** 2 for v, p in law.items())
        )
        assert found.entropy[index] == pytest.approx(-sum(p * log2(p) for p in law.values()))
        top = max(law.values())
        nearest = min((abs(v - COUNTS[index]), v) for v, p in law.items() if p > top - 1e-9)[1]
        assert found.mode[index] == nearest
        assert found.mode_matches[index] == (law.get(int(COUNTS[index]), 0) > top - 1e-9)
        assert at_truth[index] == pytest.approx(law.get(int(truth[index]), 0))
        assert at_two[index] == pytest.approx(law.get(2, 0))
        assert small[index] == pytest.approx(law.get(1, 0) + law.get(2, 0))
        runs = [
            (b - a, -sum(law.get(v, 0) for v in range(a, b + 1)), a, b)
            for a in law
            for b in law
            if a <= b and sum(law.get(v, 0) for v in range(a, b + 1)) >= 0.8 - 1e-9
        ]
        assert (low[index], high[index]) == min(runs)[2:]
    assert found.probability(10**6).max() == 0
    assert found.mode_is_published == bool(found.mode_matches.all())


def test_how_likely_small_published_counts_are_the_true_ones(found: Posterior) -> None:
    right = found.right()
    assert list(right) == [0, 1, 2, 3]
    for count, (cells, chance) in right.items():
        has = [index for index in np.ndindex(3, 4) if COUNTS[index] == count]
        law = [dict(zip(*(one.tolist() for one in found.distribution(index)), strict=True)) for index in has]
        assert cells == len(has) and chance == pytest.approx(sum(one[count] for one in law) / len(has))
    assert how_right(found).endswith(f"3: {100 * right[3][1]:.0f} in 100.")
    assert list(found.right(1)) == [0, 1]


def test_interval_of_everything(found: Posterior) -> None:
    low, high = found.interval(1.0)
    for index in np.ndindex(3, 4):
        values, _ = found.distribution(index)
        assert (low[index], high[index]) == (values[0], values[-1])
    with pytest.raises(ParameterError):
        found.interval(0.0)


def test_draws_have_the_marginals(found: Posterior) -> None:
    tables = found.sample(20_000, np.random.default_rng(1))
    assert tables.dtype == np.int64
    for value in range(8):
        share = (tables == value).mean(axis=0)
        assert np.abs(share - found.probability(value)).max() < 5 * 0.5 / np.sqrt(20_000)


def test_chi_square_and_cramers_v() -> None:
    rng = np.random.default_rng(2)
    for shape in [(3, 4), (2, 3, 4)]:
        tables = rng.poisson(6.0, (5, *shape)) + 1
        expected = [stats.chi2_contingency(t, correction=False).statistic for t in tables]
        assert np.allclose(analysis.chi_square(tables), expected)
    two = rng.poisson(6.0, (5, 3, 4)) + 1
    assert np.allclose(
        analysis.cramers_v(two), [stats.contingency.association(t, method="cramer") for t in two]
    )
    assert np.isnan(analysis.chi_square(np.zeros((1, 2, 2), dtype=np.int64))).all()
    with pytest.raises(ParameterError):
        analysis.cramers_v(np.ones((1, 2, 2, 2), dtype=np.int64))


def test_odds_ratio() -> None:
    domain = Domain.of_shape((2, 3, 2))
    table = np.arange(1, 13).reshape(1, 2, 3, 2)
    ratio = analysis.odds_ratio(domain, (0, 1, 1), (1, 2, 1))(table)[0]
    assert ratio == pytest.approx(4 * 12 / (6 * 10))
    with pytest.raises(ParameterError):
        analysis.odds_ratio(domain, (0, 0, 0), (1, 1, 1))


def test_analysis_over_draws(found: Posterior) -> None:
    summary = analysis.analyse(
        found,
        analysis.chi_square,
        "chi-square of independence",
        generator=np.random.default_rng(3),
        draws=4000,
    )
    assert summary.published == pytest.approx(float(analysis.chi_square(COUNTS[None])[0]))
    # The mean over independent draws of another generator agrees within its error.
    other = analysis.chi_square(found.sample(4000, np.random.default_rng(4)))
    error = summary.standard_deviation / np.sqrt(4000)
    assert abs(summary.mean - other.mean()) < 5 * np.sqrt(2) * error
    quantiles = list(summary.quantiles.values())
    assert quantiles == sorted(quantiles) and summary.undefined == 0
    odds = analysis.analyse(
        found,
        analysis.odds_ratio(found.published.domain, (0, 0), (1, 1)),
        "odds ratio",
        generator=np.random.default_rng(5),
        draws=500,
    )
    assert odds.undefined == int(np.isnan(odds.values).sum())
