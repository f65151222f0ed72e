"""What was decided of sums before their pattern is chosen."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tabprotect.engine.arrays import Bools, Ints
from tabprotect.engine.errors import InputError
from tabprotect.engine.magnitudes.tables.magnitude_table import MagnitudeTable
from tabprotect.engine.tables.variable import MISSING
from tabprotect.languages.messages import message


@dataclass(frozen=True, eq=False)
class Decided:
    """Decisions by cell; arrays (cells,).

    Attributes
    ----------
    sensitive, published, hidden, safe : bool
        What is sensitive whatever the rules say, stays published, is hidden, is declared safe.
    cost, above : int64
        What hiding costs, and by how much the upper end has to exceed the sum; -1 where not given.
    """

    sensitive: Bools
    published: Bools
    hidden: Bools
    safe: Bools
    cost: Ints
    above: Ints

    @classmethod
    def nothing(cls, cells: int) -> Decided:
        """No decisions."""
        marks = np.zeros((4, cells), dtype=bool)
        numbers = np.full((2, cells), -1, dtype=np.int64)
        return cls(marks[0], marks[1], marks[2], marks[3], numbers[0], numbers[1])

    def primaries(self, unsafe: Bools) -> Bools:
        """Return what has to be hidden, by the rules and by what is decided.

        Raises
        ------
        InputError
            When something of it is to stay published.
        """
        found = np.asarray((unsafe & ~self.safe) | self.sensitive)
        if np.any(found & self.published):
            raise InputError(
                message(
                    "{n:,} sums that are to be published are unsafe", int((found & self.published).sum())
                ),
                hint=message("leave them out of the given statuses, or declare them safe: s"),
            )
        return found


def zeros_of(table: MagnitudeTable) -> Bools:
    """Sums of which everybody's contribution is 0: who reads one knows them all."""
    return np.asarray(table.cells.nonzero == 0)


def below_missing(table: MagnitudeTable) -> Bools:
    """Cells of units whose category is not known."""
    out = np.zeros(len(table.cells), dtype=bool)
    for variable, nodes in zip(table.variables, table.cells.nodes, strict=True):
        missing = np.array([name == MISSING for _, name in variable.nodes])
        out |= missing[nodes]
    return out
