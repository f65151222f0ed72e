"""Bounds under releases that name levels, against every table with the same published sums."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tabprotect.engine.arrays import Ints
from tabprotect.engine.bounds.bounding import bounds, width
from tabprotect.engine.tables.domain import Domain
from tabprotect.engine.tables.publication import Publication
from tabprotect.engine.tables.structural import stated
from tabprotect.engine.tables.table import Table
from tabprotect.engine.tables.variable import Level, Variable

GEO = Variable(
    "A",
    ("a1", "a2", "a3", "a4"),
    (Level("half", ("x", "x", "y", "z")), Level("part", ("p", "p", "p", "z")),
     Level("odd", ("1", "2", "1", "2"))),
)  # fmt: skip
AGE = Variable("B", ("b1", "b2"), (Level("all", ("b", "b")),))
SEX = Variable("C", ("c1", "c2"))

RELEASES = (
    [("A@half", "C")],
    [("A@half", "C"), ("A", "B")],
    [("A@part", "C"), ("A@half", "B"), ("A",)],
    [("A@half", "B"), ("B", "C"), ("A", "C")],
    [("A@part", "C")],
    [("A@odd", "C"), ("A@half",), ("B",)],
    [("A@odd", "C"), ("A@half", "C"), ("A", "B@all")],
    [("A@half", "A@odd"), ("A@odd", "C")],
    [("C",), ("A@part",)],
)


def every_table(sums: Ints, matrix: Ints) -> Iterator[Ints]:
    """All tables of whole counts with given sums."""
    cells = matrix.shape[1]
    counts = np.zeros(cells, dtype=np.int64)

    def fill(at: int, left: Ints) -> Iterator[Ints]:
        if at == cells:
            if not left.any():
                yield counts.copy()
            return
        rows = matrix[:, at]
        # A structural zero adds into nothing.
        most = int(left[rows > 0].min()) if rows.any() else 0
        for value in range(most + 1):
            counts[at] = value
            yield from fill(at + 1, left - value * rows)

    yield from fill(0, sums)


ZEROS: tuple[tuple[dict[str, list[str]], ...], ...] = (
    ({"A": ["a1"], "C": ["c2"]},),
    ({"A": ["a1", "a3"], "B": ["b1"]}, {"B": ["b2"], "C": ["c1"]}),
    ({"A": ["a4"]}, {"A": ["a2", "a3"], "C": ["c1"]}),
    ({"A": ["a1", "a2"], "B": ["b1"], "C": ["c1"]},),
)


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 2**32 - 1), st.sampled_from(RELEASES), st.sampled_from(((), *ZEROS)), st.booleans())
def test_bounds_are_those_over_every_table(
    seed: int, release: list[tuple[str, ...]], zeros: tuple[dict[str, list[str]], ...], sparse: bool
) -> None:
    names = {name.partition("@")[0] for margin in release for name in margin}
    domain = Domain(tuple(v for v in (GEO, AGE, SEX) if v.name in names))
    known = [stated(zero, domain.categories) for zero in zeros if zero.keys() <= names]
    domain = domain.with_structural(known)
    generator = np.random.default_rng(seed)
    chances = generator.dirichlet(np.full(domain.size, 0.7)) * ~domain.structural_cells()
    counts = generator.multinomial(5, chances / chances.sum())
    table = Table.dense(domain, counts.reshape(domain.shape))
    published = Publication.of(domain, release)
    sums = published.stack(published.sums(table))
    found = np.array(list(every_table(sums, published.incidence.toarray())))
    if sparse:
        table = Table.sparse(domain, *table.cells)
    told = bounds(table, release, method="integer")
    assert told.sharp.all()
    assert told.lower.tolist() == found.min(axis=0).tolist()
    assert told.upper.tolist() == found.max(axis=0).tolist()
    closed = bounds(table, release)
    assert (closed.lower <= told.lower).all() and (closed.upper >= told.upper).all()
    assert not closed.sharp.all() or closed.lower.tolist() == told.lower.tolist()
    best = int((told.upper - told.lower).min())
    assert width(table, release, cells="all", beta=best).verdict == "safe"
    assert width(table, release, cells="all", beta=best + 1).verdict == "bad"


def test_a_level_releases_less_than_its_variable() -> None:
    domain = Domain((GEO, SEX))
    table = Table.dense(domain, np.array([[1, 2], [4, 0], [2, 2], [3, 1]]))
    coarse = bounds(table, [("A@half", "C")])
    fine = bounds(table, [("A@half", "C"), ("A",)])
    assert coarse.method == fine.method == "decomposable"
    # a1 and a2 share the group x: nothing is known from below; z holds a4 alone, and is published.
    assert coarse.lower.tolist() == [0, 0, 0, 0, 2, 2, 3, 1]
    assert coarse.upper.tolist() == [5, 2, 5, 2, 2, 2, 3, 1]
    assert fine.lower.tolist() == [1, 0, 2, 0, 2, 2, 3, 1]
    assert fine.upper.tolist() == [3, 2, 4, 2, 2, 2, 3, 1]


def test_differences_of_crossing_groupings_are_seen() -> None:
    """Two groupings that differ in one category publish it by subtraction."""
    one = Level("one", ("x", "x", "y", "y"))
    two = Level("two", ("x", "x", "x", "y"))
    crossing = Level("three", ("x", "y", "y", "y"))
    domain = Domain((Variable("A", GEO.categories, (one, crossing)), SEX))
    table = Table.dense(domain, np.array([[3, 2], [1, 5], [2, 2], [3, 1]]))
    found = bounds(table, [("A@one", "C"), ("A@three", "C")], method="integer")
    # x of one is a1 and a2, x of three is a1 alone: a2 follows.
    assert found.lower.reshape(4, 2)[1].tolist() == found.upper.reshape(4, 2)[1].tolist() == [1, 5]
    assert width(table, [("A@one", "C"), ("A@three", "C")], beta=1).verdict == "bad"
    assert one.refines(two) is False and two.refines(one) is False


@pytest.mark.parametrize("name", ["A@whole", "D", "A@"])
def test_unknown_levels_are_named(name: str) -> None:
    table = Table.dense(Domain((GEO, SEX)), np.ones((4, 2), dtype=np.int64))
    with pytest.raises(Exception, match="no variable"):
        bounds(table, [(name, "C")])
