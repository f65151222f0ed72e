"""Moves of cells that lie in two sums each: circuits of the graph of the sums.

Sums are nodes, and a cell is the edge between its two sums; a cell in one sum leads to the ground,
and so does the slack of a sum that may vary. Circuits with alternating signs are all minimal moves
(Graver basis of a totally unimodular matrix): they connect the originals within any bounds.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from tabprotect.engine.arrays import Floats
from tabprotect.engine.posterior.factors.components import CellSum, FactorComponent

MOST_TRIES = 200
"""Random walks before the search for a circuit is given up."""


@dataclass(frozen=True)
class _Edge:
    number: int
    to: int
    sign: int


class SumCircuits:
    """The graph of a component; built by :meth:`of`.

    Attributes
    ----------
    rest
        Sums that are not nodes: circuits may change them.
    """

    def __init__(self, cells: int, edges: list[list[_Edge]], rest: list[CellSum]) -> None:
        self._cells, self._edges, self.rest = cells, edges, rest
        self._starts = np.flatnonzero([len(e) > 1 for e in edges])

    @classmethod
    def of(cls, component: FactorComponent) -> SumCircuits | None:
        """Return ``None`` if cells lie in more than two fixed sums, or sums form odd rings."""
        cells = len(component)
        fixed = [s for s in component.sums if s.low == s.high]
        loose = [s for s in component.sums if s.low != s.high]
        of_cell: list[list[int]] = [[] for _ in range(cells)]
        nodes: list[CellSum] = []
        colour: list[int] = []
        rest: list[CellSum] = []
        for one in sorted(fixed, key=lambda s: len(s.cells)) + loose:
            if _follows(one, nodes, colour, of_cell):
                continue
            found = _colour(one, nodes, colour, of_cell)
            if found is None:
                if one.low == one.high:
                    return None
                rest.append(one)
                continue
            for cell in one.cells.tolist():
                of_cell[cell].append(len(nodes))
            nodes.append(one)
            colour.append(found)
        ground = len(nodes)
        edges: list[list[_Edge]] = [[] for _ in range(ground + 1)]
        for cell, mine in enumerate(of_cell):
            if not mine:
                continue
            # Edges go from colour 0 to colour 1; the ground stands for a missing sum.
            a = next((f for f in mine if colour[f] == 0), ground)
            b = next((f for f in mine if colour[f] == 1), ground)
            edges[a].append(_Edge(cell, b, 1))
            edges[b].append(_Edge(cell, a, -1))
        for f, one in enumerate(nodes):
            if one.low != one.high:
                edges[f].append(_Edge(cells + f, ground, 0))
                edges[ground].append(_Edge(cells + f, f, 0))
        return cls(cells, edges, rest)

    def draw(self, generator: np.random.Generator) -> tuple[list[int], list[int]] | None:
        """Cells and signs of a random circuit; ``None`` if none was found."""
        if not len(self._starts):
            return None
        u = _one_by_one(generator.random(4096))
        for _ in range(MOST_TRIES):
            start = int(self._starts[int(next(u, 0.5) * len(self._starts))])
            found = self._walk(start, u)
            if found is not None and found[0]:
                return found
        return None

    def _walk(self, start: int, u: Iterator[float]) -> tuple[list[int], list[int]] | None:
        """Walk at random until a node repeats; return the ring since its first visit."""
        seen = {start: 0}
        path: list[_Edge] = []
        at = start
        while True:
            edges = self._edges[at]
            chance = next(u, None)
            if chance is None or not edges:
                return None
            edge = edges[int(chance * len(edges))]
            if path and edge.number == path[-1].number:
                if len(edges) == 1:
                    return None
                continue
            path.append(edge)
            at = edge.to
            if at in seen:
                ring = [e for e in path[seen[at] :] if e.number < self._cells]
                return [e.number for e in ring], [e.sign for e in ring]
            seen[at] = len(path)


def _one_by_one(values: Floats) -> Iterator[float]:
    """The values as Python floats, converted in blocks: the last ones are hardly ever asked for."""
    for begin in range(0, len(values), 64):
        yield from values[begin : begin + 64].tolist()


def _follows(
    one: CellSum, nodes: list[CellSum], colour: list[int], of_cell: list[list[int]]
) -> bool:
    """Return True if fixed nodes of one colour partition the cells of a fixed sum: it follows."""
    if one.low != one.high:
        return False
    cells = one.cells.tolist()
    for side in (0, 1):
        mine = [[f for f in of_cell[c] if colour[f] == side] for c in cells]
        if all(mine):
            parts = {f for found in mine for f in found}
            if sum(len(nodes[f].cells) for f in parts) == len(cells):
                return True
    return False


def _colour(
    one: CellSum, nodes: list[CellSum], colour: list[int], of_cell: list[list[int]]
) -> int | None:
    """The side a sum can be put on; ``None`` if on neither. Recolours whole components to fit."""
    cells = one.cells.tolist()
    if any(len(of_cell[cell]) > 1 for cell in cells):
        return None
    met = [of_cell[cell][0] for cell in cells if of_cell[cell]]
    if not met:
        return 0
    # All nodes it meets must have one colour: recolour components that have the other.
    wanted = colour[met[0]]
    done: set[int] = set()
    for f in met:
        if f in done:
            if colour[f] != wanted:
                return None
            continue
        part = _connected(f, nodes, of_cell)
        if colour[f] != wanted:
            if part & done:
                return None
            for g in part:
                colour[g] = 1 - colour[g]
        done |= part
    return 1 - wanted if all(colour[f] == wanted for f in met) else None


def _connected(start: int, nodes: list[CellSum], of_cell: list[list[int]]) -> set[int]:
    found, open_ = {start}, [start]
    while open_:
        for cell in nodes[open_.pop()].cells.tolist():
            for f in of_cell[cell]:
                if f not in found:
                    found.add(f)
                    open_.append(f)
    return found
