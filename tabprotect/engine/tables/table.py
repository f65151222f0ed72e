"""A count table over named variables, dense or sparse, always exact int64."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
import numpy.typing as npt

from tabprotect.engine.arrays import Ints
from tabprotect.engine.budgets import DENSE_LIMIT
from tabprotect.engine.equal_rows import place_among
from tabprotect.engine.errors import InputError
from tabprotect.engine.tables.domain import Domain, Index
from tabprotect.languages.messages import message

ROOMY = 8
"""Possible cells per listed one up to which a place for every possible cell is worth it."""

INT64_MAX = np.iinfo(np.int64).max


def exact_sum(counts: Ints) -> int:
    """The sum as an exact integer.

    Raises
    ------
    InputError
        When it does not fit int64, so that no margin can wrap round.
    """
    # A float sum is good to about n * 2^-53: far from the limit it decides alone.
    if float(np.abs(counts, dtype=np.float64).sum()) < 2.0**62:
        return int(counts.sum())
    total = sum(map(int, counts.ravel()))
    if abs(total) > INT64_MAX:
        raise InputError(
            message("the counts add up to more than 9.2e18"),
            hint=message("check the counts for typing errors"),
        )
    return total


DENSE = 2**24
"""Most cells of a table of records that is laid out, however empty."""


def check_structural(table: Table) -> None:
    """Refuse an original with somebody in a structural zero.

    Raises
    ------
    InputError
        Naming the first such cell.
    """
    keys, values = table.cells
    wrong = keys[(values != 0) & table.domain.structural_cells(keys)]
    if len(wrong):
        raise InputError(
            message("somebody is counted where nobody can be"),
            cell=table.domain.cell_text(table.domain.unflat(int(wrong[0]))),
            hint=message("mend the count, or let go of the structural zero"),
        )


def better_sparse(domain: Domain, cells: int) -> bool:
    """Return True if a table with so many cells that are not zero should list them only."""
    return domain.size > DENSE and (domain.size > DENSE_LIMIT or domain.size > 4 * cells)


@dataclass(frozen=True, eq=False)
class Table:
    """Counts over a domain.

    Build with :meth:`dense` or :meth:`sparse`. Arrays are read-only; every change makes a new
    table. Sparse tables hold the cells that are not zero, sorted by mixed-radix key.
    """

    domain: Domain
    _array: Ints | None
    _keys: Ints | None
    _values: Ints | None

    @classmethod
    def dense(cls, domain: Domain, counts: npt.ArrayLike) -> Table:
        """Make one from an array of the domain's shape.

        Raises
        ------
        InputError
            For a wrong shape, fractions, values beyond int64, or an overflowing total.
        """
        given = np.asarray(counts)
        if given.dtype.kind == "f":
            if not np.isfinite(given).all() or (given != np.floor(given)).any():
                raise InputError(message("a count is not a whole number"))
            if (np.abs(given) >= 2.0**63).any():
                raise InputError(message("a count is larger than 9.2e18"))
        elif given.dtype.kind not in "iub":
            raise InputError(message("a count is not a whole number of at most 9.2e18"))
        if given.dtype.kind == "u" and given.size and int(given.max()) > INT64_MAX:
            raise InputError(message("a count is larger than 9.2e18"))
        if given.shape != domain.shape:
            raise InputError(
                message(
                    "the counts have the shape {shape}, the variables {shape2}", given.shape, domain.shape
                )
            )
        array = np.array(given, dtype=np.int64, order="C")
        exact_sum(array)
        array.flags.writeable = False
        return cls(domain, array, None, None)

    @classmethod
    def sparse(cls, domain: Domain, keys: npt.ArrayLike, values: npt.ArrayLike) -> Table:
        """Make one from mixed-radix keys and counts; equal keys are added, zeros dropped."""
        k = np.asarray(keys, dtype=np.int64)
        v = np.asarray(values, dtype=np.int64)
        if k.shape != v.shape or k.ndim != 1:
            raise InputError(message("a sparse table needs as many counts as cells"))
        if len(k) and (int(k.min()) < 0 or int(k.max()) >= domain.size):
            raise InputError(message("a cell lies outside the table"))
        exact_sum(v)
        if domain.size <= ROOMY * len(k):
            # Adding into a place for every cell is many times faster than sorting.
            unique, summed = np.arange(domain.size), np.zeros(domain.size, dtype=np.int64)
            np.add.at(summed, k, v)
        else:
            unique, inverse = np.unique(k, return_inverse=True)
            summed = np.zeros(len(unique), dtype=np.int64)
            np.add.at(summed, inverse, v)
        keep = summed != 0
        unique, summed = unique[keep], summed[keep]
        unique.flags.writeable = summed.flags.writeable = False
        return cls(domain, None, unique, summed)

    def __setstate__(self, state: Mapping[str, object]) -> None:
        # Arrays that come out of a pickle could be written to.
        for held in state.values():
            if isinstance(held, np.ndarray):
                held.flags.writeable = False
        self.__dict__.update(state)

    @property
    def is_sparse(self) -> bool:
        """Return True if only the cells that are not zero are held."""
        return self._array is None

    @cached_property
    def counts(self) -> Ints:
        """All counts as a read-only array of the domain's shape.

        Raises
        ------
        InputError
            When the table is sparse and too large to be laid out.
        """
        if self._array is not None:
            return self._array
        if self.domain.size > DENSE_LIMIT:
            raise InputError(
                message("a table of {size:,} cells is too large to be laid out in full", self.domain.size),
                hint=message("leave out a variable or merge categories"),
            )
        assert self._keys is not None and self._values is not None
        array = np.zeros(self.domain.size, dtype=np.int64)
        array[self._keys] = self._values
        array = array.reshape(self.domain.shape)
        array.flags.writeable = False
        return array

    def counts_at(self, cells: Ints) -> Ints:
        """The counts of flat cells, which are not laid out for it."""
        if not self.is_sparse:
            return self.counts.reshape(-1)[cells]
        listed, counts = self.cells
        at = place_among(listed, cells)
        return np.where(at < 0, 0, counts[at]) if len(counts) else np.zeros_like(at)

    @cached_property
    def cells(self) -> tuple[Ints, Ints]:
        """Keys and counts of the cells that are not zero, sorted by key."""
        if self._array is None:
            assert self._keys is not None and self._values is not None
            return self._keys, self._values
        keys = np.flatnonzero(self._array).astype(np.int64)
        return keys, self._array.reshape(-1)[keys]

    @property
    def listed(self) -> tuple[Sequence[npt.NDArray[np.integer]], Ints]:
        """Category numbers by variable, and counts, of the cells that are not zero, in order."""
        keys, counts = self.cells
        return np.unravel_index(keys, self.domain.shape) if self.domain.ndim else (), counts

    @cached_property
    def total(self) -> int:
        """The grand total."""
        return exact_sum(self._given)

    @property
    def _given(self) -> Ints:
        given = self._values if self._array is None else self._array
        assert given is not None
        return given

    def __getitem__(self, index: Sequence[int]) -> int:
        if self._array is not None:
            return int(self._array[tuple(index)])
        key = self.domain.flat(index)
        keys, values = self.cells
        at = int(np.searchsorted(keys, key))
        return int(values[at]) if at < len(keys) and keys[at] == key else 0

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Table):
            return NotImplemented
        return (
            self.domain == other.domain
            and np.array_equal(self.cells[0], other.cells[0])
            and np.array_equal(self.cells[1], other.cells[1])
        )

    def __hash__(self) -> int:
        return hash((self.domain, self.total, len(self.cells[0])))

    def __repr__(self) -> str:
        # Counts are confidential: a table never prints them by accident (logs, tracebacks).
        shape = " x ".join(map(str, self.domain.shape))
        return f"<Table {'|'.join(self.domain.names)} {shape}>"

    def margin(self, names: Iterable[str]) -> Table:
        """The margin over the named variables or levels of them (summed over all others)."""
        domain = self.domain.project(names)
        wanted = domain.names
        if self._array is not None and not set(wanted) <= set(self.domain.names):
            kept = {self.domain.names[self.domain.axis_of(name)] for name in wanted}
            return self.margin(kept)._grouped(domain)
        if self._array is not None:
            axes = tuple(a for a, n in enumerate(self.domain.names) if n not in wanted)
            return Table.dense(domain, self._array.sum(axis=axes) if axes else self._array)
        keys, values = self.cells
        return Table.sparse(domain, self.domain.project_keys(keys, wanted), values)

    def _grouped(self, domain: Domain) -> Table:
        """The sums over levels of every variable of this table, axis by axis where that goes."""
        if domain.ndim > self.domain.ndim:
            keys, values = self.cells
            summed = Table.sparse(domain, self.domain.project_keys(keys, domain.names), values)
            return Table.dense(domain, summed.counts)
        found = self.counts
        for axis, name in enumerate(domain.names):
            level = self.domain.place(name)[1]
            if level is not None:
                order = np.argsort(level.codes, kind="stable")
                begins = np.searchsorted(level.codes[order], np.arange(domain.shape[axis]))
                found = np.add.reduceat(found.take(order, axis=axis), begins, axis=axis)
        return Table.dense(domain, found)

    def on(self, domain: Domain) -> Table:
        """Put the counts on another domain of the same shape (other names, categories, levels)."""
        if domain.shape != self.domain.shape:
            raise InputError(
                message("the table has the shape {shape}, not {shape2}", self.domain.shape, domain.shape)
            )
        return replace(self, domain=domain)

    def moved(self, cells: Ints, by: Ints) -> Table:
        """Other counts in some flat cells, each named once: so much more than here."""
        if self.is_sparse:
            keys, counts = self.cells
            return Table.sparse(self.domain, np.concatenate([keys, cells]), np.concatenate([counts, by]))
        counts = self.counts.reshape(-1).copy()
        counts[cells] += by
        return Table.dense(self.domain, counts.reshape(self.domain.shape))

    def with_counts(self, changes: dict[Index, int]) -> Table:
        """A new table with some cells set."""
        array = self.counts.copy()
        for index, count in changes.items():
            if not -INT64_MAX <= count <= INT64_MAX:
                raise InputError(
                    message("{count} is too large for a count", count), cell=self.domain.cell_text(index)
                )
            array[index] = count
        return Table.dense(self.domain, array)

    @property
    def has_negative(self) -> bool:
        """Return True if any count is below zero (an original never may)."""
        return bool((self._given < 0).any())
