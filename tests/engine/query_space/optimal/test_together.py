"""Wishes that may go out together: what is kept is safe, and nothing that is left could join."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from tabprotect.engine.query_space.evidence import Evidence
from tabprotect.engine.query_space.frontier import Frontier
from tabprotect.engine.query_space.optimal.together import together
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
def test_what_is_kept_is_safe_and_what_is_left_is_not(
    seed: int, wishes: list[int], threshold: int
) -> None:
    domain = Domain(tuple(Variable(name, ("no", "yes")) for name in "ABCD"))
    counts = np.random.default_rng(seed).poisson(6.0, domain.shape)
    counts[0, 0, 0, 0] = 1
    evidence = Evidence.gather(Table.dense(domain, counts), SmallCount(1, 2))
    width = criteria()["width"]

    def safe(*queries: int) -> bool:
        released = Frontier.below(evidence.lattice, (0, *queries)).members
        return width.judge(evidence, released, threshold).verdict == "safe"

    found = together(evidence, wishes, threshold, width)
    assert sorted((*found.kept, *found.left)) == sorted(wishes)
    assert [w for w in wishes if w in found.kept] == list(found.kept)
    assert not found.kept or safe(*found.kept)
    assert not any(safe(*found.kept, wish) for wish in found.left)
    assert bool(found.left) == (not safe(*wishes))
