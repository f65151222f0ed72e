"""The query space of variables with levels, against definitions on tiny tables."""

from __future__ import annotations

from itertools import combinations, product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tabprotect.engine.bounds.bounding import bounds
from tabprotect.engine.errors import InfeasibleError
from tabprotect.engine.query_space.criteria.width import Width
from tabprotect.engine.query_space.criterion import Standard
from tabprotect.engine.query_space.criterion_evidence import Evidence
from tabprotect.engine.query_space.critical_widths.widths import critical_widths
from tabprotect.engine.query_space.frontier import Frontier, maximal_queries
from tabprotect.engine.query_space.graphs.chordal import decomposable
from tabprotect.engine.query_space.lattice import Lattice
from tabprotect.engine.query_space.optimal.best_release import optimal
from tabprotect.engine.query_space.possible_tables import possible_tables
from tabprotect.engine.query_space.registered import criteria_of, standard, utilities
from tabprotect.engine.query_space.release_set import ReleaseSet
from tabprotect.engine.query_space.utility import AdditiveWorth
from tabprotect.engine.sensitivity.small_count import SmallCount
from tabprotect.engine.tables.domain import Domain
from tabprotect.engine.tables.structural import stated
from tabprotect.engine.tables.table import Table
from tabprotect.engine.tables.variable import Level, Variable
from tabprotect.testing.query_space_checks import criterion_holds

A = Variable("A", ("a1", "a2", "a3", "a4"),
             (Level("band", ("x", "x", "y", "y")), Level("all", ("z", "z", "z", "w"))))  # fmt: skip
TREE = Variable("A", ("a1", "a2", "a3"), (Level("top", ("t", "t", "t")), Level("band", ("x", "x", "y"))), "leaf")  # fmt: skip
B = Variable("B", ("b1", "b2"))
C = Variable("C", ("c1", "c2", "c3"), (Level("half", ("h", "h", "i")),))
PLAIN = (Domain((TREE, B)), Domain((A, B)), Domain((TREE, C)), Domain((B, C, Variable("D", ("d", "e")))))  # fmt: skip


def known(domain: Domain, *zeros: dict[str, list[str]]) -> Domain:
    return domain.with_structural([stated(zero, domain.categories) for zero in zeros])


KNOWN = (
    known(PLAIN[0], {"A": ["a2"], "B": ["b2"]}),
    known(PLAIN[2], {"A": ["a2", "a3"], "C": ["c3"]}),
    known(PLAIN[3], {"B": ["b2"], "C": ["c1"]}, {"C": ["c2"], "D": ["e"]}),
)
DOMAINS = (*PLAIN, *KNOWN)


def table_of(domain: Domain, seed: int, mean: float = 0.9) -> Table:
    counts = np.random.default_rng(seed).poisson(mean, domain.shape)
    counts.reshape(-1)[0] = 1
    counts[domain.structural_cells().reshape(domain.shape)] = 0
    return Table.dense(domain, counts)


@pytest.mark.parametrize("domain", DOMAINS)
def test_queries_are_the_products_of_levels(domain: Domain) -> None:
    lattice = Lattice.of(domain)
    margins = {lattice.names_of(q) for q in lattice.every.tolist()}
    # Every margin there is, by the domain's own words.
    names = [n for n in domain.known_names if not n.endswith("@leaf")]
    every = {domain.tidy(c) for k in range(len(names) + 1) for c in combinations(names, k)}
    assert {frozenset(m) for m in margins} == {frozenset(m) for m in every}
    assert lattice.size == len(lattice.every) == len(margins)
    assert lattice.at(lattice.every).tolist() == list(range(lattice.size))
    for q in range(lattice.full + 1):
        assert lattice.at([q]) == lattice.at([lattice.closed(q)])
    for query in lattice.every.tolist():
        finer = [o for o in lattice.every.tolist() if o != query and o & query == query]
        covers = {o for o in finer if not any(p != o and p & o == p for p in finer)}
        assert set(lattice.above(query)) == covers
        for above in covers:
            assert query in set(lattice.below(above))
            assert all(domain.tells(lattice.names_of(above), name) for name in lattice.names_of(query))
        assert lattice.parse(lattice.text(query)) == query
    assert lattice.query(["A@leaf"] if domain[domain.names[0]].finest else []) in lattice.every
    frontier = Frontier.below(lattice, [lattice.full])
    assert frontier.size == lattice.size
    assert sum(d * n for d, n in enumerate(frontier.by_dimension)) == sum(
        len({domain.axis_of(n) for n in m}) for m in margins
    )


@settings(max_examples=20, deadline=None)
@given(st.integers(0, 10**6), st.sampled_from(DOMAINS), st.lists(st.integers(0, 31), max_size=3), st.integers(0, 4))  # fmt: skip
def test_criteria_are_monotone_pure_and_consistent(
    seed: int, domain: Domain, some: list[int], threshold: int
) -> None:
    table = table_of(domain, seed)
    for criterion in criteria_of("counts").values():
        criterion_holds(criterion, table, some, [seed % 32], threshold)


