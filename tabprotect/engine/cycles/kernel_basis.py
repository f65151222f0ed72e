"""The moves that keep given sums: a basis of the integer kernel, made short.

Any two originals with the same sums differ by an integer combination of the basis, so random
combinations of it reach every original from every other.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from heapq import heappop, heappush

import numpy as np

from tabprotect.engine.arrays import Bools, Floats, Ints
from tabprotect.engine.equal_rows import by_number, spread
from tabprotect.engine.progress import SILENT, Progress
from tabprotect.languages.messages import message

MOST_REDUCED = 150
"""Largest basis that is reduced; larger ones come short enough out of the elimination."""

MOST_SUMS = 2_000
"""Most sums of moves tried to turn one basis vector into a cycle."""


Vector = dict[int, int]
"""Cell -> coefficient, without zeros."""


DELTA = 0.75
"""Parameter of the reduction by Lenstra, Lenstra and Lovasz."""


def kernel(sums: Sequence[Ints], cells: int, progress: Progress = SILENT) -> list[Vector]:
    """A basis of all integer vectors over the cells that change none of the sums.

    Unimodular column elimination, always by the sparsest column with the smallest entry.
    """
    effect: list[Vector] = [{} for _ in range(cells)]
    for f, members in enumerate(sums):
        for cell in members.tolist():
            effect[cell][f] = 1
    basis: list[Vector] = [{cell: 1} for cell in range(cells)]
    touching: list[set[int]] = [set(members.tolist()) for members in sums]
    # Short sums first: a total then follows from its parts and costs nothing.
    for done, f in enumerate(sorted(range(len(sums)), key=lambda f: len(sums[f]))):
        progress.report(message("finding the moves"), done / len(sums))
        while len(touching[f]) > 1:
            pivot = min(touching[f], key=lambda j: (abs(effect[j][f]), len(basis[j]), len(effect[j]), j))
            lead, known = list(effect[pivot].items()), list(basis[pivot].items())
            size = effect[pivot][f]
            for other in sorted(touching[f] - {pivot}):
                mine = effect[other]
                times = mine[f] // size
                for g, value in lead:
                    left = mine.get(g, 0) - times * value
                    if left:
                        mine[g] = left
                        touching[g].add(other)
                    else:
                        mine.pop(g, None)
                        touching[g].discard(other)
                _subtract(basis[other], known, times)
        for pivot in touching[f].copy():
            for g in effect[pivot]:
                touching[g].discard(pivot)
            effect[pivot] = {}
            basis[pivot] = {}
    return [vector for vector in basis if vector]


def _subtract(vector: Vector, other: Iterable[tuple[int, int]], times: int) -> None:
    for cell, value in other:
        left = vector.get(cell, 0) - times * value
        if left:
            vector[cell] = left
        else:
            vector.pop(cell, None)


def shortened(basis: list[Vector], cells: int) -> list[Vector]:
    """The same lattice with shorter vectors (Lenstra, Lenstra, Lovasz 1982); small bases only."""
    if not 1 < len(basis) <= MOST_REDUCED:
        return basis
    b = np.zeros((len(basis), cells), dtype=np.int64)
    for row, vector in zip(b, basis, strict=True):
        row[list(vector)] = list(vector.values())
    reduced = _lll(b)
    return [{int(c): int(row[c]) for c in np.flatnonzero(row)} for row in reduced]


def as_cycles(basis: list[Vector], moves: list[Vector]) -> list[Vector]:
    """Basis vectors turned into vectors with entries of -1 and 1 only, as far as possible.

    Larger entries are reduced by adding moves and cycles of the basis, the most promising
    sums first: together they span the same lattice.

    Parameters
    ----------
    moves
        Moves that span the rest of the lattice.
    """
    cycles = [vector for vector in basis if not _excess(vector)]
    long = [vector for vector in basis if _excess(vector)]
    if not long:
        return cycles
    touching: dict[int, list[Vector]] = {}
    for move in moves + cycles:
        for cell in move:
            touching.setdefault(cell, []).append(move)
    for vector in long:
        found = _cycle(vector, touching)
        if found is not None:
            cycles.append(found)
    return cycles


def _excess(vector: Vector) -> int:
    """The excess of a vector's entries over those of a cycle."""
    return sum(abs(value) - 1 for value in vector.values() if abs(value) > 1)


def _cycle(vector: Vector, touching: Mapping[int, Sequence[Vector]]) -> Vector | None:
    """A cycle that is the vector plus moves; ``None`` if the search finds none."""
    seen: set[frozenset[tuple[int, int]]] = set()
    waiting = [(_excess(vector), len(vector), 0, vector)]
    while waiting and len(seen) < MOST_SUMS:
        excess, _, _, at = heappop(waiting)
        if not excess:
            return at
        for cell in [cell for cell, value in at.items() if abs(value) > 1]:
            for move in touching.get(cell, ()):
                # A step away from zero would only make it worse there.
                other = dict(at)
                _subtract(other, move.items(), 1 if at[cell] * move[cell] > 0 else -1)
                key = frozenset(other.items())
                if key not in seen:
                    seen.add(key)
                    heappush(waiting, (_excess(other), len(other), len(seen), other))
    return None


def _lll(b: Ints) -> Ints:
    m = len(b)
    star = np.zeros(b.shape)
    norm = np.zeros(m)

    def orthogonalise(k: int) -> Floats:
        mu = star[:k] @ b[k] / norm[:k]
        star[k] = b[k] - mu @ star[:k]
        norm[k] = star[k] @ star[k]
        return np.asarray(mu, dtype=np.float64)

    orthogonalise(0)
    k = 1
    while k < m:
        mu = orthogonalise(k)
        for j in range(k - 1, -1, -1):
            times = round(mu[j])
            if times:
                b[k] -= times * b[j]
                mu = star[:k] @ b[k] / norm[:k]
        orthogonalise(k)
        if norm[k] >= (DELTA - mu[k - 1] ** 2) * norm[k - 1]:
            k += 1
        else:
            b[[k - 1, k]] = b[[k, k - 1]]
            orthogonalise(k - 1)
            k = max(k - 1, 1)
    return b


def core(items: Ints, places: Ints, *, count: int) -> Bools:
    """Mask of the items that are left when peeling ends, (count,).

    Time and memory grow with the number of touches.

    Parameters
    ----------
    items, places : int64 (touches,)
        Which item touches which place (with a coefficient that is +-1); no pair comes twice.
    count
        Number of items.
    """
    _, place = np.unique(places, return_inverse=True)
    place = place.reshape(-1)
    size = int(place.max(initial=-1)) + 1
    degree = np.bincount(place, minlength=size)
    # A place with one item left holds its number: the sum of those that are left.
    left = np.zeros(size, dtype=np.int64)
    np.add.at(left, place, items)
    order, begin = by_number(items, count)
    by_item = place[order]
    stays = np.ones(count, dtype=np.bool_)
    lonely = np.flatnonzero(degree == 1)
    while len(lonely):
        gone = np.unique(left[lonely])
        stays[gone] = False
        spans = begin[gone + 1] - begin[gone]
        touched = by_item[spread(begin[gone], spans)]
        np.subtract.at(degree, touched, 1)
        np.subtract.at(left, touched, np.repeat(gone, spans))
        touched = np.unique(touched)
        lonely = touched[degree[touched] == 1]
    return stays
