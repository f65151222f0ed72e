"""Published sub-tables against sums made one inner cell at a time."""

from __future__ import annotations

from collections import defaultdict

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tabprotect.engine.errors import InputError, TooLargeError
from tabprotect.engine.tables.domain import Domain
from tabprotect.engine.tables.groupings.grouping import Grouping
from tabprotect.engine.tables.publication import Publication
from tabprotect.engine.tables.table import Table

GEO = Domain.of({"geo": ["Iceland", "Portugal", "Spain"], "year": ["2014", "2015", "2016"]})
EU = Grouping("eu", "geo", ("nonEU", "EU", "EU"))


@st.composite
def publications(draw: st.DrawFn) -> Publication:
    """Up to three variables, each with up to two groupings that need not nest."""
    shape = draw(st.lists(st.integers(1, 4), min_size=1, max_size=3))
    domain = Domain.of_shape(shape)
    groupings = []
    for name, size in zip(domain.names, shape, strict=True):
        for number in range(draw(st.integers(0, 2))):
            groups = draw(st.lists(st.sampled_from("pqr"), min_size=size, max_size=size))
            groupings.append(Grouping(f"{name}{number}", name, tuple(groups)))
    names = [*domain.names, *(g.name for g in groupings)]
    margins = draw(
        st.lists(st.lists(st.sampled_from(names), unique=True, max_size=4), min_size=1, max_size=5)
    )
    return Publication.of(domain, margins, tuple(groupings))


def members(publication: Publication) -> list[set[int]]:
    """Which inner cells each published cell sums, label by label."""
    found: list[set[int]] = []
    groups = {g.name: g for g in publication.groupings}
    domain = publication.domain
    for m, margin in enumerate(publication.margins):
        cells: dict[tuple[str, ...], set[int]] = defaultdict(set)
        for flat in range(domain.size):
            index = domain.unflat(flat)
            labels = []
            for name in margin:
                if name in groups:
                    labels.append(groups[name].groups[index[domain.axis(groups[name].of)]])
                else:
                    labels.append(domain[name].categories[index[domain.axis(name)]])
            cells[tuple(labels)].add(flat)
        of = publication.domains[m]
        found += [cells[of.labels(of.unflat(k))] for k in range(of.size)]
    return found


