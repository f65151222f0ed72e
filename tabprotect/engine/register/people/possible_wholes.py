"""Which releases may be a whole and parts of its people, and may tell something so: the closest first. Confidential.

Most tables of the same variables count other people. That all of one can be among those of another is often
ruled out by one cell; and where a cell of the whole has more people than those of the parts under all
circumstances, by more than is at risk, everywhere, the two are believed as by themselves and nothing small is
left over. Neither takes a posterior.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations

import numpy as np

from tabprotect.engine.arrays import Ints
from tabprotect.engine.register.people.parts_of_whole import Counted, Whole, shared_domain
from tabprotect.engine.register.people.unions import Numbered, Unions, unions_among
from tabprotect.engine.tables.domain import Domain

MOST_TOGETHER = 8
"""Parts of which all sets are tried; of more, pairs and one as large as may be."""

Group = Whole | Unions
"""Releases that may count some of the same people, in one way."""


@dataclass(frozen=True, eq=False)
class PossibleWholes:
    """A release and earlier ones of the same variables, which may be a whole and parts of its people.

    Attributes
    ----------
    own
        The release at hand, over these variables.
    wholes, parts
        The earlier ones whose people may hold those of the release, or be among them, by their numbers.
    high
        The largest count at risk.
    others
        Further earlier ones, which may be parts beside the release.
    apart
        The same of other people than those of the release.
    """

    own: Counted
    wholes: Sequence[Numbered]
    parts: Sequence[Numbered]
    high: int
    others: Sequence[Numbered] = ()
    apart: Sequence[Numbered] = ()

    @cached_property
    def _shared(self) -> Domain:
        domain = self.own.domain
        for _, one in (*self.wholes, *self.parts, *self.others, *self.apart):
            domain = shared_domain(domain, one.domain)
        return domain

    def _ends(self, some: Sequence[Numbered]) -> tuple[Ints, Ints]:
        """The fewest and the most people of each cell, int64 (releases, cells)."""
        low, high = np.zeros((2, len(some), self._shared.size), dtype=np.int64)
        for row, (_, one) in enumerate(some):
            place = one.placed(self._shared)
            low[row, place], high[row, place] = one.cell_ends
        return low, high

    def groups(self) -> Iterator[tuple[int, tuple[int, ...], Group]]:
        """Those that may tell something: how many people are left over, roughly, the numbers, the releases."""
        mine = [(0, self.own)]
        wholes, parts = self._ends(self.wholes), self._ends(self.parts)
        own = self._ends(mine)
        yield from self._fitting(mine, own, self.parts, parts, [(n,) for n in range(len(self.parts))])
        if len(self.parts) > 1:
            yield from self._fitting(mine, own, self.parts, parts, self._sets(own[1][0], self.parts, parts))
        overlapping = list(dict((*self.parts, *self.wholes, *self.others)).items())
        beside = [*overlapping, *self.apart]
        ends = self._ends([*mine, *beside])
        for row, (number, whole) in enumerate(self.wholes):
            one = wholes[0][row : row + 1], wholes[1][row : row + 1]
            rows = [n for n, (other, _) in enumerate(beside, 1) if other != number]
            several = [(0,), *((0, n) for n in rows)]
            yield from self._fitting([(number, whole)], one, [*mine, *beside], ends, several)
            some = [beside[n - 1] for n in rows]
            low, high = (end[rows] for end in ends)
            more = [
                (0, *(rows[n] for n in one)) for one in self._sets(one[1][0] - ends[0][0], some, (low, high))
            ]
            yield from self._fitting([(number, whole)], one, [*mine, *beside], ends, more, all_of_them=True)
        low, high = (end[: 1 + len(overlapping)] for end in ends)
        yield from unions_among(self.own, overlapping, self._shared, (low, high), self.high)

    def _sets(self, room: Ints, some: Sequence[Numbered], ends: tuple[Ints, Ints]) -> list[tuple[int, ...]]:
        """Sets of parts of whom nobody need be in two: pairs, all sets of the closest, the most that fit."""
        size = [one.people for _, one in some]
        order = sorted(range(len(size)), key=lambda n: -size[n])
        found = set[tuple[int, ...]](combinations(range(len(size)), 2))
        for many in range(3, MOST_TOGETHER + 1):
            found |= {tuple(sorted(chosen)) for chosen in combinations(order[:MOST_TOGETHER], many)}
        left, taken = room.copy(), list[int]()
        for n in order:
            if (ends[0][n] <= left).all():
                left -= ends[0][n]
                taken.append(n)
        return sorted(one for one in {*found, tuple(sorted(taken))} if len(one) > 1)

    def _fitting(
        self,
        whole: Sequence[Numbered],
        of_whole: tuple[Ints, Ints],
        others: Sequence[Numbered],
        ends: tuple[Ints, Ints],
        several: Sequence[tuple[int, ...]],
        *,
        all_of_them: bool = False,
    ) -> Iterator[tuple[int, tuple[int, ...], Whole]]:
        """Those of some sets of parts that can be within a whole, and need not leave many everywhere; or
        that may be all of it but for few everywhere."""
        (number, one), (low, high) = whole[0], (of_whole[0][0], of_whole[1][0])
        for size in sorted({len(some) for some in several}):
            rows = np.array([some for some in several if len(some) == size], dtype=np.int64)
            least, most = (end[rows].sum(axis=1) for end in ends)
            few = low - most <= self.high
            may_be = (high >= least).all(axis=1) & (few.all(axis=1) if all_of_them else few.any(axis=1))
            for some in rows[may_be].tolist():
                parts = tuple(others[row][1] for row in some)
                numbers = {number, *(others[row][0] for row in some)} - {0}
                left = abs(one.people - sum(part.people for part in parts))
                yield left, tuple(sorted(numbers)), Whole(one, parts)
