"""Products of differences that keep a family of margins: their axes and partner categories.

A move on the axes f takes a cell p and, on each axis of f, another category q: the product of the
differences e_p - e_q, 2^|f| cells with signs. A margin is kept if on some axis of f it puts p
and q into one group, because there the two cancel. Along one axis a margin has a *resolution*:
absent (all categories in one group), a grouping, or full. So each axis offers few ways to take a
partner: any category, or one of the same group under some resolutions. A move is a minimal choice
of axes and ways that together keep every margin.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from tabprotect.engine.arrays import Ints
from tabprotect.engine.errors import ParameterError
from tabprotect.engine.tables.bit_sets import union
from tabprotect.engine.tables.publication import Publication
from tabprotect.languages.messages import message

MOST_KINDS = 50_000
"""Most sets of axes and ways examined in the search for the minimal ones."""


@dataclass(frozen=True, eq=False)
class Partners:
    """On one axis, partners of the same group.

    Attributes
    ----------
    axis
    group : int64 (categories,)
        By place in the order of the axis; all 0 if any category will do.
    keeps
        The margins that a difference within a group keeps, one bit each.
    """

    axis: int
    group: Ints
    keeps: int

    @cached_property
    def members(self) -> Ints:
        """The categories group after group, ascending, int64 (categories,)."""
        return np.argsort(self.group, kind="stable")

    @cached_property
    def begin(self) -> Ints:
        """The start of each category's group in ``members``, int64 (categories,)."""
        return np.searchsorted(self.group[self.members], self.group).astype(np.int64)

    @cached_property
    def earlier(self) -> Ints:
        """Number of members of its group before each category, int64 (categories,)."""
        place = np.empty(len(self.group), dtype=np.int64)
        place[self.members] = np.arange(len(self.group))
        return place - self.begin

    @cached_property
    def partners(self) -> list[Ints]:
        """Return for each category the distances to the earlier members of its group."""
        begins, counts = self.begin.tolist(), self.earlier.tolist()
        return [
            self.members[begin : begin + count] - category
            for category, (begin, count) in enumerate(zip(begins, counts, strict=True))
        ]


Kind = tuple[Partners, ...]
"""Ways on different axes, ascending, that together keep every margin."""


def partners_by_axis(publication: Publication, orders: list[Ints]) -> list[list[Partners]]:
    """Return for each axis its ways, coarsest first.

    Parameters
    ----------
    publication
        The margins to keep.
    orders
        For each axis its categories in order, int64 (categories,).
    """
    margins = range(len(publication.margins))
    found = []
    for axis, order in enumerate(orders):
        levels: dict[bytes, tuple[Ints, int]] = {}
        absent = 0
        for m in margins:
            resolution = publication.resolution(m, axis)
            if resolution is None or not resolution.any():
                absent |= 1 << m
                continue
            codes = _numbered(resolution[order])
            key = codes.tobytes()
            levels[key] = codes, levels.get(key, (codes, 0))[1] | 1 << m
        # To share a group under several resolutions is a finer group of its own.
        joint = {b"": np.zeros(len(order), dtype=np.int64)}
        for codes, _ in levels.values():
            for group in list(joint.values()):
                both = _numbered(group * len(order) + codes)
                if int(both.max()) < len(order) - 1:
                    joint[both.tobytes()] = both
        own = []
        for group in joint.values():
            keeps = absent | union(bits for codes, bits in levels.values() if _refines(group, codes))
            own.append(Partners(axis, group, keeps))
        own.sort(key=lambda way: (int(way.group.max()), way.keeps))
        found.append([way for way in own if way.keeps])
    return found


def _numbered(codes: Ints) -> Ints:
    """The same groups, numbered by their first members."""
    _, first, inverse = np.unique(codes, return_index=True, return_inverse=True)
    rank = np.empty(len(first), dtype=np.int64)
    rank[np.argsort(first)] = np.arange(len(first))
    return rank[inverse.reshape(-1)]


def _refines(fine: Ints, coarse: Ints) -> bool:
    first = np.full(int(fine.max()) + 1, -1, dtype=np.int64)
    first[fine[::-1]] = coarse[::-1]
    return bool((first[fine] == coarse).all())


def kinds(publication: Publication, orders: list[Ints]) -> list[Kind]:
    """Every minimal choice of ways that keeps all margins, fewest axes first.

    Raises
    ------
    ParameterError
        If there are too many to examine.
    """
    every = (1 << len(publication.margins)) - 1
    by_axis = partners_by_axis(publication, orders)
    seen: set[frozenset[tuple[int, int]]] = {frozenset()}
    waiting: list[tuple[frozenset[tuple[int, int]], int]] = [(frozenset(), 0)]
    complete: list[frozenset[tuple[int, int]]] = []
    while waiting:
        chosen, kept = waiting.pop()
        if kept == every:
            if _minimal(chosen, by_axis, every):
                complete.append(chosen)
            continue
        missing = (every & ~kept) & -(every & ~kept)
        taken = {axis for axis, _ in chosen}
        for axis, own in enumerate(by_axis):
            if axis in taken:
                continue
            for number, way in enumerate(own):
                if way.keeps & missing:
                    larger = chosen | {(axis, number)}
                    if larger not in seen:
                        seen.add(larger)
                        waiting.append((larger, kept | way.keeps))
        if len(seen) > MOST_KINDS:
            raise ParameterError(
                {"keep": message("so many margins can be kept in too many ways")},
                hint=message("keep fewer margins, or leave out a variable"),
            )
    found = [tuple(by_axis[axis][number] for axis, number in sorted(one)) for one in complete]
    found.sort(key=lambda kind: (len(kind), [(w.axis, int(w.group.max())) for w in kind]))
    return found


def _minimal(chosen: frozenset[tuple[int, int]], by_axis: list[list[Partners]], every: int) -> bool:
    """True if no way can be left out, nor replaced by a coarser one on its axis."""
    for axis, number in chosen:
        rest = union(by_axis[other][n].keeps for other, n in chosen if other != axis)
        if rest == every:
            return False
        own = by_axis[axis]
        for k in range(number):
            if rest | own[k].keeps == every and _refines(own[number].group, own[k].group):
                return False
    return True
