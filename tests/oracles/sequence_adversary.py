"""An adversary who keeps every answer of a server, written from the definition.

For every table of the total the whole server is run, query by query; those with another history than
the one that was seen are ruled out. Width of the at-risk cells, rule myopic, small tables only.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from itertools import product

import numpy as np

LOW, HIGH = 1, 2
"""Counts at risk."""

Margins = tuple[tuple[int, ...], ...]


@dataclass(frozen=True)
class Told:
    """What one refusal told: bits, and the largest move of a true at-risk cell's probability."""

    bits: float
    move: float
    originals: int
    left: int


@cache
def tables_of(total: int, cells: int) -> np.ndarray:
    """Every table of a total, one a row."""
    if cells == 1:
        return np.array([[total]])
    parts = []
    for first in range(total + 1):
        rest = tables_of(total - first, cells - 1)
        parts.append(np.column_stack([np.full(len(rest), first), rest]))
    return np.concatenate(parts)


def apart(tables: np.ndarray) -> np.ndarray:
    """One of all tables over binary variables that differ by the order of categories alone."""
    cells = tables.shape[1]
    swapped = np.stack([tables[:, np.arange(cells) ^ swap] for swap in range(cells)])
    keys = swapped @ (int(tables.max()) + 1) ** np.arange(cells)[::-1]
    return np.asarray(tables[keys[0] == keys.min(axis=0)])


@dataclass(frozen=True)
class World:
    """All originals of a total, over binary variables.

    Attributes
    ----------
    tables
        One a row, the last variable fastest.
    """

    tables: np.ndarray
    variables: int
    threshold: int

    @classmethod
    def of(cls, total: int, variables: int, threshold: int) -> World:
        return _world(total, variables, threshold)

    def classes(self, margins: frozenset[int]) -> np.ndarray:
        """The number of the class of each table: within one all margins are equal."""
        return _classes(self, margins)

    def refused(self, margins: frozenset[int]) -> np.ndarray:
        """Whether each table, were it the original, would have these margins refused."""
        return _refused(self, margins)

    def history(self, number: int, queries: Sequence[int]) -> list[tuple[frozenset[int], bool]]:
        """For each query what was out before, and whether it is answered, of one original."""
        out: frozenset[int] = frozenset([0])
        seen = []
        for query in queries:
            inside = any(query & member == query for member in out)
            answered = inside or not bool(self.refused(out | {query})[number])
            seen.append((out, answered))
            if answered and not inside:
                out = frozenset({q for q in out if q & query != q} | {query})
        return seen

    def told(self, counts: Sequence[int], queries: Sequence[int]) -> list[Told | None]:
        """What each refusal told; ``None`` for answers."""
        own = int(np.flatnonzero((self.tables == np.array(counts)).all(axis=1))[0])
        risky = (self.tables >= LOW) & (self.tables <= HIGH)
        # A table without cells at risk is served to nobody.
        possible = risky.any(axis=1)
        found: list[Told | None] = []
        for query, (out, answered) in zip(queries, self.history(own, queries), strict=True):
            inside = any(query & member == query for member in out)
            refused = self.refused(out | {query})
            after = possible if inside else possible & (refused != answered)
            if answered:
                found.append(None)
                if not inside:
                    classes = self.classes(out | {query})
                    after = after & (classes == classes[own])
            else:
                shares = [risky[kept].mean(axis=0) for kept in (possible, after)]
                moves = np.abs(shares[1] - shares[0])[risky[own]]
                found.append(
                    Told(
                        math.log2(possible.sum() / after.sum()),
                        float(moves.max()),
                        int(possible.sum()),
                        int(after.sum()),
                    )
                )
            possible = after
        return found


@cache
def _world(total: int, variables: int, threshold: int) -> World:
    return World(tables_of(total, 2**variables), variables, threshold)


_KNOWN: dict[tuple[int, int, int, frozenset[int]], tuple[np.ndarray, np.ndarray]] = {}


def _judged(world: World, margins: frozenset[int]) -> tuple[np.ndarray, np.ndarray]:
    total = int(world.tables[0].sum())
    key = (total, world.variables, world.threshold, margins)
    if key not in _KNOWN:
        cube = world.tables.reshape(-1, *(2,) * world.variables)
        sums = []
        for margin in sorted(margins):
            gone = tuple(1 + v for v in range(world.variables) if not margin >> v & 1)
            sums.append(cube.sum(axis=gone).reshape(len(cube), -1))
        _, classes = np.unique(np.concatenate(sums, axis=1), axis=0, return_inverse=True)
        classes = classes.reshape(-1)
        low = np.full((classes.max() + 1, world.tables.shape[1]), total + 1)
        high = np.full_like(low, -1)
        np.minimum.at(low, classes, world.tables)
        np.maximum.at(high, classes, world.tables)
        risky = (world.tables >= LOW) & (world.tables <= HIGH)
        narrow = (high - low < world.threshold)[classes]
        _KNOWN[key] = classes, (narrow & risky).any(axis=1)
    return _KNOWN[key]


def _classes(world: World, margins: frozenset[int]) -> np.ndarray:
    return _judged(world, margins)[0]


def _refused(world: World, margins: frozenset[int]) -> np.ndarray:
    return _judged(world, margins)[1]


def all_queries(variables: int) -> list[int]:
    """Every sub-table but the total."""
    return [sum(1 << v for v, on in enumerate(chosen) if on)
            for chosen in product((0, 1), repeat=variables) if any(chosen)]  # fmt: skip
