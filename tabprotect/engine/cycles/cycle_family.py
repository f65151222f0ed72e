"""A set of cycles from which each step takes one that runs through positive cells.

Cycles are padded to one length, so that many tables are handled side by side.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tabprotect.engine.arrays import Ints
from tabprotect.engine.tables.moves import MoveSet

FULL = 2**30
"""Count of the padding cell: it never blocks."""

MOST_NEIGHBOURS = 2**23
"""Most entries of the list of neighbours; beyond, all cycles are examined after each step."""


@dataclass(frozen=True, eq=False)
class Family:
    """Cycles over the cells they touch.

    Attributes
    ----------
    touched : int64 (touched,)
        Flat cells of the table that some cycle touches, ascending.
    cells : int64 (cycles, longest)
        Numbers within ``touched``; padded with ``len(touched)``.
    signs : int64 (cycles, longest)
        Padded with 0.
    """

    touched: Ints
    cells: Ints
    signs: Ints

    @classmethod
    def of(cls, moves: MoveSet) -> Family:
        """Build it from the cycles of a set."""
        touched, number = np.unique(moves.cells, return_inverse=True)
        lengths = np.diff(moves.starts)
        longest = int(lengths.max(initial=0))
        cells = np.full((len(moves), longest), len(touched), dtype=np.int64)
        signs = np.zeros((len(moves), longest), dtype=np.int64)
        real = np.arange(longest) < lengths[:, None]
        cells[real], signs[real] = number.reshape(-1), moves.signs
        return cls(touched, cells, signs)

    def __len__(self) -> int:
        return len(self.cells)

    def take(self, cycles: Ints) -> Family:
        """The cycles with the given numbers, over the same cells."""
        return Family(self.touched, self.cells[cycles], self.signs[cycles])

    def padded(self, counts: Ints) -> Ints:
        """Counts of the touched cells and of the padding cell, (touched + 1, ...)."""
        pad = np.full((1, *counts.shape[1:]), FULL, dtype=np.int64)
        return np.concatenate([counts, pad])

    def lowest(self, counts: Ints) -> Ints:
        """The smallest padded count on each cycle, (cycles, tables)."""
        low = counts[self.cells[..., 0]]
        for column in range(1, self.cells.shape[-1]):
            low = np.minimum(low, counts[self.cells[..., column]])
        return low

    def neighbours(self) -> Ints | None:
        """Cycles that share a cell with each cycle, itself among them; ``None`` if too many.

        int64 (cycles, most), padded with ``len(self)``.
        """
        # Imported late: scipy would be a third of the start-up time.
        from scipy.sparse import csr_array

        real = self.signs != 0
        row, _ = np.nonzero(real)
        touches = np.bincount(self.cells[real], minlength=len(self.touched))
        if int((touches.astype(np.float64) ** 2).sum()) > MOST_NEIGHBOURS:
            return None
        incidence = csr_array(
            (np.ones(len(row), dtype=np.int64), (row, self.cells[real])), shape=(len(self), len(self.touched))
        )
        shared = (incidence @ incidence.T).tocsr()
        length = np.diff(shared.indptr)
        out = np.full((len(self), int(length.max(initial=0))), len(self), dtype=np.int64)
        out[np.arange(out.shape[1]) < length[:, None]] = shared.indices
        return out
