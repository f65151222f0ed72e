"""Controlled rounding as a flow, where the published sums nest in two ways: who is nearest is told.

In a two-way table the sums are those of rows, nested in each other, and those of columns. Each sum
is a node and each published number an arc: a sum's from the sum around it, a cell's from its row's
side to its column's. A rounding is a whole-numbered flow (Cox and Ernst 1982), and what two
roundings of a table differ by consists of closed walks along which numbers go one multiple up or
down. So a rounding is the nearest exactly if no closed walk from it makes the distance smaller, and
the only one exactly if each makes it larger. That takes shortest paths, of many tables at a time,
in place of a programme for each.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

import numpy as np

from tabprotect.engine.arrays import Bools, Floats, Ints
from tabprotect.engine.tables.publication import Publication


def nested_in_two_ways(sets: Bools) -> Bools | None:
    """Return which sets are of the second of two families, in each of which any two nest or are disjoint.

    Parameters
    ----------
    sets : bool (sets, members)

    Returns
    -------
    second : bool (sets,)
        ``None`` where there are no two such families.
    """
    members = sets.astype(np.int64)
    shared, size = members @ members.T, members.sum(axis=1)
    cross = (shared > 0) & (shared < size) & (shared < size[:, None])
    family = np.full(len(sets), -1)
    for first in range(len(sets)):
        if family[first] >= 0:
            continue
        family[first], reached = 0, [first]
        while reached:
            one = reached.pop()
            others = np.flatnonzero(cross[one])
            if (family[others] == family[one]).any():
                return None
            reached += others[family[others] < 0].tolist()
            family[others] = 1 - family[one]
    second: Bools = family == 1
    return second


def _nesting(sets: Bools) -> tuple[Ints, Ints]:
    """Find the set around each set of a family, and the smallest around each member; -1: none."""
    around = np.full(len(sets), -1)
    smallest, outermost = np.full(sets.shape[1], -1), np.full(sets.shape[1], -1)
    for one in np.argsort(sets.sum(axis=1), kind="stable").tolist():
        inside = outermost[sets[one]]
        around[inside[inside >= 0]] = one
        smallest[sets[one] & (smallest < 0)] = one
        outermost[sets[one]] = one
    return around, smallest


def _apart(tail: Ints, head: Ints) -> tuple[Ints, ...]:
    """The arcs in parts, in none of which two join the same nodes."""
    parts: list[list[int]] = []
    beside: Counter[frozenset[int]] = Counter()
    for arc, ends in enumerate(zip(tail.tolist(), head.tolist(), strict=True)):
        part = beside[frozenset(ends)]
        beside[frozenset(ends)] += 1
        parts += [[]] if part == len(parts) else []
        parts[part].append(arc)
    return tuple(np.array(part) for part in parts)


@dataclass(frozen=True, eq=False)
class RoundingNetwork:
    """The arcs of published numbers, one for each.

    Attributes
    ----------
    tail, head : int64 (published numbers,)
        Nodes; node 0 is around all sums.
    parts : tuple of int64
        The arcs, apart where several join the same nodes.
    base
        What counts are rounded to multiples of.
    """

    tail: Ints
    head: Ints
    parts: tuple[Ints, ...]
    base: int

    @classmethod
    def of(cls, publication: Publication, base: int) -> RoundingNetwork | None:
        """``None`` where inner cells are not published, sums nest in more ways, or are very many."""
        incidence = publication.small_incidence
        if incidence is None or publication.domain not in publication.domains:
            return None
        sets = incidence > 0
        m = publication.domains.index(publication.domain)
        cells = np.arange(publication.starts[m], publication.starts[m + 1])
        sums = np.delete(np.arange(publication.size), cells)
        second = nested_in_two_ways(sets[sums])
        if second is None:
            return None
        nodes = 1 + np.arange(len(sums))
        tail, head = np.zeros((2, publication.size), dtype=np.int64)
        for mine, inner, outer in ((~second, head, tail), (second, tail, head)):
            around, smallest = _nesting(sets[sums[mine]])
            of_set = np.append(nodes[mine], 0)
            inner[sums[mine]], outer[sums[mine]] = of_set[:-1], of_set[around]
            outer[cells] = of_set[smallest]
        return cls(tail, head, _apart(tail, head), base)

    def nearest(self, true: Ints, rounded: Ints) -> Floats:
        """Tell whether tables have a rounding as their only nearest one: 1 or 0, NaN for one of several.

        Parameters
        ----------
        true : int64 (tables, published numbers)
        rounded : int64 (published numbers,)
            Multiples of the base that add up.
        """
        moved = rounded - true
        found = np.zeros(len(true))
        fits = (np.abs(moved) < self.base).all(axis=1)
        shortest = self._shortest_walk(true[fits] % self.base, moved[fits] > 0)
        found[fits] = np.select([shortest > 0, shortest < 0], [1.0, 0.0], np.nan)
        return found

    def _shortest_walk(self, rest: Ints, up: Bools) -> Floats:
        """Return by how much the best closed walk changes the distance; infinite where there is none.

        Below 0 it is only some walk, which may go round more than once.
        """
        nodes = 1 + int(max(self.tail.max(), self.head.max()))
        length = np.full((len(rest), nodes, nodes), np.inf)
        # What went up can come down against the arc; multiples of the base stay.
        ahead = np.where((rest > 0) & ~up, self.base - 2.0 * rest, np.inf)
        back = np.where((rest > 0) & up, 2.0 * rest - self.base, np.inf)
        for arcs in self.parts:
            tail, head = self.tail[arcs], self.head[arcs]
            for here, there, cost in ((tail, head, ahead), (head, tail, back)):
                length[:, here, there] = np.minimum(length[:, here, there], cost[:, arcs])
        for k in range(nodes):
            np.minimum(length, length[:, :, k, None] + length[:, k, None, :], out=length)
        shortest: Floats = length.diagonal(axis1=1, axis2=2).min(axis=1)
        return shortest
