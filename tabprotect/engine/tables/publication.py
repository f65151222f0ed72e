"""The published sub-tables of a table, and how its inner cells add up to them."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from tabprotect.engine.arrays import Bools, Ints
from tabprotect.engine.budgets import DENSE_LIMIT
from tabprotect.engine.equal_rows import members, spread
from tabprotect.engine.errors import InputError, TooLargeError
from tabprotect.engine.tables.domain import Domain
from tabprotect.engine.tables.formula import terms
from tabprotect.engine.tables.groupings.grouping import Grouping, check_groupings, declared
from tabprotect.engine.tables.margins import MarginSet
from tabprotect.engine.tables.table import Table
from tabprotect.languages.messages import message

MOST_LAID_OUT = 2**14
"""Numbers of a matrix of sums that is laid out with its zeros."""

MOST_MULTIPLIED = 2**25
"""Products of such a matrix and tables that take less than loading scipy.sparse."""

if TYPE_CHECKING:
    from scipy.sparse import csr_array

Number = np.int64 | np.float64


@dataclass(frozen=True)
class Publication:
    """Published sub-tables of one table, which itself need not be among them.

    Published cells are numbered margin after margin, inside a margin in the order of its domain.

    Attributes
    ----------
    domain
        The table's own variables; its cells are the inner cells.
    margins
        Each the names of variables, of their levels or of groupings, in the table's order
        (groupings where the variable is that they group); ``()`` is the grand total. A grouping
        beside its own variable and a level beside a finer one say nothing new and are left out,
        and so is a margin that is there already.
    groupings
        The groupings there are, used or not.
    """

    domain: Domain
    margins: MarginSet
    groupings: tuple[Grouping, ...] = ()

    def __post_init__(self) -> None:
        check_groupings(self.domain, self.groupings)
        if not self.margins:
            raise InputError(
                message("no table is published"), hint=message("name at least one; the grand total is ()")
            )
        tidy = dict.fromkeys(self._tidy(margin) for margin in self.margins)
        object.__setattr__(self, "margins", tuple(tidy))

    @classmethod
    def of(
        cls, domain: Domain, margins: str | Iterable[Iterable[str]], groupings: Sequence[Grouping] = ()
    ) -> Publication:
        """Make one from a formula (``.`` means the table's own variables) or the margins themselves.

        Beside the groupings that are given there are the levels that the variables have:
        ``region@nuts2``.

        Raises
        ------
        InputError
            For a name that is neither a variable nor a grouping, or nothing to publish.
        """
        known = declared(domain)
        every = (*known, *(grouping for grouping in groupings if grouping not in known))
        if isinstance(margins, str):
            names = (*domain.known_names, *(g.name for g in every if g not in known))
            margins = terms(margins, names, everything=domain.names)
        return cls(domain, tuple(map(tuple, margins)), every)

    def _tidy(self, margin: Sequence[str]) -> tuple[str, ...]:
        place = self._places
        for name in margin:
            if name not in place and name not in self.domain.known_names:
                raise InputError(
                    message("the table has no variable {name}", repr(name)),
                    hint=message("there are {place}", ", ".join(place)),
                )
        levels = [name for name in margin if name in self.domain.known_names]
        bare = {name for name in margin if name in self.domain.names}
        beside = {n for n in margin if n not in levels and self._by_name[n].of not in bare}
        return tuple(sorted({*self.domain.tidy(levels), *beside}, key=place.__getitem__))

    def _tells(self, finer: str, name: str) -> bool:
        """Return True if one name's categories tell another's, which stands on the same axis."""
        if name not in self._by_name or self._places[finer][0] != self._places[name][0]:
            return False
        other = self._by_name.get(finer)
        return other is None or other.refines(self._by_name[name])

    @cached_property
    def _by_name(self) -> dict[str, Grouping]:
        return {grouping.name: grouping for grouping in self.groupings}

    @cached_property
    def _places(self) -> dict[str, tuple[int, int]]:
        """Return where each name stands: its axis, then the variable itself, then its groupings."""
        places = {name: (axis, 0) for axis, name in enumerate(self.domain.names)}
        for number, grouping in enumerate(self.groupings, 1):
            places[grouping.name] = (self.domain.axis(grouping.of), number)
        return places

    @cached_property
    def domains(self) -> tuple[Domain, ...]:
        """The variables of each margin; groupings are variables there."""
        return tuple(
            self.domain.over(
                tuple(
                    self.domain[name] if name in self.domain.known_names else self._by_name[name].variable
                    for name in margin
                )
            )
            for margin in self.margins
        )

    @cached_property
    def starts(self) -> Ints:
        """The place where each margin's cells begin, int64 (margins + 1,)."""
        starts = np.cumsum([0, *(domain.size for domain in self.domains)], dtype=np.int64)
        starts.flags.writeable = False
        return starts

    @property
    def size(self) -> int:
        """Number of published cells."""
        return int(self.starts[-1])

    def is_plain(self, m: int) -> bool:
        """Return True if margin m is one of the table's own variables, without groupings."""
        return not any(name in self._by_name for name in self.margins[m])

    def determines(self, finer: Iterable[str], coarser: Iterable[str]) -> bool:
        """Return True if the categories of some names tell those of others (by groupings, too)."""
        held = set(finer)
        return all(name in held or any(self._tells(other, name) for other in held) for name in coarser)

    def maximal(self) -> Publication:
        """Return it without the margins that add up from another one, and the groupings no margin names.

        The order is that of the variables, so that one family of margins has one form.
        """
        names = self.margins
        chosen = [
            margin
            for m, margin in enumerate(names)
            if not any(
                self.determines(other, margin)
                # Of two that determine each other the first stands.
                and (k < m or not self.determines(margin, other))
                for k, other in enumerate(names)
                if k != m
            )
        ]
        chosen.sort(key=lambda margin: [self._places[name] for name in margin])
        used = {name for margin in chosen for name in margin}
        groupings = tuple(g for g in self.groupings if g.name in used)
        return Publication(self.domain, tuple(chosen), groupings)

    def resolution(self, m: int, axis: int) -> Ints | None:
        """Return which categories of an axis margin m tells apart: a number for each, (categories,).

        ``None`` where it adds all of them up.
        """
        offset = self._offsets(m)[axis]
        if offset is None:
            return None
        return np.unique(offset, return_inverse=True)[1].reshape(-1).astype(np.int64)

    def _offsets(self, m: int) -> list[Ints | None]:
        """Return what each axis adds to the key in margin m, (categories,); None where it adds nothing."""
        offsets: list[Ints | None] = [None] * self.domain.ndim
        stride = self.domains[m].size
        for name, size in zip(self.margins[m], self.domains[m].shape, strict=True):
            stride //= size
            axis = self._places[name][0]
            grouping = self._by_name.get(name)
            codes = np.arange(size, dtype=np.int64) if grouping is None else grouping.codes
            before = offsets[axis]
            offsets[axis] = codes * stride if before is None else before + codes * stride
        return offsets

    def keys(self, m: int, cells: Ints | None = None) -> Ints:
        """The cell of margin m that each inner cell adds into, int64 (inner cells,).

        Parameters
        ----------
        cells
            Flat inner cells, int64; all by default.

        Raises
        ------
        TooLargeError
            When all are asked of a table too large to be laid out.
        """
        offsets = self._offsets(m)
        shape = self.domain.shape
        if cells is not None:
            keys, left = None, cells
            for axis in reversed(range(len(shape))):
                further, offset = left // shape[axis] if axis else None, offsets[axis]
                if offset is not None:
                    part = offset[left if further is None else left - further * shape[axis]]
                    keys = part if keys is None else np.add(keys, part, out=keys)
                left = left if further is None else further
            return np.zeros(len(cells), dtype=np.int64) if keys is None else keys
        self._check_laid_out()
        grid = np.zeros(shape, dtype=np.int64)
        for axis, offset in enumerate(offsets):
            if offset is not None:
                grid += offset.reshape([-1 if a == axis else 1 for a in range(len(shape))])
        return grid.reshape(-1)

    def _check_laid_out(self) -> None:
        if self.domain.size > DENSE_LIMIT:
            raise TooLargeError(
                message("a table of {size:,} cells is too large to be laid out in full", self.domain.size),
                hint=message("leave out a variable or merge categories"),
            )

    @cached_property
    def incidence(self) -> csr_array[np.int64]:
        """1 where an inner cell (column) adds into a published cell (row), csr (size, cells).

        A structural zero adds into nothing.

        Raises
        ------
        TooLargeError
            For a table too large to be laid out.
        """
        # scipy.sparse is a third of the program's start, and few need it.
        from scipy.sparse import csc_array

        self._check_laid_out()
        inner, margins = self.domain.size, len(self.margins)
        rows = np.empty((inner, margins), dtype=np.int64)
        for m in range(margins):
            rows[:, m] = self.keys(m) + self.starts[m]
        ends = np.arange(0, inner * margins + 1, margins, dtype=np.int64)
        ones = np.ones(inner * margins, dtype=np.int64)
        if self.domain.structural:
            ones.reshape(inner, margins)[self.domain.structural_cells()] = 0
        found = csc_array((ones, rows.reshape(-1), ends), shape=(self.size, inner)).tocsr()
        found.eliminate_zeros()
        return found

    def behind(self, cells: Ints) -> tuple[Ints, Ints]:
        """The inner cells that add into some published cells, int64 (cells + 1,), (entries,).

        The starts of the runs and the inner cells of each, ascending; structural zeros are left out.
        """
        starts, inner = self._behind
        lengths = starts[cells + 1] - starts[cells]
        ends = np.cumsum(lengths, dtype=np.int64)
        return np.concatenate([[0], ends]), inner[spread(starts[cells], lengths)]

    @cached_property
    def _behind(self) -> tuple[Ints, Ints]:
        if self.domain.size * len(self.margins) > MOST_LAID_OUT:
            matrix = self.incidence
            return matrix.indptr.astype(np.int64), matrix.indices.astype(np.int64)
        # Of a small table it takes less than loading scipy.sparse.
        there = np.ones(self.domain.size, dtype=np.bool_)
        there[self.domain.structural_cells()] = False
        keys = [self.keys(m)[there] + self.starts[m] for m in range(len(self.margins))]
        inner = [np.flatnonzero(there)[np.argsort(key, kind="stable")] for key in keys]
        numbers = np.bincount(np.concatenate(keys), minlength=self.size)
        return np.concatenate([[0], np.cumsum(numbers)]), np.concatenate(inner)

    @cached_property
    def nobody(self) -> Bools:
        """Published cells behind which there are structural zeros alone, bool (size,).

        Of a table too large to be laid out those that the statements name themselves.
        """
        if self.domain.structural and self.domain.size <= DENSE_LIMIT:
            nobody: Bools = np.diff(self.incidence.indptr) == 0
            return nobody
        return np.concatenate([domain.structural_cells() for domain in self.domains])

    def sums(self, table: Table) -> tuple[Table, ...]:
        """The published sub-tables of a table, exact; sparse as the table is.

        Raises
        ------
        InputError
            For a table of other variables.
        """
        if table.domain != self.domain:
            raise InputError(message("the table has other variables than the publication"))
        return tuple(self._sum(table, m) for m in range(len(self.margins)))

    def added_up(self, table: Table) -> Ints:
        """The published counts of a table one after the other, int64 (size,).

        Raises
        ------
        InputError
            For a table of other variables.
        """
        matrix = None if table.is_sparse or table.domain != self.domain else self.small_incidence
        if matrix is None:
            return self.stack(self.sums(table))
        return matrix @ table.counts.reshape(-1)

    def added_up_each(self, tables: Ints) -> Ints:
        """The published counts of many tables (tables, cells), int64 (tables, size)."""
        matrix = None if self.domain.structural else self.small_incidence
        if matrix is None or tables.size * self.size > MOST_MULTIPLIED:
            return np.asarray((self.incidence @ tables.T).T)
        return tables @ matrix.T

    @cached_property
    def small_incidence(self) -> Ints | None:
        """Write :attr:`incidence` with all its zeros, (size, cells); ``None`` where that is large.

        Whoever runs a method again on thousands of small originals adds up nothing else.
        """
        if self.size * self.domain.size > MOST_LAID_OUT:
            return None
        matrix = np.zeros((self.size, self.domain.size), dtype=np.int64)
        for m in range(len(self.margins)):
            matrix[self.keys(m) + self.starts[m], np.arange(self.domain.size)] = 1
        return matrix

    def _sum(self, table: Table, m: int) -> Table:
        if self.is_plain(m):
            return table.margin(self.margins[m])
        if table.is_sparse:
            cells, values = table.cells
            return Table.sparse(self.domains[m], self.keys(m, cells), values)
        return Table.dense(self.domains[m], self._grouped(table.counts, m))

    def _grouped(self, counts: Ints, m: int) -> Ints:
        """The sums of margin m axis by axis; a grouped axis is sorted, then added in runs."""
        found = counts
        cells = [np.zeros(1, dtype=np.int64)]
        for axis, offset in enumerate(self._offsets(m)):
            if offset is None:
                found = found.sum(axis=axis, keepdims=True)
                continue
            order = np.argsort(offset, kind="stable")
            groups, begins = np.unique(offset[order], return_index=True)
            found = np.add.reduceat(found.take(order, axis=axis), begins, axis=axis)
            cells.append(groups)
        # Two groupings of one variable leave cells that nothing adds into: these stay 0.
        sums = np.zeros(self.domains[m].size, dtype=np.int64)
        keys = cells[0]
        for groups in cells[1:]:
            keys = np.add.outer(keys, groups).reshape(-1)
        sums[keys] = found.reshape(-1)
        return sums.reshape(self.domains[m].shape)

    def stack(self, tables: Sequence[Table]) -> Ints:
        """The counts of published sub-tables one after the other, int64 (size,)."""
        for domain, table in zip(self.domains, tables, strict=True):
            if table.domain != domain:
                raise InputError(message("a table has other variables than its margin"))
        return np.concatenate([table.counts.reshape(-1) for table in tables])

    def split(self, vector: npt.NDArray[Number]) -> tuple[npt.NDArray[Number], ...]:
        """The published cells (size,) as one array of the margin's shape for each margin."""
        return tuple(
            vector[begin:end].reshape(domain.shape)
            for begin, end, domain in zip(self.starts[:-1], self.starts[1:], self.domains, strict=True)
        )

    def tables(self, vector: Ints) -> tuple[Table, ...]:
        """The published cells (size,) as one table for each margin."""
        parts = self.split(vector)
        return tuple(Table.dense(d, part) for d, part in zip(self.domains, parts, strict=True))

    def cell_text(self, cell: int) -> str:
        """A published cell for people: ``sex=m, age=Total`` with the margin's own categories."""
        m = int(np.searchsorted(self.starts, cell, side="right")) - 1
        labels = self.domains[m].labels(self.domains[m].unflat(cell - int(self.starts[m])))
        named = (f"{n}={c}" for n, c in zip(self.margins[m], labels, strict=True))
        return ", ".join(named) or message("grand total")

    @cached_property
    def distinct(self) -> tuple[Ints, Ints]:
        """Published cells that sum the very same inner cells are one number.

        Cells are boxes: two are the same when they take the same categories of every variable, or
        when nothing adds into either. Where the table has structural zeros, two are the same also
        when all else in either is such a zero (beyond what can be laid out that is not seen).

        Returns
        -------
        representatives : int64 (numbers,)
            The first cell of each kind, ascending.
        inverse : int64 (size,)
            For each cell the place of its representative.
        """
        if self.domain.structural and self.domain.size <= DENSE_LIMIT:
            return distinct_rows(self.incidence)
        key = np.zeros(self.size, dtype=np.int64)
        empty = np.zeros(self.size, dtype=np.bool_)
        limit = 1
        for axis in range(self.domain.ndim):
            known: dict[bytes, int] = {}
            kinds = np.concatenate([self._subsets(m, axis, known) for m in range(len(self.margins))])
            empty |= kinds == known.get(b"", -1)
            if limit * len(known) >= 2**62:
                key = np.unique(key, return_inverse=True)[1]
                limit = self.size
            key = key * len(known) + kinds
            limit *= len(known)
        key[empty] = -1
        _, first, inverse = np.unique(key, return_index=True, return_inverse=True)
        order = np.argsort(first)
        place = np.empty(len(order), dtype=np.int64)
        place[order] = np.arange(len(order))
        return first[order].astype(np.int64), place[inverse]

    def _subsets(self, m: int, axis: int, known: dict[bytes, int]) -> Ints:
        """Return which set of the axis' categories each cell of margin m takes; ``known`` grows."""
        shape, names = self.domains[m].shape, self.margins[m]
        mine = [k for k, name in enumerate(names) if self._places[name][0] == axis]
        size = self.domain.shape[axis]
        codes = np.zeros(size, dtype=np.int64)
        for k in mine:
            grouping = self._by_name.get(names[k])
            codes = codes * shape[k] + (np.arange(size) if grouping is None else grouping.codes)
        local = math.prod(shape[k] for k in mine)
        sets = np.empty(local, dtype=np.int64)
        for code, mine_of in enumerate(members(codes, local)):
            sets[code] = known.setdefault(mine_of.tobytes(), len(known))
        # The variables of an axis stand next to each other in a margin.
        before = math.prod(shape[: mine[0]]) if mine else 1
        return np.tile(np.repeat(sets, self.domains[m].size // before // local), before)


def distinct_rows(matrix: csr_array[np.int64]) -> tuple[Ints, Ints]:
    """The first of each kind of rows of 0 and 1, and for each row the place of its first."""
    lines = matrix.sorted_indices()
    known: dict[bytes, int] = {}
    inverse = np.empty(matrix.shape[0], dtype=np.int64)
    first: list[int] = []
    ends = lines.indptr
    for row in range(matrix.shape[0]):
        line = lines.indices[ends[row] : ends[row + 1]].tobytes()
        inverse[row] = known.setdefault(line, len(known))
        if len(known) > len(first):
            first.append(row)
    return np.array(first, dtype=np.int64), inverse
