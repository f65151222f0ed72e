"""Levels of variables: the tree, margins that name them, how they travel, what edits leave."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tabprotect.engine.errors import InputError
from tabprotect.engine.tables.domain import Domain, adopted, domain_from_json, domain_json
from tabprotect.engine.tables.groupings.bands import banded, cut_at, held_name
from tabprotect.engine.tables.groupings.grouping import true_table
from tabprotect.engine.tables.groupings.nesting import Nesting, chains
from tabprotect.engine.tables.margins import maximal_margins
from tabprotect.engine.tables.publication import Publication
from tabprotect.engine.tables.table import Table
from tabprotect.engine.tables.variable import Level, Variable

NUTS = Variable(
    "nuts", ("A11", "A12", "A21", "B11"),
    (Level("nuts2", ("A1", "A1", "A2", "B1")), Level("nuts1", ("A", "A", "A", "B")),
     Level("coast", ("in", "sea", "sea", "in"))), "nuts3",
)  # fmt: skip
DOMAIN = Domain((NUTS, Variable("sex", ("m", "f"))))
TABLE = Table.dense(DOMAIN, np.arange(8).reshape(4, 2))


def test_the_tree_and_what_lies_across() -> None:
    assert [level.name for level in NUTS.levels] == ["nuts1", "nuts2", "nuts3"]
    assert [level.name for level in NUTS.across] == ["coast"]
    assert NUTS.levels[-1].groups == NUTS.categories
    assert [level.name for level in DOMAIN.variables[1].levels] == ["sex"]
    coarse = DOMAIN["nuts@nuts2"]
    assert coarse.categories == ("A1", "A2", "B1")
    assert [level.name for level in coarse.levels] == ["nuts1", "nuts2"]


@pytest.mark.parametrize(
    ("names", "tidy", "counts"),
    [
        (["sex", "nuts@nuts2"], ("nuts@nuts2", "sex"), [[2, 4], [4, 5], [6, 7]]),
        (["nuts@nuts3"], ("nuts",), [1, 5, 9, 13]),
        (["nuts@nuts1", "nuts@nuts2"], ("nuts@nuts2",), [6, 9, 13]),
        (["nuts@nuts1", "nuts"], ("nuts",), [1, 5, 9, 13]),
        (["nuts@coast", "nuts@nuts1"], ("nuts@nuts1", "nuts@coast"), [[1, 14], [13, 0]]),
        ([], (), 28),
    ],
)
def test_margins_at_levels(names: list[str], tidy: tuple[str, ...], counts: list[int]) -> None:
    assert DOMAIN.tidy(names) == tidy
    dense = TABLE.margin(names)
    assert dense.counts.tolist() == counts and dense.domain == DOMAIN.project(names)
    sparse = Table.sparse(DOMAIN, *TABLE.cells).margin(names)
    assert sparse.is_sparse and sparse == dense
    (published,) = Publication.of(DOMAIN, [names]).sums(TABLE)
    assert published.counts.tolist() == counts and published.domain == dense.domain
    assert true_table(TABLE, dense.domain) == dense


def test_formulas_and_maximal_margins_know_levels() -> None:
    found = Publication.of(DOMAIN, "nuts@nuts2*sex + nuts@nuts1:sex + nuts@coast").maximal()
    assert found.margins == (("nuts@nuts2", "sex"), ("nuts@coast",))
    assert [grouping.name for grouping in found.groupings] == ["nuts@nuts2", "nuts@coast"]
    assert maximal_margins(DOMAIN, [["nuts@nuts1", "sex"], ["sex", "nuts@nuts2"], ["nuts@nuts3"]]) == (
        ("nuts",), ("nuts@nuts2", "sex"),
    )  # fmt: skip
    for wrong in ("nuts@nuts4", "sex@nuts1"):
        with pytest.raises(InputError, match="no variable"):
            Publication.of(DOMAIN, wrong)
        with pytest.raises(InputError, match="no variable"):
            TABLE.margin([wrong])


@pytest.mark.parametrize(
    "wrong",
    [
        (Level("x", ("a", "b")),),
        (Level("x", ("a", "b", "", "d")),),
        (Level("", ("a", "b", "c", "d")),),
        (Level("nuts", ("a", "b", "c", "d")),),
        (Level("x", ("a", "b", "c", "d")), Level("x", ("a", "b", "c", "d"))),
    ],
)
def test_levels_that_are_none_are_refused(wrong: tuple[Level, ...]) -> None:
    with pytest.raises(InputError, match="level"):
        Variable("nuts", NUTS.categories, wrong)


def test_levels_travel_as_json() -> None:
    bare = Domain((Variable("nuts", NUTS.categories), DOMAIN.variables[1]))
    assert domain_from_json(domain_json(DOMAIN), bare) == DOMAIN
    assert domain_from_json({}, bare) == bare and domain_json(bare) == {}
    for wrong in ([], {"geo": {}}, {"nuts": []}, {"nuts": {"coarser": {"a": "b"}}},
                  {"nuts": {"coarser": {"a": ["b"]}}}, {"nuts": {"coarser": {}, "finest": 3}}):  # fmt: skip
        with pytest.raises(InputError):
            domain_from_json({"levels": wrong}, bare)
    named = Domain((Variable("nuts@nuts2", ("A1", "A2", "B1")), Variable("sex", ("f", "m"))))
    found = adopted(named, DOMAIN)
    assert found.variables[0] == DOMAIN["nuts@nuts2"] and found.variables[1].categories == ("f", "m")


def test_edits_of_categories_keep_the_levels_that_still_fit() -> None:
    merged = NUTS.made_of(["A1x", "A21", "B11", "new"], [[0, 1], [2], [3], []])
    assert [level.name for level in merged.coarser] == ["nuts2", "nuts1"]
    assert merged.coarser[0].groups == ("A1", "A2", "B1", "new")


@given(st.integers(0, 10**6))
def test_nested_variables_are_found_and_folded(seed: int) -> None:
    generator = np.random.default_rng(seed)
    fine = generator.integers(0, 3, 6)
    coarse = generator.integers(0, 2, 3)[fine]
    domain = Domain.of({"z": "ab", "top": "ab", "mid": "abc", "low": "abcdef"})
    counts = np.zeros(domain.shape, dtype=np.int64)
    counts[:, coarse, fine, np.arange(6)] = generator.integers(1, 9, (2, 6))
    table = Table.dense(domain, counts)
    nesting = Nesting.of(table, {"geo": ["top", "mid", "low"]})
    found = nesting.nested(table)
    assert found.domain.names == ("z", "geo")
    assert (found.counts == counts.sum(axis=(1, 2))).all()
    for name in ("top", "mid"):
        at, other = found.margin(["z", f"geo@{name}"]), table.margin(["z", name])
        for k, group in enumerate(at.domain.variables[1].categories):
            assert (at.counts[:, k] == other.counts[:, domain[name].code(group)]).all()
    for chain in chains(table):
        Nesting.of(table, {"x": chain})


def test_what_does_not_nest_is_named() -> None:
    table = Table.dense(Domain.of({"a": "xy", "b": "pq"}), [[1, 2], [3, 0]])
    with pytest.raises(InputError, match="b 'p' lies in both 'x' and 'y' of a"):
        Nesting.of(table, {"n": ["a", "b"]})
    assert chains(table) == ()
    nested = Table.dense(Domain.of({"a": "xy", "b": "pqr"}), [[1, 2, 0], [0, 0, 4]])
    assert chains(nested) == (("a", "b"),)


def test_groups_are_named_by_what_they_hold() -> None:
    assert held_name(["0-4", "5-9"]) == "0-9" and held_name(["3", "4", "5"]) == "3-5"
    assert held_name(["65-69", "70+"]) == "65+" and held_name(["north", "south"]) == "north, south"
    assert held_name(["0-4", "10-14"]) == "0-4, 10-14"
    assert held_name(["a", "b", "c", "d"]) == "a \u2026 d (4)"
    assert held_name(["1", "2"], taken=["1-2"]) == "1-2 (2)"
    ages = ["0-4", "5-9", "10-14", "15+", "(missing)"]
    assert banded(ages, 10) == ["0-9", "0-9", "10-19", "15+", "(missing)"]
    assert cut_at(ages, [0, 10]) == ["0-9", "0-9", "10+", "10+", "(missing)"]
    with pytest.raises(InputError, match="'5-9' lies in both 0-6 and 7-13"):
        banded(ages, 7)
    with pytest.raises(InputError, match="no category is a number"):
        banded(["n", "s"], 5)
    with pytest.raises(InputError, match="rising"):
        cut_at(ages, [5, 5])
