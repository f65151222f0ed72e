"""The task of suppression: sensitive cells, their intervals, and the cost of hiding.

The least count a reader considers possible: hidden cells that are not zero are at least 1.

Where zeros are always published, a hidden count is at least 1. A hidden sum is then at least the
number of its parts that are not zero, since the reader sees which parts are. What is left above
these ends is all that a reader does not know: choice, check and audit work on that *room*.

With the inner table published this is the table less one in every cell that is not zero. Where
only margins are published, their hidden cells have lower ends and the inner cells have none, as
nobody sees which of these are zero; but one that alone makes a margin's cell has the end of that.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

import numpy as np

from tabprotect.engine.arrays import Bools, Floats, Ints
from tabprotect.engine.errors import InputError
from tabprotect.engine.protection.suppressing.near_tables.deviation import ENDLESS
from tabprotect.engine.tables.publication import Publication
from tabprotect.engine.tables.table import Table
from tabprotect.languages.messages import message


@dataclass(frozen=True, eq=False)
class LowerEnds:
    """The least counts a reader considers possible. Confidential: they tell which cells are zero.

    Attributes
    ----------
    published : int64 (published cells,)
    inner : int64 (inner cells,)
    """

    published: Ints
    inner: Ints

    @classmethod
    def of(cls, publication: Publication, inner: Ints, *, never_zero: bool) -> LowerEnds:
        """Make one from the true inner counts, int64 (inner cells,).

        Parameters
        ----------
        never_zero
            Whether readers know that no hidden cell is zero.
        """
        if not never_zero:
            return cls(np.zeros(publication.size, np.int64), np.zeros(len(inner), np.int64))
        if publication.domain in publication.domains:
            positive = (inner > 0).astype(np.int64)
            return cls(np.asarray(publication.incidence @ positive), positive)
        ends = _of_margins(publication, inner)
        # A sum of one inner cell alone, all else being structural zeros, tells of that cell.
        sums = publication.incidence
        alone = np.flatnonzero(np.diff(sums.indptr) == 1)
        least = np.zeros(len(inner), np.int64)
        np.maximum.at(least, sums.indices[sums.indptr[alone]], ends[alone])
        return cls(np.maximum(ends, np.asarray(sums @ least)), least)


def _of_margins(publication: Publication, inner: Ints) -> Ints:
    """1 for a sum that is not zero; more where a finer margin shows more parts that are not."""
    counts: Ints = np.asarray(publication.incidence @ inner)
    ends = (counts > 0).astype(np.int64)
    keys = [publication.keys(m) for m in range(len(publication.margins))]
    for fine, finer in enumerate(publication.margins):
        parts, first = np.unique(keys[fine], return_index=True)
        positive = counts[publication.starts[fine] + parts] > 0
        for m, margin in enumerate(publication.margins):
            if m != fine and publication.determines(finer, margin):
                run = slice(int(publication.starts[m]), int(publication.starts[m + 1]))
                number: Ints = np.bincount(keys[m][first[positive]], minlength=publication.domains[m].size)
                ends[run] = np.maximum(ends[run], number)
    return ends


Insiders = Literal["none", "outside", "one", "all"]


@dataclass(frozen=True, eq=False)
class Task:
    """The cells to be protected, and at what price. All arrays over published cells. Confidential.

    Attributes
    ----------
    publication
    table
        The original.
    primary : bool (size,)
        Cells that must be hidden and protected.
    below, above : int64 (size,)
        The protection levels of primary cells: the interval a reader can narrow the count down to
        must contain ``count - below .. count + above``. What a reader knows to be impossible is
        not asked for: ``below`` is cut at the room, and at what is left of a sum for those who
        are alone in a part of it.
    cost : float64 (size,)
        Cost of hiding a cell that is not primary; infinite where it must be published.
    insiders
        The insiders that the intervals must hold against.
    never_zero
        Whether readers know that no hidden cell is zero.
    forced : bool (size,)
        Cells that are hidden whatever it costs, and need no interval.
    values, room : int64 (size,)
        The true counts, and how far each is above the least that a reader allows.
    person : int64 (size,)
        The person alone in each published cell: the number of their inner cell, else -1.
    inner_room : int64 (inner cells,)
        The same of the inner cells.
    """

    publication: Publication
    table: Table
    primary: Bools
    below: Ints
    above: Ints
    cost: Floats
    insiders: Insiders = "none"
    never_zero: bool = False
    forced: Bools | None = None
    values: Ints = field(init=False)
    room: Ints = field(init=False)
    inner_room: Ints = field(init=False)
    person: Ints = field(init=False)

    def __post_init__(self) -> None:
        values: Ints = np.asarray(self.publication.incidence @ self.table.counts.reshape(-1))
        if (values < 0).any():
            raise InputError(message("a count is negative"))
        if len(values) and int(values.max()) >= ENDLESS:
            raise InputError(
                message("a count is too large for suppression"), hint=message("take a larger unit")
            )
        inner = self.table.counts.reshape(-1)
        lower = LowerEnds.of(self.publication, inner, never_zero=self.never_zero)
        object.__setattr__(self, "values", values)
        object.__setattr__(self, "room", values - lower.published)
        object.__setattr__(self, "inner_room", inner - lower.inner)
        object.__setattr__(self, "person", _persons(self, inner))
        known = _known_by_insiders(self)
        object.__setattr__(self, "below", np.minimum(self.below, np.minimum(self.room, known)))

    @property
    def levels(self) -> dict[str, Ints]:
        """The protection levels, 0 for cells that are not primary, by the name of the side."""
        return {
            "below": np.where(self.primary, self.below, 0),
            "above": np.where(self.primary, self.above, 0),
        }


def _known_by_insiders(task: Task) -> Ints:
    """Return how far each published count (size,) can fall for insiders who are alone in a part of it.

    They know that they are there: no pattern leaves open to them that the sum is less.
    """
    if task.insiders not in ("one", "all"):
        return task.values
    person = task.person
    people = np.zeros(task.publication.domain.size, dtype=np.int64)
    people[person[person >= 0]] = 1
    inside: Ints = np.where(person >= 0, 0, np.asarray(task.publication.incidence @ people))
    return task.values - (np.minimum(inside, 1) if task.insiders == "one" else inside)


def _persons(task: Task, inner: Ints) -> Ints:
    if task.insiders == "none":
        return np.full(len(task.values), -1, dtype=np.int64)
    # A sum of 1 has one inner count of 1, and zeros.
    numbers = np.where(inner == 1, np.arange(len(inner)), 0)
    person: Ints = np.where(task.values == 1, task.publication.incidence @ numbers, -1)
    return person
