"""Tables that share margins only, joined: every one is a margin of what comes out."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tabprotect.engine.bounds.joined import joined_table
from tabprotect.engine.errors import InputError, TooLargeError
from tabprotect.engine.tables.domain import Domain
from tabprotect.engine.tables.table import Table
from tabprotect.engine.tables.variable import Level, Variable

NAMES = "ABCD"
SETS = (("A:B", "B:C"), ("A:B:C", "C:D", "B:C"), ("A:B", "C:D"), ("C:D", "A:B", "B:C"),
        ("A:B", "B:C", "A:C"), ("A:B", "B:C", "C:D", "A:D"), ("A:B:C:D", "B:D"))  # fmt: skip


def shuffled(table: Table, names: str) -> Table:
    """A margin with its variables and their categories in another order."""
    margin = table.margin(names.split(":"))
    flipped = Domain.of({v.name: v.categories[::-1] for v in margin.domain.variables[::-1]})
    turned = margin.counts.transpose(range(margin.domain.ndim)[::-1])
    return Table.dense(flipped, turned[(slice(None, None, -1),) * margin.domain.ndim])


def cells(table: Table) -> dict[frozenset[tuple[str, str]], int]:
    names = table.domain.names
    keys, counts = table.cells
    labels = (table.domain.labels(table.domain.unflat(key)) for key in keys.tolist())
    return {
        frozenset(zip(names, found, strict=True)): count
        for found, count in zip(labels, counts.tolist(), strict=True)
    }


@settings(max_examples=40, deadline=None)
@given(st.sampled_from(SETS), st.lists(st.sampled_from([0, 0, 0, 1, 2, 7]), min_size=36, max_size=36))
def test_every_table_is_a_margin(sets: tuple[str, ...], counts: list[int]) -> None:
    table = Table.dense(Domain.of_shape((3, 2, 3, 2), NAMES), np.reshape(counts, (3, 2, 3, 2)))
    files = {names: shuffled(table, names) for names in sets}
    whole = joined_table(files)
    for names, file in files.items():
        assert cells(whole.margin(names.split(":"))) == cells(file)
    assert set(whole.domain.names) == {n for names in sets for n in names.split(":")}


def test_a_level_of_another_file() -> None:
    place = Variable("place", ("p", "q", "r"), (Level("land", ("x", "x", "y")),))
    fine = Table.dense(Domain((place, Variable("sex", ("f", "m")))), [[1, 2], [3, 4], [5, 6]])
    coarse = Table.dense(Domain.of({"age": ["0", "1"], "place@land": ["y", "x"]}), [[4, 7], [7, 3]])
    for files in ({"a": fine, "b": coarse}, {"b": coarse, "a": fine}):
        whole = joined_table(files)
        assert set(whole.domain.names) == {"place", "sex", "age"}
        assert cells(whole.margin(["place", "sex"])) == cells(fine)
        assert cells(whole.margin(["age", "place@land"])) == cells(coarse)


def test_what_cannot_be() -> None:
    two = {"A": ["1", "2"], "B": ["1", "2"]}
    one = Table.dense(Domain.of(two), [[1, 2], [3, 4]])
    other = Table.dense(Domain.of({"B": ["1", "2"], "C": ["x"]}), [[4], [7]])
    with pytest.raises(InputError, match=r"\(2\): 1 of 2 common cells is counted"):
        joined_table({"a": one, "b": other})
    # Every pair agrees, and the three together cannot be.
    apart = [[1, 0], [0, 1]]
    names = ("AB", "BC", "AC")
    counts = (apart, apart, apart[::-1])
    files = {
        n: Table.dense(Domain.of({v: ["1", "2"] for v in n}), c) for n, c in zip(names, counts, strict=True)
    }
    with pytest.raises(InputError, match="no table of whole counts"):
        joined_table(files)
    ring = [Domain.of({a: [*map(str, range(50))], b: [*map(str, range(50))]}) for a, b in names]
    rows = [np.eye(50, dtype=np.int64) for _ in ring]
    rows[2] = rows[2][::-1]
    with pytest.raises(TooLargeError, match="125,000 cells"):
        joined_table({n: Table.dense(d, r) for n, d, r in zip(names, ring, rows, strict=True)})
