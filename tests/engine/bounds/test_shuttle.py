"""The plain and the generalised shuttle: both contain the true bounds."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tabprotect.engine.bounds import shuttle
from tabprotect.engine.bounds.bounding import bounds
from tabprotect.engine.bounds.support import support
from tabprotect.engine.errors import InputError
from tabprotect.engine.tables.domain import Domain
from tabprotect.engine.tables.margins import margins_of_order
from tabprotect.engine.tables.table import Table

Release = tuple[tuple[str, ...], ...]


def by_shuttle(table: Table, release: Release) -> tuple[list[int], list[int]]:
    """Bounds of all cells."""
    opened = support(table, release)
    assert opened is not None
    found = shuttle.shuttle_bounds(table, release, opened)
    at = opened.positions(np.arange(table.domain.size))
    low, high = (opened.at(bound, at).tolist() for bound in found)
    return low, high


def plain(table: Table, release: Release) -> tuple[list[int], list[int]]:
    """The same by the plain form."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(shuttle, "LATTICE_CELLS", 0)
        return by_shuttle(table, release)


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 2**32))
def test_true_within_generalised_within_plain(seed: int) -> None:
    generator = np.random.default_rng(seed)
    shape = tuple(int(n) for n in generator.integers(2, 4, 3))
    domain = Domain.of_shape(shape)
    table = Table.dense(domain, generator.poisson(generator.choice([0.4, 1.0, 3.0]), shape))
    release = margins_of_order(domain, 2)
    true = bounds(table, release)
    lower, upper = by_shuttle(table, release)
    low, high = plain(table, release)
    assert (np.array(low) <= lower).all() and (lower <= true.lower).all()
    assert (np.array(high) >= upper).all() and (upper >= true.upper).all()


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
        by_shuttle(table, margins_of_order(table.domain, 2))
