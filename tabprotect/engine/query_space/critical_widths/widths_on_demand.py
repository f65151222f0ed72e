"""Widths of a query space too large to list: each margin is looked at when it is asked for."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from tabprotect.engine.arrays import Ints
from tabprotect.engine.query_space.critical_widths.at_risk import AtRiskCells
from tabprotect.engine.query_space.critical_widths.widths import Widths, parsimonious_bounds
from tabprotect.engine.query_space.lattice import Query


@dataclass(frozen=True, repr=False)
class AskedWidths(Widths):
    """:class:`Widths` with nothing listed: ``values`` and ``smallest`` are empty."""

    cells: AtRiskCells
    _known: dict[Query, int] = field(default_factory=dict)
    _floor: list[Query] = field(default_factory=list)

    @classmethod
    def of(cls, cells: AtRiskCells) -> AskedWidths:
        """Build it for the given at-risk cells."""
        nothing = np.zeros(0, dtype=np.int64)
        return cls(cells.lattice, nothing, nothing, cells)

    def __getitem__(self, query: Query) -> int:
        upper, lower = parsimonious_bounds(self.cells, self.lattice.closed(query))
        return int((upper - lower).min())

    def smallest_at(self, queries: Ints | Sequence[Query]) -> Ints:
        given = np.asarray(queries, dtype=np.int64)
        found, where = np.unique(given, return_inverse=True)
        own = [self._smallest(self.lattice.closed(int(query))) for query in found]
        return np.array(own, dtype=np.int64)[where].reshape(given.shape)

    def _smallest(self, query: Query) -> int:
        known = self._known.get(query)
        if known is None:
            lowest = self.cells.lowest
            if any(small & query == small for small in self._floor):
                # Counts never grow with the margin.
                return lowest
            known = self._known[query] = int(self.cells.counts_at(query).min())
            if known == lowest:
                self._floor.append(query)
        return known
