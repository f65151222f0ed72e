"""A table of sums with its contributors: every cell counted anew from the contributions."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import product

import numpy as np

from tabprotect.engine.arrays import Bools, Ints
from tabprotect.engine.equal_rows import (
    largest_by_key,
    largest_of_sorted,
    order_of_keys,
    place_among,
    spread,
    starts_of_runs,
    sums_by_key,
)
from tabprotect.engine.errors import InputError, ParameterError
from tabprotect.engine.magnitudes.tables.contributions import (
    TOPS,
    Cells,
    ContributionList,
    Contributions,
    copies,
    figures_of,
    largest_of,
    put_together,
    stated_listing,
)
from tabprotect.engine.magnitudes.tables.largest_only import LargestOnly
from tabprotect.engine.sensitivity.rule import CellContributions
from tabprotect.engine.tables.domain import Domain
from tabprotect.engine.tables.table import Table
from tabprotect.engine.tables.variable import AT, Variable, cell_at
from tabprotect.languages.messages import message

WHOLE = 1_000_000
"""The weight of a unit that stands for itself alone, in millionths."""


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
    largest
        What is stated of each cell where the largest contributions are named only; ``rows`` holds
        them for the finest cells, each of a holding of its own. ``None`` where all are known.
    given
        What was decided of cells before, as the lines of an a priori file.
    """

    variables: tuple[Variable, ...]
    measure: str
    decimals: int
    rows: Contributions
    names: Sequence[str]
    weighted: bool = False
    largest: LargestOnly | None = None
    given: str = ""

    @cached_property
    def strides(self) -> Ints:
        """Return what one node further is worth in a cell's key, by variable."""
        sizes = [len(variable.nodes) for variable in self.variables]
        return np.array([int(np.prod(sizes[n + 1 :])) for n in range(len(sizes))], dtype=np.int64)

    @property
    def signed(self) -> bool:
        """Return True if anything is negative."""
        return bool(len(self.rows.own)) and int(self.rows.own.min()) < 0

    def row_keys(self, codes: Ints) -> Iterator[Ints]:
        """The cell that rows of these codes (variables, rows) fall into, for each combination of depths."""
        for chosen in product(*(range(len(variable.depths)) for variable in self.variables)):
            key = np.zeros(codes.shape[1], dtype=np.int64)
            for variable, depth, code, stride in zip(
                self.variables, chosen, codes, self.strides, strict=True
            ):
                key += variable.depths[depth][code] * stride
            yield key

    def keys_at_all_depths(self, codes: Ints) -> Ints:
        """The same for all combinations at once, int64 (combinations, rows): for few rows."""
        keys = np.zeros((1, codes.shape[1]), dtype=np.int64)
        for variable, code, stride in zip(self.variables, codes, self.strides, strict=True):
            deeper = keys[:, None, :] + variable.depths[:, code][None] * stride
            keys = deeper.reshape(-1, codes.shape[1])
        return keys

    def rows_of(self, holding: int) -> Ints:
        """The rows of one holding."""
        first, last = self._holding_starts[holding : holding + 2].tolist()
        return self._by_holding[first:last]

    @cached_property
    def _holding_starts(self) -> Ints:
        """Return where the rows of each holding begin among those by holding."""
        numbers = np.arange(len(self.names) + 1)
        return np.searchsorted(self.rows.holding[self._by_holding], numbers).astype(np.int64)

    @cached_property
    def _single(self) -> bool:
        """Return True if each row is one unit."""
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

    def _grouped(self, key: Ints, chosen: Ints) -> ContributionList:
        """Put rows together by cell and holding, in the order of their holdings.

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
        return ContributionList(
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
        sizes = tuple(len(variable.nodes) for variable in self.variables)
        nodes = np.array(np.unravel_index(key, sizes), dtype=np.int64)
        cost = figures[0] if self.rows.cost is self.rows.own else self._costs(key)
        value, units, holdings, nonzero = figures[:4]
        if self.largest is not None:
            units = holdings = self.largest.n
            nonzero, tops = self.largest.nonzero, self.largest.top
        return Cells(key, nodes, value, units, holdings, nonzero, cost), np.column_stack([figures[4], tops])

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
        # Every cell comes once for each of its largest contributions, once at least.
        place, sizes = np.repeat(np.arange(len(cells)), TOPS), tops.reshape(-1)
        kept = np.flatnonzero((sizes > 0) | (np.arange(len(sizes)) % TOPS == 0))
        falling = kept[np.argsort(-sizes[kept], kind="stable")]
        place, sizes = place[falling], sizes[falling]
        coarser = zip(self.row_keys(rows.codes[:, shared]), self.row_keys(codes), strict=True)
        for pooled, single in coarser:
            part = self._grouped(pooled, shared)
            at, counted = sums_by_key(single, columns)
            _, ranked = largest_of_sorted(single[place], sizes, TOPS)
            yield put_together((part.cell, figures_of(part), largest_of(part, TOPS)), (at, counted, ranked))

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
    def listing(self) -> ContributionList:
        """The contributions to every cell, in the order of the cells: large."""
        return self.listing_of(np.arange(len(self.cells)))

    def listing_of(self, cells: Ints) -> ContributionList:
        """The contributions to some cells, by their numbers, which rise."""
        if self.largest is not None:
            return stated_listing(self.largest, self.cells, cells)
        codes, order, start = self._finest
        wanted = self.cells.key[cells]
        places, combinations = [], []
        for key in self.row_keys(codes):
            place = place_among(wanted, key)
            here = np.flatnonzero(place >= 0)
            places.append(place[here])
            combinations.append(here)
        place, combination = np.concatenate(places), np.concatenate(combinations)
        lengths = start[combination + 1] - start[combination]
        rows = order[spread(start[combination], lengths)]
        by_holding = order_of_keys(self.rows.holding[rows])
        found = self._grouped(np.repeat(place, lengths)[by_holding], rows[by_holding])
        return replace(found, cell=wanted)

    @cached_property
    def _finest(self) -> tuple[Ints, Ints, Ints]:
        """The finest combinations that have rows, int64 (variables, combinations), the rows in
        their order, and where those of each begin.
        """
        shape = tuple(len(variable.categories) for variable in self.variables)
        key = np.ravel_multi_index(tuple(self.rows.codes), shape).astype(np.int64)
        order = order_of_keys(key)
        start = starts_of_runs(key[order])
        codes = np.array(np.unravel_index(key[order[start]], shape), dtype=np.int64)
        return codes, order, np.append(start, len(key))

    def number(self, index: Mapping[str, str]) -> int:
        """The cell that an index names; variables that it leaves out are totals.

        Raises
        ------
        InputError
            For an unknown variable, level or category, and for a cell without records.
        """
        left = dict(index)
        key = 0
        for variable, stride in zip(self.variables, self.strides, strict=True):
            name = variable.name
            given = [entry for entry in left if entry.partition(AT)[0] == name]
            node = len(variable.nodes) - 1 if not given else variable.node(given[0], left.pop(given[0]))
            key += node * int(stride)
        if left:
            raise InputError(
                message("the table has no variable {name}", repr(next(iter(left)))),
                hint=message("it has {names}", ", ".join(v.name for v in self.variables)),
            )
        number = int(np.searchsorted(self.cells.key, key))
        if number == len(self.cells) or self.cells.key[number] != key:
            raise InputError(message("the cell {index} has no records", dict(index)))
        return number

    def at_nodes(self, nodes: Sequence[int]) -> int | None:
        """The cell at a node of each variable; ``None`` without records."""
        return cell_at(self.cells.key, self.variables, nodes)

    def index(self, number: int) -> dict[str, str]:
        """A cell by its variables, levels as ``variable@level``."""
        nodes = self.cells.nodes[:, number]
        return dict(variable.entries[int(node)] for variable, node in zip(self.variables, nodes, strict=True))

    def shown(self, value: int) -> int | float:
        """A value as it is published."""
        return int(value) if self.decimals == 0 else int(value) / 10**self.decimals

    def judged(self, most: int, reading: str = "sample") -> CellContributions:
        """Return what rules look at, with the largest contributions of each cell.

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
                message("weights are read in three ways, not {reading}", repr(reading)),
                hint=message("choose sample, replicate or known"),
            )
        if reading != "sample" and not self.weighted:
            raise ParameterError({"weights": message("the table has none")})
        plain = reading == "sample"
        named = TOPS if self.largest is None else self.largest.ranks
        if self.largest is not None and most > named:
            raise ParameterError(
                {
                    "rule": message(
                        "a rule looks at {most} contributions of a cell, the table names {named}", most, named
                    )
                },
                hint=message("take another rule, or tabulate the records themselves"),
            )
        if plain and most <= named and not self.rows.asked.any() and not self.rows.waived.any():
            figures = self._counted[1]
            return CellContributions.ranked(figures[:, 0], figures[:, 1:], self.cells.nonzero)
        return judged_listing(self, most, reading)


def judged_listing(table: MagnitudeTable, most: int, reading: str) -> CellContributions:
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
            order, ranked = copies(value, whole, size)
            top[number, : len(order)] = ranked
        else:
            top[number, : len(order)] = value[order]
        asked[number, : len(order)] = listing.asked[part][order]
        waived[number, : len(order)] = listing.waived[part][order]
    return CellContributions(total, top, cells.nonzero, asked, waived)
