"""Small count rounding: few inner cells change so that no small count is published.

The cells that go up are searched for greedily, then improved by swaps.

Source: Langsrud and Heldal 2018.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from itertools import permutations
from typing import Literal

import numpy as np
import numpy.typing as npt

from tabprotect.engine.arrays import Bools, Codes, Ints
from tabprotect.engine.errors import InputError, TooLargeError
from tabprotect.engine.progress import SILENT, Progress
from tabprotect.engine.tables.publication import Publication
from tabprotect.engine.tables.table import INT64_MAX, Table
from tabprotect.languages.messages import message

MOST_KEYS = 500_000_000
"""Most inner cells times margins in rounding, at four bytes each."""

ROUNDING_LAID_OUT = 5_000_000
"""Most inner cells times margins for which a reader's inference from zeros is followed."""


EXTRA_SWAPS = 100
"""Rounds of swaps tried beyond one for each count rounded up."""

FEW = 100
"""Most candidates for which all pairs are compared at once."""

FAR = np.int64(2**61)
"""Offset that puts one list's candidates behind all others; scores stay below half of it."""


def choose(keys: Ints, residual: Ints, *, base: int, ups: int, order: Ints, step: int = 1) -> Ints:
    """The candidates that get the base, so that published sums stay near their targets.

    Each step takes the candidate that agrees best with what its sums still lack; then the worst of
    the chosen are exchanged, until the last one chosen is itself the worst. Ties are broken by the
    given order.

    Parameters
    ----------
    keys : int64 (margins, candidates)
        The published cell, numbered over all margins, that each candidate adds into.
    residual : int64 (published cells,)
        What each sum lacks when no candidate goes up.
    base
        The amount that a candidate adds when it goes up.
    ups
        How many go up, 0..candidates.
    order : int64 (candidates,)
        A permutation.
    step
        Number of candidates exchanged at a time.

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
        self.shared, self.worth = _shared(keys), np.int64(base * self.scale)
        self.place = np.arange(candidates, dtype=np.int64)[::-1].copy()
        self.front = candidates
        self.free = residual[keys].sum(axis=0) * self.scale + self.place
        self.added = np.zeros(candidates, dtype=np.int64)
        self.additions = 0
        self.up = np.full(candidates, FAR)
        self.last = -1

    def run(self, step: int) -> Ints:
        """Fill the list, improve it, and return its candidates."""
        free, shared, worth = self.free, self.shared, self.worth
        first = np.empty(self.ups, dtype=np.int64)
        for k in range(self.ups):
            best = first[k] = free.argmax()
            free[best] -= FAR
            free -= shared[best] * worth
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
        shared = self.shared[worst] * self.worth
        self.free += shared
        self.up += shared

    def _add(self, best: int) -> None:
        self.added[best] = self.additions
        self.additions += 1
        self.up[best] = self.free[best] - self.place[best] - self.added[best]
        self.free[best] -= FAR
        shared = self.shared[best] * self.worth
        self.free -= shared
        self.up -= shared
        self.last = best


def _shared(keys: Ints) -> npt.NDArray[np.unsignedinteger]:
    """The number of published cells that two candidates share, (candidates, candidates)."""
    candidates = keys.shape[1]
    kind = np.uint8 if len(keys) < 256 else np.uint16
    if candidates <= FEW:
        return np.asarray((keys[:, :, None] == keys[:, None, :]).sum(axis=0, dtype=kind))
    meet = np.zeros((candidates, candidates), dtype=kind)
    for row in keys:
        codes = np.unique(row, return_inverse=True)[1].astype(np.uint16)
        meet += codes[:, None] == codes
    return meet


AT_ONCE = 2000
"""Candidates handled together; from more, this number is drawn first."""


Inner = Literal["published", "all"]
"""The small inner cells to round: those in a small published cell, or all."""


@dataclass(frozen=True)
class RoundingRules:
    """The rules of rounding.

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
    """The result of rounding. Confidential.

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


def keys_of(publication: Publication, cells: Ints) -> Codes:
    """The published cells that inner cells add into, (margins, cells).

    Raises
    ------
    TooLargeError
        Before the work, with what it would cost.
    """
    margins = len(publication.margins)
    if margins * len(cells) > MOST_KEYS:
        raise TooLargeError(
            message(
                "rounding {cells:,} inner cells in {margins:,} tables would take about "
                "{value:.0f} GB and hours",
                len(cells),
                margins,
                4 * margins * len(cells) / 1e9,
            ),
            hint=message("publish fewer tables, or merge categories"),
        )
    keys = np.empty((margins, len(cells)), dtype=np.int32)
    for m in range(margins):
        np.add(publication.keys(m, cells), publication.starts[m], out=keys[m], casting="same_kind")
    return keys


class SmallCounts:
    """The small inner cells of one table and the published cells they add into.

    Parameters
    ----------
    table
        The original.
    publication
        What is published of it.
    keys : int32 (margins, inner cells), optional
        The result of ``keys_of`` for all cells, where many tables of one publication are rounded.
    """

    def __init__(
        self, table: Table, publication: Publication, rules: RoundingRules, keys: Codes | None = None
    ) -> None:
        self.table, self.publication, self.rules = table, publication, rules
        if table.total > INT64_MAX // 2:
            raise InputError(message("the counts are too large to be rounded within 9.2e18"))
        cells, counts = table.cells
        small = (counts <= rules.most) & (counts % rules.base != 0)
        if rules.zeros:
            every = np.arange(table.domain.size, dtype=np.int64)
            everything = table.counts.reshape(-1)
            small = (everything <= rules.most) & ~table.domain.structural_cells()
            cells, counts = every, everything
        self.cells, self.original = cells[small], counts[small]
        if keys is None:
            self.keys = keys_of(publication, self.cells)
            self.sums = publication.added_up(table)
        else:
            self.keys = keys[:, self.cells]
            self.sums = np.zeros(publication.size, dtype=np.int64)
            np.add.at(self.sums, keys.reshape(-1), np.tile(table.counts.reshape(-1), len(keys)))
        # Which margin is the inner table; None where it is not published.
        self.inner = next((m for m, one in enumerate(publication.domains) if one == publication.domain), None)

    def _meets(self, wanted: Bools, cells: Ints) -> Bools:
        """The candidates that add into one of the wanted published cells."""
        found = np.zeros(len(cells), dtype=np.bool_)
        # Margin by margin: together they would be as large as the keys again.
        for row in self.keys:
            found |= wanted[row[cells]]
        return found

    def round(self, permutation: Callable[[int], Ints], progress: Progress = SILENT) -> Rounded:
        """Round until no small count is published and none can be derived.

        Parameters
        ----------
        permutation
            ``n -> `` a random permutation of 0..n-1.
        """
        now, sums = self.original.copy(), self.sums.copy()
        rounds, derived = self._run(now, sums, permutation, progress=progress)
        changed = now != self.original
        inner = self.table.moved(self.cells, now - self.original)
        return Rounded(inner, rounds, int(changed.sum()), derived)

    def gives(self, published: Ints, permutation: Callable[[int], Ints]) -> bool:
        """Return True if one run gives these published counts."""
        now, sums = self.original.copy(), self.sums.copy()
        self._run(now, sums, permutation, published=published)
        return np.array_equal(sums, published)

    @cached_property
    def _begin(self) -> tuple[Ints, bool]:
        return self._candidates(self.original, self.sums)

    def _run(
        self,
        now: Ints,
        sums: Ints,
        permutation: Callable[[int], Ints],
        *,
        published: Ints | None = None,
        progress: Progress = SILENT,
    ) -> tuple[int, int]:
        """Round in place; return the number of rounds and the number of derivable cells.

        Parameters
        ----------
        published
            Stop as soon as these counts cannot be reached any more.
        """
        rounds = derived = most = 0
        odd = now % self.rules.base != 0
        while True:
            found = self._candidates(now, sums, odd) if rounds else self._begin
            candidates, by_derivation = found
            if not len(candidates):
                return rounds, derived
            most = max(most, len(candidates))
            progress.report(message("rounding small counts"), 1 - len(candidates) / most)
            if len(candidates) > AT_ONCE:
                candidates = np.sort(candidates[permutation(len(candidates))[:AT_ONCE]])
            derived += len(candidates) if by_derivation else 0
            ups = self._round_down(candidates, now, sums)
            order = np.arange(len(candidates))
            if 0 < ups < len(candidates):
                order = permutation(len(candidates))
            self._round_up(candidates[self._choose(candidates, sums, ups, order)], now, sums)
            odd[candidates] = False
            rounds += 1
            # An inner cell that is a multiple of the base stays as it is.
            if published is not None and self.inner is not None:
                mine = self.keys[self.inner, candidates]
                if (sums[mine] != published[mine]).any():
                    return rounds, derived

    def chance(self, published: Ints) -> float:
        """P(these published counts | the table), over all permutations: for few candidates."""
        return self._chance(self.original.copy(), self.sums.copy(), published, first=True)

    def _chance(self, now: Ints, sums: Ints, published: Ints, *, first: bool) -> float:
        candidates, _ = self._candidates(now, sums, None if first else now % self.rules.base != 0)
        if not len(candidates):
            return float(np.array_equal(sums, published))
        ups = self._round_down(candidates, now, sums)
        if ups in (0, len(candidates)):
            self._round_up(candidates[:ups], now, sums)
            return self._chance(now, sums, published, first=False)
        number = 0
        found: Counter[tuple[int, ...]] = Counter()
        for order in permutations(range(len(candidates))):
            chosen = self._choose(candidates, sums, ups, np.array(order))
            found[tuple(sorted(chosen.tolist()))] += 1
            number += 1
        total = 0.0
        for up, times in found.items():
            then = now.copy(), sums.copy()
            self._round_up(candidates[list(up)], *then)
            total += times / number * self._chance(*then, published, first=False)
        return total

    def _candidates(self, now: Ints, sums: Ints, odd: Bools | None = None) -> tuple[Ints, bool]:
        """The cells to round next, and whether they are rounded because a reader could derive them.

        Parameters
        ----------
        odd
            The cells that are no multiples of the base, after the first round.
        """
        seen = self._seen(now, sums, odd)
        return (seen, False) if len(seen) else (self._derivable(now, sums), True)

    def _round_down(self, candidates: Ints, now: Ints, sums: Ints) -> int:
        """Take the rests over the base from ``now`` and ``sums``; return how many cells go up."""
        base = self.rules.base
        odd = now[candidates] % base
        ups = _half_even(int(odd.sum()) + int(self.original.sum()) - int(now.sum()), base)
        now[candidates] -= odd
        keys = self.keys[:, candidates]
        np.subtract.at(sums, keys.reshape(-1), np.tile(odd, len(keys)))
        return min(max(ups, 0), len(candidates))

    def _round_up(self, cells: Ints, now: Ints, sums: Ints) -> None:
        now[cells] += self.rules.base
        np.add.at(sums, self.keys[:, cells].reshape(-1), self.rules.base)

    def _choose(self, candidates: Ints, sums: Ints, ups: int, order: Ints) -> Ints:
        return choose(
            self.keys[:, candidates].astype(np.int64),
            self.sums - sums,
            base=self.rules.base,
            ups=ups,
            order=order,
            step=self.rules.step,
        )

    def _seen(self, now: Ints, sums: Ints, odd: Bools | None) -> Ints:
        """Candidates: small inner cells that add into a small published cell."""
        base, most = self.rules.base, self.rules.most
        small = (sums > 0) & (sums <= most)
        if odd is None:
            odd = now % base != 0
            if self.rules.zeros:
                wanted = self._meets(small, np.arange(len(self.cells)))
                return np.flatnonzero(wanted | odd if self.rules.inner == "all" else wanted)
            if self.rules.inner == "all":
                return np.flatnonzero(odd)
        else:
            small &= sums % base != 0
        cells = np.flatnonzero(odd)
        return np.compress(self._meets(small, cells), cells)

    def _derivable(self, now: Ints, sums: Ints) -> Ints:
        """Small inner cells that follow from published zeros and cells with one unknown left."""
        if self.inner is not None or not (now % self.rules.base).any():
            return np.zeros(0, dtype=np.int64)
        # Of a table too large to follow, a reader is taken to know the cells that are zero.
        whole = self.table.domain.size * len(self.publication.margins) <= ROUNDING_LAID_OUT
        cells = np.arange(self.table.domain.size) if whole else self.table.cells[0]
        keys = keys_of(self.publication, cells)
        known = self.table.domain.structural_cells(cells)
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


def _half_even(number: int, base: int) -> int:
    """number / base to the nearest whole number, halves to the even one."""
    low, rest = divmod(number, base)
    return low + (2 * rest > base or (2 * rest == base and low % 2 == 1))
