"""Move sets: exact verification of any set of margins."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from move_cases import moves_of

from tabprotect.engine.cycles.designs import elementary
from tabprotect.engine.errors import InputError
from tabprotect.engine.tables.domain import Domain
from tabprotect.engine.tables.margins import margins_of_order
from tabprotect.engine.tables.moves import MoveSet


@settings(max_examples=80, deadline=None)
@given(
    shape=st.sampled_from([(2, 3), (3, 3), (2, 2, 3), (2, 2, 2, 2)]), order=st.integers(0, 3), data=st.data()
)
def test_violations_are_the_dense_margins(shape: tuple[int, ...], order: int, data: st.DataObject) -> None:
    domain = Domain.of_shape(shape)
    margins = margins_of_order(domain, min(order, domain.ndim - 1))
    size = domain.size
    arrays = [
        np.reshape(row, shape)
        for row in data.draw(
            st.lists(
                st.lists(st.sampled_from([-1, 0, 1]), min_size=size, max_size=size).filter(any),
                min_size=1,
                max_size=3,
            )
        )
    ]
    moves = MoveSet.from_arrays(domain, arrays, margins=margins)
    expected = []
    for i, array in enumerate(arrays):
        for names in margins:
            axes = tuple(a for a, n in enumerate(domain.names) if n not in names)
            sums = array.sum(axis=axes)
            for cell in np.argwhere(sums != 0) if sums.ndim else ([()] if sums else []):
                index = tuple(int(x) for x in cell)
                expected.append((i, names, index, int(sums[index])))
    found = [(v.cycle, v.margin, v.index, v.amount) for v in moves.violations()]
    assert found == sorted(expected)
    assert len(moves.violations(most=1)) == min(1, len(expected))


def test_cells_round_trip_and_take() -> None:
    moves = elementary(Domain.of_shape((3, 3)))
    assert moves_of(moves.domain, moves.as_cells()) == moves
    assert moves.take(range(len(moves))) == moves
    back = moves.take([4, 2])
    assert np.array_equal(back.array(0), moves.array(4))
    assert np.array_equal(back.array(1), moves.array(2))


def test_moves_are_read_only_and_renamed() -> None:
    moves = elementary(Domain.of_shape((3, 3)))
    with pytest.raises(ValueError, match="read-only"):
        moves.cells[0] = 5
    named = moves.on(Domain.of({"x": list("abc"), "y": list("abc")}))
    assert named.margins == (("x",), ("y",))
    with pytest.raises(InputError, match="3 x 3 table, this one is 2 x 2"):
        moves.on(Domain.of_shape((2, 2)))


def test_entries_other_than_signs_are_refused() -> None:
    with pytest.raises(InputError, match="other than"):
        MoveSet.from_arrays(Domain.of_shape((2, 2)), [[[2, -2], [-2, 2]]])
    with pytest.raises(InputError, match="shape"):
        MoveSet.from_arrays(Domain.of_shape((2, 2)), [[1, -1]])
