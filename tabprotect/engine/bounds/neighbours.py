"""Tables near the original that have the same released margins.

Take variables W that no released margin contains together, and for each of them two categories:
adding 1 with alternating signs to the 2^|W| cells they span changes no released margin, because
each margin sums over one of W. Repeated greedily this moves a cell far from its count, without a
solver, in tables of any size. What it finds is attained; what it does not find proves nothing.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from itertools import combinations

import numpy as np

from tabprotect.engine.arrays import Bools, Ints
from tabprotect.engine.bounds.support import Support
from tabprotect.engine.solver import Sense
from tabprotect.engine.tables.margins import MarginSet

MOST_MOVES = 20_000
"""Most moves examined for one step; further ones are not tried."""

MOST_STEPS = 200
"""Most steps for one cell in one direction."""

DENSE_CELLS = 2**22
"""Most cells of the whole table for which places are looked up in an array."""


Corners = tuple[Ints, Bools]


class Neighbours:
    """Walks over the tables with one set of released sums, each starting at the original."""

    def __init__(self, opened: Support, margins: MarginSet) -> None:
        self._opened = opened
        shape, names = opened.domain.shape, opened.domain.names
        self._strides = [math.prod(shape[v + 1 :]) for v in range(len(shape))]
        sets = [frozenset(names.index(n) for n in margin) for margin in margins]
        self._spans = sorted(
            _unreleased(sets, [v for v, size in enumerate(shape) if size > 1]),
            key=lambda span: (len(span), span),
        )
        self._place: Ints | None = None
        if opened.domain.size <= DENSE_CELLS:
            self._place = np.full(opened.domain.size, -1, dtype=np.int64)
            self._place[opened.keys] = np.arange(len(opened.keys))

    def walk(self, position: int, sense: Sense, far_enough: int | None = None) -> Ints:
        """A table (cells of the support,) with the most extreme count of one cell that was found.

        Parameters
        ----------
        position
            The cell's place in the support.
        far_enough
            The count at which to stop.
        """
        counts = self._opened.truth.copy()
        spanned = self._spanned(int(self._opened.keys[position]))
        seen: list[Corners] = []
        for _ in range(MOST_STEPS):
            missing = None
            if far_enough is not None:
                missing = (far_enough - int(counts[position])) * (1 if sense == "max" else -1)
                if missing <= 0:
                    break
            best, chosen = 0, None
            for corners, odd in _again(seen, spanned):
                held = np.where(corners >= 0, counts[corners], 0)
                shrinking = held[:, odd] if sense == "max" else held[:, ~odd]
                # A cell outside the support stays empty, whatever the margins would allow.
                reach = np.where((corners >= 0).all(axis=1), shrinking.min(axis=1), 0)
                move = int(reach.argmax())
                if reach[move] > best:
                    best, chosen = int(reach[move]), (corners[move], odd)
                    if missing is not None and best >= missing:
                        break
            if chosen is None:
                break
            places, odd = chosen
            signs = np.where(odd, -1, 1) if sense == "max" else np.where(odd, 1, -1)
            counts[places] += signs * best
        return counts

    def _spanned(self, key: int) -> Iterator[Corners]:
        """Places (moves, 2^|W|) of the corners of every move at a cell, and which are odd."""
        shape = self._opened.domain.shape
        left = MOST_MOVES
        for span in self._spans:
            corners = np.array([[key]], dtype=np.int64)
            odd = np.zeros(1, dtype=np.bool_)
            for v in span:
                code = key // self._strides[v] % shape[v]
                others = np.delete(np.arange(shape[v]), code) - code
                turned = corners[None] + (others * self._strides[v])[:, None, None]
                both = np.concatenate([np.broadcast_to(corners, turned.shape), turned], axis=2)
                corners = both.reshape(-1, both.shape[2])[:left]
                odd = np.concatenate([odd, ~odd])
            left -= len(corners)
            yield self._places(corners), odd
            if left <= 0:
                return

    def _places(self, keys: Ints) -> Ints:
        if self._place is not None:
            return self._place[keys]
        return self._opened.positions(keys.reshape(-1)).reshape(keys.shape)


def _again(seen: list[Corners], rest: Iterator[Corners]) -> Iterator[Corners]:
    """Yield the moves seen before, then the rest, which are remembered."""
    yield from seen
    for found in rest:
        seen.append(found)
        yield found


def _unreleased(sets: Sequence[frozenset[int]], variables: Sequence[int]) -> Iterator[tuple[int, ...]]:
    """Smallest sets of variables that no released margin contains."""
    inside: set[tuple[int, ...]] = {()}
    for size in range(1, len(variables) + 1):
        level = set()
        for span in combinations(variables, size):
            if all(span[:i] + span[i + 1 :] in inside for i in range(size)):
                if any(margin.issuperset(span) for margin in sets):
                    level.add(span)
                else:
                    yield span
        if not level:
            return
        inside = level
