"""The independence graph of a released set: which pairs of variables are released together."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from tabprotect.engine.query_space.frontier import maximal_queries
from tabprotect.engine.query_space.graphs.chordal import decomposable, graph_of, junction_tree
from tabprotect.engine.query_space.lattice import Lattice, Query, in_order
from tabprotect.engine.tables.bit_sets import bits, union
from tabprotect.languages.messages import message


@dataclass(frozen=True)
class IndependenceGraph:
    """Edges between variables that one released margin has; two without an edge are independent
    given the rest, as far as a reader can tell.

    Attributes
    ----------
    variables, edges
        By name.
    chordal
        Whether every cycle of four or more variables has a chord.
    decomposable
        Whether, in addition, the cliques are exactly the released frontier: bounds are then in
        closed form and sharp.
    cliques, separators
        By name, separators with multiplicity; empty unless chordal.
    missing
        Cliques that are not released: they would have to be for a decomposable release.
    """

    variables: tuple[str, ...]
    edges: tuple[tuple[str, str], ...]
    chordal: bool
    decomposable: bool
    cliques: tuple[tuple[str, ...], ...]
    separators: tuple[tuple[str, ...], ...]
    missing: tuple[tuple[str, ...], ...]

    @property
    def sentence(self) -> str:
        """Its meaning, in words."""
        if self.decomposable:
            return message("Decomposable: the bounds on every cell are a closed form and sharp.")
        if self.chordal:
            named = ", ".join("[" + " ".join(clique) + "]" for clique in self.missing)
            return message("Not decomposable: the clique {named} is not released as one table.", named)
        return message("Not decomposable: the graph has a cycle without a chord.")


def independence_graph(lattice: Lattice, released: Sequence[Query]) -> IndependenceGraph:
    """The graph of a release over the variables of its lattice."""
    frontier = maximal_queries(released)
    graph, used = graph_of(lattice.variables, frontier), union(frontier)
    tree = junction_tree(graph, used)
    cliques = () if tree is None else tuple(in_order(tree.cliques))
    separators = () if tree is None else tuple(in_order(tree.separators))
    names = lattice.names_of
    return IndependenceGraph(
        variables=names(used),
        edges=tuple(
            (lattice.names[v], lattice.names[u]) for v in bits(used) for u in bits(graph[v]) if v < u
        ),
        chordal=tree is not None,
        decomposable=lattice.separable(frontier) and decomposable(lattice.variables, frontier) is not None,
        cliques=tuple(names(c) for c in cliques),
        separators=tuple(names(s) for s in separators),
        missing=tuple(names(c) for c in cliques if not any(c & query == c for query in frontier)),
    )
