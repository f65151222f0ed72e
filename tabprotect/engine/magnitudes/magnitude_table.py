"""A table of sums with its contributors: every cell counted anew from the contributions."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import product

import numpy as np

from tabprotect.engine.arrays import Bools, Ints
from tabprotect.engine.equal_rows import (
    largest_by_key,
    order_of_keys,
    starts_of_runs,
    sums_by_key,
)
from tabprotect.engine.errors import InputError
from tabprotect.engine.magnitudes.axis import Axis
from tabprotect.engine.sensitivity.magnitude_rules import Judged
from tabprotect.engine.tables.domain import Domain
from tabprotect.engine.tables.table import Table
from tabprotect.engine.tables.variable import AT, Variable
from tabprotect.languages.said import say

PLACES = 6
"""Most decimals of a measure that are kept."""

WHOLE = 1_000_000
"""The weight of a unit that stands for itself alone, in millionths."""

TOPS = 4
"""How many of the largest contributions of a cell are kept at once."""


@dataclass(frozen=True, eq=False)
class Contributions:
    """What each holding contributes to each combination of categories. Confidential.

    Attributes
    ----------
    codes : int64 (variables, rows)
    holding : int64 (rows,)
        Its number.
    own : int64 (rows,)
        The sum of the measure over its units with this weight.
    weight : int64 (rows,)
        In millionths.
    weighted : int64 (rows,)
        What goes into the published sum.
    units : int64 (rows,)
    asked, waived : bool (rows,)
        Whether a unit asked for protection; whether all waived it.
    shadow, cost : int64 (rows,)
        What rules are judged by, and what hiding costs, in place of the measure.
    """

    codes: Ints
    holding: Ints
    own: Ints
    weight: Ints
    weighted: Ints
    units: Ints
    asked: Bools
    waived: Bools
    shadow: Ints
    cost: Ints


@dataclass(frozen=True, eq=False)
class Listing:
    """The contributions to some cells, cell after cell, each by holding. Confidential.

    Attributes
    ----------
    cell : int64 (cells,)
        The key of each.
    start : int64 (cells + 1,)
    holding, own, weighted, judged, units : int64 (contributions,)
        ``judged`` is what rules go by: the shadow variable, else ``own``.
    asked, waived : bool (contributions,)
    """

    cell: Ints
    start: Ints
    holding: Ints
    own: Ints
    weighted: Ints
    judged: Ints
    units: Ints
    asked: Bools
    waived: Bools

    def of(self, number: int) -> slice:
        """The contributions of one cell."""
        return slice(int(self.start[number]), int(self.start[number + 1]))


@dataclass(frozen=True, eq=False)
class Cells:
    """All cells with records, sorted by key.

    Attributes
    ----------
    key : int64 (cells,)
    nodes : int64 (variables, cells)
    value, units, holdings, nonzero, cost : int64 (cells,)
    """

    key: Ints
    nodes: Ints
    value: Ints
    units: Ints
    holdings: Ints
    nonzero: Ints
    cost: Ints

    def __len__(self) -> int:
        return len(self.key)


@dataclass(frozen=True, eq=False)
class MagnitudeTable:
    """Sums of a measure with who contributes to them. Confidential; it never prints a value.

    Attributes
    ----------
    variables
    measure
        The column that is summed.
    decimals
        Places of the measure: values are whole numbers of units of 10^-decimals.
    rows
    names
        What each holding is called.
    weighted
        Whether units stand for others.
    """

    variables: tuple[Variable, ...]
    measure: str
    decimals: int
    rows: Contributions
    names: Sequence[str]
    weighted: bool = False

    @cached_property
    def axes(self) -> tuple[Axis, ...]:
        """The variables as axes."""
        return tuple(map(Axis, self.variables))

    @cached_property
    def strides(self) -> Ints:
        """What one node further is worth in a cell's key, by axis."""
        sizes = [axis.size for axis in self.axes]
        return np.array([int(np.prod(sizes[n + 1 :])) for n in range(len(sizes))], dtype=np.int64)

    @property
    def signed(self) -> bool:
        """Whether anything is negative."""
        return bool(len(self.rows.own)) and int(self.rows.own.min()) < 0

    def parts(self) -> Iterator[Listing]:
        """The contributions to the cells of each combination of depths, one after the other."""
        for key in self.row_keys(self.rows.codes[:, self._by_holding]):
            yield self._grouped(key, self._by_holding)

    def row_keys(self, codes: Ints) -> Iterator[Ints]:
        """The cell that rows of these codes (variables, rows) fall into, for each combination of depths."""
        for chosen in product(*(range(len(axis.depths)) for axis in self.axes)):
            key = np.zeros(codes.shape[1], dtype=np.int64)
            for axis, depth, code, stride in zip(
                self.axes, chosen, codes, self.strides, strict=True
            ):
                key += axis.depths[depth][code] * stride
            yield key

    def keys_at_all_depths(self, codes: Ints) -> Ints:
        """The same for all combinations at once, int64 (combinations, rows): for few rows."""
        keys = np.zeros((1, codes.shape[1]), dtype=np.int64)
        for axis, code, stride in zip(self.axes, codes, self.strides, strict=True):
            deeper = keys[:, None, :] + axis.depths[:, code][None] * stride
            keys = deeper.reshape(-1, codes.shape[1])
        return keys

    def rows_of(self, holding: int) -> Ints:
        """The rows of one holding."""
        first, last = self._holding_starts[holding : holding + 2].tolist()
        return self._by_holding[first:last]

    @cached_property
    def _holding_starts(self) -> Ints:
        """Where the rows of each holding begin among those by holding."""
        numbers = np.arange(len(self.names) + 1)
        return np.searchsorted(self.rows.holding[self._by_holding], numbers).astype(np.int64)

    @cached_property
    def _single(self) -> bool:
        """Whether each row is one unit."""
        return bool(np.all(self.rows.units == 1))

    @cached_property
    def _by_holding(self) -> Ints:
        """The rows in the order of their holdings."""
        return np.argsort(self.rows.holding, kind="stable")

    @cached_property
    def _once(self) -> Bools:
        """The rows whose holding has no other row: they are never pooled."""
        often: Ints = np.bincount(self.rows.holding, minlength=len(self.names))
        return np.asarray(often[self.rows.holding] == 1)

    def _grouped(self, key: Ints, chosen: Ints) -> Listing:
        """Some rows, in the order of their holdings, by cell, those of one holding put together.

        ``key`` says the cell of each of them.
        """
        rows = self.rows
        by_cell = order_of_keys(key)
        order, key = chosen[by_cell], key[by_cell]
        at = starts_of_runs(key * len(self.names) + rows.holding[order])
        first = order[at]
        no = np.zeros(len(first), dtype=bool)

        def added(column: Ints) -> Ints:
            return np.add.reduceat(column[order], at)

        cell = key[at]
        start = starts_of_runs(cell)
        own = added(rows.own)
        return Listing(
            cell[start],
            np.append(start, len(first)),
            rows.holding[first],
            own,
            own if not self.weighted else added(rows.weighted),
            own if rows.shadow is rows.own else added(rows.shadow),
            np.diff(at, append=len(order)) if self._single else added(rows.units),
            np.logical_or.reduceat(rows.asked[order], at) if rows.asked.any() else no,
            np.logical_and.reduceat(rows.waived[order], at) if rows.waived.any() else no,
        )

    @cached_property
    def units(self) -> Table:
        """The count table of the same records: units by the finest categories."""
        domain = Domain(self.variables)
        keys = np.zeros(len(self.rows.own), dtype=np.int64)
        for variable, codes in zip(self.variables, self.rows.codes, strict=True):
            keys = keys * len(variable.categories) + codes
        return Table.sparse(domain, keys, self.rows.units)

    @cached_property
    def _counted(self) -> tuple[Cells, Ints]:
        """Every cell, and the largest contributions that rules go by."""
        found = list(self._by_depths())
        key = np.concatenate([cells for cells, _, _ in found])
        order = np.argsort(key)
        figures = np.concatenate([figures for _, figures, _ in found], axis=1)[:, order]
        tops = np.concatenate([tops for _, _, tops in found])[order]
        key = key[order]
        sizes = tuple(axis.size for axis in self.axes)
        nodes = np.array(np.unravel_index(key, sizes), dtype=np.int64)
        cost = figures[0] if self.rows.cost is self.rows.own else self._costs(key)
        value, units, holdings, nonzero = figures[:4]
        return Cells(key, nodes, value, units, holdings, nonzero, cost), np.column_stack(
            [figures[4], tops]
        )

    def _by_depths(self) -> Iterator[tuple[Ints, Ints, Ints]]:
        """Cells, their figures and largest contributions, for each combination of depths.

        What holdings with one row contribute is added up by finest combinations first; coarser cells
        have the sums of those, and the largest of their largest.
        """
        rows = self.rows
        shared = self._by_holding[~self._once[self._by_holding]]
        alone = np.flatnonzero(self._once)
        size = np.abs(rows.shadow[alone])
        whole = size if rows.shadow is not rows.own else np.abs(rows.weighted[alone])
        ones = np.ones(len(alone), dtype=np.int64)
        nonzero = (rows.own[alone] != 0).astype(np.int64)
        columns = np.array([rows.weighted[alone], rows.units[alone], ones, nonzero, whole])
        finest = tuple(len(variable.categories) for variable in self.variables)
        key = np.ravel_multi_index(tuple(rows.codes[:, alone]), finest).astype(np.int64)
        cells, columns = sums_by_key(key, columns)
        _, tops = largest_by_key(key, size, TOPS)
        codes = np.array(np.unravel_index(cells, finest), dtype=np.int64)
        # Every cell comes once for each of its largest contributions.
        place, sizes = np.repeat(np.arange(len(cells)), TOPS), tops.reshape(-1)
        coarser = zip(self.row_keys(rows.codes[:, shared]), self.row_keys(codes), strict=True)
        for pooled, single in coarser:
            part = self._grouped(pooled, shared)
            at, counted = sums_by_key(single, columns)
            _, ranked = largest_by_key(single[place], sizes, TOPS)
            yield _put_together(
                (part.cell, _figures(part), _largest(part, TOPS)), (at, counted, ranked)
            )

    def _costs(self, key: Ints) -> Ints:
        cost = np.zeros(len(key), dtype=np.int64)
        for at in self.row_keys(self.rows.codes):
            np.add.at(cost, np.searchsorted(key, at), self.rows.cost)
        return cost

    @property
    def cells(self) -> Cells:
        """Every cell that has records, totals among them."""
        return self._counted[0]

    @cached_property
    def listing(self) -> Listing:
        """The contributions to every cell, in the order of the cells."""
        parts = list(self.parts())
        key = np.concatenate([part.cell for part in parts])
        lengths = np.concatenate([np.diff(part.start) for part in parts])
        begins = np.append(0, np.cumsum(lengths))[:-1]
        order = np.argsort(key)
        start = np.append(0, np.cumsum(lengths[order]))
        pick = np.repeat(begins[order] - start[:-1], lengths[order]) + np.arange(start[-1])
        names = ("holding", "own", "weighted", "judged", "units", "asked", "waived")
        columns = [np.concatenate([getattr(part, name) for part in parts])[pick] for name in names]
        return Listing(key[order], start, *columns)

    def number(self, index: Mapping[str, str]) -> int:
        """The cell that an index names; variables that it leaves out are totals.

        Raises
        ------
        InputError
            For an unknown variable, level or category, and for a cell without records.
        """
        left = dict(index)
        key = 0
        for axis, stride in zip(self.axes, self.strides, strict=True):
            name = axis.variable.name
            given = [entry for entry in left if entry.partition(AT)[0] == name]
            node = axis.size - 1 if not given else axis.node(given[0], left.pop(given[0]))
            key += node * int(stride)
        if left:
            raise InputError(
                say("the table has no variable {name}", repr(next(iter(left)))),
                hint=say("it has {names}", ", ".join(v.name for v in self.variables)),
            )
        number = int(np.searchsorted(self.cells.key, key))
        if number == len(self.cells) or self.cells.key[number] != key:
            raise InputError(say("the cell {index} has no records", dict(index)))
        return number

    def index(self, number: int) -> dict[str, str]:
        """A cell by its variables, levels as ``variable@level``."""
        nodes = self.cells.nodes[:, number]
        return dict(axis.key(int(node)) for axis, node in zip(self.axes, nodes, strict=True))

    def shown(self, value: int) -> int | float:
        """A value as it is published."""
        return int(value) if self.decimals == 0 else int(value) / 10**self.decimals

    def judged(self, most: int, reading: str = "sample") -> Judged:
        """What rules look at, with the largest contributions of each cell.

        Parameters
        ----------
        most
            How many contributions a rule names.
        reading
            Of weights: ``sample``, ``replicate`` or ``known``.

        Raises
        ------
        InputError
            For a reading that there is not.
        """
        if reading not in ("sample", "replicate", "known"):
            raise InputError(
                say("weights are read in three ways, not {reading}", repr(reading)),
                hint=say("choose sample, replicate or known"),
            )
        plain = not self.weighted or reading == "sample"
        if plain and most <= TOPS and not self.rows.asked.any() and not self.rows.waived.any():
            figures = self._counted[1]
            return Judged.ranked(figures[:, 0], figures[:, 1:], self.cells.nonzero)
        return judged_listing(self, most, reading)


