"""Which small counts are rounded up: greedily, then improved by swaps (Langsrud and Heldal 2018)."""

from __future__ import annotations

import numpy as np

from tabprotect.engine.arrays import Ints

EXTRA_SWAPS = 100
"""Rounds of swaps tried beyond one for each count rounded up."""

FEW = 100
"""Candidates up to which all pairs are compared at once."""

FAR = np.int64(2**61)
"""Sets the candidates of one list behind all others; scores stay below half of it."""


def choose(
    keys: Ints,
    residual: Ints,
    *,
    base: int,
    ups: int,
    order: Ints,
    step: int = 1,
) -> Ints:
    """The candidates that get the base, so that published sums stay near their targets.

    Always the candidate that agrees best with what is still missing in the sums it adds into; then
    the worst of the chosen are exchanged, until the last one chosen is itself the worst. Whatever
    the sums, equally good candidates are taken in the given order.

    Parameters
    ----------
    keys : int64 (margins, candidates)
        The published cell, numbered over all margins, that each candidate adds into.
    residual : int64 (published cells,)
        What is missing there when no candidate goes up.
    base
        What a candidate that goes up adds.
    ups
        How many go up, 0..candidates.
    order : int64 (candidates,)
        A permutation.
    step
        How many are exchanged at a time.

    Returns
    -------
    chosen : int64 (ups,)
        Numbers of candidates.
    """
    if ups in (0, keys.shape[1]):
        return order[:ups]
    keys = keys[:, order]
    # A published cell that all candidates add into cannot tell them apart.
    keys = keys[(keys != keys[:, :1]).any(axis=1)]
    if not len(keys):
        return order[:ups]
    return order[_Exchange(keys, residual, base, ups).run(min(step, ups))]


class _Exchange:
    """The two lists of candidates, those that go up and the free ones, as the greedy search runs.

    An entry of ``free`` or ``up`` is a candidate's score times ``scale``, plus its place in that
    list: one search for the largest or smallest entry also settles ties.
    """

    def __init__(self, keys: Ints, residual: Ints, base: int, ups: int) -> None:
        candidates = keys.shape[1]
        self.ups = ups
        self.scale = 1 << int(2 * (candidates + EXTRA_SWAPS) ** 2).bit_length()
        self.shared = _shared(keys) * (base * self.scale)
        self.place = np.arange(candidates, dtype=np.int64)[::-1].copy()
        self.front = candidates
        self.free = residual[keys].sum(axis=0) * self.scale + self.place
        self.added = np.zeros(candidates, dtype=np.int64)
        self.additions = 0
        self.up = np.full(candidates, FAR)
        self.last = -1

    def run(self, step: int) -> Ints:
        """Fill the list, improve it, and return who is in it."""
        free, shared = self.free, self.shared
        first = np.empty(self.ups, dtype=np.int64)
        for k in range(self.ups):
            best = first[k] = free.argmax()
            free[best] -= FAR
            free -= shared[best]
        self.added[first] = np.arange(self.ups)
        self.up[first] = free[first] + FAR - self.place[first] - self.added[first]
        self.additions, self.last = self.ups, int(first[-1])
        for _ in range(self.ups + EXTRA_SWAPS):
            worst = int(self.up.argmin())
            if worst == self.last:
                break
            self._remove(worst)
            for _ in range(step - 1):
                self._remove(int(self.up.argmin()))
            for _ in range(step):
                self._add(int(free.argmax()))
        return np.flatnonzero(self.up < FAR // 2)

    def _remove(self, worst: int) -> None:
        self.place[worst] = self.front
        self.front += 1
        self.free[worst] = self.up[worst] + self.added[worst] + self.place[worst]
        self.up[worst] = FAR
        self.free += self.shared[worst]
        self.up += self.shared[worst]

    def _add(self, best: int) -> None:
        self.added[best] = self.additions
        self.additions += 1
        self.up[best] = self.free[best] - self.place[best] - self.added[best]
        self.free[best] -= FAR
        self.free -= self.shared[best]
        self.up -= self.shared[best]
        self.last = best


def _shared(keys: Ints) -> Ints:
    """In how many published cells two candidates meet, int64 (candidates, candidates)."""
    candidates = keys.shape[1]
    if candidates <= FEW:
        return np.asarray((keys[:, :, None] == keys[:, None, :]).sum(axis=0, dtype=np.int64))
    meet = np.zeros((candidates, candidates), dtype=np.uint16)
    for row in keys:
        codes = np.unique(row, return_inverse=True)[1].astype(np.uint16)
        meet += codes[:, None] == codes
    return meet.astype(np.int64)
