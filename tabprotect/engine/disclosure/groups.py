"""What a reader learns of whole groups of people: that all of one share a category.

A group is a combination K of other variables than the sensitive one; x counts its people in a category
c, f those in the others. *whole* is the chance that f = 0 in a group of no fewer people than are not at
risk any more (:class:`GroupBeliefs`). With L that number it is read off listed originals or drawn
ones, or from exact laws of sums:

- f and x independent: P(f = 0) P(x >= L);
- x + f known to be n: P(x = n);
- of moves: P(f = 0) - P(L f + x < L), the second being the law of one weighted sum.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from tabprotect.engine.arrays import Bools, Floats, Ints, SignedInts
from tabprotect.engine.belief.effort import LEAST_DRAWS
from tabprotect.engine.disclosure.cell_beliefs import TableBelief
from tabprotect.engine.disclosure.widened import may_fail
from tabprotect.engine.equal_rows import members
from tabprotect.engine.posterior.factors.solved_parts import PartSums
from tabprotect.engine.posterior.moves.sum_sweep import SumLaws
from tabprotect.engine.posterior.posterior import ExactSums, Posterior
from tabprotect.engine.posterior.swaps.swap_laws import SwapLaws
from tabprotect.engine.posterior.widening import NOT_WIDENED, Widening
from tabprotect.engine.progress import SILENT, Progress
from tabprotect.engine.release.group_figures import Groups
from tabprotect.engine.release.mechanism import Gate
from tabprotect.engine.tables.domain import Domain
from tabprotect.languages.messages import message

MOST_CELLS = 200_000
"""Cells of a posterior beyond which groups are not worked out."""

LISTED_CELLS, LISTED_ENTRIES = 100, 2**22
"""Cells up to which originals are listed first, and most counts of all listed ones."""

FEW_SURELY = 1e-12
"""The chance of a group to be small that is left out where its law is not worked out jointly."""

LAWS, LAWS_WORK = 1_500, 2**25
"""Most laws of sums of one table, a millisecond each, and most entries of all of them."""

DRAWN, DRAWN_ENTRIES = 1_000, 2**25
"""Drawn originals, and most counts of all of them."""

AT_ONCE = 2**20
"""Counts of originals that are added up at a time."""

NEVER = 1e-12
"""A chance below which a cell is taken never to be empty."""


@dataclass(frozen=True, eq=False)
class GroupBeliefs:
    """What a reader believes of the groups of one table by one sensitive variable.

    Attributes
    ----------
    whole : float64 (groups, categories)
        The chance that all people of a group that is large enough have the category.
    enough : float64 (groups,)
        The chance that a group is large enough.
    share, insider : float64 (groups, categories), or None
        The expected share of the category in the group; and what one who is outside the category believes
        of all others being in it. ``None`` where only laws of sums were worked out.
    draws
        Number of drawn originals that the chances are shares of; ``None`` for exact ones.
    """

    whole: Floats
    enough: Floats
    share: Floats | None = None
    insider: Floats | None = None
    draws: float | None = None

    def figures(self, categories: Sequence[int], limit: float) -> tuple[float, float, int]:
        """The expected number of groups in one category, the sum of squares, and those known."""
        whole = self.whole[:, list(categories)]
        squares = whole**2
        if self.draws:
            # The square of a share of draws is too large by the share's variance.
            squares = squares - whole * (1.0 - whole) / self.draws
        known = whole.max(axis=1, initial=0.0) > limit
        return float(whole.sum()), float(squares.sum()), int(known.sum())


def groups_of(
    beliefs: Sequence[TableBelief],
    limits: Gate,
    generator: np.random.Generator,
    progress: Progress = SILENT,
    widening: Widening | None = None,
) -> list[Groups]:
    """The figures of each judged table; each group is counted in the first table that has it.

    Parameters
    ----------
    limits
        Of these the roles, the belief beyond which it is known that a group is whole, and the counts at
        risk, which groups are larger than.
    generator
        For the draws: it follows from the release.
    widening
        What is known of what is bounded; ``None`` for nothing.
    """
    found, done = [], set()
    for belief in beliefs:
        names = belief.domain.names
        asked = []
        for axis, keys, categories in limits.roles.asked(belief.domain):
            what = (names[axis], tuple(names[key] for key in keys))
            if what not in done:
                done.add(what)
                asked.append((axis, keys, categories))
        found.append(_figures(belief, asked, limits, (generator, widening or NOT_WIDENED), progress))
    return found


def _figures(
    belief: TableBelief,
    asked: Sequence[tuple[int, tuple[int, ...], tuple[int, ...]]],
    limits: Gate,
    how: tuple[np.random.Generator, Widening],
    progress: Progress,
) -> Groups:
    generator, widening = how
    least = limits.at_risk.high + 1
    shared = tuple(belief.domain.names[axis] for axis, _, _ in asked)
    if not asked:
        return Groups((), least, 0.0, judged=limits.groups)
    if belief.source is None or belief.source[0].domain.size > MOST_CELLS:
        return Groups(shared, least, None, judged=limits.groups)
    number = expected = squares = error = 0.0
    known, wholes = 0, []
    tables = DrawnOnce(belief.source[0], generator, progress)
    for axis, keys, categories in asked:
        one = group_beliefs(tables, belief.domain, belief.source[1], axis, keys, least)
        if one is None:
            return Groups(shared, least, None, judged=limits.groups)
        more, further, sure = one.figures(categories, limits.belief_limit)
        number, expected, squares = number + float(one.enough.sum()), expected + more, squares + further
        known += sure
        wholes.append(np.atleast_2d(one.whole[:, list(categories)].T))
        error = max(error, 0.5 / one.draws**0.5 if one.draws else 0.0)
    if not limits.groups or widening == NOT_WIDENED:
        return Groups(shared, least, number, expected, squares, known, error, limits.groups)
    most = max(len(one) for one in wholes)
    statements = np.hstack([np.pad(one, ((0, most - len(one)), (0, 0))) for one in wholes])
    could = may_fail(statements, widening, limits)
    return Groups(shared, least, number, expected, squares, known, error, True, could)


def group_beliefs(
    tables: DrawnOnce, domain: Domain, of_table: Ints | None, axis: int, keys: Sequence[int], least: int
) -> GroupBeliefs | None:
    """What is believed of the groups of one table; ``None`` beyond the work.

    Parameters
    ----------
    tables
        A posterior, and what is drawn from it where nothing else tells.
    domain, of_table
        The table's variables, and its cell that each of the posterior's is in, int64 (cells,); ``None``
        where they are the same.
    axis, keys
        The sensitive variable, and those by which groups are told: groups are in their order.
    least
        People from which on a group counts.
    """
    posterior, progress = tables.posterior, tables.progress
    cells = np.arange(domain.size, dtype=np.int64) if of_table is None else of_table
    index = np.unravel_index(cells, domain.shape)
    groups = np.zeros(len(cells), dtype=np.int64)
    for key in keys:
        groups = groups * domain.shape[key] + index[key]
    number = int(np.prod([domain.shape[key] for key in keys], dtype=np.int64))
    shape = number, domain.shape[axis]
    place = groups * shape[1] + index[axis]
    possible = np.zeros(number * shape[1], dtype=np.bool_)
    possible[place[~posterior.domain.structural_cells()]] = True
    progress.report(message("judging what is learned of whole groups"), 0.0)
    asked = _Asked(posterior, place, shape, possible.reshape(shape).sum(axis=1) > 1, least, progress)
    return asked.listed() or asked.by_laws() or asked.by_listing() or asked.drawn(tables)


class DrawnOnce:
    """Originals drawn from a posterior once, for all that is read off them."""

    def __init__(self, posterior: Posterior, generator: np.random.Generator, progress: Progress) -> None:
        self.posterior, self.generator, self.progress = posterior, generator, progress
        self.number = min(DRAWN, DRAWN_ENTRIES // posterior.domain.size)

    @cached_property
    def _tables(self) -> SignedInts:
        # Groups are compared with small counts only: which large count it is does not matter.
        draw = self.posterior.draw_narrow or self.posterior.draw_originals
        return draw(self.number, self.generator, self.progress)

    def cells(self, which: Bools) -> SignedInts:
        """The counts of some cells, (number, cells)."""
        return self._tables[:, which]


@dataclass(frozen=True, eq=False)
class _Asked:
    """A posterior, and where each of its cells belongs: int64 (cells,), group by group."""

    posterior: Posterior
    place: Ints
    shape: tuple[int, int]
    meant: Bools
    least: int
    progress: Progress

    def _ends(self) -> tuple[Ints, Ints]:
        """The fewest and the most people of each group."""
        possible = self.posterior.chances > 0
        low = possible.argmax(axis=1)
        high = possible.shape[1] - 1 - possible[:, ::-1].argmax(axis=1)
        row, group = self.posterior.group_of_cell, self.place // self.shape[1]
        ends = []
        for column in (low, high):
            each = self.posterior.first + column[row]
            found = np.zeros(self.shape[0], dtype=np.int64)
            np.add.at(found, group, each)
            ends.append(found)
        return ends[0], ends[1]

    def _candidates(self) -> Bools:
        """The groups and categories that all others may be empty of, bool (groups, categories)."""
        zeros = np.full(self.posterior.domain.shape, 0, dtype=np.int64)
        empty = np.ones(self.shape[0] * self.shape[1])
        np.minimum.at(empty, self.place, self.posterior.probability(zeros).reshape(-1))
        filled = (empty < NEVER).reshape(self.shape)
        others = filled.sum(axis=1)[:, None] - filled
        return np.asarray((others == 0) & self.meant[:, None] & (self._ends()[1] >= self.least)[:, None])

    def listed(self) -> GroupBeliefs | None:
        """Read off the originals of a small table."""
        if self.posterior.domain.size > LISTED_CELLS or self.posterior.way != "exact":
            return None
        originals = self.posterior.count_originals()
        if originals is None or originals * self.posterior.domain.size > LISTED_ENTRIES:
            return None
        return self.by_listing()

    def by_listing(self) -> GroupBeliefs | None:
        """Read off all originals, where they can be listed."""
        listed = self.posterior.list_originals() if self.posterior.way == "exact" else None
        if listed is None or listed[0].size > LISTED_ENTRIES:
            return None
        return self._read(*listed, told=True)

    def drawn(self, tables: DrawnOnce) -> GroupBeliefs | None:
        """Read off drawn originals."""
        number = tables.number
        if number < LEAST_DRAWS:
            return None
        posterior, draws = self.posterior, float(number)
        if not posterior.independent and posterior.way != "exact" and posterior.effective_sample_size:
            draws = min(draws, posterior.effective_sample_size)
        lowest, highest = self._ends()
        unsure = self.meant & (lowest < self.least) & (highest >= self.least)
        groups = unsure | self._candidates().any(axis=1)
        enough = np.where(self.meant & (lowest >= self.least), 1.0, 0.0)
        whole = np.zeros(self.shape)
        if groups.any():
            inside = groups[self.place // self.shape[1]]
            number_of = np.cumsum(groups) - 1
            place = self.place[inside]
            place = number_of[place // self.shape[1]] * self.shape[1] + place % self.shape[1]
            few = replace(
                self, place=place, shape=(int(groups.sum()), self.shape[1]), meant=self.meant[groups]
            )
            chance = few._read(tables.cells(inside), np.full(number, 1.0 / number), told=False)
            enough[groups], whole[groups] = chance.enough, chance.whole
        return GroupBeliefs(whole, enough, draws=draws)

    def _read(self, tables: SignedInts, weights: Floats, *, told: bool) -> GroupBeliefs:
        """Add up weighted originals (originals, cells), with what else is to be told of groups."""
        whole, share, insider, outside = (np.zeros(self.shape) for _ in range(4))
        enough, anybody = np.zeros(self.shape[0]), np.zeros(self.shape[0])
        order = np.argsort(self.place, kind="stable")
        filled, begins = np.unique(self.place[order], return_index=True)
        step = max(AT_ONCE // max(tables.shape[1], 1), 1)
        for begin in range(0, len(tables), step):
            part, weight = tables[begin : begin + step], weights[begin : begin + step]
            counts = np.zeros((len(part), self.shape[0] * self.shape[1]), dtype=np.int64)
            counts[:, filled] = np.add.reduceat(part[:, order], begins, axis=1, dtype=np.int64)
            inside = counts.reshape(len(part), *self.shape)
            people = inside.sum(axis=2)
            large = people >= self.least
            enough += weight @ large
            whole += np.tensordot(weight, (inside == people[:, :, None]) & large[:, :, None], 1)
            if told:
                others = people[:, :, None] - inside
                anybody += weight @ (people > 0)
                share += np.tensordot(weight, inside / np.maximum(people, 1)[:, :, None], 1)
                insider += np.tensordot(weight, (others == 1) & (inside >= self.least - 1), 1)
                outside += np.tensordot(weight, others, 1)
        whole, enough = whole * self.meant[:, None], enough * self.meant
        if not told:
            return GroupBeliefs(whole, enough)
        with np.errstate(divide="ignore", invalid="ignore"):
            share = np.where(anybody[:, None] > 0, share / anybody[:, None], 0.0)
            insider = np.where(outside > 0, insider / outside, 0.0)
        return GroupBeliefs(whole, enough, share, insider * self.meant[:, None])

    def by_laws(self) -> GroupBeliefs | None:
        """Work out the exact laws of sums; ``None`` beyond the work, or where they do not tell."""
        laws = self.posterior.exact_sums
        if not isinstance(laws, SumLaws | PartSums | SwapLaws):
            return None
        lowest, highest = self._ends()
        candidates = self._candidates()
        unsure = self.meant & (lowest < self.least) & (highest >= self.least)
        number = int(candidates.sum()) * 2 + int(unsure.sum())
        if number > LAWS:
            return None
        counted = _Counted(laws, self.progress)
        cells = list(members(self.place, self.shape[0] * self.shape[1]))
        enough = np.where(self.meant & (lowest >= self.least), 1.0, 0.0)
        whole = np.zeros(self.shape)
        for group in np.flatnonzero(unsure | candidates.any(axis=1)):
            own = cells[group * self.shape[1] : (group + 1) * self.shape[1]]
            if unsure[group]:
                chance = counted.at_least(np.concatenate(own), self.least)
                if chance is None:
                    return None
                enough[group] = chance
            for category in np.flatnonzero(candidates[group]):
                others = np.concatenate([np.zeros(0, dtype=np.int64), *own[:category], *own[category + 1 :]])
                found = counted.whole(own[category], others, self.least, sure=not unsure[group])
                if found is None:
                    return None
                whole[group, category] = found
        return GroupBeliefs(np.clip(whole, 0.0, 1.0), enough)


class _Counted:
    """Exact laws of sums, within the work."""

    def __init__(self, laws: SumLaws | PartSums | SwapLaws, progress: Progress) -> None:
        self.laws, self.progress, self.left = laws, progress, LAWS_WORK

    def law(self, cells: Ints) -> tuple[int, Floats] | None:
        laws: ExactSums = self.laws
        work = laws.work(cells)
        if work is None or work > self.left:
            return None
        self.left -= work
        return laws.law(cells, self.progress)

    def at_least(self, cells: Ints, least: int) -> float | None:
        found = self.law(cells)
        return None if found is None else float(found[1][max(least - found[0], 0) :].sum())

    def below(self, cells: Ints, bound: int) -> float | None:
        found = self.law(cells)
        return None if found is None else float(found[1][: max(bound - found[0], 0)].sum())

    def whole(self, own: Ints, others: Ints, least: int, *, sure: bool) -> float | None:
        """The chance that all of a group of so many people have a category.

        Parameters
        ----------
        own, others
            The cells of the group in the category, and in all others.
        sure
            Whether the group certainly is so large.
        """
        empty = self.below(others, 1)
        if sure or not empty:
            return empty
        if isinstance(self.laws, SumLaws):
            few = self.below(np.concatenate([own, np.repeat(others, least)]), least)
            return None if few is None else empty - few
        if isinstance(self.laws, SwapLaws):
            # How many there are and who is among them move together: told where they are surely enough.
            few = self.below(np.concatenate([own, others]), least)
            return empty if few is not None and few < FEW_SURELY else None
        parts = self.laws.part_of_cell
        if not np.isin(parts[own][parts[own] >= 0], parts[others]).any():
            large = self.at_least(own, least)
            return None if large is None else empty * large
        people = self.law(np.concatenate([own, others]))
        if people is None or len(people[1]) > 1:
            return None
        return 0.0 if people[0] < least else empty
