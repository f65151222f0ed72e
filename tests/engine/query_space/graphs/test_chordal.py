"""Chordal graphs against networkx, over every graph of few vertices."""

from __future__ import annotations

from itertools import combinations
from typing import Any

import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tabprotect.engine.query_space.frontier import Frontier, maximal_queries
from tabprotect.engine.query_space.graphs.chordal import (
    covers,
    decomposable,
    graph_of,
    is_complete,
    junction_tree,
    separates,
)
from tabprotect.engine.query_space.graphs.independence_graph import independence_graph
from tabprotect.engine.query_space.lattice import Lattice


def graphs(vertices: int) -> list[tuple[list[int], nx.Graph]]:
    pairs = list(combinations(range(vertices), 2))
    out = []
    for edges in range(1 << len(pairs)):
        chosen = [pair for number, pair in enumerate(pairs) if edges >> number & 1]
        graph = nx.Graph(chosen)
        graph.add_nodes_from(range(vertices))
        out.append((graph_of(vertices, [1 << i | 1 << j for i, j in chosen]), graph))
    return out


def as_set(query: int) -> frozenset[int]:
    return frozenset(v for v in range(query.bit_length()) if query >> v & 1)


@pytest.mark.parametrize("vertices", [3, 4, 5])
def test_every_graph(vertices: int, niss: dict[str, Any]) -> None:
    chordal = 0
    for own, graph in graphs(vertices):
        tree = junction_tree(own)
        assert (tree is not None) == nx.is_chordal(graph)
        if tree is None:
            continue
        chordal += 1
        expected = {frozenset(c) for c in nx.find_cliques(graph)}
        assert {as_set(c) for c in tree.cliques} == expected
        complete = sum(is_complete(own, q) for q in range(1 << vertices))
        assert (
            tree.released
            == complete
            == Frontier.below(Lattice(tuple("ABCDEFG"[:vertices])), tree.cliques).size
        )
        for i, j in combinations(range(vertices), 2):
            changed = graph.copy()
            common = own[i] & own[j]
            if graph.has_edge(i, j):
                changed.remove_edge(i, j)
                assert is_complete(own, common) == nx.is_chordal(changed)
            else:
                changed.add_edge(i, j)
                assert separates(own, common, i, j) == nx.is_chordal(changed)
    assert chordal == niss["labelled_chordal_graphs"][str(vertices)]


K = 6


@settings(max_examples=100)
@given(st.lists(st.integers(0, 2**K - 1), max_size=4), st.lists(st.integers(0, 2**K - 1), min_size=1))
def test_covers_are_decomposable_and_contain(released: list[int], queries: list[int]) -> None:
    frontier = maximal_queries(released)
    found = covers(K, frontier, np.array(queries))
    for row, query in enumerate(queries):
        cliques = [c for c in found.cliques[row].tolist() if c]
        wanted = maximal_queries([*frontier, query])
        assert decomposable(K, cliques) is not None or not cliques
        assert all(any(q & c == q for c in cliques) or not q for q in wanted)
        tree = decomposable(K, wanted)
        assert found.exact[row] == (tree is not None)
        if tree is not None:
            assert set(maximal_queries(cliques or [0])) == set(wanted)
            # By elimination or by junction tree: the same sum over cliques less separators.
            size = lambda q: 3 ** q.bit_count()  # noqa: E731
            steps = zip(found.cliques[row].tolist(), found.separators[row].tolist(), strict=True)
            assert 1 + sum(size(c) - size(s) for c, s in steps) == sum(map(size, tree.cliques)) - sum(
                map(size, tree.separators)
            )


def test_the_graph_in_words() -> None:
    lattice = Lattice(tuple("ABCDEF"))
    found = independence_graph(lattice, [lattice.parse(t) for t in ("A,B,C", "C,D", "E,F")])
    assert found.decomposable and found.chordal
    assert found.cliques == (("A", "B", "C"), ("C", "D"), ("E", "F"))
    assert found.separators == (("C",), ())
    assert ("C", "D") in found.edges and len(found.edges) == 5
    triangle = independence_graph(lattice, [lattice.parse(t) for t in ("A,B", "B,C", "A,C")])
    assert triangle.chordal and not triangle.decomposable
    assert triangle.missing == (("A", "B", "C"),) and "[A B C]" in triangle.sentence
    ring = independence_graph(lattice, [lattice.parse(t) for t in ("A,B", "B,C", "C,D", "A,D")])
    assert not ring.chordal and "without a chord" in ring.sentence
