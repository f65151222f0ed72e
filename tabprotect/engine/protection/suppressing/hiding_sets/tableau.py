"""Changes of hidden numbers, written in terms of a few that move freely: how far one can be pushed.

The equations of the published numbers are solved once for each hiding set: every hidden number is a
sum of those that are left free (a tableau). A push begins where nothing moves, which is always
possible, and goes on by pivots of the simplex method until the number has moved as far as is asked,
so that no other programme is solved for what holds. A push that ends before proves nothing: rounding
adds up over many pivots.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from tabprotect.engine.arrays import Bools, Floats, Ints
from tabprotect.engine.protection.suppressing.hiding_sets import pivots

if TYPE_CHECKING:
    from scipy.sparse import csr_array

MOST_PIVOTS = 200
"""Most pivots of a push."""

MOST_ENTRIES = 200_000
"""Most entries of a tableau: beyond, a sparse programme takes less."""


class Tableau:
    """The changes that a hiding set leaves open. Nothing confidential but which numbers are hidden.

    Parameters
    ----------
    sums : (numbers, cells)
        Which cells add up to each number.
    column : int64 (numbers,)
        The cell of a number that is one cell, else -1.
    hidden : bool (numbers,)
    bare : int64
        Cells that are no number, and move.
    """

    def __init__(self, sums: csr_array, column: Ints, hidden: Bools, bare: Ints) -> None:
        self.hidden = hidden.copy()
        one = column >= 0
        # A variable is a number, or behind the numbers a cell that is none.
        self._cells = np.concatenate([column[hidden & one], bare])
        moving = np.concatenate([np.flatnonzero(hidden & one), len(column) + np.arange(len(bare))])
        published = sums[np.flatnonzero(~hidden & ~one)][:, self._cells].toarray().astype(np.float64)
        published = published[published.any(axis=1)]
        # Short equations first: less is filled in.
        published = published[np.argsort((published != 0).sum(axis=1), kind="stable")].copy()
        pivot = np.full(len(published), -1, dtype=np.int64)
        pivots.solved(published, pivot)
        says = np.flatnonzero(pivot >= 0)
        free = np.setdiff1d(np.arange(len(moving)), pivot[says])
        totals = np.flatnonzero(hidden & ~one)
        inner = -published[says][:, free]
        whole = sums[totals][:, self._cells].toarray().astype(np.float64)
        self._entries = np.ascontiguousarray(
            np.vstack([inner, whole[:, free] + whole[:, pivot[says]] @ inner])
        )
        self._basic = np.concatenate([moving[pivot[says]], totals]).astype(np.int64)
        self._beside = moving[free].astype(np.int64)
        self._moving = moving
        self.work = len(says) * published.size

    @property
    def size(self) -> int:
        """The number of entries."""
        return self._entries.size

    def push(self, number: int, need: float, ends: tuple[Floats, Floats], cells: int) -> tuple[int, Floats]:
        """Push a number by ``need``, up or down: the pivots that took, -1 where it does not go so far.

        Parameters
        ----------
        ends : float64 (numbers and bare cells,)
            How far each may fall, at most 0, and rise.

        Returns
        -------
        The pivots, and the change of each of ``cells`` cells, float64 (cells,).
        """
        low, high = ends
        x = np.zeros(len(low))
        asked = self._basic, self._beside, low, high, x, number, need, MOST_PIVOTS
        taken = pivots.pushed(self._entries, *asked)
        change = np.zeros(cells)
        change[self._cells] = x[self._moving]
        return taken, change
