"""Roundings one step from a published one: who is nearer to one of them is not rounded to it.

A step takes some inner cells, and with them published sums, one multiple up or down. Which steps an
original allows, and how much nearer each brings it, are sums over the numbers that move: one product
of matrices for many originals and all steps. Steps of few cells are known from the beginning, others
from originals that were rounded.
"""

from __future__ import annotations

from itertools import combinations, product
from math import comb

import numpy as np

from tabprotect.engine.arrays import Bools, Floats, Ints
from tabprotect.engine.tables.publication import Publication

MOST_CELLS = 4
"""Cells of the steps that are known from the beginning."""

MOST_TRIED, MOST_STEPS = 60_000, 10_000
"""So many choices of cells and directions are looked through, and so many steps are kept."""

MOST_LEARNT = 1_024
"""Steps that are learnt from originals."""

AT_ONCE = 200
"""Originals in one product."""

NOWHERE = 2.0**40
"""The cost of a number that may not move: more than all others gain."""


class RoundingSteps:
    """Steps from the published counts of a table.

    Parameters
    ----------
    sums : int64 (published numbers, inner cells)
        1 where an inner cell adds into a number; the inner cells are published, too.
    """

    def __init__(self, sums: Ints, counts: Ints, base: int) -> None:
        self._counts, self._base = counts, base
        self._first = _apart(_few_cells(sums.astype(np.int8)))
        self._learnt = np.zeros((MOST_LEARNT, 2 * len(counts)))
        self._known: set[bytes] = set()

    @classmethod
    def of(cls, publication: Publication, counts: Ints, base: int) -> RoundingSteps | None:
        """``None`` where inner cells are not published, or numbers are very many."""
        sums = publication.small_incidence
        if sums is None or publication.domain not in publication.domains:
            return None
        return cls(sums, counts, base)

    def learn(self, rounded: Ints) -> None:
        """Take in the published counts of another rounding."""
        step = ((rounded - self._counts) // self._base).astype(np.int8)
        if len(self._known) < MOST_LEARNT and step.tobytes() not in self._known and step.any():
            self._learnt[len(self._known)] = _apart(step[None])
            self._known.add(step.tobytes())

    def rule_out(self, true: Ints, *, learnt: bool = False) -> Bools:
        """Return which originals, by their counts (originals, numbers), have a nearer rounding for certain.

        Parameters
        ----------
        learnt
            Whether only steps that were learnt are tried.
        """
        moved, rest = self._counts - true, true % self._base
        out: Bools = (np.abs(moved) >= self._base).any(axis=1)
        up, between = moved > 0, rest > 0
        costs = np.concatenate(
            [
                np.where(between & ~up, self._base - 2.0 * rest, NOWHERE),
                np.where(between & up, 2.0 * rest - self._base, NOWHERE),
            ],
            axis=1,
        )
        mine = self._learnt[: len(self._known)]
        for steps in (mine,) if learnt else (self._first, mine):
            for begin in range(0, len(true), AT_ONCE):
                found = costs[begin : begin + AT_ONCE] @ steps.T
                out[begin : begin + AT_ONCE] |= (found < 0).any(axis=1)
        return out


def _apart(steps: np.typing.NDArray[np.int8]) -> Floats:
    """Return what goes up and what goes down, (steps, 2 * numbers)."""
    return np.concatenate([steps > 0, steps < 0], axis=1).astype(np.float64)


def _few_cells(sums: np.typing.NDArray[np.int8]) -> np.typing.NDArray[np.int8]:
    """The steps that take few cells up or down, so that no sum goes further than one multiple."""
    found, cells = [np.zeros((0, len(sums)), dtype=np.int8)], sums.shape[1]
    for number in range(1, MOST_CELLS + 1):
        if comb(cells, number) * 2**number > MOST_TRIED:
            break
        chosen = np.array(list(combinations(range(cells), number)), dtype=np.int64)
        signs = np.array(list(product((1, -1), repeat=number)), dtype=np.int8)
        steps = np.einsum("ck,nkj->cnj", signs, sums.T[chosen.reshape(-1, number)])
        steps = steps.reshape(-1, len(sums))
        steps = steps[(np.abs(steps) <= 1).all(axis=1)]
        if sum(map(len, found)) + len(steps) > MOST_STEPS:
            break
        found.append(steps)
    return np.concatenate(found)
