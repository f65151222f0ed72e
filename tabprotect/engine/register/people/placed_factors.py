"""What is known of sums of cells, as told of the cells of a finer table."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from tabprotect.engine.arrays import Ints
from tabprotect.engine.release.likelihood import UNBOUNDED, CellFactors, Rerun
from tabprotect.engine.tables.domain import Domain
from tabprotect.engine.tables.table import Table

NONE_FITS = 2
"""The solver's word for a programme without a solution."""


def placed_factors(known: CellFactors, domain: Domain, held: Sequence[Ints]) -> CellFactors:
    """The factors of a table as those of a finer one.

    Parameters
    ----------
    domain
        Of the finer table.
    held
        For each cell of the coarser one those that it adds up, at least one.
    """
    sizes = np.array([len(cells) for cells in held], dtype=np.int64)
    each = [held[cell] for cell in known.cells.tolist()]
    ends = np.concatenate([[0], np.cumsum(sizes[known.cells])]).astype(np.int64)
    return replace(
        known,
        domain=domain,
        tables=(),
        rerun=None if known.rerun is None else _run_again(known.domain, known.rerun, held),
        starts=ends[known.starts],
        cells=np.concatenate([np.zeros(0, dtype=np.int64), *each]),
    )


def somebody_beside(
    told: Sequence[tuple[CellFactors, Ints]], held: Sequence[Ints], domain: Domain
) -> CellFactors:
    """Where the numbers of a hidden cell of a whole and of a part differ somebody is in the cell and not in the part.

    Parameters
    ----------
    told
        Of the whole and of the part, with the places of their cells among those of ``held``.
    held
        For each cell the places of the groups beside the part.
    domain
        Of all groups.
    """
    one, other = (laws_of_cells(*each) for each in told)
    cells = [held[cell] for cell in sorted(one.keys() & other.keys()) if one[cell] != other[cell]]
    starts = np.cumsum([0, *map(len, cells)]).astype(np.int64)
    kind = np.zeros(len(cells), dtype=np.int64)
    every = np.concatenate([np.zeros(0, dtype=np.int64), *cells])
    return CellFactors.of(domain, (), (starts, every), kind, [(1, UNBOUNDED, None)] * bool(cells))


def laws_of_cells(known: CellFactors, place: Ints) -> dict[int, tuple[int, int, bytes]]:
    """What is told of each single cell whose count is not shown: the ends and the weights between them."""
    found = {}
    for factor in np.flatnonzero(np.diff(known.starts) == 1).tolist():
        kind = int(known.kind[factor])
        low, high = int(known.low[kind]), int(known.high[kind])
        logs = known.logs[known.log_starts[kind] : known.log_starts[kind + 1]]
        if low < high:
            found[int(place[known.cells[known.starts[factor]]])] = low, high, logs.tobytes()
    return found


def _run_again(coarse: Domain, known: Rerun, held: Sequence[Ints]) -> Rerun:
    """A mechanism that is run again on what the finer table makes of the people of the coarser one."""
    cells = np.concatenate(list(held))
    starts = np.cumsum([0, *(len(one) for one in held[:-1])])

    def own(people: Ints) -> Ints:
        return np.ascontiguousarray(np.add.reduceat(people[:, cells], starts, axis=1))

    def estimate(people: Table, generator: np.random.Generator) -> float:
        counts = own(people.counts.reshape(1, -1)).reshape(coarse.shape)
        return known.estimate(Table.dense(coarse, counts), generator)

    many, weights = known.many, known.known_weights
    return replace(
        known,
        estimate=estimate,
        many=None if many is None else lambda people, generator: many(own(people), generator),
        known_weights=None if weights is None else lambda people: weights(own(people)),
    )


MOST_NODES = 200
"""Nodes that a programme in whole numbers may branch into: what takes more may be."""


def anybody_fits(known: CellFactors, *, whole: bool = False) -> bool:
    """Return False if no counts give all sums that are stated.

    Parameters
    ----------
    whole
        Whether it is looked for whole numbers, which adds nothing where sums are nested.
    """
    from scipy.optimize import Bounds, LinearConstraint, milp
    from scipy.sparse import csr_matrix

    low, high = known.ends
    sums = csr_matrix((np.ones(len(known.cells)), known.cells, known.starts), (len(low), known.domain.size))
    found = milp(
        np.zeros(known.domain.size),
        integrality=np.full(known.domain.size, int(whole)),
        bounds=Bounds(0, np.inf),
        constraints=[LinearConstraint(sums, low, high)],
        options={"node_limit": MOST_NODES} if whole else None,
    )
    return int(found.status) != NONE_FITS
