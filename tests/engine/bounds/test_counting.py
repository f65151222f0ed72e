"""Numbers of two-way tables: printed ones, brute force, and estimates beside exact numbers."""

from __future__ import annotations

import itertools
import json
import math
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tabprotect.engine.bounds import counting
from tabprotect.engine.bounds.counting import count_tables
from tabprotect.engine.errors import Interrupted, ParameterError
from tabprotect.engine.progress import Cancellable
from tabprotect.engine.randomness import Randomness

REFERENCE = json.loads((Path(__file__).parents[2] / "reference" / "counts.json").read_text())


def test_duncan_roehrig() -> None:
    found = count_tables([20, 55, 25, 35], [50, 35, 30, 20])
    assert (found.count, found.exact, found.error) == (REFERENCE["margins_only"], True, None)


def test_known_sequences() -> None:
    # Square tables with all totals 2, and with all totals 3 (OEIS A000681, A001500).
    assert count_tables([2] * 10, [2] * 10).count == 3930730108200
    assert count_tables([3] * 6, [3] * 6).count == 20933840
    # All totals 1: permutations, beyond int64 from 21 on.
    assert count_tables([1] * 25, [1] * 25).count == math.factorial(25)
    # Two rows of 10^6: every first row is a table.
    assert count_tables([10**6, 10**6], [10**6, 10**6]).count == 10**6 + 1


def test_huge_totals() -> None:
    # Two by two: the one free count goes from 0 to the smallest total.
    assert count_tables([10**12, 10**12], [10**12, 10**12]).count == 10**12 + 1
    assert count_tables([10**12, 5], [10**12 + 2, 3]).count == 4
    # Two by three of totals n, n, n and 3n/2 twice: (3 n^2 + 6 n + 4) / 4 for even n.
    n = 10**12
    found = count_tables([3 * n // 2] * 2, [n] * 3)
    assert (found.count, found.exact) == ((3 * n * n + 6 * n + 4) // 4, True)


def test_huge_totals_are_estimated_in_bounded_memory() -> None:
    # Three by three, all totals n: (n+1)(n+2)(n^2+3n+4)/8 (MacMahon).
    n = 10**12
    found = count_tables([n] * 3, [n] * 3, randomness=Randomness.seeded(5))
    true = (n + 1) * (n + 2) * (n * n + 3 * n + 4) // 8
    assert not found.exact
    assert found.error is not None
    assert abs(found.count - true) < 5 * found.error < 0.2 * true


def by_hand(rows: list[int], columns: list[int]) -> int:
    """One row after another, every way to fill it."""
    if not rows:
        return int(not any(columns))
    ways = itertools.product(*(range(min(rows[0], c) + 1) for c in columns))
    return sum(
        by_hand(rows[1:], [c - x for c, x in zip(columns, way, strict=True)])
        for way in ways
        if sum(way) == rows[0]
    )


@settings(max_examples=60, deadline=None)
@given(st.lists(st.lists(st.integers(0, 3), min_size=3, max_size=3), min_size=1, max_size=3))
def test_every_table_by_hand(table: list[list[int]]) -> None:
    rows, columns = [sum(row) for row in table], [sum(c) for c in zip(*table, strict=True)]
    assert count_tables(rows, columns).count == by_hand(rows, columns)
    assert count_tables(columns, rows).count == by_hand(rows, columns)


@pytest.mark.parametrize(
    ("rows", "columns"),
    [([20, 55, 25, 35], [50, 35, 30, 20]), ([3] * 6, [3] * 6), ([2] * 10, [2] * 10), ([9, 1, 5], [7, 8])],
)
def test_estimates_come_near(rows: list[int], columns: list[int], monkeypatch: pytest.MonkeyPatch) -> None:
    exact = count_tables(rows, columns).count
    monkeypatch.setattr(counting, "MOST_STEPS", 0)
    monkeypatch.setattr(counting, "MOST_TERMS", 0)
    found = count_tables(rows, columns, randomness=Randomness.seeded(1), draws=3000)
    assert not found.exact and found.error is not None
    assert 0 < found.error < 0.05 * exact
    assert abs(found.count - exact) < 4.5 * found.error


def test_numbers_beyond_floats() -> None:
    found = count_tables([10**5] * 10, [10**5] * 10, randomness=Randomness.seeded(2), draws=50)
    assert not found.exact and isinstance(found.error, int) and found.count > 10**308


@pytest.mark.parametrize(
    ("rows", "columns", "wrong"),
    [
        ([1, 2], [4], {"cols"}),
        ([], [1], {"rows"}),
        ([], [], {"rows", "cols"}),
        ([-1, 2], [1], {"rows"}),
        ([2**60], [2**60], {"rows"}),
    ],
)
def test_totals_of_no_table(rows: list[int], columns: list[int], wrong: set[str]) -> None:
    with pytest.raises(ParameterError) as error:
        count_tables(rows, columns)
    assert set(error.value.fields) == wrong


def test_empty_rows_count_for_nothing() -> None:
    assert count_tables([0, 3, 0], [1, 2, 0]).count == 1
    assert count_tables([0], [0, 0]).count == 1


def test_cancelled() -> None:
    progress = Cancellable()
    progress.cancel()
    with pytest.raises(Interrupted):
        count_tables([5, 5], [5, 5], progress=progress)
