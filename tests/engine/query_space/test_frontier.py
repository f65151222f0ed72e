"""Antichains against the sets they stand for."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from tabprotect.engine.query_space.frontier import Frontier, maximal_queries, minimal_queries
from tabprotect.engine.query_space.lattice import Lattice

K = 5
LATTICE = Lattice(tuple("ABCDE"))
QUERIES = st.lists(st.integers(0, 2**K - 1), max_size=8)


@given(QUERIES, st.booleans(), st.integers(0, 2**K - 1))
def test_a_frontier_stands_for_a_set(queries: list[int], upward: bool, more: int) -> None:
    make = Frontier.above if upward else Frontier.below
    frontier = make(LATTICE, queries)

    def listed(given: list[int]) -> set[int]:
        return {t for t in range(2**K) if any(t & q == (q if upward else t) for q in given)}

    assert {t for t in range(2**K) if t in frontier} == listed(queries)
    every = np.arange(2**K)
    assert set(every[frontier.covers(every)].tolist()) == listed(queries)
    assert frontier.by_dimension == tuple(
        sum(t.bit_count() == d for t in listed(queries)) for d in range(K + 1)
    )
    assert frontier.size == len(listed(queries))
    pairs = [(a, b) for a in frontier for b in frontier if a != b]
    assert not any(a & b == a for a, b in pairs)
    assert frontier.add(more) == make(LATTICE, [*queries, more])
    assert frontier.add(*queries) is frontier


@given(QUERIES)
def test_maximal_and_minimal(queries: list[int]) -> None:
    asked = set(queries)
    assert set(maximal_queries(queries)) == {
        q for q in asked if not any(q != o and q & o == q for o in asked)
    }
    assert set(minimal_queries(queries)) == {
        q for q in asked if not any(q != o and q & o == o for o in asked)
    }


def test_counts_of_the_published_frontiers(niss: dict) -> None:  # type: ignore[type-arg]
    for found in niss["otr13_frontiers"].values():
        frontier = Frontier.below(
            Lattice(tuple("ABCDEFGHIJKLM")),
            (sum(1 << (v - 1) for v in clique) for clique in found["published_frontier"]),
        )
        assert frontier.size - 1 == found["subtables_nonempty"]
        assert list(frontier.by_dimension[1:8]) == found["by_dimension"]
