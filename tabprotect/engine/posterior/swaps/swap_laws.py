"""Exact laws of counts, and of sums of cells, where records changed places by one deal."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from tabprotect.engine.arrays import Bools, Floats, Ints
from tabprotect.engine.equal_rows import equal_rows
from tabprotect.engine.posterior.posterior import Weakened
from tabprotect.engine.posterior.prior import Flat, OneCell, Prior
from tabprotect.engine.progress import Progress
from tabprotect.engine.release.likelihood import RecordSwaps
from tabprotect.engine.swaps import deal_laws
from tabprotect.engine.swaps.deal_laws import Law, Quarters
from tabprotect.languages.messages import message

LAWS_WORK = 2 * 10**9
"""Products that the exact laws of all counts may take: a quarter of a minute."""

MOST_COUNTS = 3_000
"""Possible counts of a cell beyond which its law is not worked out."""

LAW_WORK = 10**8
"""Products that the law of one count may take where chances are divided by tiny ones."""

MOST_CHANCES = 2**25
"""Chances of all different counts."""


@dataclass(frozen=True, eq=False)
class _Quarters:
    """The records of one class that some cells divide: N, with n in their places, m of their kinds, y in both.

    Attributes
    ----------
    rate
        Of all records; not a number where it differs.
    drawn
        The laws of what is drawn of the four quarters, where it differs.
    far
        Whether chances are divided by tiny ones.
    """

    numbers: tuple[int, int, int, int]
    rate: float
    drawn: Quarters | None = None
    far: bool = False

    @property
    def tail(self) -> float:
        return deal_laws.FAR_TAIL if self.far else deal_laws.TAIL

    @cached_property
    def entries(self) -> int:
        return deal_laws.entries(*self.numbers[:3])

    @cached_property
    def by_quarters(self) -> bool:
        if self.rate != self.rate or deal_laws.loses_digits(*self.numbers):
            return True
        return self.far and deal_laws.quarters_work(self.laws, self.tail) < LAW_WORK

    @cached_property
    def laws(self) -> Quarters:
        """What is drawn of those with both, in the places only, of the kinds only, and of the others."""
        if self.drawn is not None:
            return self.drawn
        records, inside, having, count = self.numbers
        sizes = count, inside - count, having - count, records - inside - having + count
        both, area, kind, others = (deal_laws.binomial(size, self.rate) for size in sizes)
        return both, area, kind, others

    @property
    def work(self) -> float:
        """Products that its law takes; infinite where it is not worked out."""
        if self.entries == 1:
            return 1.0
        if self.entries > MOST_COUNTS:
            return np.inf
        if self.by_quarters:
            return deal_laws.quarters_work(self.laws, self.tail)
        return 3_000.0 + 4.0 * self.entries**2

    def law(self) -> Law | None:
        if self.entries == 1:
            return self.numbers[3], np.ones(1)
        found = deal_laws.by_quarters(self.laws, self.numbers[3], self.tail) if self.by_quarters else None
        if found is None and self.rate == self.rate and not deal_laws.loses_digits(*self.numbers):
            return deal_laws.dealt_again(*self.numbers, self.rate)
        return found


@dataclass(frozen=True, eq=False)
class SwapLaws:
    """The laws of what was there before, given what is published.

    Attributes
    ----------
    swaps
    belief
        About the one cell, or sum, that is looked at; ``None`` for the exchangeable one.
    """

    swaps: RecordSwaps
    belief: OneCell | None = None

    @property
    def _far(self) -> bool:
        return isinstance(self.belief, Flat)

    @cached_property
    def published(self) -> Ints:
        return np.asarray(self.swaps.published.counts.reshape(-1), dtype=np.int64)

    @property
    def closed(self) -> bool:
        """Return True if there is one level, dealt."""
        levels = self.swaps.plan.levels
        return len(levels) == 1 and levels[0].rule == "deal"

    @cached_property
    def classes(self) -> Ints:
        """The class of each cell within which records can get anywhere, int64 (cells,)."""
        return self.swaps.plan.classes(self.swaps.plan.levels[0])

    @cached_property
    def _class_order(self) -> tuple[Ints, Ints]:
        order = np.argsort(self.classes, kind="stable")
        sizes = np.bincount(self.classes)
        return order, np.concatenate([[0], np.cumsum(sizes)])

    def _of_class(self, number: int) -> Ints:
        order, starts = self._class_order
        return order[starts[number] : starts[number + 1]]

    @cached_property
    def numbers(self) -> tuple[Ints, Ints, Ints]:
        """The records of each cell's class, of those the ones in its place, and those of its kind."""
        plan, classes = self.swaps.plan, self.classes
        number = int(classes.max(initial=0)) + 1
        totals = []
        for key, size in ((None, 1), (plan.place, plan.places), (plan.kind, len(plan.match))):
            at = classes if key is None else classes * size + key
            totals.append(np.bincount(at, self.published, minlength=number * size)[at].astype(np.int64))
        return totals[0], totals[1], totals[2]

    @cached_property
    def _one_rate(self) -> Floats:
        """The rate of each class, NaN where it differs among its records, float64 (classes,)."""
        rates = self.swaps.plan.levels[0].rates[self.swaps.plan.kind]
        filled = self.published > 0
        number = int(self.classes.max(initial=0)) + 1
        low, high = np.full(number, np.inf), np.full(number, -np.inf)
        np.minimum.at(low, self.classes[filled], rates[filled])
        np.maximum.at(high, self.classes[filled], rates[filled])
        return np.where(low >= high, low, np.nan)

    def weakened(self) -> Weakened | None:
        """What users make of the published counts; ``None`` but of one deal with one rate in each class."""
        if not self.closed or np.isnan(self._one_rate).any():
            return None
        records, inside, having = (each.astype(np.float64) for each in self.numbers)
        rate = np.where(np.isfinite(self._one_rate), self._one_rate, 0.0)[self.classes]
        # Who is alone in a class stays where they are.
        left = ((records * (1 - rate)) - (1 - rate) ** records) / np.maximum(records - 1, 1)
        left = np.where(records > 1, left, 1.0)
        if (left <= 0).any():
            return None
        apart = inside * having / np.maximum(records, 1)
        return Weakened(left, apart + (self.published - apart) / left)

    def _divided(self, cells: Ints, inside: Ints, places: Ints, kinds: Ints) -> _Quarters:
        """The quarters that a rectangle of cells, ``cells``, makes of the cells of its class."""
        plan, counts = self.swaps.plan, self.published
        # Each place and each kind once: a rectangle has every place with every kind.
        first_kind, first_place = plan.kind[cells] == kinds[0], plan.place[cells] == places[0]
        numbers = (
            int(self.numbers[0][cells[0]]),
            int(self.numbers[1][cells[first_kind]].sum()),
            int(self.numbers[2][cells[first_place]].sum()),
            int(counts[cells].sum()),
        )
        rate = float(self._one_rate[self.classes[cells[0]]])
        if rate == rate or not numbers[0]:
            return _Quarters(numbers, rate, far=self._far)
        people = counts[inside]
        in_places, of_kinds = np.isin(plan.place[inside], places), np.isin(plan.kind[inside], kinds)
        rates = plan.levels[0].rates[plan.kind[inside]]

        def drawn(which: Bools) -> Floats:
            return deal_laws.drawn(people[which], rates[which])

        laws = drawn(in_places & of_kinds), drawn(in_places & ~of_kinds)
        rest = drawn(~in_places & of_kinds), drawn(~in_places & ~of_kinds)
        return _Quarters(numbers, rate, (*laws, *rest), self._far)

    def _rectangles(self, cells: Ints) -> list[_Quarters] | None:
        """What some cells make of each class; ``None`` where they are no records of some places and kinds."""
        if not self.closed:
            return None
        plan, found = self.swaps.plan, []
        classes = self.classes[cells]
        for number in np.unique(classes).tolist():
            mine = cells[classes == number]
            places, kinds = np.unique(plan.place[mine]), np.unique(plan.kind[mine])
            if len(places) * len(kinds) != len(mine):
                return None
            found.append(self._divided(mine, self._of_class(number), places, kinds))
        return found

    def work(self, cells: Ints) -> int | None:
        """As of ``ExactSums``."""
        parts = self._rectangles(cells)
        work = None if parts is None else sum(part.work for part in parts)
        return None if work is None or work == np.inf else int(work / 10.0)

    def law(self, cells: Ints, progress: Progress) -> Law:
        """As of ``ExactSums``."""
        low, chances, before = 0, np.ones(1), (0, np.ones(1))
        for part in self._rectangles(cells) or ():
            found = part.law()
            assert found is not None
            low, chances = low + found[0], np.convolve(chances, found[1])
            if self.belief is not None:
                more = deal_laws.independent(*part.numbers[:3])
                before = before[0] + more[0], np.convolve(before[1], more[1])
        return deal_laws.tidied(low, self._weighed((low, chances), before))

    def _weighed(self, law: Law, before: Law) -> Floats:
        """The chances of a law weighed by the belief, given the exchangeable one beforehand."""
        low, chances = law
        if self.belief is None:
            return chances
        values = np.arange(low, low + len(chances))
        at = values - before[0]
        inside = (at >= 0) & (at < len(before[1]))
        prior = np.where(inside, before[1][np.where(inside, at, 0)], 0.0)
        weight = self.belief.weight(values, prior)
        found = np.where(chances > 0, chances * weight, 0.0)
        return np.asarray(found / found.sum() if found.sum() > 0 else chances)

    def _columns(self) -> Iterator[Ints]:
        yield from self.numbers
        yield self.published
        rate = self._one_rate[self.classes]
        distinct = np.unique(rate, return_inverse=True)[1].reshape(-1)
        # Where rates differ each cell stands for itself.
        apart = np.isnan(rate) & (self.published >= 0)
        yield np.where(apart, len(rate) + np.arange(len(rate)), distinct)

    def of_cells(self, progress: Progress) -> tuple[Ints, Ints, Floats] | None:
        """The rows of all cells, the first count of each and its chances; ``None`` beyond the work."""
        if not self.closed:
            return None
        at, which = equal_rows([*self._columns()])
        parts, left = [], float(LAWS_WORK)
        for cell in at.tolist():
            part = self._of_cell(cell)
            left -= part.work
            if left < 0:
                return None
            parts.append(part)
        found = []
        for number, part in enumerate(parts):
            if number % 1000 == 0:
                progress.report(message("working out the laws of counts"), number / len(parts))
            law = part.law()
            if law is None:
                return None
            before = (0, np.ones(1)) if self.belief is None else deal_laws.independent(*part.numbers[:3])
            found.append(deal_laws.tidied(law[0], self._weighed(law, before)))
        width = max(len(chances) for _, chances in found)
        if width * len(found) > MOST_CHANCES:
            return None
        rows = np.zeros((len(found), width))
        for row, (_, chances) in zip(rows, found, strict=True):
            row[: len(chances)] = chances
        return which, np.array([low for low, _ in found], dtype=np.int64)[which], rows

    def _of_cell(self, cell: int) -> _Quarters:
        rate = float(self._one_rate[self.classes[cell]])
        records, inside, having = (int(each[cell]) for each in self.numbers)
        if rate == rate or not records:
            numbers = records, inside, having, int(self.published[cell])
            return _Quarters(numbers, rate, far=self._far)
        one, plan = np.array([cell]), self.swaps.plan
        members = self._of_class(int(self.classes[cell]))
        return self._divided(one, members, plan.place[one], plan.kind[one])

    def weighed_rows(self, first: Ints, chances: Floats) -> Floats:
        """Laws of all cells, each from its first count on, weighed by the belief."""
        if self.belief is None:
            return chances
        records, inside, having = self.numbers
        out = np.empty_like(chances)
        for cell in range(len(first)):
            before = deal_laws.independent(int(records[cell]), int(inside[cell]), int(having[cell]))
            out[cell] = self._weighed((int(first[cell]), chances[cell]), before)
        return out

    def log_weights(self, tables: Ints, prior: Prior) -> Floats:
        """Log weights of tables, int64 (tables, cells), that were drawn under the exchangeable belief."""
        # Late: scipy would be a third of the start-up time.
        from scipy.special import gammaln

        logs = prior.log_weight(np.arange(tables.shape[1])[None, :], tables).sum(axis=1)
        if not isinstance(prior, OneCell):
            # The exchangeable belief itself is a product of 1/x!.
            logs = logs + gammaln(tables + 1.0).sum(axis=1)
        return np.asarray(logs)
