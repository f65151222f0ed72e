"""Both frontiers against full recomputation by brute force, as releases happen."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from small_tables import exact_width, tables

from tabprotect.engine.errors import InfeasibleError, Interrupted, ParameterError
from tabprotect.engine.progress import Cancellable
from tabprotect.engine.query_space.criterion import Standard
from tabprotect.engine.query_space.criterion_evidence import Evidence
from tabprotect.engine.query_space.frontier import minimal_queries
from tabprotect.engine.query_space.registered import criteria
from tabprotect.engine.query_space.release_set import ReleaseSet
from tabprotect.engine.sensitivity.small_count import SmallCount
from tabprotect.engine.tables.table import Table

WIDTH = criteria()["width"]


class _Listening:
    """Progress that keeps the partial results."""

    def __init__(self, heard: list[ReleaseSet]) -> None:
        self.heard = heard

    def report(self, stage: str, fraction: float, partial: object = None) -> None:
        if isinstance(partial, ReleaseSet):
            self.heard.append(partial)


@settings(max_examples=40, deadline=None)
@given(tables(), st.integers(1, 4), st.data())
def test_regions_are_those_of_brute_force(table: Table, beta: int, data: st.DataObject) -> None:
    evidence = Evidence.gather(table, SmallCount(1, 2))
    every = range(1 << table.domain.ndim)
    state = ReleaseSet.begin(Standard(evidence, WIDTH, beta))
    released: list[int] = [0]
    for _ in range(3):
        safe = {q for q in every if exact_width(table, [*released, q], 1, 2) >= beta}
        assert set(state.allowed.tolist()) == safe
        assert set(state.unreleasable) == set(minimal_queries(set(every) - safe))
        assert state.undecided == 0 and state.refused == len(every) - len(safe)
        assert (state.judgement.verdict == "safe") == (0 in safe)
        for q in every:
            expected = "candidate" if q in safe else "unreleasable"
            assert state.status(q) == ("released" if q in state.released else expected)
        query = data.draw(st.sampled_from(list(every)))
        before, consequence = state, state.preview(query)
        state = state.release(query)
        released.append(query)
        gone = set(before.allowed.tolist()) - set(state.allowed.tolist())
        assert consequence.lost == len(gone)
        assert set(consequence.newly_unreleasable) == set(minimal_queries(gone))
        assert consequence.newly_released == state.released.size - before.released.size
    again = ReleaseSet.begin(Standard(evidence, WIDTH, beta), released=released)
    assert np.array_equal(again.allowed, state.allowed)
    assert again.unreleasable == state.unreleasable and again.released == state.released
    seen: list[ReleaseSet] = []
    once = ReleaseSet.begin(Standard(evidence, WIDTH, beta)).release_all(released, _Listening(seen))
    assert np.array_equal(once.allowed, state.allowed) and once.released == state.released
    assert once.unreleasable == state.unreleasable and once.proved == state.proved
    for so_far in seen:
        assert so_far.released == once.released
        assert not np.setdiff1d(so_far.allowed, once.allowed).size
        assert all(query in once.proved for query in so_far.proved)
    assert again.judgement.exact
    assert again.judgement.width == exact_width(table, released, 1, 2)


@settings(max_examples=60, deadline=None)
@given(tables(), st.integers(1, 4), st.lists(st.integers(0, 7), max_size=3))
def test_cheap_verdicts_are_never_wrong(table: Table, beta: int, released: list[int]) -> None:
    evidence = Evidence.gather(table, SmallCount(1, 2))
    released = [q & evidence.lattice.full for q in released]
    state = ReleaseSet.begin(Standard(evidence, WIDTH, beta, "decomposable"), released=released)
    for query in range(1 << table.domain.ndim):
        exact = exact_width(table, [0, *released, query], 1, 2)
        status = state.status(query)
        if status == "candidate":
            assert exact >= beta
        elif status == "unreleasable":
            assert exact < beta
    # What is refused is closed upwards, whatever was proved.
    allowed = set(state.allowed.tolist())
    for query in allowed:
        assert set(evidence.lattice.below(query)) <= allowed


def test_thirteen_variables(kdd: Table) -> None:
    evidence = Evidence.gather(kdd, SmallCount(1, 2))
    lattice = evidence.lattice
    state = ReleaseSet.begin(Standard(evidence, WIDTH, 3))
    wide = np.flatnonzero(evidence.widths.smallest >= 3)
    assert state.allowed.tolist() == wide.tolist()
    for text in ("age,workclass,race", "race,sex,tax", "sex,education,home"):
        query = lattice.parse(text)
        assert state.status(query) == "candidate"
        state = state.release(query)
        assert state.judgement.verdict == "safe"
    again = ReleaseSet.begin(Standard(evidence, WIDTH, 3), released=state.released.members)
    assert np.array_equal(again.allowed, state.allowed)
    assert again.unreleasable == state.unreleasable
    # Minimal refused ones, and nothing in between.
    allowed = set(state.allowed.tolist())
    for query in state.unreleasable:
        assert query not in allowed and set(lattice.below(query)) <= allowed
    assert state.allows(0) and not state.allows(lattice.full)
    assert state.status(lattice.full) == "unreleasable"


def test_the_czech_table_with_cells_that_become_too_tight(czech_evidence: Evidence) -> None:
    lattice = czech_evidence.lattice
    state = ReleaseSet.begin(Standard(czech_evidence, WIDTH, 11))
    big = lattice.parse("A,B,C,E,F")
    assert not state.allows(big)
    consequence = state.preview(big)
    assert consequence.judgement.verdict == "bad" and consequence.judgement.width < 11
    (first, *_) = consequence.judgement.tight
    assert first.count in (1, 2) and first.lower <= first.count <= first.upper
    assert first.width == consequence.judgement.width
    assert consequence.lost == len(state.allowed)


def test_bad_input(czech_evidence: Evidence) -> None:
    with pytest.raises(ParameterError, match="beta"):
        ReleaseSet.begin(Standard(czech_evidence, WIDTH, -1))
    with pytest.raises(InfeasibleError, match=r"one-way tables.*\(.*yes.*\)"):
        ReleaseSet.begin(Standard(czech_evidence, WIDTH, 5000)).require_some_one_way()
    ReleaseSet.begin(Standard(czech_evidence, WIDTH, 300)).require_some_one_way()
    watcher = Cancellable()
    watcher.cancel()
    ring = [czech_evidence.lattice.parse(t) for t in ("A,B", "B,C", "C,D", "A,D")]
    with pytest.raises(Interrupted):
        ReleaseSet.begin(Standard(czech_evidence, WIDTH, 100), released=ring, progress=watcher)
