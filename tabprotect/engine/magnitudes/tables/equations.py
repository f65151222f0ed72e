"""How the cells of a magnitude table add up, with cells that hold the same records taken as one."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from tabprotect.engine.arrays import Bools, Floats, Ints
from tabprotect.engine.cycles.graphs import components
from tabprotect.engine.tables.variable import Variable


@dataclass(frozen=True, eq=False)
class Equations:
    """Parents that are the sums of their children, for all levels of all variables together.

    Attributes
    ----------
    same : int64 (cells,)
        For each cell the first that holds the same records: a parent with one child is that child.
    parent : int64 (equations,)
    start : int64 (equations + 1,)
    child : int64 (children of all equations,)
    """

    same: Ints
    parent: Ints
    start: Ints
    child: Ints

    @classmethod
    def of(cls, variables: Sequence[Variable], key: Ints, nodes: Ints) -> Equations:
        """Make the equations of cells by their keys, rising, and their nodes (variables, cells)."""
        found = list(_sums(variables, key, nodes))
        pairs = [np.zeros((2, 0), dtype=np.int64)]
        for parent, start, child in found:
            alone = np.flatnonzero(np.diff(start) == 1)
            pairs.append(np.stack([parent[alone], child[start[alone]]]))
        parent, child = np.concatenate(pairs, axis=1)
        label = components(parent, child, len(key))
        same = np.unique(label, return_index=True)[1][label].astype(np.int64)
        parents: list[int] = []
        members: list[Ints] = []
        seen: set[tuple[int, bytes]] = set()
        for parent, start, child in found:
            for one in np.flatnonzero(np.diff(start) > 1).tolist():
                held = np.sort(same[child[start[one] : start[one + 1]]])
                sum_of = int(same[parent[one]]), held.tobytes()
                if sum_of not in seen:
                    seen.add(sum_of)
                    parents.append(sum_of[0])
                    members.append(held)
        starts = np.append(0, np.cumsum([len(held) for held in members])).astype(np.int64)
        child = np.concatenate(members) if members else np.zeros(0, dtype=np.int64)
        return cls(same, np.array(parents, dtype=np.int64), starts, child)

    def __len__(self) -> int:
        return len(self.parent)

    def children(self, number: int) -> Ints:
        """The children of one equation."""
        return self.child[self.start[number] : self.start[number + 1]]

    @cached_property
    def places(self) -> Ints:
        """The cells that stand for those that are the same, in order."""
        return np.unique(self.same)

    @cached_property
    def touching(self) -> dict[int, list[int]]:
        """The equations of each cell."""
        out: dict[int, list[int]] = {}
        number = np.repeat(np.arange(len(self)), np.diff(self.start))
        for one, cell in zip(number.tolist(), self.child.tolist(), strict=True):
            out.setdefault(cell, []).append(one)
        for one, cell in enumerate(self.parent.tolist()):
            out.setdefault(cell, []).append(one)
        return out

    def among(self, cells: Ints) -> tuple[Ints, Ints, Floats]:
        """The equations of some cells, rising: the equation, the cell by its place, and its sign.

        Equations are counted among those that any of the cells is in.
        """
        row = np.concatenate([np.repeat(np.arange(len(self)), np.diff(self.start)), np.arange(len(self))])
        every = np.concatenate([self.child, self.parent])
        sign = np.repeat([1.0, -1.0], [len(self.child), len(self.parent)])
        kept = np.isin(every, cells)
        _, row = np.unique(row[kept], return_inverse=True)
        return row.astype(np.int64), np.searchsorted(cells, every[kept]), sign[kept]

    def near(self, cell: int, hops: int, among: Bools | None = None) -> Ints:
        """The cells of the equations of a cell, and those of their equations, so many times, rising.

        With ``among`` only cells that it marks.
        """
        found = np.array([cell], dtype=np.int64)
        for _ in range(hops):
            touched = sorted({e for one in found.tolist() for e in self.touching.get(one, ())})
            parents = self.parent[np.array(touched, dtype=np.int64)]
            members = np.concatenate([found, parents, *(self.children(e) for e in touched)])
            found = np.unique(members if among is None else members[among[members]])
        return found


def has_all_sums(variables: Sequence[Variable], key: Ints, nodes: Ints) -> bool:
    """Return True if every cell that other cells add up to is there."""
    return all(np.isin(above, key).all() for _, above in _above(variables, key, nodes))


def _above(variables: Sequence[Variable], key: Ints, nodes: Ints) -> Iterator[tuple[Ints, Ints]]:
    """Cells that are part of others, and the keys of those, for every way in which cells add up."""
    stride = 1
    for variable, node in zip(reversed(variables), reversed(nodes), strict=True):
        for step in variable.steps:
            child = np.flatnonzero(step[node] >= 0)
            if len(child):
                yield child, key[child] + (step[node[child]] - node[child]) * stride
        stride *= len(variable.nodes)


def _sums(variables: Sequence[Variable], key: Ints, nodes: Ints) -> Iterator[tuple[Ints, Ints, Ints]]:
    """Parents, starts and children of every way in which cells add up."""
    for child, above in _above(variables, key, nodes):
        order = np.argsort(above, kind="stable")
        parents, start = np.unique(above[order], return_index=True)
        whole = np.append(start, len(child)).astype(np.int64)
        yield np.searchsorted(key, parents), whole, child[order]
