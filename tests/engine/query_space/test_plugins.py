"""Common checks of every criterion, rule and utility: monotone, pure, described."""

from __future__ import annotations

import json
from collections.abc import Mapping

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from small_tables import tables

from tabprotect.engine.errors import InputError
from tabprotect.engine.query_space.criterion import Standard
from tabprotect.engine.query_space.criterion_evidence import Evidence
from tabprotect.engine.query_space.fitted_table import fitted, misplaced
from tabprotect.engine.query_space.frontier import Frontier
from tabprotect.engine.query_space.graphs.chordal import decomposable
from tabprotect.engine.query_space.lattice import Lattice
from tabprotect.engine.query_space.possible_tables import margin_keys
from tabprotect.engine.query_space.registered import criteria, criteria_of, rules, utilities
from tabprotect.engine.query_space.release_set import ReleaseSet
from tabprotect.engine.query_space.rule import Situation
from tabprotect.engine.tables.domain import Domain
from tabprotect.engine.tables.table import Table
from tabprotect.testing.query_space_checks import check_rule, criterion_holds

QUERIES = st.lists(st.integers(0, 15), min_size=1, max_size=3)


@pytest.mark.parametrize("registry", [criteria(), rules(), utilities()])
def test_everything_is_described(registry: Mapping[str, object]) -> None:
    for name, plugin in registry.items():
        assert plugin.name == name and plugin.label  # type: ignore[attr-defined]
        assert len(plugin.help.split("\n\n")) >= 2  # type: ignore[attr-defined]
        assert json.loads(json.dumps(plugin.as_json()))["name"] == name  # type: ignore[attr-defined]


@pytest.mark.parametrize("name", list(criteria_of("counts")))
@settings(max_examples=20, deadline=None)
@given(tables(), QUERIES, QUERIES, st.integers(0, 4))
def test_criteria_are_monotone_pure_and_consistent(
    name: str, table: Table, some: list[int], more: list[int], threshold: int
) -> None:
    criterion_holds(criteria()[name], table, some, more, threshold)


@pytest.mark.parametrize("name", list(rules()))
def test_rules_are_pure_and_deterministic(name: str) -> None:
    check_rule(rules()[name])


def test_what_the_rules_decide(czech_evidence: Evidence) -> None:
    lattice = czech_evidence.lattice
    state = ReleaseSet.begin(Standard(czech_evidence, criteria()["width"], 10))

    def decided(name: str, text: str, demand: dict[str, int] | None = None, **given: object) -> str:
        rule = rules()[name]
        asked = {lattice.parse(t): n for t, n in (demand or {}).items()}
        situation = Situation(lattice.parse(text), state, asked)
        return rule.decide(situation, rule.resolve(given)).decision

    assert decided("myopic", "A,B,C") == "release"
    assert decided("one_step", "A") == "release" and decided("one_step", "A,B") == "defer"
    state = state.release(lattice.parse("A"))
    assert decided("one_step", "A,B") == "release" and decided("one_step", "A,B,C") == "defer"
    assert decided("by_demand", "A,B", {"A,B": 2}, requests=3) == "defer"
    assert decided("by_demand", "A,B", {"A,B": 2, "A,B,C": 1}, requests=3) == "release"
    assert decided("by_demand", "A,B", {"A,C": 5}, requests=3) == "defer"
    assert decided("by_value", "B,C", gain=0.0) == "release"
    assert decided("by_value", "B,C", gain=1.0) == "refuse"
    # Beside ACDEF, BCEF adds eight sub-tables and closes off three.
    state = state.release(lattice.parse("A,C,D,E,F"))
    after = state.preview(lattice.parse("B,C,E,F"))
    assert (after.newly_released, after.lost) == (8, 3)
    assert decided("weighted", "B,C,E,F", penalty=8 / 3 - 1e-9) == "release"
    assert decided("weighted", "B,C,E,F", penalty=8 / 3 + 1e-9) == "refuse"


@settings(max_examples=20, deadline=None)
@given(tables(), QUERIES, st.integers(0, 15))
def test_utilities_never_fall(table: Table, some: list[int], query: int) -> None:
    variables = table.domain.ndim
    full = (1 << variables) - 1
    lattice = Lattice(table.domain.names)
    before = Frontier.below(lattice, (0, *(q & full for q in some)))
    after = before.add(query & full)
    for name, utility in utilities().items():
        if name == "reconstruction":
            # Not monotone in every table, but bounded, and perfect with the table itself.
            assert 0 <= utility.value(table, before) <= 1 + 1e-9
            whole = Frontier.below(lattice, [full])
            assert utility.value(table, whole) == pytest.approx(1)
            continue
        assert utility.value(table, after) >= utility.value(table, before)
        tree = decomposable(variables, before.members)
        if tree is not None:
            assert utility.worth(table, lattice).of(tree) == utility.value(table, before)


@settings(max_examples=20, deadline=None)
@given(tables(), QUERIES)
def test_cells_and_parameters_are_those_of_the_released_margins(table: Table, some: list[int]) -> None:
    full = (1 << table.domain.ndim) - 1
    released = Frontier.below(Lattice(table.domain.names), (0, *(q & full for q in some)))
    keys = [margin_keys(table.domain.shape, q) for q in range(full + 1) if q in released]
    assert utilities()["cells"].value(table, released) == sum(len(np.unique(key)) for key in keys)
    design = np.concatenate([key == np.unique(key)[:, None] for key in keys]).astype(float)
    found = utilities()["degrees_of_freedom"].value(table, released)
    assert found == np.linalg.matrix_rank(design)


@settings(max_examples=20, deadline=None)
@given(tables(), QUERIES)
def test_fitting_keeps_the_released_margins(table: Table, some: list[int]) -> None:
    full = (1 << table.domain.ndim) - 1
    released = Frontier.below(Lattice(table.domain.names), (0, *(q & full for q in some)))
    fit = fitted(table, released)
    assert (fit >= 0).all() and 0 <= misplaced(table, fit) <= 1
    tree = decomposable(table.domain.ndim, released.members)
    if tree is None:
        return
    for query in released:
        axes = tuple(v for v in range(table.domain.ndim) if not query >> v & 1)
        assert np.allclose(fit.sum(axis=axes), table.counts.sum(axis=axes))


def test_fitting_is_independence_and_has_a_limit() -> None:
    table = Table.dense(Domain.of_shape((2, 2)), [[6, 2], [1, 3]])
    fit = fitted(table, Frontier.below(Lattice(table.domain.names), [1, 2]))
    assert np.allclose(fit, np.outer([8, 4], [7, 5]) / 12)
    large = Table.sparse(Domain.of_shape((2,) * 23), [0], [1])
    with pytest.raises(InputError, match="too large"):
        fitted(large, Frontier.below(Lattice(large.domain.names), [1]))
