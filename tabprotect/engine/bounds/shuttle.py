"""The shuttle algorithm: bounds passed to and fro through sums until nothing changes.

Its bounds contain the true ones. They can prove a release bad, never safe.

Sources: Buzzigoli and Giusti 1999 (plain, over the cells); Dobra 2002, Dobra and Fienberg 2008
(generalised, over the cells of every margin).
"""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt

from tabprotect.engine.arrays import EXACT_FLOAT, Ints
from tabprotect.engine.bounds.support import Support
from tabprotect.engine.errors import InputError
from tabprotect.engine.progress import SILENT, Progress
from tabprotect.engine.tables.margins import MarginSet
from tabprotect.engine.tables.table import Table
from tabprotect.languages.messages import message

LATTICE_CELLS = 300_000
"""Most cells of all margins together for which the generalised form is used."""


def sums_exact(opened: Support) -> bool:
    """Return True if all sums of bounds are exact."""
    return opened.total * max(len(opened.keys), 1) < EXACT_FLOAT


def shuttle_bounds(
    table: Table, margins: MarginSet, opened: Support, *, progress: Progress = SILENT
) -> tuple[Ints, Ints]:
    """Lower and upper bounds of the support's cells by the strongest form that fits.

    Raises
    ------
    InputError
        When sums of bounds would not be exact.
    """
    if not sums_exact(opened):
        raise InputError(
            message("the counts are too large for the shuttle algorithm"),
            hint=message("release margins that are decomposable"),
        )
    if math.prod(size + 1 for size in table.domain.shape) <= LATTICE_CELLS:
        low, high = _lattice(table, margins, opened, progress)
        return low.reshape(-1)[opened.keys], high.reshape(-1)[opened.keys]
    return _plain(opened, progress)


def _plain(opened: Support, progress: Progress) -> tuple[Ints, Ints]:
    rows, totals = opened.sums, opened.totals
    low = np.zeros(len(opened.keys), dtype=np.int64)
    high = np.full(len(opened.keys), opened.total, dtype=np.int64)
    for row in rows:
        progress.report(message("shuttle, sweep 1"), 0.0)
        np.minimum(high, totals[row], out=high)
    changed, sweep = True, 0
    while changed:
        changed, sweep = False, sweep + 1
        for done, row in enumerate(rows):
            progress.report(message("shuttle, sweep {sweep}", sweep), done / len(rows))
            least = (totals - _sums(row, low, len(totals)))[row] + low
            tighter = np.minimum(high, least)
            most = (totals - _sums(row, tighter, len(totals)))[row] + tighter
            raised = np.maximum(low, most)
            changed |= not (np.array_equal(tighter, high) and np.array_equal(raised, low))
            low, high = raised, tighter
    return low, high


def _sums(row: npt.NDArray[np.int32], values: Ints, size: int) -> Ints:
    return np.bincount(row, weights=values, minlength=size).astype(np.int64)


def _lattice(table: Table, margins: MarginSet, opened: Support, progress: Progress) -> tuple[Ints, Ints]:
    """Bounds of all cells, passing through the cells of every margin of the table.

    All margins stand in one array, where the total of a variable is behind its last category: one
    pass over an axis serves every margin that has the variable. A pass can only tighten, so the
    bounds at the end do not depend on the order.
    """
    domain = table.domain
    counts = table.counts
    for axis in range(domain.ndim):
        counts = np.concatenate([counts, counts.sum(axis=axis, keepdims=True)], axis=axis)
    given = np.zeros(counts.shape, dtype=np.bool_)
    for margin in margins:
        given[tuple(slice(None if n in margin else -1, None) for n in domain.names)] = True
    low, high = np.where(given, counts, 0), np.where(given, counts, table.total)
    inner = tuple(slice(size) for size in domain.shape)
    possible = np.zeros(domain.size, dtype=np.bool_)
    possible[opened.keys] = True
    high[inner][~possible.reshape(domain.shape)] = 0
    slack, before, sweep = int((high - low).sum()), -1, 0
    while slack != before:
        sweep += 1
        for axis in range(domain.ndim):
            progress.report(message("shuttle, sweep {sweep}", sweep), axis / domain.ndim)
            _pass(np.moveaxis(low, axis, 0), np.moveaxis(high, axis, 0))
        before, slack = slack, int((high - low).sum())
    return low[inner], high[inner]


def _pass(low: Ints, high: Ints) -> None:
    """Tighten, in place, cells and the sums over the first axis that stand behind them."""
    least, most, bottom, top = low[:-1], high[:-1], low[-1:], high[-1:]
    np.minimum(most, (top - least.sum(axis=0)) + least, out=most)
    highs = most.sum(axis=0)
    np.maximum(least, (bottom - highs) + most, out=least)
    np.minimum(top, highs, out=top)
    np.maximum(bottom, least.sum(axis=0), out=bottom)
