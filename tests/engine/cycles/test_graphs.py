"""Components against those of a library of graphs."""

from __future__ import annotations

import networkx as nx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tabprotect.engine.cycles.designs import design
from tabprotect.engine.cycles.graphs import components, elimination_cost, later_scopes, surely_wider
from tabprotect.engine.cycles.signatures import signatures
from tabprotect.engine.tables.domain import Domain


@given(
    st.integers(1, 30).flatmap(
        lambda n: st.tuples(
            st.just(n), st.lists(st.tuples(st.integers(0, n - 1), st.integers(0, n - 1)), max_size=60)
        )
    )
)
def test_components_are_numbered_by_their_first_nodes(drawn: tuple[int, list[tuple[int, int]]]) -> None:
    nodes, edges = drawn
    graph = nx.Graph(edges)
    graph.add_nodes_from(range(nodes))
    expected = np.empty(nodes, dtype=np.int64)
    for label, part in enumerate(sorted(nx.connected_components(graph), key=min)):
        expected[list(part)] = label
    left, right = [a for a, _ in edges], [b for _, b in edges]
    assert np.array_equal(components(left, right, nodes), expected)


def test_a_long_path_in_any_order_is_one_component() -> None:
    order = np.random.default_rng(1).permutation(20_000)
    assert not components(order[:-1], order[1:], 20_000).any()


@pytest.mark.parametrize("passes", [1, 2])
@pytest.mark.parametrize(
    ("kind", "shape"),
    [("elementary", (5, 5)), ("strips-4", (9, 8)), ("elementary", (4, 4, 4)), ("balanced", (4, 4))],
)
def test_a_few_scopes_give_up_only_what_is_too_wide(kind: str, shape: tuple[int, ...], passes: int) -> None:
    moves = design(Domain.of_shape(shape), kind)
    sig, count = signatures(moves), len(moves)
    longest = max(map(len, later_scopes(sig, count, passes)))
    # With so few cycles each is looked at, or a neighbour of the same kind.
    assert surely_wider(sig, count, passes, limit=longest - 2)
    assert not surely_wider(sig, count, passes, limit=longest - 1)
    assert elimination_cost(moves, passes, limit=longest - 2) is None
