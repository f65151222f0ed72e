"""Taking releases apart, against an independent implementation of chordal graphs."""

from __future__ import annotations

from collections import Counter
from itertools import combinations

import networkx as nx
import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from tabprotect.engine.bounds.decomposable import decomposable_bounds, is_decomposable, margin_tree
from tabprotect.engine.tables.domain import Domain
from tabprotect.engine.tables.table import Table

NAMES = "ABCDEFG"


def graph_of(margins: list[tuple[str, ...]]) -> nx.Graph:
    graph = nx.Graph()
    for margin in margins:
        graph.add_nodes_from(margin)
        graph.add_edges_from(combinations(margin, 2))
    return graph


def maximal(margins: list[tuple[str, ...]]) -> set[frozenset[str]]:
    sets = {frozenset(m) for m in margins}
    return {s for s in sets if not any(s < o for o in sets)}


edges = st.lists(st.sampled_from(list(combinations(NAMES, 2))), min_size=1, max_size=14, unique=True)


@settings(max_examples=150, deadline=None)
@given(edges)
def test_cliques_and_separators_of_chordal_graphs(pairs: list[tuple[str, str]]) -> None:
    graph = graph_of(pairs)
    cliques = [tuple(sorted(clique)) for clique in nx.find_cliques(graph)]
    tree = margin_tree(tuple(cliques))
    assert tree.decomposable == nx.is_chordal(graph)
    assert len(tree.separators) == len(tree.parts) - 1
    if tree.decomposable:
        assert {frozenset(c) for c in tree.cliques} == {frozenset(c) for c in cliques}
        joins = nx.Graph()
        joins.add_nodes_from(cliques)
        for one, other in combinations(cliques, 2):
            joins.add_edge(one, other, weight=len(set(one) & set(other)))
        theirs = nx.maximum_spanning_edges(joins, data=False)
        assert Counter(frozenset(s) for s in tree.separators) == Counter(
            frozenset(one) & frozenset(other) for one, other in theirs
        )


@settings(max_examples=150, deadline=None)
@given(
    st.lists(
        st.sets(st.sampled_from(NAMES), min_size=1, max_size=4).map(lambda s: tuple(sorted(s))),
        min_size=1,
        max_size=6,
    )
)
def test_decomposable_means_chordal_with_the_margins_as_cliques(margins: list[tuple[str, ...]]) -> None:
    graph = graph_of(margins)
    conformal = {frozenset(c) for c in nx.find_cliques(graph)} == maximal(margins)
    assert is_decomposable(tuple(margins)) == (nx.is_chordal(graph) and conformal)
    tree = margin_tree(tuple(margins))
    covered = {name for part in tree.parts for name in part.names}
    assert covered == set().union(*margins)
    for part in tree.parts:
        assert set().union(*part.margins) == set(part.names)


def test_the_triangle_of_pairs_is_not_decomposable() -> None:
    assert not is_decomposable((("A", "B"), ("B", "C"), ("A", "C")))
    assert is_decomposable((("A", "B", "C"), ("A", "C")))


def test_separators_count_as_often_as_they_occur() -> None:
    tree = margin_tree((("A", "B"), ("A", "C"), ("A", "D"), ("E",)))
    assert Counter(tree.separators) == Counter({("A",): 2, (): 1})


def test_two_way_margins_give_the_bounds_of_frechet() -> None:
    counts = np.array([[9, 1], [1, 0]])
    table = Table.dense(Domain.of_shape((2, 2)), counts)
    found = decomposable_bounds(table, (("A",), ("B",)), np.arange(4))
    rows, columns = counts.sum(axis=1), counts.sum(axis=0)
    assert found.upper.tolist() == np.minimum.outer(rows, columns).reshape(-1).tolist()
    lower = np.maximum(0, np.add.outer(rows, columns) - counts.sum())
    assert found.lower.tolist() == lower.reshape(-1).tolist()
    assert found.exact
