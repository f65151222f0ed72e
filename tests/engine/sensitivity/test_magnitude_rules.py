"""The rules for magnitude tables: worked cells, record by record, and what they imply."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tabprotect.engine.errors import InputError, ParameterError
from tabprotect.engine.sensitivity.contributors import Contributors
from tabprotect.engine.sensitivity.dominance import Dominance
from tabprotect.engine.sensitivity.n_rule import NRule
from tabprotect.engine.sensitivity.p_percent import PPercent

VALUES = st.lists(st.integers(0, 50), max_size=6)


def one_cell(values: list[int], top: int = 7) -> Contributors:
    cell = np.zeros(len(values), dtype=np.int64)
    return Contributors.of_records(cell, np.array(values, dtype=np.float64), cells=1, top=top)


@given(st.lists(VALUES, min_size=1, max_size=4))
def test_cells_are_gathered_from_records(cells: list[list[int]]) -> None:
    cell = np.array([c for c, values in enumerate(cells) for _ in values], dtype=np.int64)
    value = np.array([v for values in cells for v in values], dtype=np.float64)
    order = np.random.default_rng(1).permutation(len(cell))
    found = Contributors.of_records(cell[order], value[order], cells=len(cells), top=2)
    for c, values in enumerate(cells):
        assert found.number[c] == len(values) and found.total[c] == sum(values)
        assert list(found.largest[c]) == [*sorted(values, reverse=True), 0, 0][:2]


@given(VALUES, st.integers(1, 3), st.integers(1, 99), st.integers(1, 99))
def test_rules_by_definition(values: list[int], n: int, k: int, p: int) -> None:
    cell = one_cell(values)
    ordered = [*sorted(values, reverse=True), 0, 0, 0, 0]
    total = sum(values)
    assert Dominance(n, k).mask(cell)[0] == (100 * sum(ordered[:n]) > k * total)
    assert PPercent(p, n).mask(cell)[0] == (100 * (total - sum(ordered[: n + 1])) < p * ordered[0])
    assert NRule(n + 1).mask(cell)[0] == (1 <= len(values) <= n)
    # A wider coalition, a larger p or a smaller k never makes a cell safe.
    assert PPercent(p, n + 1).mask(cell)[0] >= PPercent(p, n).mask(cell)[0]
    assert PPercent(p + 1, n).mask(cell)[0] >= PPercent(p, n).mask(cell)[0]
    assert Dominance(n, k).mask(cell)[0] >= Dominance(n, (k + 100) / 2).mask(cell)[0]


def test_worked_cells() -> None:
    # 80 of 100 come from one; without the two largest 8 remain, 10 % of 80.
    cell = one_cell([80, 12, 5, 3])
    assert Dominance(1, 75).mask(cell)[0] and not Dominance(1, 80).mask(cell)[0]
    assert not PPercent(10).mask(cell)[0] and PPercent(10.1).mask(cell)[0]
    assert not NRule(4).mask(cell)[0] and NRule(5).mask(cell)[0]
    empty = one_cell([])
    assert not any(rule.mask(empty)[0] for rule in (Dominance(), PPercent(), NRule()))
    alone = one_cell([7])
    assert all(rule.mask(alone)[0] for rule in (Dominance(), PPercent(), NRule()))
    assert str(NRule(3).small_count) == "1..2"


def test_bad_input() -> None:
    short = one_cell([5, 4, 3, 2], top=2)
    with pytest.raises(InputError, match="only 2 are known"):
        Dominance(3, 75).mask(short)
    whole, half = np.array([1]), np.array([1.0])
    for largest, message in (
        ([[-1.0]], "negative"),
        ([[0.2, 0.5]], "descending"),
        ([[2.0]], "exceed"),
        ([[1.0], [1.0]], "different cells"),
    ):
        with pytest.raises(InputError, match=message):
            Contributors(whole, half, np.array(largest))
    for make in (
        lambda: NRule(1),
        lambda: Dominance(0),
        lambda: Dominance(1, 100),
        lambda: PPercent(0),
        lambda: PPercent(10, 0),
    ):
        with pytest.raises(ParameterError):
            make()
