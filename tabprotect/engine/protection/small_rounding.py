"""Small count rounding: few inner cells change so that no small count is published.

Source: Langsrud and Heldal 2018; the search for the cells that go up is ``greedy_subset``.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

import numpy as np
import numpy.typing as npt

from tabprotect.engine.errors import InputError
from tabprotect.engine.progress import SILENT, Progress
from tabprotect.engine.protection.greedy_subset import choose
from tabprotect.engine.tables.publication import Publication
from tabprotect.engine.tables.table import INT64_MAX, Table

IntArray = npt.NDArray[np.int64]
BoolArray = npt.NDArray[np.bool_]

AT_ONCE = 2000
"""Candidates handled together; of more, so many are drawn first."""

LAID_OUT = 5_000_000
"""Inner cells up to which a reader's knowledge is followed cell by cell, zeros included."""

Inner = Literal["published", "all"]
"""Which small inner cells are rounded: those seen in a small published cell, or all."""


@dataclass(frozen=True)
class Rules:
    """What is rounded.

    Attributes
    ----------
    base
        Small counts become multiples of it.
    most
        The largest count that is rounded, and that a published cell may not have unless it is a
        multiple of the base.
    inner
        Which small inner cells are candidates from the start.
    zeros
        Whether multiples of the base up to ``most`` (zeros above all) may go up too.
    step
        Candidates exchanged at a time.
    """

    base: int
    most: int
    inner: Inner = "published"
    zeros: bool = False
    step: int = 1


@dataclass(frozen=True, eq=False)
class Rounded:
    """What rounding did. Confidential.

    Attributes
    ----------
    inner
        The rounded inner cells.
    rounds
        How often a set of candidates was rounded.
    changed
        Inner cells that changed.
    derived
        Inner cells rounded because a reader could have derived them.
    """

    inner: Table
    rounds: int
    changed: int
    derived: int


class SmallCounts:
    """The small inner cells of one table and the published cells they add into.

    Parameters
    ----------
    table
        The original.
    publication
        What is published of it.
    """

    def __init__(self, table: Table, publication: Publication, rules: Rules) -> None:
        self.table, self.publication, self.rules = table, publication, rules
        if table.total > INT64_MAX // 2:
            raise InputError("the counts are too large to be rounded within 9.2e18")
        cells, counts = table.cells
        small = (counts <= rules.most) & (counts % rules.base != 0)
        if rules.zeros:
            every = np.arange(table.domain.size, dtype=np.int64)
            everything = table.counts.reshape(-1)
            small = everything <= rules.most
            cells, counts = every, everything
        self.cells, self.original = cells[small], counts[small]
        margins = range(len(publication.margins))
        self.keys = np.array(
            [publication.keys(m, self.cells) + publication.starts[m] for m in margins]
        ).reshape(len(margins), len(self.cells))
        self.sums = publication.stack(publication.sums(table))
        self.is_published = publication.domain in publication.domains

    def round(
        self,
        permutation: Callable[[int], IntArray],
        progress: Progress = SILENT,
    ) -> Rounded:
        """Round until no small count is published and none can be derived.

        Parameters
        ----------
        permutation
            ``n -> `` a random permutation of 0..n-1.
        """
        now = self.original.copy()
        sums = self.sums.copy()
        rounds = derived = 0
        while True:
            progress.report("rounding small counts", rounds / (rounds + 3))
            candidates = self._seen(now, sums, first=rounds == 0)
            if not len(candidates):
                candidates = self._derivable(now, sums)
                derived += len(candidates)
            if not len(candidates):
                break
            if len(candidates) > AT_ONCE:
                candidates = np.sort(candidates[permutation(len(candidates))[:AT_ONCE]])
            self._round_once(candidates, now, sums, permutation)
            rounds += 1
        changed = now != self.original
        return Rounded(self._with(now), rounds, int(changed.sum()), derived)

    def _round_once(
        self,
        candidates: IntArray,
        now: IntArray,
        sums: IntArray,
        permutation: Callable[[int], IntArray],
    ) -> None:
        """Round these candidates; ``now`` and ``sums`` change."""
        base = self.rules.base
        keys = self.keys[:, candidates]
        odd = now[candidates] % base
        ups = _half_even(int(odd.sum()) + int(self.original.sum()) - int(now.sum()), base)
        ups = min(max(ups, 0), len(candidates))
        now[candidates] -= odd
        touched = keys.reshape(-1)
        np.subtract.at(sums, touched, np.tile(odd, len(keys)))
        order = (
            permutation(len(candidates))
            if 0 < ups < len(candidates)
            else np.arange(len(candidates))
        )
        up = choose(keys, self.sums - sums, base=base, ups=ups, order=order, step=self.rules.step)
        now[candidates[up]] += base
        np.add.at(sums, keys[:, up].reshape(-1), base)

    def _seen(self, now: IntArray, sums: IntArray, *, first: bool) -> IntArray:
        """Candidates: small inner cells that add into a small published cell."""
        base, most = self.rules.base, self.rules.most
        small = (sums > 0) & (sums <= most)
        if not first:
            small &= sums % base != 0
        found = small[self.keys].any(axis=0)
        odd = now % base != 0
        wanted = found & odd if not (first and self.rules.zeros) else found
        if first and self.rules.inner == "all":
            wanted |= odd
        return np.flatnonzero(wanted)

    def _derivable(self, now: IntArray, sums: IntArray) -> IntArray:
        """Small inner cells that follow from published zeros and cells with one unknown left."""
        if self.is_published or not (now % self.rules.base).any():
            return np.zeros(0, dtype=np.int64)
        # Of a table too large to follow, a reader is taken to know the cells that are zero.
        whole = self.table.domain.size <= LAID_OUT
        cells = np.arange(self.table.domain.size) if whole else self.table.cells[0]
        margins = range(len(self.publication.margins))
        keys = [self.publication.keys(m, cells) + self.publication.starts[m] for m in margins]
        known = np.zeros(len(cells), dtype=np.bool_)
        for key in keys:
            known |= sums[key] == 0
        while True:
            left = np.zeros(self.publication.size, dtype=np.int64)
            for key in keys:
                left += np.bincount(key[~known], minlength=self.publication.size)
            new = np.zeros(len(cells), dtype=np.bool_)
            for key in keys:
                new |= left[key] == 1
            new &= ~known
            if not new.any():
                break
            known |= new
        at = self.cells if whole else np.searchsorted(cells, self.cells)
        return np.flatnonzero(known[at] & (now % self.rules.base != 0))

    def _with(self, now: IntArray) -> Table:
        """The inner table with the small cells replaced."""
        if self.table.is_sparse:
            cells, counts = self.table.cells
            return Table.sparse(
                self.table.domain,
                np.concatenate([cells, self.cells]),
                np.concatenate([counts, now - self.original]),
            )
        counts = self.table.counts.reshape(-1).copy()
        counts[self.cells] = now
        return Table.dense(self.table.domain, counts.reshape(self.table.domain.shape))


def _half_even(number: int, base: int) -> int:
    """number / base to the nearest whole number, halves to the even one."""
    low, rest = divmod(number, base)
    return low + (2 * rest > base or (2 * rest == base and low % 2 == 1))
