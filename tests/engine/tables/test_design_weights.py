"""Sums of design weights: exact arithmetic against fractions."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from tabprotect.engine.errors import InputError
from tabprotect.engine.tables.design_weights import SCALE, DesignWeights, rounded, times_mean
from tabprotect.engine.tables.domain import Domain
from tabprotect.engine.tables.groupings.grouping import Grouping
from tabprotect.engine.tables.table import Table


@given(count=st.integers(1, 10**9), noise=st.integers(-200, 200), total=st.integers(0, 4 * 10**16))
@example(count=2, noise=1, total=1_000_000)  # 1.5 to 2
@example(count=2, noise=-1, total=1_000_000)  # 0.5 to 0
@example(count=3, noise=1, total=1_875_000)  # 2.5 to 2
@example(count=3, noise=-3, total=7_000_001)
@example(count=7, noise=1, total=437_500)  # 0.5 exactly: to 0
@example(count=7, noise=1, total=437_501)
def test_perturbed_count_times_mean_weight(count: int, noise: int, total: int) -> None:
    noise = max(noise, -count)
    exact = Fraction(count + noise) * Fraction(total, SCALE) / count
    found = times_mean(np.array([total]), np.array([count]), np.array([noise]))
    # round() of a fraction is half to even.
    assert found.dtype == np.int64 and found.tolist() == [round(exact)]


def test_an_empty_cell_has_no_estimate() -> None:
    zero = np.zeros(2, dtype=np.int64)
    assert times_mean(zero, zero, zero).tolist() == [0, 0]
    halves = np.array([500_000, 1_500_000, 2_500_000, 2_500_001, 2_499_999])
    assert rounded(halves).tolist() == [0, 2, 2, 3, 2]


@pytest.mark.parametrize("sparse", [False, True])
def test_totals_are_rounded_once(sparse: bool) -> None:
    domain = Domain.of({"a": ["x", "y"], "b": ["p", "q", "r"]})
    sums = Table.dense(domain, [[400_000, 400_000, 0], [2_500_000, 0, 3_600_000]])
    if sparse:
        sums = Table.sparse(domain, *sums.cells)
    weights = DesignWeights(sums, 400_000, 3_600_000)
    assert weights.rounded(domain).counts.tolist() == [[0, 0, 0], [2, 0, 4]]
    assert weights.rounded(domain.project(("a",))).counts.tolist() == [1, 6]
    assert weights.margin(("a",)).sums.counts.tolist() == [800_000, 6_100_000]
    grouping = Grouping("bb", "b", ("s", "s", "t"))
    groups = Domain((grouping.variable,))
    assert weights.rounded(groups, (grouping,)).counts.tolist() == [3, 4]


@pytest.mark.parametrize(("low", "high", "cell"), [(-1, 1, 0), (2, 1, 0), (1, 2, -1)])
def test_negative_weights(low: int, high: int, cell: int) -> None:
    with pytest.raises(InputError, match="0 or more"):
        DesignWeights(Table.dense(Domain.of_shape((2,)), [cell, 3]), low, high)


def test_nothing_is_shown() -> None:
    shown = repr(DesignWeights(Table.dense(Domain.of_shape((2,)), [7, 123456]), 5, 9))
    assert "123456" not in shown
