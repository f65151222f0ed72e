"""Moves of cells that lie in two sums each: circuits of the graph of the sums.

Sums are nodes, and a cell is the edge between its two sums; a cell in one sum leads to the ground,
and so does the slack of a sum that may vary. Circuits with alternating signs are all minimal moves
(Graver basis of a totally unimodular matrix): they connect the originals within any bounds.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tabprotect.engine.arrays import Ints
from tabprotect.engine.posterior.factors.components import CellSum, FactorComponent


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

    def __init__(self, edges: list[list[_Edge]], rest: list[CellSum]) -> None:
        self._edges, self.rest = edges, rest
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
        return cls(edges, rest)

    @property
    def graph(self) -> tuple[Ints, Ints, Ints, Ints, Ints]:
        """Return for each node where its edges begin; their numbers, ends and signs; the nodes to start from.

        Edges numbered from the number of cells on are slacks.
        """
        listed = [(e.number, e.to, e.sign) for edges in self._edges for e in edges]
        number, to, sign = np.array(listed, dtype=np.int64).reshape(-1, 3).T.copy()
        starts = np.cumsum([0, *map(len, self._edges)]).astype(np.int64)
        return starts, number, to, sign, self._starts.astype(np.int64)


def _follows(one: CellSum, nodes: list[CellSum], colour: list[int], of_cell: list[list[int]]) -> bool:
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


def _colour(one: CellSum, nodes: list[CellSum], colour: list[int], of_cell: list[list[int]]) -> int | None:
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
