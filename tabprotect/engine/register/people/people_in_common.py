"""What earlier releases tell of one whose people may be counted in them, too. Confidential.

Nobody has to know whether they are: where a reader of all of them learns nothing beyond the limits if they
are, it makes no difference. Only where it does is the house asked.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from itertools import islice

import numpy as np

from tabprotect.engine.arrays import Ints
from tabprotect.engine.belief.evidence import Evidence
from tabprotect.engine.disclosure.cell_beliefs import TableBelief
from tabprotect.engine.disclosure.counts_verdict import judged_table
from tabprotect.engine.errors import InfeasibleError, InputError
from tabprotect.engine.posterior.margins import laws_of
from tabprotect.engine.progress import SILENT, Progress
from tabprotect.engine.protection.people import People
from tabprotect.engine.protection.registered import methods
from tabprotect.engine.protection.suppressing.letters import LARGEST
from tabprotect.engine.register.people.fitting.fitting_people import Laws
from tabprotect.engine.register.people.grouped_categories import named_groups
from tabprotect.engine.register.people.judged_people import judged_whole
from tabprotect.engine.register.people.parts_of_whole import (
    Counted,
    Whole,
    in_order_of,
    may_be_part,
    shared_domain,
    together_at_risk,
)
from tabprotect.engine.register.people.placed_factors import laws_of_cells
from tabprotect.engine.register.people.possible_wholes import Group, PossibleWholes
from tabprotect.engine.register.people.unions import Numbered
from tabprotect.engine.release.mechanism import Gate, Mechanism
from tabprotect.engine.release.release import Release
from tabprotect.engine.release.verdict_figures import TableVerdict
from tabprotect.engine.sensitivity.small_count import SmallCount
from tabprotect.engine.tables.domain import Domain
from tabprotect.engine.tables.table import Table
from tabprotect.languages.messages import joined, plural

SHAPE = frozenset({"margins", "groupings"})
"""Parameters that say which tables are published."""

FEW_CHANGES = 4
"""People who came or went, up to whom a reader believes that no others did."""


@dataclass(frozen=True, eq=False)
class InCommon:
    """What a reader of a release and of earlier ones learns of people who are counted in several.

    Attributes
    ----------
    read, unread
        The numbers of the earlier ones that were read with it, and of those that could not be.
    asked
        The numbers of those of which the house has to say whether the people are the same.
    tables
        The verdict on everything that follows.
    unweighed
        Whether it is not known that what else was refused beside these tells little enough.
    changes
        Whether nothing stands against it but that the people are, or may be, the same some time later: who came
        or went would be known.
    """

    read: tuple[int, ...] = ()
    unread: frozenset[int] = frozenset()
    asked: tuple[int, ...] = ()
    tables: tuple[TableVerdict, ...] = ()
    unweighed: bool = False
    changes: bool = False
    placed: tuple[str, ...] = ()


@dataclass(frozen=True, eq=False)
class InCommonReading:
    """A release, and how earlier ones are read that may count its people.

    Attributes
    ----------
    original
        Of the release at hand.
    own
        The release.
    people
        What the house has said.
    limits
    refused
        The mechanisms that were refused beside earlier releases before; ``None`` for one that is not known.
    keyed
        Whether the records have keys from which noise follows.
    """

    original: Table
    own: Evidence
    people: People
    limits: Gate
    refused: tuple[Mechanism | None, ...] = ()
    progress: Progress = SILENT
    keyed: bool = False

    def of(self, others: Iterable[tuple[int, Evidence]]) -> InCommon:
        """Read earlier releases, by their numbers."""
        wholes: list[Numbered] = []
        parts: list[Numbered] = []
        beside: list[Numbered] = []
        apart: list[tuple[int, Evidence]] = []
        read: set[int] = set()
        asked: set[int] = set()
        tables: list[TableVerdict] = []
        drawn: list[TableVerdict] = []
        told: dict[str, None] = {}
        renamed: set[int] = set()
        every, people = list(others), self.own.release.table.total
        for number, other in every:
            answer = self.people.of(number)
            names = shared_domain(self.original.domain, other.release.domain).names
            if answer in ("other", "same") or not names:
                apart += [(number, other)] * bool(answer == "other" and names)
                continue
            counted = Counted.of(other, names)
            part, whole = may_be_part(self.original.margin(names), counted)
            if answer in (None, "part"):
                if _under_other_names(self.original, other):
                    renamed.add(number)
                wholes += [(number, counted)] * part
                parts += [(number, counted)] * whole
                beside += [(number, counted)] * (not part and not whole)
            few = answer is None and abs(counted.people - people) <= FEW_CHANGES
            nearly = answer in ("corrected", "later")
            if nearly or few or not (part or whole):
                again = self._drawn_again(counted) if nearly else []
                read.update([number] if again else [])
                drawn += again
                places = self._places(counted)
                if places is not None:
                    read.add(number)
                    tables.append(self._judged_places(places))
                    asked.update(self._open([number]) if tables[-1].known else [])
                    told |= dict.fromkeys(_said(places))
        # Other people may be parts of the same whole.
        known = {one.domain.names for _, one in wholes}
        siblings = [
            (number, Counted.of(one, names))
            for number, one in apart
            for names in known
            if set(names) <= set(one.release.domain.names)
        ]
        more, slices = self._parted(wholes, parts, beside, siblings), self._sliced(every)
        close = {number for number, one in (*wholes, *parts) if abs(one.people - people) <= FEW_CHANGES}
        placed_so = any(one.fails(self.limits) for one in tables)
        known_by_draws = any(one.fails(self.limits) for one in drawn)
        else_known = any(one.fails(self.limits) for one in (*more.tables, *slices.tables)) and not more.asked
        return InCommon(
            tuple(sorted(read | set(more.read) | set(slices.read))),
            more.unread | slices.unread | renamed,
            tuple(sorted(asked | {*more.asked, *slices.asked, *self._open(sorted(renamed))})),
            (*tables, *drawn, *more.tables, *slices.tables),
            more.unweighed,
            (placed_so or bool(asked | set(more.asked)))
            and set(more.asked) <= close
            and not slices.asked
            and not renamed
            and not (else_known or known_by_draws),
            tuple(told),
        )

    def _sliced(self, others: Sequence[tuple[int, Evidence]]) -> InCommon:
        """What a table of one category tells beside one that has the variable."""
        # Late: hardly any table has the variables of another and one more.
        from tabprotect.engine.register.people.slices import MOST_BESIDE, OWN, Slices

        own = set(self.own.release.domain.names)
        known = [(n, one) for n, one in others if self.people.of(n) in (None, "part")]
        coarse = [(n, Counted.of(one, own)) for n, one in known if set(one.release.domain.names) == own]
        found: list[Slices] = []
        for number, other in known:
            names = set(other.release.domain.names)
            for variable in sorted(names - own):
                if own < names:
                    finer = number, Counted.of(other, (*own, variable))
                    first = OWN, Counted.of(self.own, own)
                    found.append(Slices(finer, variable, [first, *coarse[-MOST_BESIDE:]], self.original))
            for variable in sorted(own - names):
                if names < own:
                    finer = OWN, Counted.of(self.own, (*names, variable))
                    alike = [(n, one) for n, one in known if set(one.release.domain.names) == names]
                    alike.sort(key=lambda one: (one[0] != number, one[0]))
                    some = [(n, Counted.of(one, names)) for n, one in alike[: MOST_BESIDE + 1]]
                    found.append(Slices(finer, variable, some, self.original))
        read, unread, asked = set[int](), set[int](), set[int]()
        tables: list[TableVerdict] = []
        for one in found:
            for what in one.possible():
                try:
                    judged = one.judged(what, self.limits, self.progress)
                except InputError:
                    continue
                except InfeasibleError:
                    unread.update(one.numbers)
                    continue
                tables += judged
                read.update(one.numbers)
                unread.update(() if one.heard else one.numbers)
                if any(table.fails(self.limits) for table in judged):
                    asked.update(self._open(one.numbers))
        asked.update(self._open(sorted(unread)))
        return InCommon(tuple(read), frozenset(unread), tuple(asked), tuple(tables))

    def _parted(
        self,
        wholes: Sequence[Numbered],
        parts: Sequence[Numbered],
        beside: Sequence[Numbered],
        apart: Sequence[Numbered],
    ) -> InCommon:
        """What releases tell that may be a whole and parts of it."""
        unread, asked, read = set[int](), set[int](), {number for number, _ in (*wholes, *parts)}
        tables: list[TableVerdict] = []
        judged: list[Group] = []

        def open_ones(numbers: Sequence[int]) -> None:
            unread.update(numbers)
            asked.update(self._open(numbers))

        groups = self._groups(wholes, parts, beside, apart)
        alone = [one for one in groups if len(one[0]) == 1]
        for some in (alone, groups[len(alone) :]):
            # What the house is asked about anyway is not judged beside others.
            left = [one for one in some if not asked & set(one[0])]
            possible = list(islice((one for one in left[:MOST_LOOKED_AT] if one[1].can_be), MOST_JUDGED + 1))
            if len(possible) > MOST_JUDGED or len(left) > MOST_LOOKED_AT:
                for numbers, _ in left:
                    open_ones(numbers)
                possible = [one for one in possible if not self._open(one[0])][:MOST_JUDGED]
            for numbers, group in possible:
                if asked & set(numbers):
                    continue
                # That a whole is its parts follows from their titles, where no sum tells it.
                for one in (group, *group.without_rest, *self._with_one_coin(group)):
                    try:
                        found = self._judged(one)
                    except InputError:
                        continue
                    except InfeasibleError:
                        open_ones(numbers)
                        continue
                    tables.extend(found)
                    judged.append(one)
                    read.update(numbers)
                    if any(table.fails(self.limits) for table in found):
                        asked.update(self._open(numbers))
        read -= unread
        unweighed = bool(self.refused) and not self._tells_little(judged, tables)
        return InCommon(tuple(read), frozenset(unread), tuple(asked), tuple(tables), unweighed)

    def _tells_little(self, judged: Sequence[Group], tables: Sequence[TableVerdict]) -> bool:
        """Return True if what was refused beside earlier releases tells little; what is refused now is not weighed."""
        if any(one.fails(self.limits) for one in tables):
            return False
        # Late: hardly anything was refused.
        from tabprotect.engine.register.people.refused_beside import RefusedBeside

        refused = RefusedBeside(self.original, self.own, self.refused, self.limits, self.progress)
        try:
            return refused.tells_little(judged)
        except InfeasibleError:
            return False

    def _groups(
        self,
        wholes: Sequence[Numbered],
        parts: Sequence[Numbered],
        beside: Sequence[Numbered],
        apart: Sequence[Numbered],
    ) -> list[tuple[tuple[int, ...], Group]]:
        """The wholes and parts that may tell something: the fewest releases, then the smallest rest first."""
        every = [*wholes, *parts, *beside]
        found: list[tuple[int, tuple[int, ...], Group]] = []
        for shared in dict.fromkeys(one.domain.names for _, one in every):
            mine = [one for one in wholes if one[1].domain.names == shared]
            theirs = [one for one in parts if one[1].domain.names == shared]
            others = [one for one in beside if one[1].domain.names == shared]
            siblings = [one for one in apart if one[1].domain.names == shared]
            read = (*mine, *theirs, *others, *siblings)
            rules = together_at_risk(self.limits, [one.evidence for _, one in read])
            own = Counted.of(self.own, shared)
            found += PossibleWholes(own, mine, theirs, rules.high, others, siblings).groups()
        found.sort(key=lambda one: (len(one[1]), *one[:2]))
        return [(numbers, group) for _, numbers, group in found]

    def _with_one_coin(self, group: Group) -> list[Group]:
        """The same to who knows that equal counts of a cell get equal numbers: of these people, or by these letters."""
        if not isinstance(group, Whole):
            return []
        whole, parts = group.whole.evidence.release, enumerate(group.parts)
        alike = (number for number, one in parts if self._one_coin(whole, one.evidence.release))
        found = replace(group, alike=tuple(alike))
        return [found] if found.alike and found.can_be else []

    def _one_coin(self, one: Release, other: Release) -> bool:
        mine, theirs = one.mechanism, other.mechanism
        if one.magnitudes or other.magnitudes:
            # Counts beside sums are exact or hidden with them.
            return False
        own, coins = (methods()[each.method].drawn_by_cells(each.values) for each in (mine, theirs))
        if own is not None:
            largest = {each.parameters.get(LARGEST.name) for each in (mine, theirs)}
            houses = mine.coins == theirs.coins == "house" and set(one.domain.names) == set(
                other.domain.names
            )
            return houses and own == coins and len(largest) == 1
        noise = ({n: v for n, v in each.parameters.items() if n not in SHAPE} for each in (mine, theirs))
        return self.keyed and mine.method == theirs.method and next(noise) == next(noise)

    def _open(self, numbers: Sequence[int]) -> list[int]:
        return [number for number in numbers if self.people.of(number) is None]

    def _own(self, other: Counted) -> Counted:
        return Counted.of(self.own, other.domain.names)

    def _judged(self, group: Group) -> list[TableVerdict]:
        return judged_whole(group, self.limits, self.progress)

    def _places(self, earlier: Counted) -> Table | None:
        """How many came to each cell, below 0 who left, as a reader knows, where no more did than have to."""
        now = self._own(earlier)
        if now.domain != earlier.domain:
            return None
        changes = []
        for margin in now.exact:
            before = next((m for m in earlier.exact if set(margin.domain.names) <= set(m.domain.names)), None)
            if before is not None:
                changes.append(
                    (margin.domain.names, margin.counts - before.margin(margin.domain.names).counts)
                )
        if any(set(names) == set(now.domain.names) for names, _ in changes):
            # Whoever came or went is in a number that both state: nothing follows.
            return None
        moved = np.zeros(0, dtype=np.int64)
        if self._one_coin(self.own.release, earlier.evidence.release):
            every = np.arange(now.domain.size)
            mine, theirs = (laws_of_cells(one.factors, every) for one in (now, earlier))
            moved = np.array([c for c in mine.keys() & theirs.keys() if mine[c] != theirs[c]], dtype=np.int64)
        most = max((int(np.abs(change).sum()) for _, change in changes), default=0)
        if not most + len(moved) > 0 or max(most, len(moved)) > FEW_CHANGES:
            return None
        places = _certain_changes(now.domain, changes, moved)
        return Table.dense(now.domain, places.reshape(now.domain.shape))

    def _drawn_again(self, earlier: Counted) -> list[TableVerdict]:
        """What both tell of the people of either, of whom no more came or went than have to; where all can be
        listed."""
        now = self._own(earlier)
        if now.domain != earlier.domain or now.domain.size > LISTED_CELLS:
            return []
        beliefs: list[TableBelief] = []
        with suppress(InfeasibleError, InputError):
            beliefs = of_nearly_the_same(now, earlier, self.progress)
        limits = replace(self.limits, at_risk=together_at_risk(self.limits, [earlier.evidence]))
        return [judged_table("user", one, limits) for one in beliefs]

    def _judged_places(self, places: Table) -> TableVerdict:
        counts = np.abs(places.counts.reshape(-1))
        rows = np.zeros(len(counts), dtype=np.int64), counts, np.ones((1, 1))
        limits = replace(self.limits, at_risk=SmallCount(1, max(self.limits.at_risk.high, FEW_CHANGES)))
        return judged_table("user", TableBelief(places.domain, True, None, rows, "exact"), limits)


def _under_other_names(original: Table, evidence: Evidence) -> bool:
    """Return True if a table may be part of a release, or that of the table, under other names.

    All variables of one have to be among those of the other: of a few of each, such as the sex alone, other names
    are other people.
    """
    theirs = evidence.release.domain
    named = _named_as(original, theirs)
    names = shared_domain(named.domain, theirs).names
    if len(names) < min(named.domain.ndim, theirs.ndim):
        return False
    mine, other = named.margin(names), Counted.of(evidence, names)
    likely = in_order_of(mine, other.domain) or (None if named.domain == original.domain else mine)
    if likely is not None:
        return any(may_be_part(likely, other))
    axes = [other.domain.axis(name) for name in mine.domain.names]
    low, high = (one.reshape(other.domain.shape).transpose(axes) for one in other.cell_ends)
    counts, united = mine.counts, False
    for axis, variable in enumerate(mine.domain.variables):
        own, others = variable.categories, other.domain[variable.name].categories
        if groups := named_groups(others, own):
            low, high = (_sums_along(one, groups, axis) for one in (low, high))
        elif groups := named_groups(own, others):
            counts = _sums_along(counts, groups, axis)
        elif set(own) != set(others):
            return False
        else:
            counts = counts.take([own.index(one) for one in others], axis)
        united |= groups is not None
    part = int(counts.sum()) == mine.total and bool((counts <= high).all())
    return united and (part or bool((counts >= low).all()))


def _named_as(original: Table, domain: Domain) -> Table:
    """A table whose variables have the names of those of another one that have the same three and more categories."""
    own = original.domain
    known = {frozenset(one.categories): one.name for one in domain.variables if one.name not in own.names}
    found = [
        replace(one, name=known.get(frozenset(one.categories), one.name))
        if one.name not in domain.names and len(one.categories) > 2
        else one
        for one in own.variables
    ]
    return Table.dense(Domain(tuple(found)), original.counts)


def _sums_along(counts: Ints, groups: Sequence[Sequence[int]], axis: int) -> Ints:
    """The sums of some categories of a variable, a group of them each."""
    return np.stack([counts.take(one, axis).sum(axis=axis) for one in groups], axis)


def of_nearly_the_same(now: Counted, before: Counted, progress: Progress = SILENT) -> list[TableBelief]:
    """What a reader believes of the people of two releases who are nearly the same; nothing where they are not,
    or cannot all be listed.

    Even over all pairs of tables that differ by the fewest people of those that both releases leave possible.
    """
    lists = [found for one in (now, before) if (found := one.listed(now.domain, progress))]
    if len(lists) < 2 or len(lists[0][1]) * len(lists[1][1]) > MOST_PAIRS:
        return []
    (tables, weights), (earlier, of_earlier) = lists
    apart = np.stack([np.abs(earlier - one).sum(axis=1) for one in tables])
    if apart.min() > FEW_CHANGES:
        return []
    chance = weights[:, None] * of_earlier * (apart == apart.min())
    laws = Laws.of(tables, chance.sum(axis=1)), Laws.of(earlier, chance.sum(axis=0))
    cells = np.arange(now.domain.size)
    beliefs = [TableBelief(now.domain, True, None, (cells, law.first, law.chances), "exact") for law in laws]
    chance /= chance.sum()
    for one, people, by in ((now, tables, chance.sum(axis=1)), (before, earlier, chance.sum(axis=0))):
        for sums in one.published(now.domain):
            if sums.judged.any():
                beliefs.append(sums.belief(laws_of(sums.added_up(people), by), "exact", 0.0))
    return beliefs


def _said(places: Table) -> list[str]:
    """Who came or went, in words."""
    found = []
    for place in np.argwhere(places.counts):
        labels = (v.categories[k] for v, k in zip(places.domain.variables, place.tolist(), strict=True))
        cell, change = "({})".format(joined(labels, ", ")), int(places.counts[tuple(place)])
        found.append(
            plural(
                change, "One person came to {cell}: known", "{n} people came to {cell}: known", change, cell
            )
            if change > 0
            else plural(
                -change, "One person of {cell} left: known", "{n} people of {cell} left: known", -change, cell
            )
        )
    return found


LISTED_CELLS = 64
"""Cells of tables of which it is looked whether all originals can be listed."""

MOST_PAIRS = 2**22
"""Pairs of tables that are put beside each other, a second or so."""

MOST_JUDGED = 24
"""Wholes with their parts that are judged: half a minute or so. Where there are more the house is asked."""

MOST_LOOKED_AT = 400
"""Those of whom it is looked whether anybody can be in all of them, some seconds."""


def _certain_changes(
    domain: Domain, changes: Sequence[tuple[tuple[str, ...], Ints]], moved: Ints | None = None
) -> Ints:
    """The change of each cell that is the same however the fewest people came and went; 0 elsewhere.

    Parameters
    ----------
    moved
        Cells that have changed: their letters differ, which are those of the cell.
    """
    from scipy.optimize import LinearConstraint, milp

    size = domain.size
    cells = np.arange(size, dtype=np.int64)
    rows, ends = [], []
    for names, change in changes:
        key = domain.project_keys(cells, names)
        for place, value in enumerate(change.reshape(-1)):
            row = (key == place).astype(np.float64)
            rows.append(np.concatenate([row, -row]))
            ends.append(value)
    every = [LinearConstraint(np.array(rows), np.array(ends), np.array(ends))] if rows else []
    if moved is not None and len(moved):
        some = np.eye(size)[moved]
        every.append(LinearConstraint(np.hstack([some, some]), 1, np.inf))
    each, whole = np.ones(2 * size), np.ones(2 * size, dtype=np.int64)
    fewest = milp(each, constraints=every, integrality=whole)
    if fewest.x is None:
        return np.zeros(size, dtype=np.int64)
    found = np.rint(fewest.x[:size] - fewest.x[size:]).astype(np.int64)
    few = LinearConstraint(each[None], -np.inf, round(fewest.fun))
    for cell in np.flatnonzero(found):
        aim = np.zeros(2 * size)
        aim[[cell, size + cell]] = 1.0, -1.0
        for way in (1, -1):
            other = milp(way * aim, constraints=[*every, few], integrality=whole)
            if other.x is not None and round(way * other.fun) != found[cell]:
                found[cell] = 0
                break
    return found
