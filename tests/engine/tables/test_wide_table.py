"""Tables with more possible cells than keys: their margins are those of a table with keys."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tabprotect.engine.errors import InputError
from tabprotect.engine.tables import wide_table
from tabprotect.engine.tables.domain import Domain
from tabprotect.engine.tables.table import Table
from tabprotect.engine.tables.variable import Level, Variable
from tabprotect.engine.tables.wide_table import WideTable, numbered

DOMAIN = Domain(
    (
        Variable("A", ("a", "b", "c"), (Level("big", ("x", "x", "y")),)),
        Variable("B", ("a", "b")),
        Variable("C", ("a", "b", "c", "d")),
    ),
    wide=True,
)
CELLS = st.lists(
    st.tuples(*(st.integers(0, size - 1) for size in DOMAIN.shape), st.integers(0, 3)), max_size=30
)


def both(cells: list[tuple[int, ...]]) -> tuple[WideTable, Table]:
    given = np.array(cells, dtype=np.int64).reshape(-1, 4).T
    plain = Domain(DOMAIN.variables)
    keys = np.ravel_multi_index(tuple(given[:3]), plain.shape) if len(cells) else given[0]
    return WideTable.of(DOMAIN, tuple(given[:3]), given[3]), Table.sparse(plain, keys, given[3])


@given(CELLS)
def test_margins_are_those_of_a_table_with_keys(cells: list[tuple[int, ...]]) -> None:
    wide, table = both(cells)
    for names in ([], ["A"], ["C", "A"], ["A@big", "B"], ["A", "B", "C"]):
        assert wide.margin(names) == table.margin(names)
    assert wide.total == table.total
    codes, counts = wide.listed
    keys = np.ravel_multi_index(tuple(codes), DOMAIN.shape) if len(counts) else counts
    assert keys.tolist() == table.cells[0].tolist()
    assert counts.tolist() == table.cells[1].tolist()
    # The order in which it was given says nothing.
    assert both(cells[::-1])[0] == wide


def test_what_needs_a_key_is_refused() -> None:
    domain = Domain(tuple(Variable(f"v{k}", ("a", "b", "c", "d")) for k in range(40)), wide=True)
    with pytest.raises(InputError, match="more than 2\\^62"):
        Domain(domain.variables)
    table = WideTable.of(domain, [np.array([k % 4, 3]) for k in range(40)], [2, 1])
    assert table.total == 3
    assert table.margin(["v1", "v39"]).counts[1, 3] == 2
    assert table.margin([f"v{k}" for k in range(31)]).cells[1].tolist() == [2, 1]
    for refused in (lambda: table.cells, lambda: table.counts, lambda: table[(0,) * 40]):
        with pytest.raises(InputError):
            refused()
    with pytest.raises(InputError, match="outside"):
        WideTable.of(domain, [np.array([4])] * 40, [1])


@given(CELLS)
def test_numbers_that_leave_out_what_does_not_occur(cells: list[tuple[int, ...]]) -> None:
    columns = np.array(cells, dtype=np.int64).reshape(-1, 4).T[:3]
    keys, limit = numbered(columns, DOMAIN.shape, len(cells))
    assert limit == DOMAIN.size
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(wide_table, "DOMAIN_CELLS", 6)
        few, most = numbered(columns, DOMAIN.shape, len(cells))
    assert not len(few) or few.max() < most
    assert np.array_equal(np.argsort(few, kind="stable"), np.argsort(keys, kind="stable"))
    assert len(set(few.tolist())) == len(set(keys.tolist()))