@settings(max_examples=60, deadline=None)
@given(publications(), st.integers(0, 2**31))
def test_everything_against_label_by_label_sums(publication: Publication, seed: int) -> None:
    expected = members(publication)
    assert publication.size == len(expected) == publication.starts[-1]
    dense = publication.incidence.toarray()
    assert [set(np.flatnonzero(row).tolist()) for row in dense] == expected
    every, some = np.arange(publication.size), np.random.default_rng(seed).permutation(len(dense))
    for cells in (every, some[: len(some) // 2]):
        starts, inner = publication.behind(cells)
        assert np.array_equal(starts, publication.incidence[cells].indptr)
        assert np.array_equal(inner, publication.incidence[cells].indices)
    for m in range(len(publication.margins)):
        keys = publication.keys(m)
        assert [
            set(np.flatnonzero(keys == k).tolist()) for k in range(publication.domains[m].size)
        ] == expected[publication.starts[m] : publication.starts[m + 1]]
    counts = np.random.default_rng(seed).integers(0, 4, publication.domain.shape)
    table = Table.dense(publication.domain, counts)
    sparse = Table.sparse(publication.domain, *table.cells)
    sums = publication.sums(table)
    flat = counts.reshape(-1)
    stacked = publication.stack(sums)
    assert stacked.tolist() == [sum(int(flat[i]) for i in cell) for cell in expected]
    assert publication.stack(publication.sums(sparse)).tolist() == stacked.tolist()
    assert publication.added_up_each(np.array([flat, 0 * flat]))[0].tolist() == stacked.tolist()
    parts = publication.split(stacked)
    assert all(np.array_equal(p, t.counts) for p, t in zip(parts, sums, strict=True))
    assert publication.tables(stacked) == sums


@settings(max_examples=60, deadline=None)
@given(publications())
def test_distinct_cells_are_those_with_distinct_members(publication: Publication) -> None:
    representatives, inverse = publication.distinct
    expected = [frozenset(cell) for cell in members(publication)]
    first = {cell: k for k, cell in reversed(list(enumerate(expected)))}
    assert representatives.tolist() == sorted(first.values())
    assert [int(representatives[k]) for k in inverse] == [first[cell] for cell in expected]


def test_the_small_count_rounding_example() -> None:
    """Both ways of summing geography, crossed with years: 1 + 3 + 2 + 3 + 9 + 6 cells."""
    publication = Publication.of(GEO, "(geo + eu)*year", (EU,))
    assert publication.margins == ((), ("geo",), ("eu",), ("year",), ("geo", "year"), ("eu", "year"))
    assert publication.size == 24
    # Iceland is all there is outside the EU.
    representatives, inverse = publication.distinct
    assert len(representatives) == 24 - 1 - 3
    assert inverse[4] == inverse[1]
    assert publication.cell_text(0) == "grand total"
    assert publication.cell_text(5) == "eu=EU"
    assert publication.cell_text(23) == "eu=EU, year=2016"


def test_a_grouping_beside_its_variable_says_nothing_new() -> None:
    publication = Publication.of(GEO, [("eu", "geo"), ("geo",), ("year", "eu")], (EU,))
    assert publication.margins == (("geo",), ("eu", "year"))


def test_groupings_that_do_not_nest() -> None:
    across = Grouping("across", "geo", ("x", "x", "y"))
    both = Publication.of(GEO, [("eu", "across")], (EU, across))
    # No land is outside the EU and in group y: that cell is always 0.
    table = Table.dense(GEO, np.ones((3, 3), dtype=np.int64))
    assert both.sums(table)[0].counts.tolist() == [[3, 0], [3, 3]]


def test_cells_that_nothing_adds_into_are_one() -> None:
    across = Grouping("across", "geo", ("x", "x", "y"))
    both = Publication.of(GEO, [("eu", "across", "year")], (EU, across))
    # nonEU and y, in each of three years.
    representatives, inverse = both.distinct
    assert len(representatives) == 12 - 2
    assert len(set(inverse[3:6].tolist())) == 1


def test_what_determines_what() -> None:
    domain = Domain.of({"x": ["1", "2", "3", "4"], "y": ["1", "2"]})
    fine = Grouping("fine", "x", ("a", "b", "c", "c"))
    coarse = Grouping("coarse", "x", ("A", "A", "B", "B"))
    published = Publication.of(domain, "x", (fine, coarse))
    assert published.determines(["x"], ["coarse"]) and published.determines(["fine"], ["coarse"])
    assert not published.determines(["coarse"], ["fine"])
    assert not published.determines(["fine"], ["x"])
    assert published.determines(["fine", "y"], ["coarse", "y"]) and published.determines(["y"], [])


def test_huge_tables_are_summed_sparse() -> None:
    domain = Domain.of_shape((1000, 1000, 1000, 1000))
    half = Grouping("half", "A", tuple("lo" if k < 500 else "hi" for k in range(1000)))
    publication = Publication.of(domain, "half + B - 1", (half,))
    table = Table.sparse(domain, [0, domain.size - 1], [3, 4])
    assert [t.total for t in publication.sums(table)] == [7, 7]
    assert publication.sums(table)[0].counts.tolist() == [3, 4]
    with pytest.raises(TooLargeError, match="too large"):
        _ = publication.incidence


def test_sums_are_exact_beyond_the_floats() -> None:
    counts = np.array([[2**60, 1, 0], [2**55 + 1, 0, 0], [1, 0, 2**54 + 1]])
    (found,) = Publication.of(GEO, [("eu",)], (EU,)).sums(Table.dense(GEO, counts))
    assert found.counts.tolist() == [2**60 + 1, 2**55 + 2**54 + 3]


def test_bad_input() -> None:
    with pytest.raises(InputError, match="no variable 'sex'"):
        Publication.of(GEO, [("sex",)])
    with pytest.raises(InputError, match="'sex', which is no variable"):
        Publication.of(GEO, "sex")
    with pytest.raises(InputError, match="no table"):
        Publication.of(GEO, "geo - geo - 1")
    with pytest.raises(InputError, match="groups 2 categories, the variable 'geo' has 3"):
        Publication.of(GEO, "eu", (Grouping("eu", "geo", ("a", "b")),))
    publication = Publication.of(GEO, "geo")
    with pytest.raises(InputError, match="other variables"):
        publication.sums(Table.dense(Domain.of_shape((2,)), [1, 2]))
