"""Optimal releases: the report's numbers, and small tables by brute force."""

from __future__ import annotations

from itertools import combinations
from typing import Any

import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from small_tables import exact_width, tables

from tabprotect.engine.errors import InfeasibleError, InputError, Interrupted, ParameterError
from tabprotect.engine.query_space.criterion_evidence import Evidence
from tabprotect.engine.query_space.frontier import Frontier
from tabprotect.engine.query_space.lattice import Lattice
from tabprotect.engine.query_space.optimal.best_release import (
    every_release,
    judged_proposal,
    longest_prefix,
    optimal,
)
from tabprotect.engine.query_space.registered import standard, utilities
from tabprotect.engine.randomness import Randomness
from tabprotect.engine.sensitivity.small_count import SmallCount
from tabprotect.engine.tables.domain import Domain
from tabprotect.engine.tables.table import Table


@pytest.mark.parametrize("high", [2, 3])
def test_decomposable_maxima_of_the_czech_table(high: int, czech: Table, niss: dict[str, Any]) -> None:
    evidence = Evidence.gather(czech, SmallCount(1, high))
    found = []
    for beta, released in niss[f"max_released_at_risk_1_{high}"][3:-1:4]:
        best = optimal(standard(evidence, beta), "exhaustive")
        found.append((beta, best.released.size))
        assert best.released.size == released and best.decomposable
        assert best.judgement.exact and best.judgement.width >= beta
    assert found


def test_all_decomposable_models_by_width(czech_evidence: Evidence, niss: dict[str, Any]) -> None:
    widths = []
    for tree in every_release(standard(czech_evidence, 0)):
        lower, upper = czech_evidence.decomposable_bounds(tree.cliques, tree.separators)
        widths.append(int((upper - lower).min()))
    assert len(widths) == niss["labelled_chordal_graphs"]["6"]
    for width, models in niss["models_by_min_width"].items():
        assert widths.count(int(width)) == models


@pytest.mark.parametrize("seed", range(10))
def test_annealing_finds_48_from_any_seed(czech_evidence: Evidence, seed: int) -> None:
    found = optimal(
        standard(czech_evidence, 1 + seed), "annealing", randomness=Randomness.seeded(seed), proposals=30_000
    )
    assert found.released.size == 48 and found.decomposable and found.complete
    assert found.judgement.verdict == "safe" and found.judgement.exact


def test_annealing_on_thirteen_variables(kdd: Table, niss: dict[str, Any]) -> None:
    beta = 5
    evidence = Evidence.gather(kdd, SmallCount(1, 3))
    found = optimal(standard(evidence, beta), "annealing", randomness=Randomness.seeded(1), proposals=40_000)
    assert found.released.size - 1 >= niss["kdd13_b_annealing_at_risk_1_3"][f"beta{beta}"]
    assert found.judgement.width >= beta and found.judgement.exact


def test_the_heuristic_at_every_threshold(czech: Table, niss: dict[str, Any]) -> None:
    # In the report's letters, where ties are broken as there.
    domain = Domain(tuple(reversed(czech.domain.variables)))
    evidence = Evidence.gather(Table.dense(domain, czech.counts.transpose()), SmallCount(1, 2))
    letters = niss["table3_to_table2"]
    for w, length, released in niss["l0_by_w"][::6]:
        # The reference says "bad at w": releasable when the width is larger.
        found, frontier = longest_prefix(standard(evidence, w + 1))
        assert found == length
        assert Frontier.below(evidence.lattice, frontier).size == released
    lattice = evidence.lattice
    for beta in (6, 9):
        best = optimal(standard(evidence, beta), "heuristic")
        assert best.released.size == niss["published_heuristic"]["released_subtables"] == 60
        assert not best.decomposable and best.judgement.exact and best.judgement.width == 9
        withheld = {q for q in range(64) if q not in best.released}
        assert withheld == {
            lattice.query(letters[c] for c in name) for name in niss["published_heuristic"]["withheld"]
        }
    # The whole list, and a list of one.
    assert longest_prefix(standard(evidence, 0))[0] == 64
    single = Table.dense(Domain.of_shape((1,)), [2])
    assert longest_prefix(standard(Evidence.gather(single, SmallCount(1, 2)), 0)) == (2, (1,))


