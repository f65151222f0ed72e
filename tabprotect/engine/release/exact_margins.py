"""Cells of margins that a release publishes exactly: equal in every original that fits it."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping

import numpy as np

from tabprotect.engine.release.likelihood import (
    AdaptiveSequence,
    CellFactors,
    ExchangeSteps,
    Likelihood,
    MoveSequence,
    RecordSwaps,
    SwappedFirst,
)
from tabprotect.engine.tables.domain import Domain
from tabprotect.engine.tables.publication import Publication
from tabprotect.engine.tables.table import Table

MarginCell = tuple[tuple[str, ...], int]
"""A margin's variables, in the order of the table, and the key of one of its cells."""


def exact_sums(likelihood: Likelihood) -> dict[MarginCell, int]:
    """The cells of all margins, the inner table and the grand total included, that are exact.

    Exact sums over other groups of cells, which a cycle set may keep as well, are not among them.
    """
    if isinstance(likelihood, CellFactors):
        fixed = dict(_of_factors(likelihood))
        return dict(_coarser(likelihood.domain, fixed)) | fixed
    if isinstance(likelihood, RecordSwaps | ExchangeSteps):
        return dict(_of_swaps(likelihood))
    if isinstance(likelihood, SwappedFirst):
        # What the further method leaves of the sums that no swap changes.
        then = exact_sums(likelihood.then)
        return {cell: value for cell, value in then.items() if _kept(likelihood.kept, cell[0])}
    return dict(_of_moves(likelihood))


def _of_moves(likelihood: MoveSequence | AdaptiveSequence) -> Iterator[tuple[MarginCell, int]]:
    """Cells that no cycle changes."""
    moves, published = likelihood.moves, likelihood.published
    domain = published.domain
    for size in range(domain.ndim + 1):
        for names in itertools.combinations(domain.names, size):
            margin = published.margin(names).counts.reshape(-1)
            keys = domain.project_keys(moves.cells, names)
            pairs, inverse = np.unique(moves.rows * len(margin) + keys, return_inverse=True)
            moved = np.bincount(inverse.reshape(-1), weights=moves.signs, minlength=len(pairs))
            exact = np.ones(len(margin), dtype=np.bool_)
            exact[pairs[moved != 0] % len(margin)] = False
            for key in np.flatnonzero(exact).tolist():
                yield (names, key), int(margin[key])


def _of_swaps(likelihood: RecordSwaps | ExchangeSteps) -> Iterator[tuple[MarginCell, int]]:
    """The cells of kept margins, and of those that add up from one."""
    domain, kept = likelihood.domain, likelihood.kept
    for size in range(domain.ndim + 1):
        for names in itertools.combinations(domain.names, size):
            if _kept(kept, names):
                margin = likelihood.published.margin(names).counts.reshape(-1)
                yield from (((names, key), value) for key, value in enumerate(margin.tolist()))


def _kept(kept: Publication, names: tuple[str, ...]) -> bool:
    """Return True if a margin is among those that are kept, or adds up from one."""
    return any(kept.determines(margin, names) for margin in kept.margins)


def _of_factors(likelihood: CellFactors) -> Iterator[tuple[MarginCell, int]]:
    """Sums fixed by a factor, if they are cells of a margin."""
    domain = likelihood.domain
    fixed = likelihood.low == likelihood.high
    for factor in np.flatnonzero(fixed[likelihood.kind]).tolist():
        cells = likelihood.cells[likelihood.starts[factor] : likelihood.starts[factor + 1]]
        where = margin_cell(domain, cells.tolist())
        if where is not None:
            yield where, int(likelihood.low[likelihood.kind[factor]])


def _coarser(domain: Domain, fixed: Mapping[MarginCell, int]) -> Iterator[tuple[MarginCell, int]]:
    """Cells of coarser margins all of whose parts are fixed."""
    cells: dict[tuple[str, ...], dict[int, int]] = {}
    for (names, key), value in fixed.items():
        cells.setdefault(names, {})[key] = value
    for names, values in cells.items():
        margin = domain.project(names) if names else None
        if margin is None or len(values) < margin.size:
            continue
        table = Table.sparse(margin, list(values), list(values.values()))
        for size in range(len(names)):
            for fewer in itertools.combinations(names, size):
                sums = table.margin(fewer).counts.reshape(-1)
                yield from (((fewer, key), value) for key, value in enumerate(sums.tolist()))


def margin_cell(domain: Domain, cells: list[int]) -> MarginCell | None:
    """The cell of a margin that inner cells make up, if they make up one."""
    if not cells:
        return None
    index = np.unravel_index(np.unique(cells), domain.shape)
    kept = [axis for axis in range(domain.ndim) if (index[axis] == index[axis][0]).all()]
    # A variable of one category is in every margin, named or not.
    others = [n for axis, n in enumerate(domain.shape) if axis not in kept]
    if len(index[0]) != int(np.prod(others, dtype=np.int64)):
        return None
    names = tuple(domain.names[axis] for axis in kept)
    margin = domain.project(names)
    return names, margin.flat([int(index[axis][0]) for axis in kept]) if names else 0
