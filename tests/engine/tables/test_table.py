"""Tables: dense and sparse agree, counts stay exact, nothing shows in a repr."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tabprotect.engine.errors import InputError
from tabprotect.engine.tables.domain import Domain
from tabprotect.engine.tables.table import Table
from tabprotect.engine.tables.variable import Variable

SHAPES = st.lists(st.integers(1, 4), min_size=1, max_size=4).map(tuple)


@given(shape=SHAPES, data=st.data())
def test_dense_and_sparse_agree(shape: tuple[int, ...], data: st.DataObject) -> None:
    domain = Domain.of_shape(shape)
    counts = np.array(
        data.draw(st.lists(st.integers(0, 5), min_size=domain.size, max_size=domain.size))
    ).reshape(shape)
    dense = Table.dense(domain, counts)
    flat = counts.reshape(-1)
    sparse = Table.sparse(domain, np.arange(domain.size), flat)
    assert dense == sparse
    assert sparse.is_sparse and not dense.is_sparse
    assert np.array_equal(sparse.counts, counts)
    assert dense.total == sparse.total == counts.sum()
    names = data.draw(st.lists(st.sampled_from(domain.names), unique=True))
    axes = tuple(a for a, n in enumerate(domain.names) if n not in names)
    expected = counts.sum(axis=axes)
    assert np.array_equal(dense.margin(names).counts, expected)
    assert np.array_equal(sparse.margin(names).counts, expected)
    index = tuple(data.draw(st.integers(0, s - 1)) for s in shape)
    assert dense[index] == sparse[index] == counts[index]
    assert domain.unflat(domain.flat(index)) == index
    assert domain.index(domain.labels(index)) == index


def test_sparse_adds_equal_keys_and_stays_small() -> None:
    domain = Domain.of_shape((1000,) * 6)
    table = Table.sparse(domain, [10**17, 5, 10**17], [2, 1, 3])
    assert table.total == 6
    assert table[domain.unflat(10**17)] == 5
    with pytest.raises(InputError, match="too large to be laid out"):
        _ = table.counts


@pytest.mark.parametrize(
    ("counts", "message"),
    [
        ([[1.5, 2], [3, 4]], "whole number"),
        ([[float("nan"), 2], [3, 4]], "whole number"),
        ([[1e19, 2], [3, 4]], "9.2e18"),
        ([[2**63 - 1, 1], [0, 0]], "add up"),
        (np.array([[2**63, 1], [0, 0]], dtype=np.uint64), "9.2e18"),
        ([[2**70, 1], [0, 0]], "9.2e18"),
        ([1, 2], "shape"),
    ],
)
def test_bad_counts(counts: object, message: str) -> None:
    with pytest.raises(InputError, match=message):
        Table.dense(Domain.of_shape((2, 2)), counts)


def test_largest_total_is_exact() -> None:
    big = 2**62
    table = Table.dense(Domain.of_shape((2, 2)), [[big, big - 1], [0, 0]])
    assert table.total == 2**63 - 1


def test_a_table_never_prints_its_counts() -> None:
    table = Table.dense(Domain.of_shape((2, 2)), [[12345, 2], [3, 4]])
    assert "12345" not in repr(table) and "12345" not in str(table)


def test_tables_are_immutable() -> None:
    table = Table.dense(Domain.of_shape((2, 2)), [[1, 2], [3, 4]])
    with pytest.raises(ValueError, match="read-only"):
        table.counts[0, 0] = 9
    changed = table.with_counts({(0, 0): 9})
    assert (table[(0, 0)], changed[(0, 0)]) == (1, 9)


def test_domain_faults() -> None:
    with pytest.raises(InputError, match="twice"):
        Variable("a", ("x", "x"))
    with pytest.raises(InputError, match="occurs twice"):
        Domain.of_shape((2, 2), ["a", "a"])
    with pytest.raises(InputError, match="no variable 'c'"):
        Domain.of_shape((2, 2)).axis("c")
    with pytest.raises(InputError, match="no category 'zz'"):
        Domain.of_shape((2, 2)).index(("zz", "b1"))
    with pytest.raises(InputError, match="2\\^62"):
        Domain.of_shape((2**16,) * 4)
    with pytest.raises(InputError, match="categories are more than"):
        Domain.of_shape((2**31, 2))
