"""Moves and cycles: patterns of integers that keep margins, stored sparsely.

A *move* is an integer array over the cells of a table whose sums over every margin to be kept
are zero; a *cycle* is a move with entries -1, 0, +1; a *cycle set* is an ordered list of cycles.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np
import numpy.typing as npt

from tabprotect.engine.arrays import Bools, Ints, Signs
from tabprotect.engine.equal_rows import spread
from tabprotect.engine.errors import InputError
from tabprotect.engine.plain_values.encoding import Encodable
from tabprotect.engine.tables.domain import Domain, Index
from tabprotect.engine.tables.groupings.grouping import Grouping, check_groupings
from tabprotect.engine.tables.margins import MarginSet, all_margins
from tabprotect.engine.tables.publication import Publication
from tabprotect.languages.messages import message


def alternating(corners: int) -> Ints:
    """The signs of the corners of a box, 1 and -1: neighbours have different ones."""
    return 1 - 2 * (np.bitwise_count(np.arange(corners)).astype(np.int64) & 1)


@dataclass(frozen=True)
class Violation(Encodable):
    """A margin that a cycle breaks.

    Attributes
    ----------
    cycle
        Number of the cycle, from 0.
    margin
        The margin's variables.
    index, labels
        The margin's cell, by number and by category.
    amount
        By how much it changes when the cycle is added.
    """

    cycle: int
    margin: tuple[str, ...]
    index: Index
    labels: tuple[str, ...]
    amount: int

    def __str__(self) -> str:
        cell = ", ".join(f"{n}={c}" for n, c in zip(self.margin, self.labels, strict=True))
        return message(
            "cycle {cycle} changes the margin {value} by {amount:+d}",
            self.cycle + 1,
            cell or message("grand total"),
            self.amount,
        )


@dataclass(frozen=True)
class Designed:
    """The named design that a cycle set follows from: it can be built again from this.

    Attributes
    ----------
    kind
        Registered name of the design.
    parameters
        What it takes besides the table's shape, JSON values.
    of_margins
        Whether it takes the counts of the kept margins too, which any release of the table has.
    """

    kind: str
    parameters: Mapping[str, object] = field(default_factory=dict, hash=False)
    of_margins: bool = False


@dataclass(frozen=True, eq=False)
class MoveSet:
    """An ordered list of cycles over the cells of a domain.

    Attributes
    ----------
    domain
        The table's variables.
    starts : int64 (n + 1,)
        Cycle i owns the entries ``starts[i]:starts[i + 1]``.
    cells : int64 (entries,)
        Flat cell keys, ascending within a cycle.
    signs : int8 (entries,)
        +1 or -1.
    margins
        The margins the set claims to keep, by names of variables or groupings.
    groupings
        The groupings that those margins name.
    design
        What the cycles follow from; ``None`` for a list of its own. Says nothing of the margins.
    """

    domain: Domain
    starts: Ints
    cells: Ints
    signs: Signs
    margins: MarginSet
    groupings: tuple[Grouping, ...] = ()
    design: Designed | None = None

    @classmethod
    def of(
        cls,
        domain: Domain,
        starts: npt.ArrayLike,
        cells: npt.ArrayLike,
        signs: npt.ArrayLike,
        *,
        margins: MarginSet | None = None,
        groupings: tuple[Grouping, ...] = (),
    ) -> MoveSet:
        """Make one from compressed rows, sorted and checked (cells in range, signs +-1, none twice).

        Raises
        ------
        InputError
            Naming the cycle and the cell.
        """
        s = np.asarray(starts, dtype=np.int64)
        c = np.asarray(cells, dtype=np.int64)
        g = np.asarray(signs, dtype=np.int8)
        if len(c) and not 0 <= int(c.min()) <= int(c.max()) < domain.size:
            row = _row(s, (c < 0) | (c >= domain.size))
            raise InputError(message("cycle {row} touches a cell outside the table", row + 1))
        if len(g) and (np.abs(g) != 1).any():
            row = _row(s, np.abs(g) != 1)
            raise InputError(message("cycle {row} has an entry other than -1, 0, +1", row + 1))
        c, g = _ascending(s, c, g)
        twice = c[1:] == c[:-1]
        twice[s[1:-1][(s[1:-1] > 0) & (s[1:-1] < len(c))] - 1] = False
        if twice.any():
            at = int(np.flatnonzero(twice)[0])
            row = _row(s, np.arange(len(c)) == at)
            raise InputError(
                message("cycle {row} names the cell {c} twice", row + 1, domain.unflat(int(c[at]))),
                hint=message("each cell stands once, in plus or in minus"),
            )
        if margins is not None and not margins:
            # No total may drift unsaid: without a margin the grand total is kept.
            margins = ((),)
        empty = np.flatnonzero(np.diff(s) == 0)
        if len(empty):
            raise InputError(message("cycle {empty} is empty", empty[0] + 1))
        for array in (s, c, g):
            array.flags.writeable = False
        return cls(domain, s, c, g, all_margins(domain) if margins is None else margins, groupings)

    @classmethod
    def from_arrays(
        cls, domain: Domain, arrays: Sequence[npt.ArrayLike], *, margins: MarginSet | None = None
    ) -> MoveSet:
        """Make one from one array of -1, 0, +1 per cycle, each of the domain's shape."""
        starts, cells, signs = [0], [], []
        for number, given in enumerate(arrays):
            array = np.asarray(given)
            if array.shape != domain.shape:
                raise InputError(
                    message(
                        "cycle {number} has the shape {shape}, the table {shape2}",
                        number + 1,
                        array.shape,
                        domain.shape,
                    )
                )
            flat = array.reshape(-1)
            at = np.flatnonzero(flat)
            if (np.abs(flat[at]) != 1).any():
                raise InputError(message("cycle {number} has an entry other than -1, 0, +1", number + 1))
            cells.append(at)
            signs.append(flat[at])
            starts.append(starts[-1] + len(at))
        return cls.of(
            domain,
            starts,
            np.concatenate(cells) if cells else [],
            np.concatenate(signs) if signs else [],
            margins=margins,
        )

    def __len__(self) -> int:
        return len(self.starts) - 1

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, MoveSet):
            return NotImplemented
        return (
            self.domain == other.domain
            and self.margins == other.margins
            and self.groupings == other.groupings
            and np.array_equal(self.starts, other.starts)
            and np.array_equal(self.cells, other.cells)
            and np.array_equal(self.signs, other.signs)
        )

    def __hash__(self) -> int:
        return hash((self.domain, len(self), self.cells[:64].tobytes()))

    def __repr__(self) -> str:
        shape = " x ".join(map(str, self.domain.shape))
        return f"<MoveSet of {len(self)} cycles on {shape}>"

    @cached_property
    def rows(self) -> Ints:
        """The cycle each entry belongs to, (entries,)."""
        return np.repeat(np.arange(len(self), dtype=np.int64), np.diff(self.starts))

    def entries(self, cycle: int) -> tuple[Ints, Signs]:
        """The cells and signs of one cycle."""
        span = slice(int(self.starts[cycle]), int(self.starts[cycle + 1]))
        return self.cells[span], self.signs[span]

    def array(self, cycle: int) -> npt.NDArray[np.int8]:
        """One cycle as an array of the domain's shape."""
        cells, signs = self.entries(cycle)
        out = np.zeros(self.domain.size, dtype=np.int8)
        out[cells] = signs
        return out.reshape(self.domain.shape)

    def as_cells(self) -> Iterator[tuple[list[Index], list[Index]]]:
        """(cells with +, cells with -) per cycle, as index tuples."""
        index = np.stack(np.unravel_index(self.cells, self.domain.shape), axis=1).tolist()
        signs = self.signs.tolist()
        for i in range(len(self)):
            span = range(int(self.starts[i]), int(self.starts[i + 1]))
            yield (
                [tuple(index[e]) for e in span if signs[e] > 0],
                [tuple(index[e]) for e in span if signs[e] < 0],
            )

    def take(self, order: Sequence[int] | Ints) -> MoveSet:
        """The cycles of the given numbers, in that order; a cycle may come again."""
        chosen = np.asarray(order, dtype=np.int64)
        length = np.diff(self.starts)[chosen]
        starts = np.concatenate([[0], np.cumsum(length)]).astype(np.int64)
        at = spread(self.starts[chosen], length)
        return MoveSet(self.domain, starts, self.cells[at], self.signs[at], self.margins, self.groupings)

    def on(self, domain: Domain) -> MoveSet:
        """Put the cycles on another table of the same shape (names and labels may differ).

        Raises
        ------
        InputError
            When the shapes differ.
        """
        if domain == self.domain:
            return self
        if domain.shape != self.domain.shape:
            raise InputError(
                message(
                    "the cycles are for a {str} table, this one is {str2}",
                    " x ".join(map(str, self.domain.shape)),
                    " x ".join(map(str, domain.shape)),
                ),
                hint=message("design cycles for this table's shape"),
            )
        axes = dict(zip(self.domain.names, domain.names, strict=True))
        margins = tuple(tuple(axes.get(n, n) for n in margin) for margin in self.margins)
        groupings = tuple(Grouping(g.name, axes[g.of], g.groups) for g in self.groupings)
        check_groupings(domain, groupings)
        return replace(self, domain=domain, margins=margins, groupings=groupings)

    def keeping(self, margins: MarginSet, groupings: tuple[Grouping, ...] = ()) -> MoveSet:
        """Claim that the cycles keep other margins (the grand total at least)."""
        claimed = replace(self, margins=margins or ((),), groupings=groupings)
        same = (claimed.margins, groupings) == (self.margins, self.groupings)
        if same or self.design is None or not self.design.of_margins:
            return claimed
        # The claim would name other margins than those that the design follows from.
        return replace(claimed, design=None)

    @cached_property
    def publication(self) -> Publication:
        """The margins that are kept, as sub-tables that are published exactly."""
        return Publication(self.domain, self.margins, self.groupings)

    @cached_property
    def keeps_margins(self) -> bool:
        """Return True if no margin is broken; looked at once."""
        return not self.violations(most=1)

    def violations(self, *, most: int | None = None) -> list[Violation]:
        """Every margin that a cycle breaks, exactly (integers), at most ``most`` of them.

        One sort of the entries per margin: O(entries log entries) each, never a dense table.
        """
        found: list[Violation] = []
        if not self.margins:
            return found
        kept = self.publication
        for m, (names, domain) in enumerate(zip(kept.margins, kept.domains, strict=True)):
            key = kept.keys(m, self.cells)
            if self._cancels(key):
                continue
            order = np.lexsort((key, self.rows))
            row, key, sign = self.rows[order], key[order], self.signs[order].astype(np.int64)
            if not len(row):
                continue
            first = np.flatnonzero(np.r_[True, (np.diff(row) != 0) | (np.diff(key) != 0)])
            sums = np.add.reduceat(sign, first)
            for at in np.flatnonzero(sums):
                index = domain.unflat(int(key[first[at]]))
                labels = domain.labels(index)
                found.append(Violation(int(row[first[at]]), names, index, labels, int(sums[at])))
                if most is not None and len(found) >= most:
                    return found
        return sorted(found, key=lambda v: (v.cycle, v.margin, v.index))

    def _cancels(self, key: Ints) -> bool:
        """Return True if short cycles of one length surely keep a margin: entry against entry."""
        each = len(key) // max(len(self), 1)
        if not 0 < each <= 8 or (np.diff(self.starts) != each).any():
            return False
        # Half the bytes where they will do: entries are compared, no more.
        width = np.int32 if self.domain.size < 2**31 else np.int64
        keys = np.ascontiguousarray(key.reshape(-1, each).T, dtype=width)
        signs = np.ascontiguousarray(self.signs.reshape(-1, each).T)
        for own in keys:
            sums = np.zeros(len(self), dtype=np.int8)
            for other, sign in zip(keys, signs, strict=True):
                sums += sign * (other == own)
            if sums.any():
                return False
        return True

    @cached_property
    def touches(self) -> tuple[Ints, Ints]:
        """Return how many cycles add to and subtract from each cell, two flat arrays (cells,)."""
        plus = np.bincount(self.cells[self.signs > 0], minlength=self.domain.size)
        minus = np.bincount(self.cells[self.signs < 0], minlength=self.domain.size)
        return plus.astype(np.int64), minus.astype(np.int64)


def _row(starts: Ints, wrong: Bools) -> int:
    """The cycle of the first entry that is wrong."""
    return int(np.searchsorted(starts, np.flatnonzero(wrong)[0], side="right")) - 1


def _ascending(starts: Ints, cells: Ints, signs: Signs) -> tuple[Ints, Signs]:
    """The entries with ascending cells within each cycle."""
    lengths = np.diff(starts)
    if len(lengths) and (lengths == lengths[0]).all() and lengths[0] * len(lengths) == len(cells):
        # Cycles of one length, as designs make them: many short sorts in place of a long one.
        rows = cells.reshape(len(lengths), -1)
        if (rows[:, 1:] > rows[:, :-1]).all():
            # What nobody can write to need not be copied: it may be twice as large as the table.
            return cells.copy() if cells.flags.writeable else cells, signs.copy()
        order = np.argsort(rows, axis=1, kind="stable")
        of_rows = np.take_along_axis(signs.reshape(rows.shape), order, axis=1)
        return np.take_along_axis(rows, order, axis=1).reshape(-1), of_rows.reshape(-1)
    order = np.lexsort((cells, np.repeat(np.arange(len(lengths)), lengths)))
    return cells[order], signs[order]
