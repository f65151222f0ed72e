"""The task of suppression: sensitive cells, their intervals, and the cost of hiding."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

import numpy as np

from tabprotect.engine.arrays import Bools, Floats, Ints
from tabprotect.engine.errors import InputError
from tabprotect.engine.protection.suppressing.lower_ends import LowerEnds
from tabprotect.engine.protection.suppressing.near_tables.deviation import ENDLESS
from tabprotect.engine.tables.publication import Publication
from tabprotect.engine.tables.table import Table

Insiders = Literal["none", "outside", "one", "all"]


@dataclass(frozen=True, eq=False)
class Task:
    """What is to be protected, and at what price. All arrays over published cells. Confidential.

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
        not asked for: ``below`` is cut at the room.
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

    def __post_init__(self) -> None:
        values: Ints = np.asarray(self.publication.incidence @ self.table.counts.reshape(-1))
        if (values < 0).any():
            raise InputError("a count is negative")
        if len(values) and int(values.max()) >= ENDLESS:
            raise InputError("a count is too large for suppression", hint="take a larger unit")
        inner = self.table.counts.reshape(-1)
        lower = LowerEnds.of(self.publication, inner, never_zero=self.never_zero)
        object.__setattr__(self, "values", values)
        object.__setattr__(self, "room", values - lower.published)
        object.__setattr__(self, "inner_room", inner - lower.inner)
        object.__setattr__(self, "below", np.minimum(self.below, self.room))

    @property
    def levels(self) -> dict[str, Ints]:
        """The protection levels, 0 for cells that are not primary, by the name of the side."""
        return {
            "below": np.where(self.primary, self.below, 0),
            "above": np.where(self.primary, self.above, 0),
        }


def persons(task: Task) -> Ints:
    """The person alone in each published cell (size,): the number of their inner cell, else -1."""
    inner = task.table.counts.reshape(-1)
    if task.insiders == "none":
        return np.full(len(task.values), -1, dtype=np.int64)
    # A sum of 1 has one inner count of 1, and zeros.
    numbers = np.where(inner == 1, np.arange(len(inner)), 0)
    person: Ints = np.where(task.values == 1, task.publication.incidence @ numbers, -1)
    return person
