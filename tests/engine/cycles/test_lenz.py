"""What Lenz prints of unchanged columns and of expected counts, by listing all coins."""

from __future__ import annotations

import itertools

import numpy as np
import pytest


def cycles(rows: int, columns: int) -> np.ndarray:
    """The cycles as printed, int64 (columns, rows, columns)."""
    out = np.zeros((columns, rows, columns), dtype=np.int64)
    for i in range(columns):
        for k in range(rows):
            last = k == rows - 1
            out[i, k, (k + i) % columns] += 1
            out[i, k, i if last else (k + 1 + i) % columns] -= 1
    assert not out.sum(axis=1).any() and not out.sum(axis=2).any()
    return out


def coins(number: int) -> np.ndarray:
    return np.array(list(itertools.product((-1, 0, 1), repeat=number)))


@pytest.mark.parametrize("shape", [(3, 3), (4, 4), (5, 3), (6, 4)])
def test_corollary_1_for_at_least_as_many_rows_as_columns(shape: tuple[int, int]) -> None:
    """An unchanged column means an unchanged table, where no cycle is blocked."""
    changes = np.tensordot(coins(shape[1]), cycles(*shape), axes=1)
    still = (changes == 0).all(axis=1).any(axis=1)
    assert still.any() and not still.all()
    assert not changes[still].any()


def test_corollary_1_is_false_for_fewer_rows() -> None:
    change = np.tensordot([-1, 0, -1], cycles(2, 3), axes=1)
    assert not change[:, 0].any() and change[:, 1].any() and change[:, 2].any()


def expected_change(rule: str, alpha: float, beta: float) -> np.ndarray:
    """The mean change of a sparse table in one pass, by all coins."""
    start, every = np.array([[1, 0, 2], [2, 2, 1], [3, 1, 1]]), cycles(3, 3)
    chance = {1: alpha, -1: beta, 0: 1 - alpha - beta}
    out = np.zeros(start.shape)
    for outcome in coins(3):
        table = start.copy()
        for coin, cycle in zip(outcome, every, strict=True):
            zero = rule == "any_zero" and (table[cycle != 0] == 0).any()
            below = rule == "negative" and (table + coin * cycle < 0).any()
            if not (zero or below):
                table = table + coin * cycle
        out += float(np.prod([chance[coin] for coin in outcome.tolist()])) * (table - start)
    return out


def test_lemma_1_without_blocking_only() -> None:
    """The expected change is alpha less beta times the sum of the cycles, here of 0."""
    two = cycles(3, 3)[:2]
    each = np.tensordot(coins(2), two, axes=1)
    chance = np.array([np.prod([{1: 0.5, 0: 0.3, -1: 0.2}[c] for c in row]) for row in coins(2)])
    assert np.tensordot(chance, each, axes=1) == pytest.approx((0.5 - 0.2) * two.sum(axis=0))
    assert expected_change("none", 0.5, 0.2) == pytest.approx(0)
    # With equal chances a rule that blocks both ways keeps it, and one that blocks one way does not.
    assert expected_change("any_zero", 0.25, 0.25) == pytest.approx(0)
    assert np.abs(expected_change("negative", 0.25, 0.25)).max() > 0.05
    assert np.abs(expected_change("any_zero", 0.5, 0.2)).max() > 0.05
