"""The audit against brute force, and on the published example."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from suppression_brute_force import intervals, tables_alike, with_zeros

from tabprotect.engine.formats.grouping_files import parse_groupings
from tabprotect.engine.protection.suppressing.audit import audit
from tabprotect.engine.protection.suppressing.near_tables.deviation import ENDLESS
from tabprotect.engine.tables.domain import Domain
from tabprotect.engine.tables.publication import Publication
from tabprotect.engine.tables.structural import StructuralZeros
from tabprotect.engine.tables.table import Table

SLIDE = [[15, 1, 3, 1], [20, 10, 10, 15], [3, 10, 10, 2], [12, 14, 7, 2]]
HIDDEN = [(0, 1), (0, 2), (0, 3), (2, 2), (2, 3), (3, 1), (3, 3)]


def _table(shape: tuple[int, ...], counts: object) -> Table:
    return Table.dense(Domain.of_shape(shape), np.array(counts).reshape(shape))


@st.composite
def patterns(draw: st.DrawFn) -> tuple[Publication, Table, np.ndarray, bool]:
    """Small tables, some cells hidden, totals among them but never the grand total.

    In some there are structural zeros. Where readers know that no hidden cell is zero, no zero is
    hidden.
    """
    shape, formula, groupings = draw(
        st.sampled_from(
            [
                ((2, 3), "A*B", ""),
                ((3, 3), "A*B", ""),
                ((4,), "A", ""),
                ((2, 3), "A:B + B", ""),
                ((2, 2), "A + B", ""),
                ((2, 2, 2), "A*B*C", ""),
                ((2, 2, 2), "A:B + B:C + A:C", ""),
                ((2, 3), "A*B + A*g", "g:B=b1>x,b2>x,b3>y"),
            ]
        )
    )
    size = int(np.prod(shape))
    table = _table(shape, draw(st.lists(st.integers(0, 2), min_size=size, max_size=size)))
    table = with_zeros(table, draw(st.just(set()) | st.sets(st.integers(1, size - 1), max_size=4)))
    publication = Publication.of(
        table.domain, formula, parse_groupings(groupings, table.domain) if groupings else ()
    )
    inner = publication.incidence.toarray()
    hidden = np.array(draw(st.lists(st.booleans(), min_size=len(inner), max_size=len(inner))))
    hidden[inner.sum(axis=1) == inner.any(axis=0).sum()] = False
    # At most five inner cells, so that all tables can be listed.
    of_one = np.flatnonzero((inner.sum(axis=1) == 1) & hidden)
    hidden[of_one[5:]] = False
    never_zero = draw(st.booleans())
    if never_zero:
        hidden &= inner @ table.counts.reshape(-1) > 0
    return publication, table, hidden, never_zero


@settings(max_examples=50, deadline=None)
@given(patterns())
def test_intervals_are_those_of_all_tables(case: tuple[Publication, Table, np.ndarray, bool]) -> None:
    publication, table, hidden, never_zero = case
    low, high = intervals(publication, table, hidden, never_zero=never_zero)
    found = audit(publication, table, hidden, never_zero=never_zero)
    assert found.exact
    np.testing.assert_array_equal(found.cells, np.flatnonzero(hidden))
    np.testing.assert_array_equal(found.lower, low[hidden])
    np.testing.assert_array_equal(found.upper, high[hidden])


def test_a_sum_of_one_inner_cell_tells_of_it() -> None:
    """Of a2 only (a2, b2) is possible: neither it nor a1 is zero, and both make 2."""
    nobody = StructuralZeros((("A", ("a2",)), ("B", ("b1",))))
    domain = replace(_table((2, 2), range(4)).domain, structural=(nobody,))
    table = Table.dense(domain, np.array([[0, 1], [0, 1]]))
    publication = Publication(table.domain, ((), ("A",), ("B",)))
    hidden = np.array([False, True, True, False, False])
    found = audit(publication, table, hidden, never_zero=True)
    assert found.exact
    assert found.lower.tolist() == found.upper.tolist() == [1, 1]


def test_weakness_of_the_published_pattern() -> None:
    """There are 15 tables: every hidden count of the example lies within four of its lowest."""
    table = _table((4, 4), SLIDE)
    publication = Publication.of(table.domain, "A*B")
    hidden = np.zeros(publication.size, dtype=bool)
    start = publication.starts[publication.margins.index(("A", "B"))]
    hidden[[start + 4 * i + j for i, j in HIDDEN]] = True
    found = audit(publication, table, hidden)
    alike = tables_alike(publication, table, hidden)
    assert len(alike) == 15
    assert (alike[:, hidden] > 0).all(axis=1).sum() == 3
    np.testing.assert_array_equal(found.lower, alike[:, hidden].min(axis=0))
    np.testing.assert_array_equal(found.upper, alike[:, hidden].max(axis=0))
    widths = found.upper - found.lower
    assert found.bounded_within(4) == 7 and found.bounded_within(3) == 0
    assert (widths == 4).all()


def test_nothing_limits_a_table_without_totals() -> None:
    table = _table((2, 2), [1, 2, 3, 4])
    publication = Publication.of(table.domain, "A:B - 1")
    found = audit(publication, table, np.array([True, True, False, False]))
    assert (found.lower == 0).all() and (found.upper >= ENDLESS).all()


@pytest.mark.parametrize("formula", ["A*B", "A*B*C"])
def test_a_lone_hidden_cell_is_known(formula: str) -> None:
    table = _table((2, 2, 2), range(8))
    publication = Publication.of(table.domain, formula)
    hidden = np.zeros(publication.size, dtype=bool)
    hidden[-1] = True
    found = audit(publication, table, hidden, levels={"below": hidden * 1, "above": hidden * 1})
    assert found.lower[0] == found.upper[0] == found.values[0]
    assert list(found.unprotected) == list(found.disclosed) == [publication.size - 1]
    assert "known exactly" in found.sentence


def test_counts_beyond_int32() -> None:
    big = 3 * 10**10
    table = _table((2, 2), [big, 2 * big, 5, big])
    publication = Publication.of(table.domain, "A*B")
    hidden = np.zeros(publication.size, dtype=bool)
    hidden[publication.starts[-2] :] = True
    found = audit(publication, table, hidden)
    assert found.exact
    # One degree of freedom: up by 5 at most (the third cell), down by one ``big`` (first, fourth).
    np.testing.assert_array_equal(found.lower, [0, 2 * big - 5, 0, 0])
    np.testing.assert_array_equal(found.upper, [big + 5, 3 * big, big + 5, big + 5])
