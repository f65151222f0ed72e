"""Spreads over seeds, and the Pareto front against its definition."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tabprotect.engine.assessment.comparing.over_seeds import Spread, front


def test_a_spread() -> None:
    found = Spread.of([1.0, None, 2.0, 3.0])
    assert found is not None
    assert (found.runs, found.mean, found.deviation) == (3, 2.0, 1.0)
    assert not found.shares
    assert (found.low, found.high) == pytest.approx((1.05, 2.95))
    assert Spread.of([None]) is None
    alone = Spread.of([4.0])
    assert alone is not None and (alone.deviation, alone.low, alone.high) == (0.0, 4.0, 4.0)


def test_few_values_are_told_by_their_shares() -> None:
    found = Spread.of([0.5, 1.0, 0.5 + 1e-12, None, 0.5])
    assert found is not None and found.shares == {0.5: 0.75, 1.0: 0.25}
    for many in ([1.0] * 9, [float(n) for n in range(5)] * 4, [1.0, 2.0, 3.0]):
        spread = Spread.of(many)
        assert spread is not None and not spread.shares


# How fast points are drawn tells of the machine alone.
@settings(suppress_health_check=[HealthCheck.too_slow], deadline=None)
@given(
    st.lists(st.tuples(*[st.one_of(st.none(), st.integers(0, 3))] * 2), max_size=8),
    st.tuples(st.booleans(), st.booleans()),
)
def test_the_front_is_what_nobody_beats(
    points: list[tuple[int | None, int | None]], up: tuple[bool, bool]
) -> None:
    def better(a: int, b: int, higher: bool) -> bool:
        return a > b if higher else a < b

    def beats(a: tuple[int, int], b: tuple[int, int]) -> bool:
        return not any(better(b[k], a[k], up[k]) for k in (0, 1)) and any(
            better(a[k], b[k], up[k]) for k in (0, 1)
        )

    there = {k: p for k, p in enumerate(points) if None not in p}
    expected = [
        k
        for k, p in there.items()
        if not any(beats(q, p) for q in there.values())  # type: ignore[arg-type]
    ]
    array = np.array(points, dtype=float).reshape(-1, 2)
    assert front(array, up) == expected