def judged_listing(table: MagnitudeTable, most: int, reading: str) -> Judged:
    """The largest contributions from the whole list: with weights, requests or waivers."""
    listing, cells = table.listing, table.cells
    size = max(most, int(np.diff(listing.start).max(initial=1)) if listing.waived.any() else most)
    top = np.zeros((len(cells), size), dtype=np.int64)
    asked, waived = np.zeros(top.shape, dtype=bool), np.zeros(top.shape, dtype=bool)
    total = np.zeros(len(cells), dtype=np.int64)
    shadow = table.rows.shadow is not table.rows.own
    for number in range(len(cells)):
        part = listing.of(number)
        value = np.abs(listing.judged[part])
        whole = value if shadow else np.abs(listing.weighted[part])
        total[number] = whole.sum()
        if table.weighted and reading == "known":
            value = whole
        order = np.lexsort((listing.holding[part], -value))[:size]
        if table.weighted and reading == "replicate":
            order, copies = _copies(value, whole, size)
            top[number, : len(order)] = copies
        else:
            top[number, : len(order)] = value[order]
        asked[number, : len(order)] = listing.asked[part][order]
        waived[number, : len(order)] = listing.waived[part][order]
    return Judged(total, top, cells.nonzero, asked, waived)


def _copies(value: Ints, whole: Ints, most: int) -> tuple[Ints, Ints]:
    """The largest copies of contributions that stand for several, each with whose it is.

    The last copy of a contribution may be a fraction of it.
    """
    at: list[int] = []
    copies: list[int] = []
    for one in np.flatnonzero(value > 0).tolist():
        left, size = int(whole[one]), int(value[one])
        for _ in range(most):
            if left <= 0:
                break
            at.append(one)
            copies.append(min(size, left))
            left -= size
    ranked = np.argsort(-np.array(copies, dtype=np.int64), kind="stable")[:most]
    return np.array(at, dtype=np.int64)[ranked], np.array(copies, dtype=np.int64)[ranked]


