"""The oracle of factor likelihoods: every table within bounds, weighed by the definition alone."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np

from tabprotect.engine.release.likelihood import CellFactors
from tabprotect.engine.release.release import PublishedTable
from tabprotect.engine.tables.domain import Domain
from tabprotect.engine.tables.table import Table


def every_original(
    likelihood: CellFactors, most: int, log_prior: Callable[[int, int], float] = lambda c, v: 0.0
) -> dict[tuple[int, ...], float]:
    """{original: weight} of all tables with counts up to ``most``; only possible ones."""
    lk = likelihood
    size = lk.domain.size
    # All at once; still nothing but the definition.
    cells = np.indices((most + 1,) * size).reshape(size, -1)
    log = np.zeros(cells.shape[1])
    for c in range(size):
        log += np.array([log_prior(c, v) for v in range(most + 1)])[cells[c]]
    for f in range(lk.factors):
        total = cells[lk.cells[lk.starts[f] : lk.starts[f + 1]]].sum(axis=0)
        k = lk.kind[f]
        run = lk.logs[lk.log_starts[k] : lk.log_starts[k + 1]]
        inside = (total >= lk.low[k]) & (total <= lk.high[k])
        log[~inside] = -math.inf
        if len(run):
            log[inside] += run[total[inside] - lk.low[k]]
    possible = np.flatnonzero(log > -math.inf)
    weights = np.exp(log[possible]).tolist()
    return dict(zip(map(tuple, cells[:, possible].T.tolist()), weights, strict=True))


def marginals(found: dict[tuple[int, ...], float], most: int) -> np.ndarray:
    """(cells, most + 1): the distribution of each cell."""
    total = sum(found.values())
    out = np.zeros((len(next(iter(found))), most + 1))
    for cells, weight in found.items():
        for cell, count in enumerate(cells):
            out[cell, count] += weight / total
    return out


def sums_of(shape: Sequence[int], margins: Sequence[Sequence[int]]) -> list[np.ndarray]:
    """The flat cells of every sum of the margins that keep the given axes."""
    grid = np.arange(math.prod(shape)).reshape(shape)
    out = []
    for kept in margins:
        gone = [a for a in range(len(shape)) if a not in kept]
        moved = np.moveaxis(grid, kept, range(len(kept)))
        size = math.prod(shape[a] for a in gone)
        out += list(moved.reshape(-1, size))
    return out


def of_sums(
    domain: Domain,
    sums: Sequence[np.ndarray],
    kinds: Sequence[tuple[int, int, np.ndarray | None]],
    published: PublishedTable | None = None,
    **more: object,
) -> CellFactors:
    """One factor per sum, each of its own kind."""
    tables = (
        (published,) if published else (PublishedTable(Table.dense(Domain.of_shape((1,), ["other"]), [0])),)
    )
    starts = np.concatenate([[0], np.cumsum([len(s) for s in sums])]).astype(np.int64)
    cells = np.concatenate(sums).astype(np.int64)
    factors = CellFactors.of(domain, tables, (starts, cells), np.arange(len(sums)), list(kinds))
    return replace(factors, **more)


def exactly(original: np.ndarray, sums: Sequence[np.ndarray]) -> list[tuple[int, int, None]]:
    """The kinds of sums that are published as they are."""
    flat = original.reshape(-1)
    return [(int(flat[s].sum()), int(flat[s].sum()), None) for s in sums]
