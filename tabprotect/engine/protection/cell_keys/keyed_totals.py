"""The likelihood of totals published under cell keys.

The key of a total is the sum of the keys of its parts, so its noise tells of theirs: the factors
of the parts alone understate a reader. The chance of all totals given the parts is an integral
over the parts' keys, found here without bias by drawing them one after the other.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from tabprotect.engine.arrays import Bools, Ints
from tabprotect.engine.protection.cell_keys.perturbation_table import KEYS, PerturbationTable
from tabprotect.engine.protection.cell_keys.published_laws import of_count
from tabprotect.engine.protection.published_margins import counts_of, sum_factors
from tabprotect.engine.release.likelihood import CellFactors, Rerun
from tabprotect.engine.release.release import Release
from tabprotect.engine.tables.publication import Publication
from tabprotect.engine.tables.table import Table
from tabprotect.languages.messages import message

MOST_TOTALS = 8
"""Most inner cells or totals: with more, hardly any drawn original gives all totals.
"""

KEYED_TOTALS_CELLS = 9
"""Most inner cells behind published totals, over all totals."""


Intervals = tuple[tuple[int, int], ...]

RUNS = 64
"""Sets of keys that are drawn side by side for one estimate."""

COST_OF_CELL = 100.0
"""Microseconds for the key of one cell; the rest of an estimate takes as much again."""

NOTE = message(
    "The key of a published total is the sum of the keys below it. The noise of the totals is "
    "taken as independent of that of the inner cells, which is not quite so."
)


def with_totals(release: Release, publication: Publication, table: PerturbationTable) -> CellFactors | None:
    """The likelihood of inner cells and totals together.

    The factors treat the noise of the published counts as independent, which is near enough to
    draw originals from; the ``Rerun`` corrects this.

    Returns
    -------
    CellFactors or None
        ``None`` where the table is too large, or where not both inner cells and totals are
        published.
    """
    inner, size = release.inner, publication.domain.size
    if inner is None or size > KEYED_TOTALS_CELLS:
        return None
    counts = counts_of(release, publication)
    cells, _ = publication.distinct
    parts = publication.incidence[cells].toarray()
    total = parts.sum(axis=1) > 1
    if not 0 < total.sum() <= MOST_TOTALS:
        return None
    parts, sums = parts[total], counts[cells][total]
    joint = _estimate(table, inner.table.counts.reshape(-1), parts, sums)
    chances = [table.transitions(row) for row in range(table.rows)]

    def beyond(original: Table, generator: np.random.Generator) -> float:
        chance = joint(original, generator)
        if chance == 0.0:
            return 0.0
        true = parts @ original.counts.reshape(-1)
        noise = zip(table.row_of(true).tolist(), (sums - true).tolist(), strict=True)
        return chance / float(math.prod(chances[row][change] for row, change in noise))

    rerun = Rerun(beyond, exact=False, cost=COST_OF_CELL * (size + 1))
    return sum_factors(
        release,
        (publication, counts),
        lambda published, _: of_count(table, published),
        rerun=rerun,
        note=NOTE,
        left_out=("key_algebra",),
        approximate=True,
    )


def _estimate(
    table: PerturbationTable, inner: Ints, parts: Ints, sums: Ints
) -> Callable[[Table, np.random.Generator], float]:
    """The estimate for published inner cells (cells,) and totals (totals,).

    Keys are drawn cell by cell, each uniform on those that give the cell's published count and
    that of every total whose last part it is. The mean share of such keys, multiplied over the
    cells, is an unbiased estimate (sequential importance sampling with resampling).

    Parameters
    ----------
    parts : int64 (totals, cells)
        1 where a cell is part of a total.
    """

    known: dict[tuple[int, int], Intervals] = {}

    def intervals(count: int, published: int) -> Intervals:
        # No cache of the library's: what it makes of a function cannot be pickled.
        if (count, published) not in known:
            known[count, published] = _intervals(table, count, published - count)
        return known[count, published]

    def estimate(original: Table, generator: np.random.Generator) -> float:
        counts = original.counts.reshape(-1)
        of_totals = parts @ counts
        if (sums[of_totals == 0] != 0).any() or (inner[counts == 0] != 0).any():
            return 0.0
        # A cell without records has no key, and a total of such cells is 0 as it should be.
        last = np.max(np.where((parts > 0) & (counts > 0), np.arange(len(counts)), -1), axis=1)
        keys = np.zeros((RUNS, len(counts)), dtype=np.int64)
        chance = 1.0
        for cell in np.flatnonzero(counts).tolist():
            own = intervals(int(counts[cell]), int(inner[cell]))
            closing = np.flatnonzero(last == cell)
            wanted = [intervals(int(of_totals[t]), int(sums[t])) for t in closing]
            if not own or not all(wanted):
                return 0.0
            before = keys @ parts[closing].T % KEYS
            begin, width = _allowed(own, wanted, before)
            reached = np.cumsum(width, axis=1)
            whole = reached[:, -1]
            if not whole.any():
                return 0.0
            chance *= float(whole.mean()) / sum(high - low for low, high in own)
            if len(closing):
                keep = _resampled(whole, generator)
                keys, begin, width = keys[keep], begin[keep], width[keep]
                reached, whole = reached[keep], whole[keep]
            within = (generator.random(RUNS) * whole).astype(np.int64)
            at = (reached <= within[:, None]).sum(axis=1)
            run = np.arange(RUNS)
            keys[:, cell] = begin[run, at] + within - (reached[run, at] - width[run, at])
        return chance

    return estimate


def _intervals(table: PerturbationTable, count: int, noise: int) -> Intervals:
    """The keys, as half-open intervals, under which a count gets the given noise."""
    row = int(table.row_of(np.array([count]))[0])
    found, low = [], 0
    for at in range(int(table.starts[row]), int(table.starts[row + 1])):
        high = int(table.upper[at])
        if table.noise[at] == noise and high > low:
            found.append((low, high))
        low = high
    return tuple(found)


def _allowed(own: Intervals, wanted: list[Intervals], before: Ints) -> tuple[Ints, Ints]:
    """The keys of one cell under which it and the totals it completes are as published.

    Parameters
    ----------
    wanted
        For each of these totals the keys that it may have.
    before : int64 (runs, totals)
        The sums of those keys of their parts that are drawn already.

    Returns
    -------
    int64 (runs, pieces), int64 (runs, pieces)
        Where pieces begin, and how many keys of each are allowed (all or none).
    """
    ends = [np.zeros((len(before), 1), dtype=np.int64)]
    ends += [np.tile(np.array(own, dtype=np.int64).reshape(1, -1), (len(before), 1))]
    for t, runs in enumerate(wanted):
        ends.append((np.array(runs, dtype=np.int64).reshape(1, -1) - before[:, t : t + 1]) % KEYS)
    begin = np.sort(np.concatenate(ends, axis=1), axis=1)
    width = np.diff(begin, axis=1, append=KEYS)
    allowed = _within(begin, own)
    for t, runs in enumerate(wanted):
        allowed &= _within((begin + before[:, t : t + 1]) % KEYS, runs)
    return begin, np.where(allowed, width, 0)


def _within(keys: Ints, intervals: Intervals) -> Bools:
    found = np.zeros(keys.shape, dtype=np.bool_)
    for low, high in intervals:
        found |= (keys >= low) & (keys < high)
    return found


def _resampled(weights: Ints, generator: np.random.Generator) -> Ints:
    """Draw runs in proportion to their weights, as evenly as possible (systematic resampling)."""
    reached = np.cumsum(weights)
    steps = (np.arange(len(weights)) + generator.random()) / len(weights) * float(reached[-1])
    # Rounding of the last step must not point beyond, nor at a run without weight.
    steps = np.minimum(steps.astype(np.int64), reached[-1] - 1)
    return np.asarray(np.searchsorted(reached, steps, side="right"), dtype=np.int64)