@settings(max_examples=20, deadline=None)
@given(st.integers(0, 10**6), st.sampled_from(DOMAINS), st.lists(st.integers(0, 31), min_size=1, max_size=3))  # fmt: skip
def test_the_width_is_that_of_the_programmes(seed: int, domain: Domain, some: list[int]) -> None:
    table = table_of(domain, seed)
    low = seed % 2
    evidence = Evidence.gather(table, SmallCount(low, 2))
    lattice = evidence.lattice
    released = maximal_queries(lattice.closed(q & lattice.full) for q in some)
    margins = lattice.margins(released)
    found = bounds(table, margins, cells=(low, 2), method="integer")
    judged = Width().judge(evidence, released, 1)
    alike = possible_tables(table, released) if lattice.plain else None
    if alike is not None:
        asked = alike[:, found.cells]
        assert found.lower.tolist() == asked.min(axis=0).tolist()
        assert found.upper.tolist() == asked.max(axis=0).tolist()
    assert judged.width == int((found.upper - found.lower).min())


@settings(max_examples=20, deadline=None)
@given(st.integers(0, 10**6), st.sampled_from(DOMAINS))
def test_critical_widths(seed: int, domain: Domain) -> None:
    evidence = Evidence.gather(table_of(domain, seed, 1.5), SmallCount(1, 2))
    lattice, widths, cells = evidence.lattice, evidence.widths, evidence.cells
    spread = critical_widths(cells, workers=2) if seed % 10 == 0 else widths
    assert (spread.values == widths.values).all() and (spread.smallest == widths.smallest).all()
    for at, query in enumerate(lattice.every.tolist()):
        assert widths.smallest[at] == evidence.smallest_of([query]).min()
        # A sub-table with the finest one-way tables of all other variables.
        release = [query, *(axis for axis in lattice.axes)]
        assert widths.values[at] == Width().judge(evidence, release, 1).width
        assert widths.values[at] == widths[query]


@pytest.mark.parametrize("domain", DOMAINS[:3])
@pytest.mark.parametrize("seed", range(3))
def test_frontiers_are_those_of_every_query(domain: Domain, seed: int) -> None:
    evidence = Evidence.gather(table_of(domain, seed, 2.0), SmallCount(1, 2))
    lattice, width = evidence.lattice, Width()
    state = ReleaseSet.begin(Standard(evidence, width, 2))
    for query in (state.allowed[:0].tolist() or [0], [int(state.allowed[-1])]):
        state = state.release(query[0])
        safe = {
            q
            for q in lattice.every.tolist()
            if width.judge(evidence, [*state.released, q], 2).verdict == "safe"
        }
        assert set(state.allowed.tolist()) == safe
        refused = set(lattice.every.tolist()) - safe
        minimal = {q for q in refused if not any(o != q and o & q == o for o in refused)}
        assert set(state.unreleasable.members) == minimal
        assert state.refused == len(refused)
    found = state.preview(int(lattice.full))
    assert found.newly_released == lattice.size - state.released.size


@pytest.mark.parametrize("seed", range(2))
def test_the_best_release_is_the_best(seed: int) -> None:
    domain = DOMAINS[2]
    evidence = Evidence.gather(table_of(domain, seed, 6.0), SmallCount(1, 6))
    lattice, width = evidence.lattice, Width()
    best = 0
    for first, second in product(lattice.every.tolist(), repeat=2):
        release = maximal_queries([*lattice.axes, first, second])
        if lattice.separable(release) and width.judge(evidence, release, 2).verdict == "safe":
            best = max(best, Frontier.below(lattice, release).size)
    found = optimal(standard(evidence, 2), "exhaustive")
    assert found.released.size == best
    whole = Frontier.below(lattice, [lattice.full])
    for name in ("released_count", "cells", "degrees_of_freedom"):
        worth = utilities()[name].worth(evidence.table, lattice)
        assert isinstance(worth, AdditiveWorth)
        assert worth(lattice.full) == utilities()[name].value(evidence.table, whole)
    # The table itself is fitted by as many parameters as it has cells.
    assert worth(lattice.full) == evidence.table.domain.size
    walked = optimal(standard(evidence, 2), "annealing", proposals=400)
    assert walked.judgement.verdict == "safe" and walked.released.size <= best


@pytest.mark.parametrize("seed", range(3))
def test_the_best_release_beside_structural_zeros(seed: int) -> None:
    domain = KNOWN[2]
    evidence = Evidence.gather(table_of(domain, seed, 4.0), SmallCount(1, 5))
    lattice, width = evidence.lattice, Width()
    safe = [
        Frontier.below(lattice, release).size
        for some in product(lattice.every.tolist(), repeat=2)
        if decomposable(lattice.variables, release := maximal_queries([*lattice.axes, *some])) is not None
        and width.judge(evidence, release, 2).verdict == "safe"
    ]
    if not safe:
        with pytest.raises(InfeasibleError):
            optimal(standard(evidence, 2), "exhaustive")
        return
    found = optimal(standard(evidence, 2), "exhaustive")
    assert found.judgement.verdict == "safe" and found.released.size == max(safe)
    walked = optimal(standard(evidence, 2), "annealing", proposals=60)
    assert walked.judgement.verdict == "safe" and walked.released.size <= max(safe)
