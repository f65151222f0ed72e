"""Tables with more possible cells than a key can number: forty variables of four categories."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from tabprotect.engine.arrays import AnyInts, Ints
from tabprotect.engine.errors import InputError
from tabprotect.engine.tables.domain import DOMAIN_CELLS, Domain
from tabprotect.engine.tables.table import Table, exact_sum
from tabprotect.languages.messages import message


def numbered(columns: Iterable[AnyInts], sizes: Iterable[int], entries: int) -> tuple[Ints, int]:
    """A number (entries,) for each entry's categories, ascending as they do, and their limit.

    It is the mixed-radix key where keys can number all that is possible; else the numbers leave
    out what does not occur.
    """
    key, limit = np.zeros(entries, dtype=np.int64), 1
    for column, size in zip(columns, sizes, strict=True):
        if limit * size > DOMAIN_CELLS:
            found, key = np.unique(key, return_inverse=True)
            limit = len(found)
        key *= size
        key += column
        limit *= size
    return key, limit


@dataclass(frozen=True, eq=False, repr=False)
class WideTable(Table):
    """The cells that are not zero, by their categories; made to have its margins taken.

    Whatever needs a key for each cell, or a place, is refused. Build with :meth:`of`.
    """

    _codes: tuple[AnyInts, ...]

    @classmethod
    def of(cls, domain: Domain, codes: Sequence[AnyInts], counts: npt.ArrayLike) -> WideTable:
        """Make one from category numbers by variable, each (entries,), and counts (entries,).

        Equal entries are added, zeros dropped; the order says nothing.

        Raises
        ------
        InputError
            For a category that is not there, or an overflowing total.
        """
        values = np.asarray(counts, dtype=np.int64)
        for column, size in zip(codes, domain.shape, strict=True):
            if len(column) != len(values) or (len(column) and not 0 <= column.min() <= column.max() < size):
                raise InputError(message("a cell lies outside the table"))
        exact_sum(values)
        key, _ = numbered(codes, domain.shape, len(values))
        _, first, inverse = np.unique(key, return_index=True, return_inverse=True)
        summed = np.zeros(len(first), dtype=np.int64)
        np.add.at(summed, inverse, values)
        kept = first[summed != 0]
        summed = summed[summed != 0]
        own = tuple(
            column[kept].astype(np.min_scalar_type(size - 1))
            for column, size in zip(codes, domain.shape, strict=True)
        )
        for array in (summed, *own):
            array.flags.writeable = False
        return cls(domain, None, None, summed, own)

    @property
    def listed(self) -> tuple[Sequence[AnyInts], Ints]:
        return self._codes, self._given

    @cached_property
    def cells(self) -> tuple[Ints, Ints]:
        """Refused: keys cannot number the cells."""
        raise InputError(
            message("a table of {ndim} variables has more than 2^62 cells", self.domain.ndim),
            hint=message("take a margin of it: leave out a variable or merge categories"),
        )

    def margin(self, names: Iterable[str]) -> Table:
        """The margin over the named variables or levels of them, of at most 2^62 cells."""
        domain = self.domain.project(names)
        columns = [self._column(name) for name in domain.names]
        return Table.sparse(domain, numbered(columns, domain.shape, len(self._given))[0], self._given)

    def _column(self, name: str) -> AnyInts:
        axis, level = self.domain.place(name)
        return self._codes[axis] if level is None else level.codes[self._codes[axis]]

    def on(self, domain: Domain) -> Table:
        """Put the counts on another domain of the same shape."""
        return super().on(Domain(domain.variables, wide=True))

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, WideTable) or self.domain != other.domain:
            return False
        mine, others = ((*table._codes, table._given) for table in (self, other))
        return all(np.array_equal(a, b) for a, b in zip(mine, others, strict=True))

    def __hash__(self) -> int:
        return hash((self.domain, self.total, len(self._given)))
