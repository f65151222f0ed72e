"""The at-risk cells of one table, and the counts of every margin at them. Confidential."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Sequence

import numpy as np

from tabprotect.engine.arrays import AnyInts, Bools, Ints
from tabprotect.engine.budgets import CACHE_BYTES, DENSE_LIMIT
from tabprotect.engine.errors import InputError
from tabprotect.engine.query_space.critical_widths.smallest_counts import at_risk_sums, summable
from tabprotect.engine.query_space.lattice import Lattice, Query
from tabprotect.engine.sensitivity.small_count import Judged, SmallCount, judged_counts
from tabprotect.engine.tables.bit_sets import bits
from tabprotect.engine.tables.domain import Index
from tabprotect.engine.tables.possible import possible
from tabprotect.engine.tables.table import Table
from tabprotect.engine.tables.wide_table import numbered
from tabprotect.languages.messages import message


class AtRiskCells:
    """The cells that a criterion looks at, followed by the table's other cells that are not zero.

    Attributes
    ----------
    table, at_risk
        The original, and the rule that calls a cell at risk.
    judged
        The choice of the cells that a criterion looks at.
    rule
        Rule for their counts: those at risk, or any.
    lattice
        The table's query space.
    codes : whole numbers (K, cells)
        Category numbers by bit of the lattice; the first ``size`` columns are the cells looked at,
        in the table's order.
    counts : int64 (cells,)
    size
        m, the number of cells looked at.
    lowest
        The smallest of their counts.

    Raises
    ------
    InputError
        If no cell is at risk, a count is negative, or zeros count as at risk in a table too large
        to list them.
    """

    def __init__(self, table: Table, at_risk: SmallCount, judged: Judged = "at_risk") -> None:
        self.table, self.at_risk, self.judged = table, at_risk, judged
        self.rule = rule = judged_counts(at_risk, judged, table.total)
        self.lattice = Lattice.of(table.domain)
        if table.has_negative:
            raise InputError(
                message("an original count is negative"), hint=message("bounds are for counts from 0")
            )
        columns, counts = _cells(table, rule)
        risky = rule.mask(counts)
        if not risky.any():
            raise InputError(
                message("no cell of the table has a count in {rule}: there are no small counts", rule),
                hint=message("declare other small counts, for example 1..3"),
            )
        order = np.concatenate([np.flatnonzero(risky), np.flatnonzero(~risky)])
        self.counts: Ints = counts[order]
        self.sizes = tuple(len(table.domain[name].categories) for name in self.lattice.names)
        # As narrow as few categories allow: these codes are most of what is held per cell.
        narrow = np.min_scalar_type(max(self.sizes, default=1))
        self.codes: AnyInts = np.empty((self.lattice.variables, len(counts)), dtype=narrow)
        for column, axis in zip(columns, self.lattice.axes, strict=True):
            own = column[order]
            for v in bits(axis):
                level = table.domain.place(self.lattice.names[v])[1]
                self.codes[v] = own if level is None else level.codes[own]
        self.size = int(risky.sum())
        self.lowest = int(self.counts[: self.size].min())
        self.total = table.total
        self._numbers = summable(self.counts)
        self._kept: OrderedDict[Query, Ints] = OrderedDict()
        self._together: dict[tuple[int, Query], Bools] = {}
        self._tied = [
            (one, np.ravel_multi_index([self.codes[self._last(name), : self.size]
                                        for name in one.domain.names], one.domain.shape))
            for one in possible(table.domain)
        ]  # fmt: skip
        self._room = max(8, CACHE_BYTES // (8 * self.size))

    def index(self, cell: int) -> Index:
        """The at-risk cell number ``cell`` as categories by number."""
        return tuple(int(self.codes[axis.bit_length() - 1, cell]) for axis in self.lattice.axes)

    def open_at(self, known: Query) -> Bools:
        """Mask (m,) of the at-risk cells that share all that some levels tell with another cell.

        A structural zero does not count as another cell.
        """
        out = np.zeros(self.size, dtype=np.bool_)
        tied = 0
        for one, cells in self._tied:
            axes = [self.lattice.axes[self.table.domain.axis(n)] for n in one.domain.names]
            tied |= sum(axes)
            if not all(known >> axis.bit_length() - 1 & 1 for axis in axes):
                names_known = [n for axis in axes for n in self.lattice.names_of(known & axis)]
                out |= one.shared(names_known)[cells]
        for number, axis in enumerate(self.lattice.axes):
            last = axis.bit_length() - 1
            if (known | tied) >> last & 1:
                continue
            shared = self._shared(number, known & axis)
            if shared.all():
                return np.ones(self.size, dtype=np.bool_)
            if shared.any():
                out |= shared[self.codes[last, : self.size]]
        return out

    def _last(self, name: str) -> int:
        """The bit of the variable itself, its finest level."""
        return self.lattice.axes[self.table.domain.axis(name)].bit_length() - 1

    def _shared(self, number: int, known: Query) -> Bools:
        """Mask of a variable's categories that share all that some levels tell with another one."""
        found = self._together.get((number, known))
        if found is None:
            variable = self.table.domain.variables[number]
            group = np.zeros(len(variable.categories), dtype=np.int64)
            for v in bits(self.lattice.finest(known)):
                level = self.table.domain.place(self.lattice.names[v])[1]
                assert level is not None
                group = group * self.sizes[v] + level.codes
            _, inverse, sizes = np.unique(group, return_inverse=True, return_counts=True)
            found = self._together[number, known] = sizes[inverse.reshape(-1)] > 1
        return found

    def text(self, cells: Sequence[int] | Ints, limit: int = 5) -> str:
        """At-risk cells for people of the house, the first few by name."""
        domain = self.table.domain
        named = [domain.cell_text(self.index(int(cell))) for cell in cells[:limit]]
        more = len(cells) - len(named)
        return ", ".join(named) + (message(" and {more:,} more", more) if more > 0 else "")

    def counts_at(self, query: Query) -> Ints:
        """The margin's count at each at-risk cell (m,), read-only."""
        query = self.lattice.finest(query)
        found = self._kept.get(query)
        if found is not None:
            self._kept.move_to_end(query)
            return found
        out = self._margin(query)
        out.flags.writeable = False
        self._kept[query] = out
        if len(self._kept) > self._room:
            self._kept.popitem(last=False)
        return out

    def _margin(self, query: Query) -> Ints:
        if not query:
            return np.full(self.size, self.total, dtype=np.int64)
        chosen = list(bits(query))
        key, limit = numbered(
            (self.codes[v] for v in chosen), (self.sizes[v] for v in chosen), len(self.counts)
        )
        return at_risk_sums(key, limit, self._numbers, self.size)


def _cells(table: Table, rule: SmallCount) -> tuple[Sequence[AnyInts], Ints]:
    if rule.low > 0:
        return table.listed
    if table.domain.size > DENSE_LIMIT:
        raise InputError(
            message("zeros cannot be looked at in a table of {size:,} cells", table.domain.size),
            hint=message("declare counts from 1 small, and look at these alone"),
        )
    counts = table.counts.reshape(-1)
    # Structural zeros are public: nothing has to be kept apart there.
    looked_at = ((counts > 0) | rule.mask(counts)) & ~table.domain.structural_cells()
    keys = np.flatnonzero(looked_at).astype(np.int64)
    return np.unravel_index(keys, table.domain.shape), counts[keys]