@settings(max_examples=25, deadline=None)
@given(tables(), st.integers(1, 4), st.integers(0, 2**32))
def test_never_more_than_exact_bounds_allow(table: Table, beta: int, seed: int) -> None:
    evidence = Evidence.gather(table, SmallCount(1, 2))
    variables = table.domain.ndim
    singles = [1 << v for v in range(variables)]
    length, frontier = longest_prefix(standard(evidence, beta))
    order = evidence.widths.ordered()
    if length:
        assert exact_width(table, frontier, 1, 2) >= beta
    if length < len(order):
        assert exact_width(table, order[: length + 1], 1, 2) < beta
    if exact_width(table, singles, 1, 2) < beta:
        for method in ("annealing", "exhaustive"):
            with pytest.raises(InfeasibleError, match="one-way"):
                optimal(standard(evidence, beta), method)
        return
    best = 0
    pairs = list(combinations(range(variables), 2))
    for number in range(1 << len(pairs)):
        graph = nx.Graph([pair for n, pair in enumerate(pairs) if number >> n & 1])
        graph.add_nodes_from(range(variables))
        if not nx.is_chordal(graph):
            continue
        cliques = [sum(1 << v for v in clique) for clique in nx.find_cliques(graph)]
        if exact_width(table, cliques, 1, 2) >= beta:
            best = max(best, Frontier.below(Lattice(table.domain.names), cliques).size)
    assert optimal(standard(evidence, beta), "exhaustive").released.size == best
    found = optimal(standard(evidence, beta), "annealing", randomness=Randomness.seeded(seed), proposals=400)
    assert exact_width(table, found.released.members, 1, 2) >= beta
    assert found.released.size <= best


def test_the_same_seed_gives_the_same_release(kdd: Table) -> None:
    evidence = Evidence.gather(kdd, SmallCount(1, 2))
    runs = [
        optimal(standard(evidence, 4), "annealing", randomness=Randomness.seeded(7), proposals=2000).released
        for _ in range(2)
    ]
    assert runs[0] == runs[1]


class Stop:
    """Cancels at the third report and keeps what was shown."""

    def __init__(self) -> None:
        self.shown: list[object] = []

    def report(self, stage: str, fraction: float, partial: object = None) -> None:
        self.shown.append(partial)
        if len(self.shown) == 3:
            raise Interrupted


def test_cancel_keeps_the_best_so_far(czech_evidence: Evidence) -> None:
    stop = Stop()
    found = optimal(standard(czech_evidence, 5), "annealing", randomness=Randomness.seeded(1), progress=stop)
    assert not found.complete and found.judgement.verdict == "safe"
    assert set(found.released) == set(stop.shown[-1])  # type: ignore[call-overload]


def test_other_utilities(czech_evidence: Evidence) -> None:
    weighted = optimal(standard(czech_evidence, 5), "exhaustive", utility="dimension_weighted")
    value = lambda p: sum(d * n for d, n in enumerate(p.released.by_dimension))  # noqa: E731
    assert value(weighted) >= value(optimal(standard(czech_evidence, 5), "exhaustive"))
    again = optimal(
        standard(czech_evidence, 5),
        "annealing",
        utility="dimension_weighted",
        randomness=Randomness.seeded(2),
        proposals=30_000,
    )
    assert value(again) == value(weighted)


def test_a_utility_that_is_no_sum_is_searched_for() -> None:
    domain = Domain.of_shape((3, 2, 2))
    counts = np.random.default_rng(3).integers(1, 30, size=domain.shape)
    counts[0, 0, 0] = 1
    held_to = standard(Evidence.gather(Table.dense(domain, counts), SmallCount()), 3)
    worth = utilities()["reconstruction"].worth(held_to.evidence.table, held_to.evidence.lattice)
    best = max(worth.of(tree) for tree in every_release(held_to))
    for method in ("exhaustive", "annealing"):
        found = optimal(held_to, method, utility="reconstruction", randomness=Randomness.seeded(1))
        fit = utilities()["reconstruction"].value(held_to.evidence.table, found.released)
        assert fit == pytest.approx(best)


def test_habits_compared(czech_evidence: Evidence) -> None:
    all_three_way = judged_proposal(standard(czech_evidence, 10), czech_evidence.lattice.level(3))
    assert all_three_way.released.by_dimension == (1, 6, 15, 20, 0, 0, 0)
    assert not all_three_way.decomposable and all_three_way.judgement.exact


def test_bad_input(czech_evidence: Evidence) -> None:
    with pytest.raises(ParameterError, match="method"):
        optimal(standard(czech_evidence, 5), "guessing")  # type: ignore[arg-type]
    with pytest.raises(ParameterError, match="beta"):
        optimal(standard(czech_evidence, -1), "annealing")
    for method in ("annealing", "heuristic", "exhaustive"):
        with pytest.raises(InfeasibleError, match="one-way") as error:
            optimal(standard(czech_evidence, 10_000), method)
        assert "(no, yes, yes, <140, <3, pos)" in error.value.detail
    counts = np.full((2,) * 8, 3)
    counts[(0,) * 8] = 1
    wide = Evidence.gather(Table.dense(Domain.of_shape((2,) * 8), counts), SmallCount(1, 1))
    with pytest.raises(InputError, match="too many graphs"):
        optimal(standard(wide, 1), "exhaustive")
