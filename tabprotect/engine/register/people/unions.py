"""Releases whose people overlap, none of which is a part of another: what readers learn of all of them.

Of two regions each, of three: who adds two of them and takes away the third has a region twice. Of men, of women,
and of students: who adds the first two and takes away the third has all others. The releases are sums over groups
of people that overlap no more, and with an even belief over the tables of the groups

    P(groups | releases) is proportional to the product of P(release | the sum of its groups).

Who is counted in what follows from titles; it is looked which of these ways the numbers allow. Confidential no
more than the releases are.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations, islice, permutations
from typing import cast

import numpy as np

from tabprotect.engine.arrays import Bools, Floats, Ints
from tabprotect.engine.belief.effort import LEAST_EFFECTIVE
from tabprotect.engine.belief.evidence import Evidence, OfRelease
from tabprotect.engine.disclosure.cell_beliefs import TableBelief
from tabprotect.engine.errors import InfeasibleError
from tabprotect.engine.posterior.margins import laws_of
from tabprotect.engine.posterior.posterior import Posterior
from tabprotect.engine.progress import SILENT, Progress
from tabprotect.engine.register.people.fitting.fitting_people import Laws
from tabprotect.engine.register.people.parts_of_whole import (
    DRAWN,
    LISTED_TOGETHER,
    MANY,
    MOST_LISTED,
    PAIRED,
    Counted,
    factors_of,
    shared_domain,
)
from tabprotect.engine.register.people.placed_factors import anybody_fits
from tabprotect.engine.register.people.stated_margins import (
    PublishedSums,
    believed_cells,
    certain_counts,
    sums_of_rest,
)
from tabprotect.engine.release.likelihood import CellFactors
from tabprotect.engine.release.verdict_figures import JudgedBy
from tabprotect.engine.tables.domain import Domain
from tabprotect.engine.tables.table import Table
from tabprotect.engine.tables.variable import Variable
from tabprotect.languages.messages import message

Numbered = tuple[int, Counted]


@dataclass(frozen=True)
class Way:
    """How the people of several releases may overlap.

    Attributes
    ----------
    counted
        For each release the groups of people that it counts.
    told
        Groups that sums of the releases tell of: how often each release is in the sum, how often the sum
        counts them, and their numbers. Without any, nobody is in the sum.
    """

    counted: tuple[tuple[int, ...], ...]
    told: tuple[tuple[tuple[int, ...], int, tuple[int, ...]], ...]

    @property
    def groups(self) -> int:
        """The number of groups."""
        return 1 + max(max(groups) for groups in self.counted)


RING = Way(((0, 1), (1, 2), (0, 2)), (((1, 1, -1), 2, (1,)), ((1, -1, 1), 2, (0,)), ((-1, 1, 1), 2, (2,))))
"""Two of three groups each."""

CROSSED = Way(((0, 1), (2, 3), (0, 2)), (((1, 1, -1), 1, (1, 3)),))
"""Two that have nobody in common, and some people of both."""

CLOSED = Way(((0, 1), (2, 3), (0, 2), (1, 3)), (((1, 1, -1, -1), 1, ()),))
"""Two twice, that have nobody in common and count the same people."""

DOUBLED = Way(
    ((0, 1), (1, 2), (0, 2), (0, 1, 2)),
    (((1, 1, 1, -2), 1, ()), ((-1, 0, 0, 1), 1, (2,)), ((0, -1, 0, 1), 1, (0,)), ((0, 0, -1, 1), 1, (1,))),
)
"""Two of three groups each, and all of them."""


@dataclass(frozen=True, eq=False)
class Unions:
    """Releases whose people overlap in some way.

    Attributes
    ----------
    members
        In the order of the way.
    way
    """

    members: tuple[Counted, ...]
    way: Way

    def of_others(self, members: Sequence[Counted]) -> Unions:
        """The same of other releases."""
        return Unions(tuple(members), self.way)

    @cached_property
    def shared(self) -> Domain:
        """The variables of all of them."""
        domain = self.members[0].domain
        for one in self.members[1:]:
            domain = shared_domain(domain, one.domain)
        return domain

    @cached_property
    def domain(self) -> Domain:
        """The same with a variable that tells the groups apart."""
        return _with_kinds(self.shared, self.way.groups)

    @cached_property
    def factors(self) -> CellFactors:
        """P(all releases | the groups)."""
        return factors_of(list(zip(self.members, self.way.counted, strict=True)), self.shared, self.domain)

    @property
    def can_be(self) -> bool:
        """Return False if no groups give all that is stated."""
        return not any((sums < 0).any() for sums in self._sums()) and anybody_fits(self.factors, whole=True)

    @property
    def without_rest(self) -> list[Unions]:
        """Nothing: where nobody is left over is a way of its own."""
        return []

    def _sums(self) -> Iterator[Ints]:
        """How many people the stated sums leave in each group that they tell of; below 0 where it cannot be."""
        for rest, often, groups in self._stated():
            sums = np.where(rest.counts % often == 0, rest.counts // often, -1)
            yield sums if groups else -np.abs(sums)

    def _stated(self) -> Iterator[tuple[Table, int, tuple[int, ...]]]:
        names = self.shared.names
        for ways, often, groups in self.way.told:
            known: list[set[str]] = []
            for some in (one for size in range(len(names), -1, -1) for one in combinations(names, size)):
                if any(set(some) <= other for other in known):
                    continue
                margins = [
                    one.margin(some, self.shared) for one, way in zip(self.members, ways, strict=True) if way
                ]
                if all(margin is not None for margin in margins):
                    known.append(set(some))
                    each = cast(list[Table], margins)
                    used = [way for way in ways if way]
                    counts = sum(way * one.counts for way, one in zip(used, each, strict=True))
                    yield Table.dense(each[0].domain, np.asarray(counts)), often, groups

    def sums_of_rest(self) -> list[TableBelief]:
        """What is believed of the sums of groups that all releases together state."""
        return [
            TableBelief(
                rest.domain,
                False,
                None,
                certain_counts(Table.dense(rest.domain, rest.counts // often)),
                "exact",
            )
            for rest, often, groups in self._stated()
            if groups
        ]

    @cached_property
    def _chance(self) -> OfRelease:
        return OfRelease(self.members[0].evidence.release, "people of several unions")

    def place_of(self, at: int) -> tuple[int, Ints]:
        """Which of the beliefs is about a member, and the place of each shared cell there."""
        number = len(self.members) + sum(bool(groups) for _, _, groups in self.way.told)
        return 0, np.arange(self.shared.size) * number + at

    def beliefs(self, progress: Progress = SILENT) -> list[TableBelief]:
        """What a reader of all believes of the people of each release, and of the groups that these tell of.

        Raises
        ------
        InfeasibleError
            Where there is no posterior, or the draws are too few.
        InputError
            Where no people fit.
        """
        if any(one.by_moves for one in self.members):
            return self._of_members(*(self._listed(progress) or self._fitting(progress)))
        found = self._posterior(progress)
        number = found.count_originals() if found.way == "exact" else None
        listed = found.list_originals() if number is not None and number <= MOST_LISTED else None
        if listed is not None:
            tables, weights = listed
            return self._laid_out(self._grouped(tables), weights)
        draws = DRAWN if found.way == "exact" else max(int(min(DRAWN, found.effective_sample_size or 0)), 1)
        drawn = found.draw_originals(DRAWN, self._chance.generator(), progress)
        return self._laid_out(self._grouped(drawn), np.ones(DRAWN), draws)

    def drawn(self, number: int, progress: Progress = SILENT) -> list[Ints]:
        """Originals of each release as a reader of all draws them, int64 (number, shared cells).

        Raises
        ------
        InfeasibleError
            Where there is no posterior, or the draws are too few.
        """
        if any(one.by_moves for one in self.members):
            return [one[:number] for one in self._fitting(progress)[0]]
        drawn = self._posterior(progress).draw_originals(number, self._chance.generator(), progress)
        return self._grouped(drawn)[: len(self.members)]

    def _posterior(self, progress: Progress) -> Posterior:
        return believed_cells(
            [Evidence(self.members[0].evidence.release, self.factors, alone=True)], self._chance, progress
        )

    def _grouped(self, tables: Ints) -> list[Ints]:
        """The tables of the members and of the groups that these tell of, from those of all groups."""
        each = tables.reshape(len(tables), self.shared.size, self.way.groups)
        told = [groups for _, _, groups in self.way.told if groups]
        return [each[:, :, list(groups)].sum(axis=2) for groups in (*self.way.counted, *told)]

    def _of_members(
        self, tables: Sequence[Ints], weights: Floats, draws: int | None = None
    ) -> list[TableBelief]:
        """The same from tables of the members alone."""
        return self._laid_out([*tables, *self._told(tables)], weights, draws)

    def _told(self, tables: Sequence[Ints]) -> list[Ints]:
        """The tables of the groups that those of the members tell of."""
        return [
            np.tensordot(np.array(ways), np.stack(tables), axes=1) // often
            for ways, often, groups in self.way.told
            if groups
        ]

    def grouped(self, tables: Sequence[Ints]) -> list[Ints]:
        """The tables that are believed of, in the order of :meth:`beliefs`, from those of the members."""
        every = [*tables, *self._told(tables)]
        each = np.stack(every, axis=2).reshape(len(every[0]), -1)
        return [each, *(one.added_up(every[of]) for of, one in self._published)]

    @cached_property
    def _published(self) -> list[tuple[int, PublishedSums]]:
        """The published sums that are judged, of the releases and of the groups that these tell of, with the place
        of whom they are among these."""
        each = [one.published(self.shared) for one in self.members]
        found = [(of, one) for of, every in enumerate(each) for one in every if one.judged.any()]
        told = [ways for ways, _, groups in self.way.told if groups]
        for of, ways in enumerate(told, len(each)):
            # What is added holds whom it tells of.
            used = [each[at] for at in sorted(range(len(each)), key=lambda at: -ways[at]) if ways[at]]
            found += [(of, one) for one in sums_of_rest(used)]
        return found

    def _laid_out(
        self, tables: Sequence[Ints], weights: Floats, draws: int | None = None
    ) -> list[TableBelief]:
        laws = [Laws.of(one, weights) for one in tables]
        width = max(law.chances.shape[1] for law in laws)
        chances = np.stack([law.wide(width) for law in laws], axis=1).reshape(-1, width)
        first = np.stack([law.first for law in laws], axis=1).reshape(-1)
        domain, rows = _with_kinds(self.shared, len(laws)), (np.arange(len(first)), first, chances)
        way: JudgedBy = "exact" if draws is None else "simulation"
        error = 0.0 if draws is None else math.sqrt(0.25 / draws)
        cells, by = (
            TableBelief(domain, True, None, rows, way, error=error, draws=draws),
            weights / weights.sum(),
        )
        sums = ((one, laws_of(one.added_up(tables[of]), by)) for of, one in self._published)
        return [cells, *(one.belief(laws, way, error) for one, laws in sums)]

    def _fits(self, tables: Sequence[Ints]) -> Bools:
        """Which tables of the members, alike in number, are sums over groups of people."""
        fits = np.ones(len(tables[0]), dtype=np.bool_)
        for ways, often, groups in self.way.told:
            rest = sum(way * one for way, one in zip(ways, tables, strict=True) if way)
            right = ((rest >= 0) & (rest % often == 0)) if groups else rest == 0
            fits &= np.asarray(right).all(axis=1)
        return fits

    def _listed(self, progress: Progress) -> tuple[list[Ints], Floats] | None:
        """All tables of the members that fit, and their chances; ``None`` where they are too many."""
        lists = [found for one in self.members if (found := one.listed(self.shared, progress))]
        if len(lists) < len(self.members):
            return None
        if math.prod(len(weights) for _, weights in lists) * self.shared.size > LISTED_TOGETHER:
            return None
        rows = np.array(np.meshgrid(*(range(len(weights)) for _, weights in lists), indexing="ij"))
        rows = rows.reshape(len(lists), -1)
        rows = rows[:, self._fits([tables[row] for (tables, _), row in zip(lists, rows, strict=True)])]
        weights = np.prod([weights[row] for (_, weights), row in zip(lists, rows, strict=True)], axis=0)
        return [tables[row] for (tables, _), row in zip(lists, rows, strict=True)], weights

    def _fitting(self, progress: Progress) -> tuple[list[Ints], Floats, int]:
        """Draws of each release by itself that fit, their chances, and how many they are worth."""
        chance, tables = self._chance.generator(), []
        for one in self.members:
            found = one.believed(progress)
            if found.r_hat is not None:
                raise InfeasibleError(message("the simulated posterior has not settled: nothing to judge by"))
            tables.append(one.over(found.draw_originals(DRAWN, chance, progress), self.shared))
        rows = chance.integers(0, DRAWN, (len(tables), PAIRED))
        rows = rows[:, self._fits([one[row] for one, row in zip(tables, rows, strict=True)])]
        worth = min((len(np.unique(row)) for row in rows), default=0)
        if worth < LEAST_EFFECTIVE:
            raise InfeasibleError(message("too few of the drawn people fit all these releases"))
        return [one[row] for one, row in zip(tables, rows, strict=True)], np.ones(rows.shape[1]), worth


def _with_kinds(shared: Domain, number: int) -> Domain:
    name = "part"
    while name in shared.names:
        name += "'"
    return Domain((*shared.variables, Variable(name, tuple(map(str, range(1, number + 1))))))


def unions_among(
    own: Counted, others: Sequence[Numbered], shared: Domain, ends: tuple[Ints, Ints], high: int
) -> Iterator[tuple[int, tuple[int, ...], Unions]]:
    """The releases whose people may overlap in one of the ways, and may tell something: how many people are left
    over, roughly, the numbers, the releases.

    Parameters
    ----------
    own
        The release at hand.
    others
        Earlier ones of the same variables, by their numbers.
    shared
        The variables of all of them.
    ends : int64 (releases, cells)
        The fewest and the most people of each cell, of the release at hand first.
    high
        The largest count at risk.
    """
    every = [(0, own), *others]
    every_end = _with_sums([one for _, one in every], shared, ends)
    for way in (RING, CROSSED, CLOSED, DOUBLED):
        for rows in _possible(way, every_end, high):
            members = tuple(every[row][1] for row in rows)
            left = sum(
                abs(sum(w * m.people for w, m in zip(ways, members, strict=True))) for ways, _, _ in way.told
            )
            yield left, tuple(sorted(every[row][0] for row in rows if row)), Unions(members, way)


def _with_sums(some: Sequence[Counted], shared: Domain, ends: tuple[Ints, Ints]) -> tuple[Ints, Ints]:
    """The fewest and the most people of each cell, and of each sum that several of them state."""
    low, high = [ends[0]], [ends[1]]
    for size in range(shared.ndim):
        for names in combinations(shared.names, size):
            stated = [one.margin(names, shared) for one in some]
            known = [margin is not None for margin in stated]
            width = shared.project(names).size
            sums = [np.zeros(width, dtype=np.int64) if m is None else m.counts.reshape(-1) for m in stated]
            low.append(np.array(sums))
            high.append(np.where(np.array(known)[:, None], sums, MANY))
    return np.concatenate(low, axis=1), np.concatenate(high, axis=1)


STEP = 20_000
"""Sets of releases that are looked at in one array."""


def _possible(way: Way, ends: tuple[Ints, Ints], at_risk: int) -> Iterator[list[int]]:
    """The rows of releases, the release at hand among them, that no single sum keeps from overlapping so, and
    whose overlap tells more of a sum than they do."""
    size = len(way.counted)
    if len(ends[0]) < size:
        return
    orders = _orders(way)
    chosen = combinations(range(1, len(ends[0])), size - 1)
    while some := list(islice(chosen, STEP)):
        sets = np.concatenate([np.zeros((len(some), 1), dtype=np.int64), np.array(some)], axis=1)
        for order in orders:
            rows, telling = sets[:, list(order)], np.zeros(len(sets), dtype=np.bool_)
            for ways, often, groups in way.told:
                kept, tells = _may_be(rows, (ways, often, bool(groups)), ends, at_risk)
                rows, telling = rows[kept], (telling | tells)[kept]
            yield from rows[telling].tolist()


def _orders(way: Way) -> list[tuple[int, ...]]:
    """The orders of releases that make a difference."""
    found: dict[frozenset[object], tuple[int, ...]] = {}
    for order in permutations(range(len(way.counted))):
        sums = frozenset(
            (tuple(ways[order.index(k)] for k in range(len(order))), often, bool(groups))
            for ways, often, groups in way.told
        )
        signs = frozenset(
            (min(one, tuple(-w for w in one)) if not told else one, often, told) for one, often, told in sums
        )
        found.setdefault(signs, order)
    return list(found.values())


NARROW = 1
"""How far apart the ends of a sum are that is nearly known."""


MET = 1
"""Stated sums that are alike on both sides, where no other is different: the people may be alike."""


def _may_be(
    rows: Ints, told: tuple[Sequence[int], int, bool], ends: tuple[Ints, Ints], at_risk: int
) -> tuple[Bools, Bools]:
    """Which sets of releases may have such a sum, and of which it tells more than they do, of few people."""
    (ways, often, groups), (low, high) = told, ends
    kept, telling = np.ones(len(rows), dtype=np.bool_), np.zeros(len(rows), dtype=np.bool_)
    met = np.zeros(len(rows), dtype=np.int64)
    used = [(way, place) for place, way in enumerate(ways) if way]
    # Sums of everybody come last, and rule out the most.
    for column in range(low.shape[1] - 1, -1, -1):
        at = np.flatnonzero(kept)
        first = np.array([way * (low if way > 0 else high)[rows[at, place], column] for way, place in used])
        last = np.array([way * (high if way > 0 else low)[rows[at, place], column] for way, place in used])
        least, most = first.sum(axis=0), last.sum(axis=0)
        kept[at] = (most >= 0) & ((least < most) | (most % often == 0)) & (groups | (least <= 0))
        met[at] += (least == 0) & (most == 0)
        fewest, largest = np.maximum(-(-least // often), 0), most // often
        telling[at] |= groups & (largest - fewest <= NARROW) & (fewest <= at_risk) & (largest > 0)
        for (way, place), one, other in zip(used, first, last, strict=True):
            # What the others leave of this one, between its own ends.
            mine = low[rows[at, place], column], high[rows[at, place], column]
            ways_left = -(most - other), -(least - one)
            if way < 0:
                ways_left = least - one, most - other
            size = abs(way)
            lower, upper = -(-ways_left[0] // size), ways_left[1] // size
            if groups:
                # The sum may be more than nobody.
                lower, upper = (lower, mine[1]) if way > 0 else (mine[0], upper)
            lower, upper = np.maximum(lower, mine[0]), np.minimum(upper, mine[1])
            alike = (often > 1) & (least - one == most - other) & (upper > lower)
            narrower = (upper - lower < mine[1] - mine[0]) | alike
            telling[at] |= narrower & (upper - lower <= NARROW) & (lower <= at_risk)
    # Where a stated sum is alike on both sides, cells may tell of each other through it.
    return kept, telling | ((not groups) & (met >= MET))
