"""Releases whose people may be part of one another's: what readers learn from the difference.

A table of fewer people (men; one region; without one category; last month's) shares no sum with the table
of all, but who has both subtracts. With N the part, R the rest and W = N + R the whole, and an even belief
over N and R, P(N, R | both) is proportional to P(release | N) P(release' | N + R): one posterior over the
cells of N and R, as the table of a variable that tells them apart would have it. R is judged as a table that
was published, and W and N are judged again beside it.

Confidential: whether one may be part of the other is seen from the original of the release at hand.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import combinations
from typing import cast

import numpy as np

from tabprotect.engine.arrays import Floats, Ints, Signs
from tabprotect.engine.belief.effort import LEAST_EFFECTIVE
from tabprotect.engine.belief.evidence import Evidence, OfRelease
from tabprotect.engine.cycles.signatures import signatures
from tabprotect.engine.disclosure.cell_beliefs import TableBelief, as_belief
from tabprotect.engine.errors import InfeasibleError
from tabprotect.engine.posterior.margins import laws_of, sums
from tabprotect.engine.posterior.moves.signature_model import Coin
from tabprotect.engine.posterior.posterior import Posterior
from tabprotect.engine.posterior.together.coin_chains import Bound, CoinChains
from tabprotect.engine.progress import SILENT, Progress
from tabprotect.engine.register.people.fitting.fitting_people import (
    FEW,
    SETTLED_CHAINS,
    Laws,
    Told,
    WhoFit,
    error_of_shares,
    people_who_fit,
)
from tabprotect.engine.register.people.placed_factors import anybody_fits, placed_factors, somebody_beside
from tabprotect.engine.register.people.stated_margins import (
    PublishedSums,
    believed_cells,
    believed_margin,
    believed_of,
    certain_counts,
    exact_margins,
    no_factors,
    places_among,
    published_sums,
    stated_factors,
    sums_of_rest,
)
from tabprotect.engine.release.likelihood import CellFactors, MoveSequence, product
from tabprotect.engine.release.mechanism import Gate
from tabprotect.engine.release.verdict_figures import JudgedBy
from tabprotect.engine.sensitivity.small_count import SmallCount
from tabprotect.engine.tables.domain import Domain
from tabprotect.engine.tables.moves import MoveSet
from tabprotect.engine.tables.publication import Publication
from tabprotect.engine.tables.table import Table
from tabprotect.engine.tables.variable import Variable
from tabprotect.languages.messages import message

MOST_LISTED = 2**13
"""Originals of one release that are listed."""

LISTED_TOGETHER = 2**28
"""Counts of all listed originals that are put together: some seconds."""

DRAWN = 2_000
"""Originals that are drawn from each of several releases."""

MOST_DRAWN = 100_000
"""Originals that chains choose among, of small tables."""

COUNTS_DRAWN = 2**22
"""Their counts, of large ones."""

PAIRED = 50_000
"""Pairs of them that beliefs are read off."""

MANY = 2**40
"""More people than are counted anywhere."""


@dataclass(frozen=True, eq=False)
class Counted:
    """The sums that a release tells, over the variables that several releases share.

    Attributes
    ----------
    evidence
    factors
        About the table of these variables, with the release's own categories.
    exact
        The margins of these variables that it states whole, none of them a margin of another.
    """

    evidence: Evidence
    factors: CellFactors
    exact: tuple[Table, ...]
    by_moves: bool = False

    @classmethod
    def of(cls, evidence: Evidence, names: Iterable[str], progress: Progress = SILENT) -> Counted:
        """Read a release.

        Raises
        ------
        InfeasibleError
            Where cycles leave no posterior of single cells.
        """
        domain = evidence.likelihood.domain.project(names)
        exact = tuple(exact_margins(evidence, domain.names))
        found, whole = evidence.likelihood, domain.names == evidence.likelihood.domain.names
        if isinstance(found, CellFactors):
            known = found if whole else believed_margin(evidence, domain.names).likelihood
            return cls(evidence, cast(CellFactors, known), exact)
        stated = product([no_factors(domain), *(stated_factors(domain, margin) for margin in exact)])
        return cls(evidence, stated, exact, by_moves=whole)

    def believed(self, progress: Progress) -> Posterior:
        """The posterior of its cells."""
        one = self.evidence if self.by_moves else replace(self.evidence, known=self.factors, alone=True)
        return believed_cells([one], OfRelease(self.evidence.release, "its cells"), progress)

    def listed(self, shared: Domain, progress: Progress) -> tuple[Ints, Floats] | None:
        """All originals over the cells of a domain that has all its categories, and their chances; ``None``
        where they are too many."""
        found = self.believed(progress)
        number = found.count_originals() if found.way == "exact" else None
        listed = found.list_originals() if number is not None and number <= MOST_LISTED else None
        return None if listed is None else (self.over(listed[0], shared), listed[1])

    def over(self, tables: Ints, shared: Domain) -> Ints:
        """Tables of its cells over those of a domain that has all its categories, int64 (tables, cells)."""
        every = np.zeros((len(tables), shared.size), dtype=np.int64)
        every[:, self.placed(shared)] = tables
        return every

    @property
    def domain(self) -> Domain:
        """The shared variables, with the categories of the release."""
        return self.factors.domain

    @property
    def people(self) -> int:
        """How many people the release says that there are."""
        return self.evidence.release.table.total

    @cached_property
    def cell_ends(self) -> tuple[Ints, Ints]:
        """The fewest and the most people of each of its cells that it leaves possible."""
        known, walk = self.factors, self.evidence.likelihood
        low, high = np.zeros(known.domain.size, dtype=np.int64), np.full(known.domain.size, MANY)
        if self.by_moves and isinstance(walk, MoveSequence):
            published = walk.published.counts.reshape(-1)
            steps = walk.passes * np.bincount(walk.moves.cells, minlength=len(published))
            low, high = np.maximum(published - steps, 0), published + steps
        least, most = known.ends
        sizes = np.diff(known.starts)
        np.minimum.at(high, known.cells, np.repeat(most, sizes))
        alone = sizes == 1
        np.maximum.at(low, known.cells[known.starts[:-1][alone]], least[alone])
        return low, high

    def placed(self, shared: Domain) -> Ints:
        """Its cells among those of a domain that has all its categories."""
        return places_among(self.domain, shared)

    def published(self, shared: Domain) -> list[PublishedSums]:
        """The tables that it publishes of sums of these."""
        return list(published_sums(self.evidence.release, shared))

    def margin(self, names: tuple[str, ...], shared: Domain) -> Table | None:
        """A margin that it states, over the categories of all; ``None`` where it does not."""
        held = next((m for m in self.exact if set(names) <= set(m.domain.names)), None)
        if held is None:
            return None
        margin, domain = held.margin(names), shared.project(names)
        if not names:
            return margin
        counts = np.zeros(domain.shape, dtype=np.int64)
        axes = [margin.domain.axis(name) for name in domain.names]
        places = [
            [variable.categories.index(name) for name in margin.domain[variable.name].categories]
            for variable in domain.variables
        ]
        counts[np.ix_(*places)] = margin.counts.transpose(axes)
        return Table.dense(domain, counts)


def shared_domain(one: Domain, other: Domain) -> Domain:
    """The variables that both have, with the categories of either."""
    return Domain(
        tuple(
            Variable(
                variable.name, tuple(dict.fromkeys((*variable.categories, *other[variable.name].categories)))
            )
            for variable in one.variables
            if variable.name in other.names
        )
    )


def in_order_of(original: Table, domain: Domain) -> Table | None:
    """A table under the categories of another one, in their order, for variables of which it has none of these and
    as many: names may have become codes. ``None`` where there is no such variable."""
    found = []
    for variable in original.domain.variables:
        own, theirs = variable.categories, domain[variable.name].categories
        apart = not set(own) & set(theirs)
        if apart and len(own) != len(theirs):
            return None
        # The only category of a variable is a title, such as a year.
        found.append(domain[variable.name] if apart and len(own) > 1 else variable)
    renamed = Domain(tuple(found))
    return None if renamed == original.domain else Table.dense(renamed, original.counts)


def may_be_part(original: Table, other: Counted) -> tuple[bool, bool]:
    """Whether an original may be part of the people of a release, and whether these may be part of it.

    Parameters
    ----------
    original
        Of the variables of the release.
    """
    shared = shared_domain(original.domain, other.domain)
    counts = np.zeros(shared.shape, dtype=np.int64)
    places = [
        [variable.categories.index(name) for name in original.domain[variable.name].categories]
        for variable in shared.variables
    ]
    mine = original.margin(shared.names).counts.transpose(
        [original.domain.project(shared.names).axis(name) for name in shared.names]
    )
    counts[np.ix_(*places)] = mine
    here = counts.reshape(-1)[other.placed(shared)]
    cells, starts = other.factors.cells, other.factors.starts
    added = np.concatenate([[0], np.cumsum(here[cells])])
    found = added[starts[1:]] - added[starts[:-1]]
    low, high = other.factors.ends
    part = bool((found <= high).all()) and int(here.sum()) == original.total
    return part, bool((found >= low).all())


def factors_of(
    members: Sequence[tuple[Counted, Sequence[int]]],
    shared: Domain,
    domain: Domain,
    nobody: Sequence[int] = (),
) -> CellFactors:
    """P(releases | groups of people), each release of some groups.

    Parameters
    ----------
    members
        Releases, with the numbers of the groups whose people each counts.
    shared
        The variables of all of them.
    domain
        The same with a variable that tells the groups apart, the last.
    nobody
        Groups without anybody.
    """
    of = domain.size // shared.size
    every = np.arange(shared.size, dtype=np.int64)[:, None] * of
    found, empty = list[CellFactors](), [(every + number).reshape(-1) for number in nobody]
    for one, groups in members:
        place, inside = one.placed(shared) * of, np.asarray(groups)
        found.append(placed_factors(one.factors, domain, list(place[:, None] + inside)))
        empty.append((np.setdiff1d(every[:, 0], place)[:, None] + inside).reshape(-1))
    empty = [cells for cells in empty if len(cells)]
    if empty:
        starts = np.cumsum([0, *map(len, empty)]).astype(np.int64)
        kind = np.zeros(len(empty), dtype=np.int64)
        found.append(CellFactors.of(domain, (), (starts, np.concatenate(empty)), kind, [(0, 0, None)]))
    return product(found)


@dataclass(frozen=True, eq=False)
class Whole:
    """A release of all, and releases of parts of its people of whom nobody is in two.

    Attributes
    ----------
    whole
    parts
    closed
        Whether the parts are all people of the whole: nobody is left over.
    alike
        The places of parts of which equal counts of a cell get the number that the whole gives them.
    """

    whole: Counted
    parts: tuple[Counted, ...]
    closed: bool = False
    alike: tuple[int, ...] = ()

    @property
    def members(self) -> tuple[Counted, ...]:
        """The whole, then the parts."""
        return self.whole, *self.parts

    def of_others(self, members: Sequence[Counted]) -> Whole:
        """The same of other releases."""
        return replace(self, whole=members[0], parts=tuple(members[1:]))

    @cached_property
    def shared(self) -> Domain:
        """The variables of all of them."""
        domain = self.whole.domain
        for part in self.parts:
            domain = shared_domain(domain, part.domain)
        return domain

    @cached_property
    def domain(self) -> Domain:
        """The same with a variable that tells the parts and the rest apart."""
        name = "part"
        while name in self.shared.names:
            name += "'"
        kinds = tuple(f"{number}" for number in range(1, len(self.parts) + 1))
        return Domain((*self.shared.variables, Variable(name, (*kinds, "rest"))))

    @cached_property
    def factors(self) -> CellFactors:
        """P(all releases | the parts and the rest)."""
        of = len(self.parts) + 1
        members: list[tuple[Counted, Sequence[int]]] = [(self.whole, range(of))]
        members += [(part, [number]) for number, part in enumerate(self.parts)]
        found = [factors_of(members, self.shared, self.domain, [len(self.parts)] * self.closed)]
        every = np.arange(self.domain.size).reshape(-1, of)
        for number in self.alike:
            told = [(one.factors, one.placed(self.shared)) for one in (self.whole, self.parts[number])]
            found.append(somebody_beside(told, list(np.delete(every, number, axis=1)), self.domain))
        return product(found)

    def beliefs(self, progress: Progress = SILENT) -> list[TableBelief]:
        """What a reader of all believes of the parts, the rest, and the whole.

        Raises
        ------
        InfeasibleError
            Where there is no posterior.
        InputError
            Where no people fit.
        """
        try:
            if not any(one.by_moves for one in self.members):
                return self._as_one(progress)
            listed = self.listed(progress)
            if listed is None and all(one.by_moves for one in self.members):
                return self.by_chains(progress)
        except InfeasibleError:
            listed = None
        if listed is not None:
            return listed
        try:
            return self.by_draws(progress)
        except InfeasibleError:
            # No pairs fit where hardly anybody is left over.
            return self.by_fitting(progress)

    def place_of(self, at: int) -> tuple[int, Ints]:
        """Which of the beliefs is about a member, and the place of each shared cell there."""
        cells = np.arange(self.shared.size)
        return (0, cells * len(self.members) + at - 1) if at else (1, cells)

    def sums_of_rest(self) -> list[TableBelief]:
        """The same of the sums of the rest that all releases together state."""
        return [TableBelief(rest.domain, False, None, certain_counts(rest), "exact") for rest in self.rests()]

    @cached_property
    def _chance(self) -> OfRelease:
        return OfRelease(self.parts[0].evidence.release, "parts of a whole")

    def _posterior(self, progress: Progress) -> Posterior:
        """One posterior, of everybody's part and cell."""
        return believed_cells(
            [Evidence(self.parts[0].evidence.release, self.factors, alone=True)], self._chance, progress
        )

    def drawn(self, number: int, progress: Progress = SILENT) -> list[Ints]:
        """Originals of the whole and of each part as a reader of all draws them, int64 (number, shared cells).

        Raises
        ------
        InfeasibleError
            Where there is no posterior.
        """
        chance = OfRelease(self.parts[0].evidence.release, "people of all").generator()
        if not any(one.by_moves for one in self.members):
            found = self._posterior(progress).draw_originals(number, chance, progress)
            return self._told_apart(found.reshape(number, self.shared.size, len(self.parts) + 1))
        try:
            wholes, parts, pairs, _ = self._pairs(chance, number, progress)
        except InfeasibleError:
            fit = self._fitting(progress).people
            return self._told_apart(fit[chance.integers(0, len(fit), number)])
        of_whole, of_part = pairs
        return [wholes[of_whole], *(part[of_part] for part in parts)]

    def grouped(self, tables: Sequence[Ints]) -> list[Ints]:
        """The tables that are believed of, in the order of :meth:`beliefs`, from those of the members."""
        whole, *parts = tables
        every = [whole, *parts, whole - np.sum(parts, axis=0)]
        cells = [np.stack(every[1:], axis=2).reshape(len(whole), -1), whole]
        return [*cells, *(one.added_up(every[of]) for of, one in self._published)]

    @cached_property
    def _published(self) -> list[tuple[int, PublishedSums]]:
        """The published sums that are judged: of the whole, of the parts, and of the rest by both, with the place
        of whom they are among these."""
        each = [one.published(self.shared) for one in self.members]
        found = [(of, one) for of, every in enumerate(each) for one in every if one.judged.any()]
        return [*found, *((len(each), one) for one in sums_of_rest(each))]

    def _told_apart(self, people: Ints) -> list[Ints]:
        return [people.sum(axis=2), *np.moveaxis(people, 2, 0)[:-1]]

    def _as_one(self, progress: Progress) -> list[TableBelief]:
        found, chance = self._posterior(progress), self._chance
        whole = sums(found, Publication(found.domain, (self.shared.names,)), randomness=chance)[0]
        beliefs = [as_belief(one, inner=one is found, judged=None) for one in (found, whole)]
        size = len(self.members)
        for of, one in self._published:
            groups = np.arange(size) if of == 0 else np.array([of - 1])
            cells = [(own[:, None] * size + groups).reshape(-1) for own in one.cells]
            beliefs.append(one.belief(*believed_of(found, cells, chance, beliefs[0].way)))
        return beliefs

    def _laid_out(
        self, way: JudgedBy, *each: tuple[Ints, Floats], error: float = 0.0, chain: Ints | None = None
    ) -> list[TableBelief]:
        """Beliefs by weighed tables of the whole, of each part and of the rest."""
        whole, *others = (Laws.of(*one) for one in each)
        sums = [(one, one.added_up(each[of][0]), each[of][1]) for of, one in self._published]
        if chain is not None:
            met = (tables == count for _, tables, _ in sums for count in range(FEW))
            error = max([error, *(error_of_shares(one, chain) for one in met)])
        width = max(one.chances.shape[1] for one in others)
        chances = np.stack([one.wide(width) for one in others], axis=1).reshape(-1, width)
        first = np.stack([one.first for one in others], axis=1).reshape(-1)
        inner = np.arange(len(first)), first, chances
        of_whole = np.arange(len(whole.first)), whole.first, whole.chances
        cells = [
            TableBelief(self.domain, True, None, inner, way),
            TableBelief(self.shared, False, None, of_whole, way),
        ]
        cells = [replace(one, error=error, draws=0.25 / error**2) for one in cells] if error else cells
        return [*cells, *(one.belief(laws_of(tables, by / by.sum()), way, error) for one, tables, by in sums)]

    def listed(self, progress: Progress = SILENT) -> list[TableBelief] | None:
        """Beliefs by all originals of each release; ``None`` where they are too many."""
        lists = [found for one in self.members if (found := one.listed(self.shared, progress))]
        if len(lists) < len(self.members):
            return None
        if math.prod(len(weights) for _, weights in lists) * self.shared.size > LISTED_TOGETHER:
            return None
        (wholes, of_wholes), *parts = lists
        chosen = np.array(np.meshgrid(*(range(len(weights)) for _, weights in parts), indexing="ij"))
        chosen = chosen.reshape(len(parts), -1)
        taken = sum(tables[rows] for (tables, _), rows in zip(parts, chosen, strict=True))
        weight = np.prod([weights[rows] for (_, weights), rows in zip(parts, chosen, strict=True)], axis=0)
        each, left, counted = np.zeros(len(weight)), [], []
        in_whole = np.zeros(len(wholes))
        for number, (table, chance) in enumerate(zip(wholes, of_wholes, strict=True)):
            rest = table - taken
            fits = np.flatnonzero((rest == 0 if self.closed else rest >= 0).all(axis=1))
            more = weight[fits] * chance
            each[fits] += more
            in_whole[number] = more.sum()
            left.append(rest[fits])
            counted.append(more)
        of_parts = [(tables[rows], each) for (tables, _), rows in zip(parts, chosen, strict=True)]
        rest = np.concatenate(left), np.concatenate(counted)
        return self._laid_out("exact", (wholes, in_whole), *of_parts, rest)

    def by_fitting(self, progress: Progress = SILENT) -> list[TableBelief]:
        """Beliefs by chains over the people of all releases.

        Raises
        ------
        InfeasibleError
            Where they do not settle, or hardly anybody is found who fits, or methods are run again.
        """
        found = self._fitting(progress)
        drawn, even = found.people, np.ones(len(found.people))
        each = [(one, even) for one in (drawn.sum(axis=2), *np.moveaxis(drawn, 2, 0))]
        return self._laid_out("simulation", *each, error=found.error, chain=found.chain)

    def _fitting(self, progress: Progress) -> WhoFit:
        """Draws of the people of all groups, by chains."""
        if self.factors.rerun is not None:
            raise InfeasibleError(message("too few of the drawn people fit all these releases"))
        chance = OfRelease(self.parts[0].evidence.release, "people who fit").generator()
        number = max(DRAWN, min(MOST_DRAWN, COUNTS_DRAWN // self.shared.size))
        told = [
            Told(
                one.factors,
                one.placed(self.shared),
                one.cell_ends,
                self._independent(one, number, chance, progress) if one.by_moves else None,
            )
            for one in self.members
        ]
        return people_who_fit(self.factors, told, chance, progress)

    def _independent(
        self, one: Counted, number: int, chance: np.random.Generator, progress: Progress
    ) -> Ints:
        """Independent originals of a release, int64 (number, shared cells)."""
        found = one.believed(progress)
        if found.r_hat is not None:
            raise InfeasibleError(message("the simulated posterior has not settled: nothing to judge by"))
        return one.over(found.draw_originals(number, chance, progress), self.shared)

    def by_draws(self, progress: Progress = SILENT) -> list[TableBelief]:
        """Beliefs by independent draws from each release: pairs of a whole and of parts that fit into it.

        With an even belief over the parts and the rest, originals of each release by itself are draws of
        all of them once those are left out of whom the parts are more than the whole.

        Raises
        ------
        InfeasibleError
            Where draws are not independent, or too few fit.
        """
        chance = OfRelease(self.parts[0].evidence.release, "pairs of draws").generator()
        wholes, parts, (of_whole, of_part), effective = self._pairs(chance, PAIRED, progress)
        even, rest = np.ones(PAIRED), wholes[of_whole] - np.sum(parts, axis=0)[of_part]
        each = [(one, even) for one in (wholes[of_whole], *(part[of_part] for part in parts), rest)]
        error = math.sqrt(sum(0.25 / one for one in effective))
        return self._laid_out("simulation", *each, error=error)

    def _pairs(
        self, chance: np.random.Generator, number: int, progress: Progress
    ) -> tuple[Ints, list[Ints], tuple[Ints, Ints], list[float]]:
        """Draws of the whole and of each part, the places of so many pairs that fit, and the effective draws."""
        wholes, *parts = (self._independent(one, DRAWN, chance, progress) for one in self.members)
        taken = np.sum(parts, axis=0)
        fits = np.ones((DRAWN, DRAWN), dtype=np.bool_)
        for all_of_them, some in zip(wholes.T, taken.T, strict=True):
            if some.max() > all_of_them.min():
                fits &= all_of_them[:, None] >= some
            if self.closed:
                fits &= all_of_them[:, None] == some
        each = fits.sum(axis=0), fits.sum(axis=1)
        effective = [float(one.sum()) ** 2 / max(float((one**2).sum()), 1.0) for one in each]
        if min(effective) < LEAST_EFFECTIVE:
            raise InfeasibleError(message("too few of the drawn people fit all these releases"))
        pairs = np.flatnonzero(fits)
        of_whole, of_part = np.divmod(pairs[chance.integers(0, len(pairs), number)], DRAWN)
        return wholes, parts, (of_whole, of_part), effective

    @property
    def without_rest(self) -> list[Whole]:
        """The same if nobody is left over, where that can be and no stated sum says whether it is so."""
        if len(self.parts) < 2 or any(True for _ in self.rests()):
            return []
        closed = replace(self, closed=True)
        return [closed] if closed.can_be else []

    @property
    def can_be(self) -> bool:
        """Return False if no parts and rest give all that is stated."""
        if any((rest.counts < 0).any() for rest in self.rests()):
            return False
        return anybody_fits(self.factors)

    def by_chains(self, progress: Progress = SILENT) -> list[TableBelief]:
        """Beliefs by chains over the coins of all releases.

        Raises
        ------
        InfeasibleError
            Where they are too many, or no chain finds people who fit.
        """
        members, of = self.members, len(self.parts) + 1
        walks = [
            one.evidence.likelihood
            for one in members
            if one.by_moves and isinstance(one.evidence.likelihood, MoveSequence)
        ]
        kinds = tuple(str(number) for number in range(of))
        domain = Domain((*self.shared.variables, Variable("of", kinds)))
        counts = np.zeros(domain.size, dtype=np.int64)
        cells: list[Ints] = []
        signs: list[Signs] = []
        patterns: list[tuple[bytes, bytes]] = []
        sequence: list[int] = []
        coin: list[int] = []
        for number, (one, walk) in enumerate(zip(members, walks, strict=True)):
            place = one.placed(self.shared)
            counts[place * of + number] = walk.published.counts.reshape(-1)
            own = np.arange(len(walk.moves)) + len(cells)
            sequence += np.tile(own, walk.passes).tolist()
            coin += [number] * (len(own) * walk.passes)
            for cycle in range(len(walk.moves)):
                touched, sign = walk.moves.entries(cycle)
                order = np.argsort(place[touched])
                cells.append(place[touched][order] * of + number)
                signs.append(sign[order])
                patterns.append((place[touched][order].tobytes(), sign[order].tobytes()))
        starts = np.cumsum([0, *map(len, cells)], dtype=np.int64)
        moves = MoveSet(domain, starts, np.concatenate(cells), np.concatenate(signs).astype(np.int8), ())
        sig = signatures(moves)
        ways = np.array([1, *[-1] * len(self.parts)])
        bounds = []
        for cell in range(self.shared.size):
            groups = sig.group_of_cell[cell * of : (cell + 1) * of]
            start = int((ways * counts[cell * of : (cell + 1) * of]).sum())
            bounds.append(Bound(start, groups[groups >= 0], ways[groups >= 0]))
        alike: dict[tuple[bytes, bytes], list[int]] = {}
        for step, cycle in enumerate(sequence):
            alike.setdefault(patterns[cycle], []).append(step)
        pairs = [
            # Two steps of one release, or of two parts, change nothing where one goes up and one goes down.
            (a, b, 1 if (coin[a] == 0) != (coin[b] == 0) else -1)
            for steps in alike.values()
            for a, b in combinations(steps, 2)
        ]
        found = CoinChains(
            sig,
            (sig.lowest(counts), np.array(sequence)),
            ([Coin(one.alpha, one.beta, one.gamma, one.rule) for one in walks], np.array(coin)),
            bounds,
            pairs,
        ).draws(OfRelease(self.parts[0].evidence.release, "parts of a whole").generator(), progress)
        changes, chain = found
        if len(np.unique(chain)) < SETTLED_CHAINS:
            raise InfeasibleError(message("the simulated posterior has not settled: nothing to judge by"))
        changes = np.concatenate([changes, np.zeros((len(changes), 1), dtype=np.int64)], axis=1)
        drawn = (changes[:, sig.column] + counts).reshape(-1, self.shared.size, of)
        drawn = np.concatenate([drawn, drawn[..., :1] - drawn[..., 1:].sum(axis=2, keepdims=True)], axis=2)
        even = np.ones(len(drawn))
        error = max(error_of_shares(drawn == count, chain) for count in range(FEW))
        each = [(drawn[:, :, number], even) for number in range(of + 1)]
        return self._laid_out("simulation", *each, error=max(error, 1e-9), chain=chain)

    def rests(self) -> Iterable[Table]:
        """The margins of the rest that all releases together state."""
        known: list[set[str]] = []
        for margin in self.whole.exact:
            for size in range(margin.domain.ndim, -1, -1):
                for names in combinations(margin.domain.names, size):
                    if any(set(names) <= other for other in known):
                        continue
                    taken = [part.margin(names, self.shared) for part in self.parts]
                    if all(one is not None for one in taken):
                        known.append(set(names))
                        whole = self.whole.margin(names, self.shared)
                        assert whole is not None
                        rest = whole.counts - sum(one.counts for one in taken if one is not None)
                        yield Table.dense(whole.domain, rest)


def together_at_risk(limits: Gate, evidence: Iterable[Evidence]) -> SmallCount:
    """The counts that are at risk by the rule of any of several releases."""
    stated = [one.release.mechanism.gate for one in evidence]
    rules = [limits.at_risk, *(gate.at_risk for gate in stated if gate is not None)]
    return SmallCount(min(rule.low for rule in rules), max(rule.high for rule in rules))
