"""The shuttle algorithm: bounds passed to and fro through sums until nothing changes.

Its bounds contain the true ones. They can prove a release bad, never safe.

Sources: Buzzigoli and Giusti 1999 (plain, over the cells); Dobra 2002, Dobra and Fienberg 2008
(generalised, over the cells of every margin).
"""

from __future__ import annotations

import math
from itertools import combinations

import numpy as np
import numpy.typing as npt

from tabprotect.engine.bounds.bounds import Bounds
from tabprotect.engine.bounds.support import MOST_CELLS, Support, support
from tabprotect.engine.errors import InputError
from tabprotect.engine.progress import SILENT, Progress
from tabprotect.engine.tables.margins import MarginSet
from tabprotect.engine.tables.table import Table

Ints = npt.NDArray[np.int64]

LATTICE_CELLS = 300_000
"""Cells of all margins together up to which the generalised form is used."""

EXACT_SUMS = 2**53
"""Sums below this are exact in double precision."""


def shuttle_bounds(
    table: Table, margins: MarginSet, cells: Ints, *, progress: Progress = SILENT
) -> Bounds:
    """Bounds by the generalised shuttle, or by the plain one where the table is large.

    Parameters
    ----------
    table
        The original. Every variable occurs in a margin.
    margins
        The released ones, none contained in another.
    cells : int64 (m,)
        Mixed-radix keys.

    Raises
    ------
    InputError
        When more than ``MOST_CELLS`` cells are open, or the counts are too large.
    """
    opened = support(table, margins, progress=progress)
    if opened is None:
        raise InputError(
            f"the margins leave more than {MOST_CELLS:,} cells open: too many for the shuttle",
            hint="release larger margins, or take fewer variables",
        )
    low, high = tighten(table, margins, opened, progress=progress)
    at = opened.positions(cells)
    lower, upper = opened.at(low, at), opened.at(high, at)
    return Bounds(
        cells,
        lower,
        upper,
        sharp=lower == upper,
        method="shuttle",
        why="Bounds by the shuttle algorithm contain the true ones: they can prove a release "
        "bad, never safe.",
    )


def fits(opened: Support) -> bool:
    """Whether all sums of bounds are exact."""
    return opened.total * max(len(opened.keys), 1) < EXACT_SUMS


def tighten(
    table: Table, margins: MarginSet, opened: Support, *, progress: Progress = SILENT
) -> tuple[Ints, Ints]:
    """Lower and upper bounds of the support's cells by the strongest form that fits.

    Raises
    ------
    InputError
        When sums of bounds would not be exact.
    """
    if not fits(opened):
        raise InputError(
            "the counts are too large for the shuttle algorithm",
            hint="release margins that are decomposable",
        )
    if math.prod(size + 1 for size in table.domain.shape) <= LATTICE_CELLS:
        low, high = _lattice(table, margins, progress)
        return low.reshape(-1)[opened.keys], high.reshape(-1)[opened.keys]
    return _plain(opened, progress)


def _plain(opened: Support, progress: Progress) -> tuple[Ints, Ints]:
    rows, totals = opened.rows.T, opened.totals
    low = np.zeros(len(opened.keys), dtype=np.int64)
    high = np.full(len(opened.keys), opened.total, dtype=np.int64)
    for row in rows:
        np.minimum(high, totals[row], out=high)
    changed, sweep = True, 0
    while changed:
        changed, sweep = False, sweep + 1
        for done, row in enumerate(rows):
            progress.report(f"shuttle, sweep {sweep}", done / len(rows))
            least = (totals - _sums(row, low, len(totals)))[row] + low
            tighter = np.minimum(high, least)
            most = (totals - _sums(row, tighter, len(totals)))[row] + tighter
            raised = np.maximum(low, most)
            changed |= not (np.array_equal(tighter, high) and np.array_equal(raised, low))
            low, high = raised, tighter
    return low, high


def _sums(row: Ints, values: Ints, size: int) -> Ints:
    return np.bincount(row, weights=values, minlength=size).astype(np.int64)


def _lattice(table: Table, margins: MarginSet, progress: Progress) -> tuple[Ints, Ints]:
    """Bounds of all cells, passing through the cells of every margin of the table."""
    names = table.domain.names
    variables = range(len(names))
    order = [s for r in range(len(names) + 1) for s in combinations(variables, r)]
    released = [{names.index(n) for n in margin} for margin in margins]
    low: dict[tuple[int, ...], Ints] = {}
    high: dict[tuple[int, ...], Ints] = {}
    given = set()
    for s in order:
        if any(margin.issuperset(s) for margin in released):
            given.add(s)
            counts = table.margin(names[v] for v in s).counts
            low[s], high[s] = counts.copy(), counts.copy()
        else:
            shape = tuple(table.domain.shape[v] for v in s)
            low[s] = np.zeros(shape, dtype=np.int64)
            high[s] = np.full(shape, table.total, dtype=np.int64)
    unknown = [s for s in order if s not in given]
    changed, sweep = True, 0
    while changed:
        changed, sweep = False, sweep + 1
        for done, s in enumerate(unknown + unknown[::-1]):
            progress.report(f"shuttle, sweep {sweep}", done / (2 * len(unknown)))
            for axis in range(len(s)):
                changed |= _pass(low, high, s, axis)
    return low[order[-1]], high[order[-1]]


def _pass(
    low: dict[tuple[int, ...], Ints],
    high: dict[tuple[int, ...], Ints],
    s: tuple[int, ...],
    axis: int,
) -> bool:
    """Tighten a margin's cells and their sums over one variable; say whether anything moved."""
    parent = s[:axis] + s[axis + 1 :]
    low_sum = np.expand_dims(low[parent], axis)
    high_sum = np.expand_dims(high[parent], axis)
    lows = low[s].sum(axis=axis, keepdims=True)
    tighter = np.minimum(high[s], high_sum - lows + low[s])
    highs = tighter.sum(axis=axis, keepdims=True)
    raised = np.maximum(low[s], low_sum - highs + tighter)
    sum_high = np.minimum(high[parent], tighter.sum(axis=axis))
    sum_low = np.maximum(low[parent], raised.sum(axis=axis))
    moved = not (
        np.array_equal(tighter, high[s])
        and np.array_equal(raised, low[s])
        and np.array_equal(sum_high, high[parent])
        and np.array_equal(sum_low, low[parent])
    )
    high[s], low[s], high[parent], low[parent] = tighter, raised, sum_high, sum_low
    return moved
