"""The plain and the generalised shuttle: both contain the true bounds."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tabprotect.engine.bounds import shuttle
from tabprotect.engine.bounds.bounding import bounds
from tabprotect.engine.bounds.shuttle import shuttle_bounds
from tabprotect.engine.errors import InputError
from tabprotect.engine.tables.domain import Domain
from tabprotect.engine.tables.margins import margins_of_order
from tabprotect.engine.tables.table import Table


def plain(table: Table, release: tuple[tuple[str, ...], ...]) -> tuple[list[int], list[int]]:
    """Bounds of all cells by the plain form."""
    limit, shuttle.LATTICE_CELLS = shuttle.LATTICE_CELLS, 0
    try:
        found = shuttle_bounds(table, release, np.arange(table.domain.size))
    finally:
        shuttle.LATTICE_CELLS = limit
    return found.lower.tolist(), found.upper.tolist()


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 2**32))
def test_true_within_generalised_within_plain(seed: int) -> None:
    generator = np.random.default_rng(seed)
    shape = tuple(int(n) for n in generator.integers(2, 4, 3))
    domain = Domain.of_shape(shape)
    table = Table.dense(domain, generator.poisson(generator.choice([0.4, 1.0, 3.0]), shape))
    release = margins_of_order(domain, 2)
    true = bounds(table, release)
    general = shuttle_bounds(table, release, np.arange(domain.size))
    low, high = plain(table, release)
    assert (low <= general.lower).all() and (general.lower <= true.lower).all()
    assert (high >= general.upper).all() and (general.upper >= true.upper).all()


def test_the_plain_form_closes_a_row_with_one_open_cell() -> None:
    # Zero sums leave a single cell open in the first row: its count is known.
    counts = np.array([[[0, 7], [0, 0]], [[2, 1], [3, 4]]])
    table = Table.dense(Domain.of_shape((2, 2, 2)), counts)
    release = margins_of_order(table.domain, 2)
    low, high = plain(table, release)
    assert (low[:4], high[:4]) == ([0, 7, 0, 0], [0, 7, 0, 0])


def test_the_plain_form_raises_lower_bounds_by_hand() -> None:
    # Row 5 of cells that hold at most 2 and 4: at least 1 and 3.
    table = Table.dense(Domain.of_shape((2, 2)), [[2, 3], [0, 1]])
    low, high = plain(table, (("A",), ("B",)))
    assert high == [2, 4, 1, 1]
    assert low == [1, 3, 0, 0]


def test_what_is_too_large_says_so() -> None:
    table = Table.dense(Domain.of_shape((2, 2, 2)), np.full((2, 2, 2), 2**55))
    with pytest.raises(InputError, match="too large"):
        shuttle_bounds(table, margins_of_order(table.domain, 2), np.arange(8))
