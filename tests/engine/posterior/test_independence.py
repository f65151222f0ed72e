"""The test of independence and Cramer's V with its interval, against their definitions."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from scipy.optimize import brentq
from scipy.stats import nbinom, ncx2, poisson

from tabprotect.engine.posterior.independence import Independence, ModelTest, independence_model
from tabprotect.engine.posterior.strength import SPREADS, Strength, likely, upper_tails
from tabprotect.engine.tables.domain import Domain


def strength(counts: list[list[int]], level: float = 0.95) -> Strength:
    found = Strength.of_table(np.array(counts), level)
    assert found is not None
    return found


def test_the_tails_are_those_of_the_ratio_of_likelihoods() -> None:
    """All of it above at no association, half of it far away: as Feldman and Cousins for a normal law."""
    for degrees in (1, 12):
        far, upper = upper_tails(degrees, 0.95)
        assert upper[0] == pytest.approx(0.05, abs=2e-3)
        assert upper[-1] == pytest.approx(0.025, abs=3e-3)
        assert (np.diff(upper) < 2e-3).all() and len(far) == len(upper)


def test_it_begins_at_0_where_independence_stands_and_ends_at_1() -> None:
    generator = np.random.default_rng(3)
    kept = 0
    for table in generator.poisson(5.0, (60, 3, 3)):
        p = ModelTest.of_table(independence_model(Domain.of_shape((3, 3))), table).p
        low = strength(table.tolist()).interval[0]
        assert (low == 0) == (p >= 0.05), (p, low)
        kept += low == 0
    assert 45 < kept < 60
    low, high = strength([[9, 0], [0, 9]]).interval
    assert 0.5 < low < 1 and high == 1
    counts = np.array([[20, 5, 9], [6, 18, 12]])
    found, total = strength(counts.tolist()), 70
    value = ModelTest.of_table(independence_model(Domain.of_shape((2, 3))), counts).statistic
    # The noncentral law itself (Steiger and Fouladi), with half of .05 on each side.
    for end, share in zip(found.interval, (0.975, 0.025), strict=True):
        true = brentq(lambda v, share=share: ncx2.cdf(value, 2, v * v * total) - share, 0.01, 1)
        assert end == pytest.approx(true, abs=0.04)
    assert found.interval[0] < found.estimate < found.interval[1]


def test_what_a_release_leaves_open_makes_it_wider() -> None:
    tables = np.array([[[9, 3], [2, 8]], [[8, 4], [3, 7]], [[10, 2], [1, 9]]])
    means = np.full(4, 5.5)
    one, three = (np.exp(likely(some.reshape(-1, 4), means)) for some in (tables[:1], tables))
    known = Strength.of(tables[:1], one / one.sum(), means, 0.95)
    spread = Strength.of(tables, three / three.sum(), means, 0.95)
    assert known is not None and spread is not None
    widths = [found.interval[1] - found.interval[0] for found in (known, spread)]
    assert 1.0 < widths[1] / widths[0] < 1.6
    # What a test of the release says of 0 holds.
    for stands in (True, False):
        told = Strength.of(tables, three / three.sum(), means, 0.95, stands=stands)
        assert told is not None and (told.interval[0] == 0) == stands


def test_the_chance_of_a_table_is_the_negative_binomial_one() -> None:
    tables, means = np.array([[0, 3], [7, 1]]), np.array([2.0, 4.0])
    found = likely(tables, means)
    for k in (0, 10, 29):
        size = 1 / SPREADS[k] ** 2
        true = nbinom.logpmf(tables, size, size / (size + means)).sum(axis=1)
        assert found[:, k] == pytest.approx(true)


@pytest.mark.parametrize("odds", [1.0, 9.0])
def test_every_table_with_its_chance_is_covered_often_enough(odds: float) -> None:
    """All likely 2 x 2 tables of Poisson counts of mean 2, each with its probability."""
    side = 4 * math.sqrt(odds) / (1 + math.sqrt(odds))
    law = poisson.pmf(np.arange(8)[:, None], [side, 4 - side, 4 - side, side])
    truth = abs(2 * side - 4) / 4
    covered = seen = 0.0
    for cells in itertools.product(range(8), repeat=4):
        chance = float(np.prod(law[cells, range(4)]))
        if chance < 4e-4:  # the empty table is one of these
            continue
        seen += chance
        low, high = strength([list(cells[:2]), list(cells[2:])]).interval
        covered += chance * (low <= truth <= high)
    assert seen > 0.75 and covered / seen > 0.95


def test_what_it_cannot_tell_is_left_out() -> None:
    cube = Domain.of_shape((2, 2, 2))
    counts = np.arange(8).reshape(2, 2, 2)
    found = Independence.of(cube, None, None, counts, 0.95)
    assert found.test is None and found.strength is None and found.published_strength is None
    assert found.published_test is not None
    told = found.as_json(strength=True)
    assert (told["test"], told["interval"], told["published_interval"]) == (None, None, None)
    assert "taken as true" in found.lines(strength=False)[0] and not found.lines(strength=True)
    assert Strength.of_table(counts, 0.95) is None and Strength.of_table(counts[0] * 0, 0.95) is None
