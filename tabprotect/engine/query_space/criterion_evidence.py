"""The evidence of a criterion: the at-risk cells and the widths of one table. Confidential."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Literal

import numpy as np

from tabprotect.engine.arrays import Bools, Floats, Ints
from tabprotect.engine.options import Measure
from tabprotect.engine.plain_values.encoding import Encodable
from tabprotect.engine.progress import SILENT, Progress
from tabprotect.engine.protection.margins.margin_safety import MOST_TIGHT
from tabprotect.engine.query_space.critical_widths.at_risk import AtRiskCells
from tabprotect.engine.query_space.critical_widths.widths import Widths, critical_widths, parsimonious_bounds
from tabprotect.engine.query_space.lattice import Lattice, Query
from tabprotect.engine.sensitivity.small_count import Judged, SmallCount
from tabprotect.engine.tables.bit_sets import union
from tabprotect.engine.tables.table import Table
from tabprotect.engine.workers.spreading import Workers


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


Verdict = Literal["safe", "bad", "unknown"]


@dataclass(frozen=True, repr=False)
class TightCell(Encodable):
    """An at-risk cell whose bounds are too close. Confidential."""

    index: tuple[int, ...]
    text: str
    count: int | float
    lower: int | float
    upper: int | float
    json_keys = "index cell=text count lower upper"

    @property
    def width(self) -> int | float:
        """Upper minus lower bound."""
        return self.upper - self.lower


@dataclass(frozen=True)
class RiskJudgement:
    """A judgement of the risk of a release.

    Attributes
    ----------
    verdict
        ``safe`` and ``bad`` are proved; ``unknown`` refuses like ``bad``.
    width
        The criterion's figure, larger being safer; an upper limit unless ``exact``.
    exact
        Whether ``width`` is proved to be the true figure.
    bounds
        The way in which it was found.
    tight
        The cells below the threshold, the tightest first.
    """

    verdict: Verdict
    width: int
    exact: bool
    bounds: str
    tight: tuple[TightCell, ...] = ()


@dataclass(frozen=True)
class MarginScreening:
    """Cheap verdicts on many releases at once: proved safe, proved bad, or neither.

    Attributes
    ----------
    safe, bad : bool (n,)
    """

    safe: Bools
    bad: Bools


@dataclass(frozen=True, repr=False)
class Evidence:
    """A table's at-risk cells, with the counts of every margin at them."""

    cells: AtRiskCells
    widths: Widths

    @classmethod
    def gather(
        cls,
        table: Table,
        rule: SmallCount,
        *,
        cells: Judged = "at_risk",
        asked: bool = False,
        workers: Workers = None,
        progress: Progress = SILENT,
    ) -> Evidence:
        """Look at every margin of a table once (see ``critical_widths``).

        Parameters
        ----------
        cells
            The cells that must be kept from being worked out.
        asked
            If margins are too many to list, look at each only when it is asked for.
        """
        found = AtRiskCells(table, rule, cells)
        if asked and not found.lattice.listed:
            return cls(found, AskedWidths.of(found))
        return cls(found, critical_widths(found, workers=workers, progress=progress))

    @property
    def lattice(self) -> Lattice:
        """The query space."""
        return self.widths.lattice

    @property
    def measure(self) -> Measure:
        """Return what the table holds."""
        return "counts"

    @property
    def table(self) -> Table:
        """The table whose sub-tables are released."""
        return self.cells.table

    def shown(self, numbers: Ints) -> Ints | Floats:
        """Numbers of the table in the unit that they are published in."""
        return numbers

    def stated(self) -> dict[str, object]:
        """Return what is looked at, as JSON values."""
        return {"at_risk": str(self.cells.at_risk), "cells": self.cells.judged}

    def tight_cells(self, upper: Ints, lower: Ints, threshold: int) -> tuple[TightCell, ...]:
        """At-risk cells whose bounds (m,) are closer than the threshold, the tightest first."""
        width = upper - lower
        found = np.flatnonzero(width < threshold)
        found = found[np.argsort(width[found], kind="stable")][:MOST_TIGHT]
        cells, domain = self.cells, self.cells.table.domain
        return tuple(
            TightCell(
                cells.index(int(cell)),
                domain.cell_text(cells.index(int(cell))),
                int(cells.counts[cell]),
                int(lower[cell]),
                int(upper[cell]),
            )
            for cell in found
        )

    def smallest_of(self, queries: Iterable[Query]) -> Ints:
        """Each at-risk cell's smallest count in any of the given margins (m,)."""
        counts = np.full(self.cells.size, self.cells.total, dtype=np.int64)
        for query in queries:
            np.minimum(counts, self.cells.counts_at(query), out=counts)
        return counts

    def decomposable_bounds(self, cliques: Sequence[Query], separators: Sequence[Query]) -> tuple[Ints, Ints]:
        """Lower and upper bound of each at-risk cell (m,): closed form, sharp.

        The sums need every variable: a cell that shares everything known with another one has no
        lower bound but zero.
        """
        upper = self.smallest_of(cliques)
        lower = np.zeros(self.cells.size, dtype=np.int64)
        for clique in cliques:
            lower += self.cells.counts_at(clique)
        for separator in separators:
            lower -= self.cells.counts_at(separator)
        lower[self.cells.open_at(union(cliques))] = 0
        return np.maximum(lower, 0), upper
