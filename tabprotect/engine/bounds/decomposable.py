"""Taking a release apart where it separates, and closed-form bounds where that ends in cliques.

When the variables outside a released margin S fall into two groups that no released margin
joins, every table of one side goes with every table of the other that has the same S: the bounds
of a cell follow exactly from those of its two sides,

    upper = min(upper of the sides),   lower = max(0, sum of the sides' lower - n_S).

A release that comes apart into single margins is decomposable; its bounds are a closed form.

Source: Dobra and Fienberg, Bounds for cell entries in contingency tables given marginal totals
and decomposable graphs, PNAS 97 (2000); Dobra, Karr, Sanil and Fienberg 2002, section 4.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from tabprotect.engine.arrays import Ints
from tabprotect.engine.bounds.bounds import Bounds
from tabprotect.engine.errors import ParameterError
from tabprotect.engine.tables.bit_sets import bits, union
from tabprotect.engine.tables.margins import MarginSet
from tabprotect.engine.tables.table import Table
from tabprotect.languages.messages import message


@dataclass(frozen=True)
class MarginPart:
    """Variables that no released margin separates, and the margins known about them."""

    names: tuple[str, ...]
    margins: MarginSet


@dataclass(frozen=True)
class MarginTree:
    """The parts of a release and what joins them.

    Attributes
    ----------
    parts
        The parts, each with its margins and those of the separators next to it.
    separators
        One for each join, so some may occur several times; an empty one counts the total.
    """

    parts: tuple[MarginPart, ...]
    separators: tuple[tuple[str, ...], ...]

    @property
    def decomposable(self) -> bool:
        """Return True if every part is a single released margin."""
        return all(len(part.margins) == 1 for part in self.parts)

    @property
    def cliques(self) -> MarginSet:
        """The parts' variables; where the release is decomposable, its maximal margins."""
        return tuple(part.names for part in self.parts)


def margin_tree(margins: MarginSet) -> MarginTree:
    """Take a release apart as far as it goes.

    Parameters
    ----------
    margins
        Released margins; those contained in others add nothing. Not empty.
    """
    order = list(dict.fromkeys(name for margin in margins for name in margin))
    place = {name: v for v, name in enumerate(order)}
    generators = [sum(1 << place[name] for name in margin) for margin in margins]
    parts: list[list[int]] = []
    separators: list[int] = []
    pending = [_maximal(generators)]
    while pending:
        sets = pending.pop()
        split = next(_splits(sets), None)
        if split is None:
            parts.append(sets)
            continue
        one_side, separator = split
        other_side = union(sets) & ~one_side | separator
        separators.append(separator)
        for side in (other_side, one_side):
            pending.append(_maximal([s for s in sets if s & ~side == 0] + [separator]))
    names = {sum(1 << place[n] for n in margin): margin for margin in margins}  # in the order they were given

    def named(variables: int) -> tuple[str, ...]:
        given = names.get(variables)
        return given or tuple(n for v, n in enumerate(order) if variables >> v & 1)

    return MarginTree(
        tuple(MarginPart(named(union(sets)), tuple(map(named, sets))) for sets in parts),
        tuple(map(named, separators)),
    )


def is_decomposable(margins: MarginSet) -> bool:
    """Return True if the bounds of a release are a closed form (a graph with the margins as cliques)."""
    return margin_tree(margins).decomposable


def decomposable_bounds(table: Table, margins: MarginSet, cells: Ints) -> Bounds:
    """Closed-form bounds, sharp for whole tables.

    Parameters
    ----------
    table
        The original; sparse tables are never laid out.
    margins
        A decomposable release.
    cells : int64 (m,)
        Mixed-radix keys of the cells asked for.

    Raises
    ------
    ParameterError
        When the release is not decomposable.
    """
    tree = margin_tree(margins)
    if not tree.decomposable:
        raise ParameterError(
            {"bounds": message("the released margins are not decomposable: there is no closed form")},
            hint=message("take integer, or auto"),
        )
    upper, lower = closed_form(table, tree.cliques, tree.separators, cells)
    covered = {name for margin in margins for name in margin}
    lower -= uncovered_loss(table, covered)
    lower = np.maximum(lower, 0)
    return Bounds(
        cells,
        lower,
        upper,
        sharp=np.ones(len(cells), dtype=np.bool_),
        method="decomposable",
        why=message("The released margins are decomposable: the bounds are a closed form and sharp."),
    )


def closed_form(table: Table, cliques: MarginSet, separators: MarginSet, cells: Ints) -> tuple[Ints, Ints]:
    """Smallest clique count, and cliques less separators (may be negative), at each cell (m,)."""
    upper = np.full(len(cells), table.total, dtype=np.int64)
    lower = np.zeros(len(cells), dtype=np.int64)
    for clique in cliques:
        counts = counts_at(table, clique, cells)
        np.minimum(upper, counts, out=upper)
        lower += counts
    for separator in separators:
        lower -= counts_at(table, separator, cells)
    return upper, lower


def uncovered_loss(table: Table, covered: set[str]) -> int:
    """Return what variables in no released margin subtract from the sum of lower bounds: all of it.

    They are a side of their own about which the total alone is known, so each of its cells may
    hold nobody; unless it has one cell only.
    """
    open_sizes = (len(v.categories) for v in table.domain.variables if v.name not in covered)
    return table.total if any(size > 1 for size in open_sizes) else 0


def counts_at(table: Table, names: Sequence[str], cells: Ints) -> Ints:
    """The margin's count (m,) at each cell of the table."""
    keys = table.domain.project_keys(cells, names)
    return table.margin(names).counts_at(keys)


def _maximal(sets: Sequence[int]) -> list[int]:
    unique = list(dict.fromkeys(sets))
    return [s for s in unique if not any(s != o and s & ~o == 0 for o in unique)]


def _splits(sets: Sequence[int]) -> Iterator[tuple[int, int]]:
    """(one side with the separator, separator) for each margin that has a separator in it.

    Every separator that lies in a margin is the neighbourhood of a component of the graph
    without that margin, so no other sets need be tried.
    """
    everything = union(sets)
    neighbours: dict[int, int] = {}
    for one in sets:
        for v in bits(one):
            neighbours[v] = neighbours.get(v, 0) | one
    for one in sets:
        rest = everything & ~one
        while rest:
            component, grown = 0, rest & -rest
            around = 0
            while grown:
                component |= grown
                around = union(neighbours[v] for v in bits(grown)) | around
                grown = around & rest & ~component
            rest &= ~component
            if component | around != everything:
                yield component | around, around & ~component
