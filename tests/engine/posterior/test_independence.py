"""The test of independence and Cramer's V with its interval, against their definitions."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from scipy.stats import ncx2, poisson

from tabprotect.engine.posterior.independence import (
    Independence,
    ModelTest,
    Strength,
    independence_model,
)
from tabprotect.engine.tables.domain import Domain

DOMAIN = Domain.of_shape((2, 2))


def strength(counts: list[list[int]], level: float = 0.95) -> Strength:
    table = np.array(counts)
    domain = Domain.of_shape(table.shape)
    test = ModelTest.of_table(independence_model(domain), table)
    found = Strength.of(domain, test, float(table.sum()), level)
    assert found is not None
    return found


def test_the_ends_are_those_of_the_noncentral_law() -> None:
    counts = [[20, 5, 9], [6, 18, 12]]
    found, total = strength(counts), 70
    value = ModelTest.of_table(independence_model(Domain.of_shape((2, 3))), np.array(counts))
    for end, share in zip(found.interval, (0.975, 0.025), strict=True):
        below = ncx2.cdf(value.statistic, 2, end**2 * total)
        assert below == pytest.approx(share, abs=1e-9)
    assert found.estimate == pytest.approx(math.sqrt((value.statistic - 2) / total))
    # What a release tells by half is as a table of half the size.
    half = Strength.of(Domain.of_shape((2, 3)), ModelTest(9.0, 2.0, 0.0, 0.5), 100.0, 0.95)
    same = Strength.of(Domain.of_shape((2, 3)), ModelTest(9.0, 2.0, 0.0), 50.0, 0.95)
    assert half == same


def test_it_begins_at_0_where_independence_stands_and_ends_at_1() -> None:
    assert strength([[5, 5], [5, 5]]).interval[0] == 0
    # As wide as at a statistic of its mean: a table that fits too well is no proof.
    assert strength([[5, 5], [5, 5]]).interval[1] > 0.4
    low, high = strength([[9, 0], [0, 9]]).interval
    assert 0.5 < low < 1 and high == 1
    beyond = Strength.of(DOMAIN, ModelTest(40.0, 1.0, 0.0, 0.5), 18.0, 0.95)
    assert beyond is not None and beyond.interval[0] < 0.5


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
    found = Independence.of(cube, None, counts, 0.95)
    assert found.test is None and found.strength is None and found.published_strength is None
    assert found.published_test is not None
    told = found.as_json(strength=True)
    assert (told["test"], told["interval"], told["published_interval"]) == (None, None, None)
    assert "taken as true" in found.lines(strength=False)[0] and not found.lines(strength=True)
    assert Strength.of(DOMAIN, ModelTest(math.nan, 0.0, math.nan, 0.0), 9.0, 0.95) is None
