"""The at-risk cells of one table, and the counts of every margin at them. Confidential."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Sequence
from functools import cached_property

import numpy as np

from tabprotect.engine.arrays import Ints
from tabprotect.engine.budgets import CACHE_BYTES, DENSE_LIMIT
from tabprotect.engine.errors import InputError
from tabprotect.engine.query_space.lattice import Lattice, Query, bits
from tabprotect.engine.query_space.margin_minima import at_risk_sums, summable
from tabprotect.engine.sensitivity.judged_cells import Judged, judged_counts
from tabprotect.engine.sensitivity.small_count import SmallCount
from tabprotect.engine.tables.domain import Index
from tabprotect.engine.tables.table import Table


class AtRiskCells:
    """The cells that a criterion looks at, and those of a table that are not zero after them.

    Attributes
    ----------
    table, at_risk
        The original and what calls a cell at risk.
    judged
        Which cells a criterion looks at.
    rule
        Their counts: those at risk, or any.
    lattice
        The table's query space.
    codes : int64 (K, cells)
        Category numbers; the first ``size`` columns are those looked at, in the table's order.
    counts : int64 (cells,)
    size
        m, the number of cells that are looked at.

    Raises
    ------
    InputError
        When no cell is at risk, when a count is negative, or when zeros count as at risk in a
        table too large to list them.
    """

    def __init__(self, table: Table, at_risk: SmallCount, judged: Judged = "at_risk") -> None:
        self.table, self.at_risk, self.judged = table, at_risk, judged
        self.rule = rule = judged_counts(at_risk, judged, table.total)
        self.lattice = Lattice(table.domain.names)
        if table.has_negative:
            raise InputError("an original count is negative", hint="bounds are for counts from 0")
        keys, counts = _cells(table, rule)
        risky = rule.mask(counts)
        if not risky.any():
            raise InputError(
                f"no cell of the table has a count in {rule}: there is nothing at risk",
                hint="declare other counts at risk, for example 1..3",
            )
        order = np.concatenate([np.flatnonzero(risky), np.flatnonzero(~risky)])
        self.counts: Ints = counts[order]
        self.codes: Ints = np.empty((table.domain.ndim, len(keys)), dtype=np.int64)
        rest = keys[order]
        for v in reversed(range(table.domain.ndim)):
            rest, self.codes[v] = np.divmod(rest, table.domain.shape[v])
        self.size = int(risky.sum())
        self.total = table.total
        self._numbers = summable(self.counts)
        self._kept: OrderedDict[Query, Ints] = OrderedDict()
        self._room = max(8, CACHE_BYTES // (8 * self.size))

    @cached_property
    def smallest_single(self) -> tuple[int, ...]:
        """The smallest count of each one-way margin at an at-risk cell."""
        return tuple(int(self.counts_at(1 << v).min()) for v in range(self.lattice.variables))

    def index(self, cell: int) -> Index:
        """The at-risk cell number ``cell`` as categories by number."""
        return tuple(int(code) for code in self.codes[:, cell])

    def text(self, cells: Sequence[int] | Ints, limit: int = 5) -> str:
        """At-risk cells for people of the house, the first few by name."""
        domain = self.table.domain
        named = [domain.cell_text(self.index(int(cell))) for cell in cells[:limit]]
        more = len(cells) - len(named)
        return ", ".join(named) + (f" and {more:,} more" if more > 0 else "")

    def counts_at(self, query: Query) -> Ints:
        """The margin's count at each at-risk cell (m,), read-only."""
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
        key, size = np.zeros(len(self.counts), dtype=np.int64), 1
        for v in bits(query):
            key *= self.table.domain.shape[v]
            key += self.codes[v]
            size *= self.table.domain.shape[v]
        return at_risk_sums(key, size, self._numbers, self.size)


def _cells(table: Table, rule: SmallCount) -> tuple[Ints, Ints]:
    if rule.low > 0:
        return table.cells
    if table.domain.size > DENSE_LIMIT:
        raise InputError(
            f"zeros cannot be looked at in a table of {table.domain.size:,} cells",
            hint="declare counts from 1 at risk, and look at the at-risk cells alone",
        )
    counts = table.counts.reshape(-1)
    keys = np.flatnonzero((counts > 0) | rule.mask(counts)).astype(np.int64)
    return keys, counts[keys]
