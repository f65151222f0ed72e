"""Cells of a two-way table that the corners of a rectangle let move, many cells at a time.

A cell in row i and column j rises by a need where some (i, c) and (r, j) can fall by it and (r, c)
can rise. How many such pairs of a row r and a column c there are is a product of two matrices, less
the pairs that use row i or column j themselves; so no rectangle is looked at by itself.
"""

from __future__ import annotations

import numpy as np

from tabprotect.engine.arrays import Bools, Floats, Ints

DIFFERENT = 6
"""Needs that are looked at one by one; of more, a cell is asked for the next power of two."""


def in_rectangles(
    at: tuple[Ints, Ints], needs: Ints, movable: Bools, fall: Ints, rise: Ints
) -> Bools:
    """Whether there is a rectangle of movable cells that lets each cell rise by its need.

    Where the needs differ much it may say no though there is one.

    Parameters
    ----------
    at : int64 (cells,) each
        Rows and columns of the cells; they need not be movable.
    needs : int64 (cells,)
    movable : bool (rows, columns)
    fall, rise : int64 (rows, columns)
        By how much each cell of the table can fall and rise.

    Returns
    -------
    bool (cells,)
    """
    found = np.zeros(len(needs), dtype=np.bool_)
    if len(np.unique(needs)) > DIFFERENT:
        needs = 2 ** np.ceil(np.log2(np.maximum(needs, 1))).astype(np.int64)
    for need in np.unique(needs):
        mine = np.flatnonzero(needs == need)
        rows, columns = at[0][mine], at[1][mine]
        falls = (movable & (fall >= need)).astype(np.float64)
        rises = (movable & (rise >= need)).astype(np.float64)
        found[mine] = _pairs(falls, rises)[rows, columns] > 0.5
    return found


def _pairs(falls: Floats, rises: Floats) -> Floats:
    """Of each cell (i, j), how many (r, c) beside its row and column have all three corners."""
    if falls.shape[0] < falls.shape[1]:
        return _pairs(falls.T, rises.T).T
    # Of each column c and j: rows r with (r, c) rising and (r, j) falling.
    between = rises.T @ falls
    np.fill_diagonal(between, 0.0)
    both = falls * rises
    # Row i itself: all its columns but j that fall and rise, where (i, j) falls, too.
    own = falls * (both.sum(axis=1, keepdims=True) - both)
    pairs: Floats = falls @ between - own
    return pairs
