"""A table of the people of one category, beside one that has the variable: men, and all by sex. Confidential.

The table of men is a slice of the finer one, that of all its sum: each number of theirs is one of sums of its
cells. With what the finer one says these are one posterior over its cells.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from tabprotect.engine.arrays import Ints
from tabprotect.engine.belief.evidence import Evidence, OfRelease
from tabprotect.engine.disclosure.counts_verdict import judged_table
from tabprotect.engine.progress import SILENT, Progress
from tabprotect.engine.register.people.parts_of_whole import Counted, together_at_risk
from tabprotect.engine.register.people.placed_factors import anybody_fits, placed_factors
from tabprotect.engine.register.people.stated_margins import (
    PublishedSums,
    believed_cells,
    cells_and_sums,
    sums_of_rest,
)
from tabprotect.engine.release.likelihood import CellFactors, product
from tabprotect.engine.release.mechanism import Gate
from tabprotect.engine.release.verdict_figures import TableVerdict
from tabprotect.engine.tables.domain import Domain
from tabprotect.engine.tables.table import Table

Numbered = tuple[int, Counted]

Placed = tuple[Counted, int | None]
"""A coarser release and its category; ``None`` where it is of all."""

OWN = 0
"""The number of the release at hand among earlier ones."""

MOST_BESIDE = 8
"""Coarser releases that are read with a finer one, the latest."""


@dataclass(frozen=True, eq=False)
class Slices:
    """A release by a variable, and releases of some of its categories or of all.

    Attributes
    ----------
    finer
        The number of a release, over the variables of the coarser ones and one more.
    variable
        This one.
    coarser
        By the numbers of their releases, the one that has to be among them first.
    original
        Of the release at hand, the finer one or the first.
    """

    finer: Numbered
    variable: str
    coarser: Sequence[Numbered]
    original: Table

    @property
    def _domain(self) -> Domain:
        return self.finer[1].domain

    @property
    def numbers(self) -> tuple[int, ...]:
        """The numbers of the earlier releases."""
        found = {self.finer[0], *(number for number, _ in self.coarser)}
        return tuple(sorted(found - {OWN}))

    @property
    def heard(self) -> bool:
        """Return False if coins of cycles tell more than the sums that are kept."""
        _, finer = self.finer
        whole = finer.by_moves or isinstance(finer.evidence.likelihood, CellFactors)
        return whole and not any(one.by_moves for _, one in self.coarser)

    def possible(self) -> Iterator[list[Placed]]:
        """Of whom the coarser ones may be: for each category that the first may be of, with as many of the others
        as fit, each of one category or of all."""
        _, finer = self.finer
        (number, first), *others = self.coarser
        for code in self._codes:
            known = self._placed(first, code)
            if known is None or not self._may_be(number, known, self._held(first, code) or []):
                continue
            found, placed = [finer.factors, known], list[Placed]([(first, code)])
            if not anybody_fits(product(found)):
                continue
            for _, other in others:
                for of in (*self._codes, None):
                    more = self._placed(other, of)
                    if of != code and more is not None and anybody_fits(product([*found, more])):
                        found.append(more)
                        placed.append((other, of))
                        break
            yield placed

    @property
    def _codes(self) -> range:
        return range(len(self._domain[self.variable].categories))

    def _placed(self, one: Counted, code: int | None) -> CellFactors | None:
        held = self._held(one, code)
        return None if held is None else placed_factors(one.factors, self._domain, held)

    def _held(self, one: Counted, code: int | None) -> list[Ints] | None:
        """The cells of the finer table that each cell of a coarser one adds up; ``None`` where they have other
        categories."""
        index = np.unravel_index(np.arange(self._domain.size), self._domain.shape)
        place = []
        for variable in one.domain.variables:
            axis = self._domain.axis(variable.name)
            there = self._domain.variables[axis].categories
            if set(there) != set(variable.categories):
                return None
            place.append(np.array([variable.categories.index(name) for name in there])[index[axis]])
        keys = np.ravel_multi_index(place, one.domain.shape)
        inside = np.ones(len(keys), dtype=np.bool_)
        if code is not None:
            inside = index[self._domain.axis(self.variable)] == code
        return [np.flatnonzero(inside & (keys == key)) for key in range(one.domain.size)]

    def _may_be(self, number: int, placed: CellFactors, held: Sequence[Ints]) -> bool:
        """Return False where the original of the release at hand rules it out."""
        true, inside = (
            np.zeros(self._domain.size, dtype=np.int64),
            np.zeros(self._domain.size, dtype=np.bool_),
        )
        if number == OWN:
            _, first = self.coarser[0]
            inside[np.concatenate(list(held))] = True
            true[[int(cells[0]) for cells in held]] = _laid_out(self.original, first.domain)
            known = self.finer[1].factors
        else:
            true, inside[:], known = _laid_out(self.original, self._domain), True, placed
        outside = np.concatenate([[0], np.cumsum(~inside[known.cells])])
        added = np.concatenate([[0], np.cumsum(true[known.cells])])
        ends = known.starts[1:], known.starts[:-1]
        sums, checked = added[ends[0]] - added[ends[1]], outside[ends[0]] == outside[ends[1]]
        low, high = known.ends
        return bool(((low <= sums) & (sums <= high))[checked].all())

    def judged(
        self, placed: Sequence[Placed], limits: Gate, progress: Progress = SILENT
    ) -> list[TableVerdict]:
        """The verdict on the cells of the finer table, on the published sums of these, and on those of the other
        categories by both.

        Raises
        ------
        InfeasibleError
            Where there is no posterior, or its draws are too few.
        InputError
            Where nobody fits.
        """
        _, finer = self.finer
        release = finer.evidence.release
        own = [] if finer.by_moves else [finer.factors]
        known = [told for one, code in placed if (told := self._placed(one, code)) is not None]
        every = [Evidence(release, product([*own, *known]), alone=True)]
        chance = OfRelease(release, "slices of it")
        found = believed_cells([finer.evidence, *every] if finer.by_moves else every, chance, progress)
        rules = together_at_risk(limits, [finer.evidence, *(one.evidence for _, one in self.coarser)])
        beliefs = cells_and_sums(found, self._published(placed), chance)
        return [judged_table("user", one, replace(limits, at_risk=rules)) for one in beliefs]

    def _published(self, placed: Sequence[Placed]) -> Iterator[PublishedSums]:
        """The tables of sums of cells of the finer one that are published, and of the rest of it."""
        finer = list(self.finer[1].published(self._domain))
        yield from finer
        for one, code in placed:
            held = self._held(one, code) or []
            sums = [each.placed(held, self._domain.size) for each in one.published(one.domain)]
            yield from sums
            if code is None:
                # Of a table of all the cells are sums, too.
                yield PublishedSums.of_cells(one.domain).placed(held, self._domain.size)
            else:
                rest = np.setdiff1d(np.arange(self._domain.size), np.concatenate(held))
                yield from (each.among(rest) for each in sums_of_rest([finer, sums]))


def _laid_out(original: Table, domain: Domain) -> Ints:
    """An original, its categories in the order of a domain that has them all."""
    own = original.margin(domain.names)
    taken = [
        [own.domain[variable.name].categories.index(name) for name in variable.categories]
        for variable in domain.variables
    ]
    order = [own.domain.axis(name) for name in domain.names]
    return np.asarray(own.counts.transpose(order)[np.ix_(*taken)].reshape(-1))
