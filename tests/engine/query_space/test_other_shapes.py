"""Tables of any shape against the list of all tables: bounds, widths, frontiers, best releases."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from small_tables import alike, every_table, exact_width

from tabprotect.engine.bounds.bounding import bounds, width
from tabprotect.engine.errors import InfeasibleError, ParameterError
from tabprotect.engine.query_space.criterion import RiskCriterion, Standard
from tabprotect.engine.query_space.criterion_evidence import Evidence
from tabprotect.engine.query_space.frontier import Frontier, maximal_queries, minimal_queries
from tabprotect.engine.query_space.graphs.chordal import decomposable
from tabprotect.engine.query_space.optimal.best_release import optimal
from tabprotect.engine.query_space.registered import criteria, criteria_of
from tabprotect.engine.query_space.release_set import ReleaseSet
from tabprotect.engine.randomness import Randomness
from tabprotect.engine.sensitivity.small_count import SmallCount
from tabprotect.engine.tables.domain import Domain
from tabprotect.engine.tables.table import Table
from tabprotect.engine.ways_to_bound import BOUNDS_WAYS

RECORDS = {(4, 4): 5, (4, 2, 3): 4, (3, 3, 4): 3, (2, 4, 2, 2): 4, (3, 2, 2, 3): 3, (2,) * 5: 3}
"""Shapes, and so many records that all tables can be listed."""


@st.composite
def shaped(draw: st.DrawFn) -> Table:
    shape = draw(st.sampled_from(sorted(RECORDS)))
    size = int(np.prod(shape))
    cells = st.lists(st.integers(0, size - 1), min_size=2, max_size=RECORDS[shape])
    counts = np.bincount(draw(cells), minlength=size).reshape(shape)
    return Table.dense(Domain.of_shape(shape), counts)


def queries(table: Table, *, most: int) -> st.SearchStrategy[list[int]]:
    full = (1 << table.domain.ndim) - 1
    return st.lists(st.integers(0, full), min_size=1, max_size=most)


@settings(max_examples=35, deadline=None)
@given(shaped(), st.data())
def test_bounds_every_way(table: Table, data: st.DataObject) -> None:
    released = data.draw(queries(table, most=4))
    left = alike(table, released).reshape(-1, table.domain.size)
    low, high = left.min(axis=0), left.max(axis=0)
    release = Evidence.gather(table, SmallCount(0, 9)).lattice.margins(released)
    for way in BOUNDS_WAYS:
        if way == "decomposable" and decomposable(table.domain.ndim, released) is None:
            with pytest.raises(ParameterError, match="decomposable"):
                bounds(table, release, method=way)
            continue
        found = bounds(table, release, method=way)
        assert (found.lower <= low).all() and (found.upper >= high).all()
        assert np.array_equal(found.lower[found.sharp], low[found.sharp])
        assert np.array_equal(found.upper[found.sharp], high[found.sharp])
        assert found.exact or way in ("shuttle", "lp")


@settings(max_examples=35, deadline=None)
@given(shaped(), st.sampled_from([(1, 1), (1, 2), (0, 1), (0, 0)]), st.integers(0, 4), st.data())
def test_widths_and_frontiers(table: Table, at_risk: tuple[int, int], beta: int, data: st.DataObject) -> None:
    rule = SmallCount(*at_risk)
    if not rule.mask(table.counts).any():
        return
    evidence = Evidence.gather(table, rule)
    variables = table.domain.ndim
    singles = [1 << v for v in range(variables)]
    for query in data.draw(queries(table, most=3)):
        assert evidence.widths[query] == exact_width(table, [query, *singles], *at_risk)
    released = data.draw(queries(table, most=3))
    state = ReleaseSet.begin(Standard(evidence, criteria()["width"], beta), released=released)
    assert state.judgement.exact
    assert state.judgement.width == exact_width(table, released, *at_risk)
    every = range(1 << variables)
    safe = {q for q in every if exact_width(table, [*released, q], *at_risk) >= beta}
    assert set(state.allowed.tolist()) == safe
    assert set(state.unreleasable) == set(minimal_queries(set(every) - safe))
    assert set(state.released) == set(maximal_queries([0, *released]))


RING = (0b0011, 0b0110, 0b1100, 0b1001)


@settings(max_examples=40, deadline=None)
@given(st.lists(st.integers(0, 15), min_size=2, max_size=6), st.integers(1, 4))
def test_a_small_part_of_a_large_table_is_decided(cells: list[int], beta: int) -> None:
    small = Table.dense(Domain.of_shape((2,) * 4), np.bincount(cells, minlength=16).reshape([2] * 4))
    if not ((small.counts == 1) | (small.counts == 2)).any():
        return
    # Of one more variable nothing is released, so that any cell may be empty.
    keys, counts = small.cells
    large = Table.sparse(Domain.of_shape((2, 2, 2, 2, 2000)), keys * 2000, counts)
    left = alike(small, RING)
    true = int(left.max(axis=0)[(small.counts == 1) | (small.counts == 2)].min())
    evidence = Evidence.gather(large, SmallCount(1, 2))
    criterion = criteria()["width"]
    for quick in (False, True):
        found = Standard(evidence, criterion, beta).judge(RING, quick=quick)
        assert found.verdict == ("safe" if true >= beta else "bad")
        assert found.width >= true and (not found.exact or found.width == true)
    assert ReleaseSet.begin(Standard(evidence, criterion, beta), released=RING).judgement.verdict != "unknown"


def test_large_counts_do_not_end_a_question(kdd: Table) -> None:
    # The solver's tolerance is hardly met where hundreds of thousands are added up.
    found = width(kdd, list(combinations(kdd.domain.names[:6], 2)), beta=3)
    assert found.method == "lp" and found.width >= 3 and found.verdict == "unknown"
    assert "28,752 cells" not in found.why and "cells" in found.why


def figure(criterion: RiskCriterion, table: Table, released: Sequence[int]) -> int:
    """By the meaning of a criterion, for counts 1 and 2."""
    if criterion.name == "width":
        return exact_width(table, released, 1, 2)
    mask = (table.counts == 1) | (table.counts == 2)
    shown = []
    for query in released:
        axes = tuple(v for v in range(table.domain.ndim) if not query >> v & 1)
        sums = np.broadcast_to(table.counts.sum(axis=axes, keepdims=True), mask.shape)
        shown.append(int(sums[mask].min()))
    return min(shown)


@pytest.mark.parametrize("name", list(criteria_of("counts")))
@settings(max_examples=30, deadline=None)
@given(shaped(), st.integers(1, 4), st.integers(0, 2**32))
def test_searches_by_every_criterion(name: str, table: Table, beta: int, seed: int) -> None:
    criterion, variables = criteria()[name], table.domain.ndim
    if variables > 3 or not ((table.counts == 1) | (table.counts == 2)).any():
        return
    evidence = Evidence.gather(table, SmallCount(1, 2))
    # Every set of sub-tables that is the frontier of a decomposable release of all variables.
    plans = [
        chosen
        for n in range(1, 4)
        for chosen in combinations(range(1, 1 << variables), n)
        if np.bitwise_or.reduce(chosen) == (1 << variables) - 1
        and set(maximal_queries(chosen)) == set(chosen)
        and decomposable(variables, chosen) is not None
    ]
    fine = [p for p in plans if figure(criterion, table, p) >= beta]
    if not fine:
        for method in ("annealing", "exhaustive"):
            with pytest.raises(InfeasibleError, match="one-way"):
                optimal(Standard(evidence, criterion, beta), method)
        return
    best = max(Frontier.below(evidence.lattice, p).size for p in fine)
    assert optimal(Standard(evidence, criterion, beta), "exhaustive").released.size == best
    walked = optimal(
        Standard(evidence, criterion, beta), "annealing", randomness=Randomness.seeded(seed), proposals=800
    )
    assert walked.released.size == best and walked.judgement.verdict == "safe"
    listed = optimal(Standard(evidence, criterion, beta), "heuristic")
    assert figure(criterion, table, listed.released.members) >= beta


def test_a_criterion_without_steps_of_its_own(czech_evidence: Evidence) -> None:
    for name, plugin in criteria_of("counts").items():

        class Plain(type(plugin)):  # type: ignore[misc]
            walk = RiskCriterion.walk

        found = {
            way: optimal(
                Standard(czech_evidence, criterion, 20),
                "annealing",
                randomness=Randomness.seeded(3),
                proposals=400,
            ).released
            for way, criterion in (("own", plugin), ("judged", Plain()))
        }
        assert found["own"] == found["judged"], name


def test_all_tables_are_all() -> None:
    assert len(every_table(4, 3)) == 20 and (every_table(4, 3).sum(axis=1) == 3).all()
    table = Table.dense(Domain.of_shape((2, 2)), [[1, 1], [0, 1]])
    assert sorted(alike(table, [1, 2])[:, 0, 0].tolist()) == [0, 1]
