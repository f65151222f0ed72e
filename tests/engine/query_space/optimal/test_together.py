"""Wishes that may go out together: what is kept is safe, and nothing that is left could join."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tabprotect.engine.bounds import bounding
from tabprotect.engine.query_space.criterion import Standard
from tabprotect.engine.query_space.criterion_evidence import Evidence
from tabprotect.engine.query_space.frontier import Frontier
from tabprotect.engine.query_space.optimal.together import WishesTogether, wishes_together
from tabprotect.engine.query_space.registered import criteria
from tabprotect.engine.sensitivity.small_count import SmallCount
from tabprotect.engine.tables.domain import Domain
from tabprotect.engine.tables.table import Table
from tabprotect.engine.tables.variable import Variable


@settings(max_examples=15, deadline=None)
@given(
    seed=st.integers(0, 10_000),
    wishes=st.lists(st.integers(1, 15), min_size=1, max_size=6, unique=True),
    threshold=st.integers(1, 12),
)
def test_what_is_kept_is_safe_and_what_is_left_is_not(seed: int, wishes: list[int], threshold: int) -> None:
    domain = Domain(tuple(Variable(name, ("no", "yes")) for name in "ABCD"))
    counts = np.random.default_rng(seed).poisson(6.0, domain.shape)
    counts[0, 0, 0, 0] = 1
    evidence = Evidence.gather(Table.dense(domain, counts), SmallCount(1, 2))
    width = criteria()["width"]

    def safe(*queries: int) -> bool:
        released = Frontier.below(evidence.lattice, (0, *queries)).members
        return width.judge(evidence, released, threshold).verdict == "safe"

    found = wishes_together(Standard(evidence, width, threshold), wishes)
    assert sorted((*found.kept, *found.left)) == sorted(wishes)
    assert [w for w in wishes if w in found.kept] == list(found.kept)
    assert not found.kept or safe(*found.kept)
    assert not any(safe(*found.kept, wish) for wish in found.left)
    assert bool(found.left) == (not safe(*wishes)) and not found.undecided


def test_closed_forms_speak_first_and_what_is_too_hard_is_not_called_safe(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    domain = Domain.of_shape((3, 3, 3, 3))
    counts = np.random.default_rng(2).poisson(2.0, domain.shape)
    evidence = Evidence.gather(Table.dense(domain, counts), SmallCount(1, 1))
    criterion, pairs = criteria()["width"], list(evidence.lattice.level(2))
    told: list[WishesTogether] = []

    class Heard:
        def report(self, stage: str, fraction: float, partial: object = None) -> None:
            if isinstance(partial, WishesTogether):
                told.append(partial)

    standard = Standard(evidence, criterion, 3)
    whole = wishes_together(standard, pairs)
    assert whole.kept == tuple(pairs)
    # Nothing may be solved or walked: only closed forms are left.
    monkeypatch.setattr(bounding, "_narrow", lambda *_: None)
    found = wishes_together(standard, pairs, Heard())
    assert found.kept and found.undecided and not found.left
    assert {*found.kept, *found.undecided} == {*pairs}
    released = Frontier.below(evidence.lattice, found.kept).members
    assert replace(standard, bounds="decomposable").judge(released).verdict == "safe"
    assert told[0].kept == found.kept


def test_no_programme_is_solved_once_the_work_is_spent() -> None:
    domain = Domain.of_shape((3, 3, 3))
    table = Table.dense(domain, np.random.default_rng(1).poisson(1.5, domain.shape))
    pairs = [("v1", "v2"), ("v2", "v3"), ("v1", "v3")]
    names = dict(zip(("v1", "v2", "v3"), domain.names, strict=True))
    release = [[names[v] for v in pair] for pair in pairs]
    limited = bounding.width(table, release, search=bounding.Search("lp", most_work=0.0))
    assert limited.method == "frechet" and not limited.exact
    assert bounding.width(table, release, search=bounding.Search("lp")).method == "lp"