Counted = tuple[Ints, Ints, Ints]
"""Cells, their figures (figures, cells) and their largest contributions (cells, TOPS)."""


def _put_together(one: Counted, other: Counted) -> Counted:
    """What is counted of different holdings in the same cells."""
    cells = np.union1d(one[0], other[0])
    figures = np.zeros((len(other[1]), len(cells)), dtype=np.int64)
    tops = np.zeros((len(cells), 2 * TOPS), dtype=np.int64)
    for first, (at, counted, ranked) in ((0, one), (TOPS, other)):
        place = np.searchsorted(cells, at)
        figures[:, place] += counted
        tops[place, first : first + TOPS] = ranked
    return cells, figures, -np.sort(-tops, axis=1)[:, :TOPS]


def _figures(part: Listing) -> Ints:
    """Value, units, holdings, holdings that are not zero, and the sum of sizes that rules go by."""
    at = part.start[:-1]
    whole = part.weighted if part.judged is part.own else part.judged
    return np.array(
        [
            np.add.reduceat(part.weighted, at),
            np.add.reduceat(part.units, at),
            np.diff(part.start),
            np.add.reduceat((part.own != 0).astype(np.int64), at),
            np.add.reduceat(np.abs(whole), at),
        ]
    )


def _largest(part: Listing, most: int) -> Ints:
    """The largest sizes of each cell, int64 (cells, most), 0 where there are fewer."""
    left = np.abs(part.judged)
    at, lengths = part.start[:-1], np.diff(part.start)
    cell = np.repeat(np.arange(len(at)), lengths)
    out = np.zeros((len(at), most), dtype=np.int64)
    for rank in range(most):
        out[:, rank] = np.maximum.reduceat(left, at)
        if rank + 1 < most:
            here = np.flatnonzero(left == out[cell, rank])
            left[here[starts_of_runs(cell[here])]] = 0
    return out
