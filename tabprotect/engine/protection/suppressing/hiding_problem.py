"""A task over distinct published numbers: the same number published twice is hidden twice."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from tabprotect.engine.arrays import Bools, Floats, Ints
from tabprotect.engine.protection.suppressing.task import Task

Aim = tuple[int, int]
"""A sensitive number, and +1 for the upper or -1 for the lower end of its interval."""


@dataclass(frozen=True, eq=False)
class HidingProblem:
    """The need and the cost of each number. Confidential. All arrays over distinct numbers.

    Attributes
    ----------
    task
    room : int64
    cost : float64
        Infinite where the number must be published.
    always : bool
        Hidden in any case: sensitive numbers, and those that are forced.
    needs
        By sign, int64: how far a number must be able to rise and to fall; 0 where nothing is
        asked for.
    person : int64
        The person alone in it, by the inner cell; -1 for none.
    """

    task: Task
    room: Ints
    cost: Floats
    always: Bools
    needs: dict[int, Ints]
    person: Ints

    @classmethod
    def of(cls, task: Task) -> HidingProblem:
        """The problem of a task; equal numbers have the highest cost and the largest need among them."""
        first, inverse = task.publication.distinct
        count = len(first)
        cost = np.zeros(count)
        np.maximum.at(cost, inverse, task.cost)
        primary = np.zeros(count, dtype=np.bool_)
        primary[inverse[task.primary]] = True
        always = primary.copy()
        if task.forced is not None:
            always[inverse[task.forced]] = True
        needs = {}
        for sign, name in ((1, "above"), (-1, "below")):
            needs[sign] = np.zeros(count, dtype=np.int64)
            np.maximum.at(needs[sign], inverse, task.levels[name])
        person = task.person[first]
        return cls(task, task.room[first], cost, always, needs, person)

    @cached_property
    def may_move(self) -> Bools:
        """Numbers that are hidden or may be."""
        return self.always | np.isfinite(self.cost)

    @cached_property
    def aims(self) -> list[Aim]:
        """The ends to be protected, the largest need first: it has the fewest ways."""
        found = [(int(number), sign) for sign in (1, -1) for number in np.flatnonzero(self.needs[sign])]
        return sorted(found, key=lambda aim: (-int(self.needs[aim[1]][aim[0]]), aim[0], -aim[1]))

    def spared(self, number: int) -> frozenset[int]:
        """People against whom a number needs no protection, and -1 for nobody."""
        own = {-1, int(self.person[number])}
        if self.task.insiders != "outside":
            return frozenset(own)
        publication = self.task.publication
        cell = publication.distinct[0][number]
        begin, end = publication.incidence.indptr[cell], publication.incidence.indptr[cell + 1]
        return frozenset(own | set(publication.incidence.indices[begin:end].tolist()))

    def barred(self, number: int) -> Ints:
        """Numbers that all insiders together know."""
        known = (self.person >= 0) & (self.person != self.person[number])
        return np.flatnonzero(known)

    def published(self, hidden: Bools) -> Bools:
        """A choice of numbers (numbers,) as published cells (size,)."""
        return np.asarray(hidden[self.task.publication.distinct[1]])
