"""Cells that hold a row, against a look at every row."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tabprotect.engine.errors import ParameterError
from tabprotect.engine.sensitivity.rules.groups import GroupDisclosure

SHAPES = st.lists(st.integers(1, 3), min_size=1, max_size=3).map(tuple)


@given(SHAPES, st.integers(0, 2**32 - 1), st.sampled_from([0.6, 0.75, 0.9, 1.0]))
def test_held_rows_against_every_row(shape: tuple[int, ...], seed: int, share: float) -> None:
    counts = np.random.default_rng(seed).integers(0, 5, shape)
    found = GroupDisclosure(share).mask(counts)
    for cell in product(*map(range, shape)):
        rows = [
            counts[(*cell[:axis], slice(None), *cell[axis + 1 :])]
            for axis in range(len(shape))
            if shape[axis] > 1
        ]
        count = int(counts[cell])
        assert found[cell] == any(count and count >= share * int(row.sum()) for row in rows)


def test_all_of_a_large_row_is_told_from_all_but_one() -> None:
    most = 2**60
    assert GroupDisclosure().mask(np.array([[most, 0]])).tolist() == [[True, False]]
    assert GroupDisclosure().mask(np.array([[most, 1]])).tolist() == [[False, False]]
    assert GroupDisclosure(0.9).mask(np.array([[most, 1]])).tolist() == [[True, False]]


def test_half_a_row_discloses_nothing() -> None:
    with pytest.raises(ParameterError):
        GroupDisclosure(0.5)
