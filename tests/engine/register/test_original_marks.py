"""Keyed fingerprints: equal for one original however it is laid out, and for no other."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from tabprotect.engine.register.register_entry import marks_of
from tabprotect.engine.tables.domain import Domain
from tabprotect.engine.tables.table import Table

KEY = bytes(range(32))


def table(counts: np.ndarray, names: tuple[str, ...] = ("age", "sex", "region")) -> Table:
    categories = {
        name: [f"{name}{k}" for k in range(size)] for name, size in zip(names, counts.shape, strict=False)
    }
    return Table.dense(Domain.of(categories), counts)


@settings(max_examples=40, deadline=None)
@given(st.data())
def test_the_layout_makes_no_difference(data: st.DataObject) -> None:
    shape = tuple(data.draw(st.lists(st.integers(1, 4), min_size=2, max_size=3)))
    size = int(np.prod(shape))
    counts = np.array(data.draw(st.lists(st.integers(0, 3), min_size=size, max_size=size)))
    one = table(counts.reshape(shape))
    axes = data.draw(st.permutations(range(len(shape))))
    orders = [data.draw(st.permutations(range(n))) for n in shape]
    moved = one.counts[np.ix_(*orders)].transpose(axes)
    variables = [one.domain.variables[axis] for axis in axes]
    domain = Domain.of(
        {
            f" {v.name.upper()}": [v.categories[k] for k in orders[axis]]
            for axis, v in zip(axes, variables, strict=True)
        }
    )
    assert marks_of(Table.dense(domain, moved), KEY) == marks_of(one, KEY)
    keys, values = one.cells
    assert marks_of(Table.sparse(one.domain, keys, values), KEY) == marks_of(one, KEY)


def test_counts_categories_names_and_the_key_do() -> None:
    counts = np.array([[1, 2], [3, 4]])
    one = marks_of(table(counts), KEY)
    other_count = marks_of(table(np.array([[1, 2], [4, 3]])), KEY)
    assert other_count.original != one.original
    # A swap within a row keeps the row's margin: the same records under "age".
    assert len(set(other_count.records) & set(one.records)) == 1
    assert other_count.variables == one.variables
    renamed = marks_of(table(counts, ("age", "work")), KEY)
    assert len(set(renamed.variables) & set(one.variables)) == 1
    assert renamed.original != one.original
    another = marks_of(table(counts), bytes(32))
    mine = {one.original, *one.variables, *one.records}
    assert not mine & {another.original, *another.variables, *another.records}


def test_the_sum_of_record_keys_tells_records() -> None:
    one, two = table(np.array([[1, 2]])), table(np.array([[3]]), ("work", "home"))
    keys = Table.dense(one.domain, np.array([[123, 456]]))
    same = Table.dense(two.domain, np.array([[579]]))
    shared = set(marks_of(one, KEY, keys).records) & set(marks_of(two, KEY, same).records)
    assert len(shared) == 1
    assert not set(marks_of(one, KEY).records) & set(marks_of(two, KEY).records)


def test_labels_names_and_empty_categories_do_not_hide_a_table() -> None:
    counts = np.array([[1, 2, 0], [3, 4, 5]])
    mine = marks_of(table(counts, ("row", "column")), KEY)
    assert mine.unlabelled and mine.original != mine.unlabelled
    turned = np.zeros((4, 2, 1), dtype=np.int64)
    turned[:3, :, 0] = counts.T[[2, 0, 1]][:, ::-1]
    other = marks_of(table(turned, ("a", "b", "c")), KEY)
    assert other.unlabelled == mine.unlabelled
    assert not {*other.records, *other.variables, other.original} & {*mine.records, mine.original}
    sparse = table(turned, ("x", "y", "z"))
    keys, values = sparse.cells
    assert marks_of(Table.sparse(sparse.domain, keys, values), KEY).unlabelled == mine.unlabelled
    moved = counts.copy()
    moved[0, 1], moved[1, 0] = moved[1, 0], moved[0, 1]
    for differs in (counts + 1, moved):
        assert marks_of(table(differs, ("row", "column")), KEY).unlabelled != mine.unlabelled
    assert marks_of(table(counts), bytes(32)).unlabelled != mine.unlabelled
    assert not marks_of(table(0 * counts), KEY).unlabelled
