"""Structural zeros: what statements hold for, and what is left of them when tables change."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tabprotect.engine.errors import InputError
from tabprotect.engine.tables import structural
from tabprotect.engine.tables.domain import Domain, adopted, domain_from_json, domain_json
from tabprotect.engine.tables.groupings.nesting import Nesting
from tabprotect.engine.tables.publication import Publication
from tabprotect.engine.tables.table import Table, check_structural
from tabprotect.engine.tables.variable import Level, Variable

GEO = Variable("geo", ("a1", "a2", "b1"), (Level("n1", ("A", "A", "B")),), "n2", ("x", "y", "z"))
BARE = Domain((GEO, Variable("age", ("0-14", "15-64", "65+")), Variable("wed", ("no", "yes"))))
CHILDREN = {"age": ["0-14"], "wed": ["yes"]}


def domain(*zeros: dict[str, list[str]]) -> Domain:
    return BARE.with_structural(structural.stated(zero, BARE.categories) for zero in zeros)


def statements() -> st.SearchStrategy[list[dict[str, list[str]]]]:
    some = {
        v.name: st.lists(st.sampled_from(v.categories), unique=True, min_size=1, max_size=2)
        for v in BARE.variables[:2]
    }
    return st.lists(
        st.dictionaries(st.sampled_from(["geo", "age", "wed"]), st.just(0), min_size=1).flatmap(
            lambda names: st.fixed_dictionaries(
                {n: some.get(n, st.sampled_from([["no"], ["yes"]])) for n in names}
            )
        ),
        max_size=4,
    )


@settings(max_examples=40, deadline=None)
@given(statements(), st.sampled_from([["geo", "wed"], ["geo@n1", "age"], ["geo@n1", "wed"], ["age"]]))
def test_a_margins_zeros_are_sums_of_zeros(zeros: list[dict[str, list[str]]], names: list[str]) -> None:
    full = domain(*zeros)
    inner = full.structural_cells()
    margin = full.project(names)
    keys = full.project_keys(np.arange(full.size), names)
    everybody = np.bincount(keys[~inner], minlength=margin.size)
    claimed = margin.structural_cells()
    assert not everybody[claimed].any()
    if len(zeros) == 1:
        # One statement is followed in full.
        assert (claimed == (everybody == 0)).all()


@settings(max_examples=40, deadline=None)
@given(st.sets(st.integers(0, BARE.size - 1), max_size=BARE.size - 1))
def test_a_list_of_cells_is_said_in_few_statements(keys: set[int]) -> None:
    found = structural.of_cells([BARE.unflat(key) for key in keys], BARE.categories)
    assert set(np.flatnonzero(BARE.with_structural(found).structural_cells())) == keys
    assert len(found) <= len(keys)


def test_a_block_is_one_statement() -> None:
    cells = list(itertools.product((0, 1, 2), (0,), (1,)))
    assert structural.of_cells(cells, BARE.categories) == domain(CHILDREN).structural
    assert domain(CHILDREN).structural[0].words == "age 0-14 and wed yes"


@pytest.mark.parametrize(
    ("parts", "categories", "left"),
    [
        ([[0], [1], [2]], ["child", "grown", "old"], [{"age": ["child"], "wed": ["yes"]}]),
        ([[0, 1], [2]], ["0-64", "65+"], []),
        ([[0], [1, 2], []], ["0-14", "15+", "new"], [{"age": ["0-14"], "wed": ["yes"]}]),
    ],
)
def test_edits_keep_what_can_still_be_said(
    parts: list[list[int]], categories: list[str], left: list[object]
) -> None:
    full = domain(CHILDREN)
    changed = full.with_variable(full["age"].made_of(categories, parts), parts=parts)
    assert structural.as_json(changed.structural) == left
    renamed = full.with_variable(full["wed"].renamed("status"), instead_of="wed")
    assert structural.as_json(renamed.structural) == [{"age": ["0-14"], "status": ["yes"]}]


def test_nested_variables_keep_them() -> None:
    counts = np.array([[[3, 1], [0, 0]], [[0, 0], [2, 0]]])
    names = {"n1": ["A", "B"], "n2": ["a", "b"], "sex": ["f", "m"]}
    table = Table.dense(Domain.of(names), counts)
    zeros = [{"n1": ["B"], "sex": ["m"]}]
    full = table.on(
        table.domain.with_structural(structural.stated(z, table.domain.categories) for z in zeros)
    )
    after = Nesting.of(full, {"geo": ["n1", "n2"]}).nested(full).domain
    assert structural.as_json(after.structural) == [{"geo": ["b"], "sex": ["m"]}]


def test_they_travel_with_labels_and_are_checked() -> None:
    full = domain(CHILDREN)
    plain = Domain.of({v.name: v.categories for v in BARE.variables})
    again = domain_from_json(domain_json(full), plain)
    assert again == full and again["geo"].labels == GEO.labels
    assert adopted(plain, full).structural == full.structural
    for wrong in (3, [3], [{}], [{"age": "0-14"}], [{"age": ["7"]}], [{"x": ["0-14"]}]):
        with pytest.raises(InputError):
            domain_from_json({"structural_zeros": wrong}, plain)
    with pytest.raises(InputError, match="every cell"):
        structural.stated({"wed": ["no", "yes"]}, plain.categories)
    counts = np.ones(full.shape, dtype=np.int64)
    with pytest.raises(InputError, match="nobody can be"):
        check_structural(Table.dense(full, counts))
    counts[:, 0, 1] = 0
    check_structural(Table.dense(full, counts))


def test_they_add_into_no_published_cell() -> None:
    plain = Domain.of_shape((2, 3))
    barred = plain.with_structural([structural.StructuralZeros((("A", ("a1",)), ("B", ("b2", "b3"))))])
    whole = Publication.of(plain, "A*B").incidence.toarray()
    found = Publication.of(barred, "A*B").incidence.toarray()
    nobody = barred.structural_cells()
    assert nobody.tolist() == [False, True, True, False, False, False]
    assert not found[:, nobody].any()
    assert (found[:, ~nobody] == whole[:, ~nobody]).all()
    starts, inner = Publication.of(barred, "A*B").behind(np.arange(len(found)))
    assert starts.tolist() == np.cumsum([0, *found.sum(axis=1)]).tolist()
    assert inner.tolist() == np.nonzero(found)[1].tolist()
