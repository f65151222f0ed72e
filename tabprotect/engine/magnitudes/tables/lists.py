"""The contributions to cells that were asked for, kept for the next time."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tabprotect.engine.arrays import Bools, Ints
from tabprotect.engine.equal_rows import spread
from tabprotect.engine.magnitudes.tables.contributions import ContributionList
from tabprotect.engine.magnitudes.tables.magnitude_table import MagnitudeTable


@dataclass(frozen=True, eq=False)
class Put:
    """The contributions put into some cells. Confidential.

    Attributes
    ----------
    holding : int64 (contributions,)
    known : int64 (contributions,)
        What each knows that he put in.
    weighted : int64 (contributions,)
    asked, waived : bool (contributions,)
    """

    holding: Ints
    known: Ints
    weighted: Ints
    asked: Bools
    waived: Bools


class Lists:
    """The contributors of each cell, read as far as it is asked for.

    Parameters
    ----------
    whole
        Whether contributors know their weighted contributions.
    """

    def __init__(self, table: MagnitudeTable, *, whole: bool) -> None:
        self._table, self._whole = table, whole
        self._read: list[ContributionList] = []
        size = len(table.cells)
        self._which = np.full(size, -1, dtype=np.int32)
        self._place = np.zeros(size, dtype=np.int64)

    def read(self, cells: Ints) -> None:
        """Read those of some cells that were not read, at once."""
        missing = np.unique(cells[self._which[cells] < 0])
        if len(missing):
            self._which[missing] = len(self._read)
            self._place[missing] = np.arange(len(missing))
            self._read.append(self._table.listing_of(missing))

    def lengths(self, cells: Ints) -> Ints:
        """Return how many contribute to each."""
        return self._table.cells.holdings[cells]

    def of(self, cell: int) -> Put:
        """The contributions to one cell."""
        if self._which[cell] < 0:
            self.read(np.array([cell]))
        listing = self._read[int(self._which[cell])]
        return self._put(listing, listing.of(int(self._place[cell])))

    def gathered(self, cells: Ints) -> tuple[Put, Ints]:
        """The contributions to cells, one after the other, and how many each has."""
        self.read(cells)
        lengths = self.lengths(cells)
        if len(self._read) == 1:
            listing = self._read[0]
            at = spread(listing.start[self._place[cells]], lengths)
            return self._put(listing, at), lengths
        begins = np.cumsum(lengths) - lengths
        size = int(lengths.sum())
        holding, known, weighted = np.zeros((3, size), dtype=np.int64)
        asked, waived = np.zeros((2, size), dtype=bool)
        for number, listing in enumerate(self._read):
            here = np.flatnonzero(self._which[cells] == number)
            if len(here):
                at = spread(listing.start[self._place[cells[here]]], lengths[here])
                to = spread(begins[here], lengths[here])
                put = self._put(listing, at)
                holding[to], known[to], weighted[to] = put.holding, put.known, put.weighted
                asked[to], waived[to] = put.asked, put.waived
        return Put(holding, known, weighted, asked, waived), lengths

    def _put(self, listing: ContributionList, at: Ints | slice) -> Put:
        known = listing.weighted if self._whole else listing.own
        return Put(
            listing.holding[at], known[at], listing.weighted[at], listing.asked[at], listing.waived[at]
        )
