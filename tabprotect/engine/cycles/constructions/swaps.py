"""Short cycles from the shape of a table alone: products of differences of two categories."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence

import numpy as np

from tabprotect.engine.budgets import MOST_SWAPS
from tabprotect.engine.budgets import SWAPS_ENTRIES as MOST_ENTRIES
from tabprotect.engine.cycles.constructions.long_cycles import check_shape
from tabprotect.engine.errors import ParameterError
from tabprotect.engine.tables.domain import Domain
from tabprotect.engine.tables.margins import MarginSet, margins_of_order
from tabprotect.engine.tables.moves import MoveSet


def swaps(
    domain: Domain,
    steps: Sequence[Sequence[tuple[int, int]]],
    *,
    margins: MarginSet | None = None,
    fixed: Sequence[int] = (),
    along: int = 0,
) -> MoveSet:
    """Products of differences e_s - e_t: one cycle for every choice of a step on each axis.

    Parameters
    ----------
    along
        The axis that varies slowest in the order of the cycles.
    steps
        For each axis the (s, t) pairs of categories; an axis in ``fixed`` lists single
        categories as (s, s) and is not differenced.
    """
    counts = [len(s) for s in steps]
    count = math.prod(counts)
    free = [a for a in range(domain.ndim) if a not in fixed]
    if count * 2 ** len(free) > MOST_ENTRIES:
        raise ParameterError(
            {"shape": f"{count:,} cycles of {2 ** len(free)} cells are too many"},
            hint="leave out a variable, or keep margins of fewer variables",
        )
    # One dimension for the step on each axis, the slowest first, then one for each side of it.
    order = [along, *(a for a in range(domain.ndim) if a != along)]
    cells = np.zeros((1,) * (domain.ndim + len(free)), dtype=np.int64)
    signs = np.ones(cells.shape, dtype=np.int8)
    stride = domain.size
    for axis, (size, pairs) in enumerate(zip(domain.shape, steps, strict=True)):
        stride //= size
        dimensions = [1] * cells.ndim
        dimensions[order.index(axis)] = counts[axis]
        pair = np.array(pairs, dtype=np.int64)
        if axis in fixed:
            cells = cells + (pair[:, 0] * stride).reshape(dimensions)
            continue
        dimensions[domain.ndim + free.index(axis)] = 2
        # Ascending cells need no sorting later: the side with the higher category comes last.
        cells = cells + (np.sort(pair, axis=1) * stride).reshape(dimensions)
        down = (pair[:, :1] > pair[:, 1:]) ^ np.array([False, True])
        signs = signs * np.where(down, -1, 1).astype(np.int8).reshape(dimensions)
    starts = np.arange(count + 1, dtype=np.int64) * 2 ** len(free)
    cells, signs = cells.reshape(-1), np.broadcast_to(signs, cells.shape).reshape(-1)
    cells.flags.writeable = signs.flags.writeable = False
    return MoveSet.of(domain, starts, cells, signs, margins=margins)


def ring(size: int) -> list[tuple[int, int]]:
    """Neighbours, and the last with the first."""
    return [(0, 1)] if size == 2 else [(s, (s + 1) % size) for s in range(size)]


def chain(size: int) -> list[tuple[int, int]]:
    """Neighbours, open at the ends."""
    return [(s, s + 1) for s in range(size - 1)]


def disjoint_pairs(size: int) -> list[tuple[int, int]]:
    """Disjoint neighbours; an odd size ends in a triple (two overlapping pairs)."""
    out = [(s, s + 1) for s in range(0, size - 1, 2)]
    return [*out, (size - 2, size - 1)] if size % 2 else out


def elementary(domain: Domain) -> MoveSet:
    """All products of neighbouring differences, closed to rings: 2^k cells each.

    They span every move that keeps the margins and block least.
    """
    check_shape(domain)
    return swaps(domain, [ring(s) for s in domain.shape])


def bands(domain: Domain) -> MoveSet:
    """Swaps along the full lattice of neighbours on every axis, open at the ends."""
    check_shape(domain)
    return swaps(domain, [chain(s) for s in domain.shape])


def every(domain: Domain) -> MoveSet:
    """Every swap: each pair of categories of each variable, 2^k cells each.

    To draw from, more than to run through: their number grows with the square of the cells.

    Raises
    ------
    ParameterError
        Where they would be more than ``MOST_SWAPS``.
    """
    check_shape(domain)
    number = math.prod(math.comb(s, 2) for s in domain.shape)
    if number > MOST_SWAPS:
        raise ParameterError(
            {"shape": f"{number:,} swaps are too many"}, hint="take elementary swaps"
        )
    return swaps(domain, [list(itertools.combinations(range(s), 2)) for s in domain.shape])


def order_design(domain: Domain, order: int) -> MoveSet:
    """Short cycles that keep the margins over ``order`` variables only.

    Products of differences on ``order + 1`` axes (the longest ones, in strips) at each category
    of the others: 2^(order + 1) cells each instead of 2^k.
    """
    check_shape(domain)
    margins = margins_of_order(domain, order)
    by_size = sorted(range(domain.ndim), key=lambda a: (-domain.shape[a], a))
    free = sorted(by_size[: order + 1])
    long = max(free, key=lambda a: domain.shape[a])
    steps = [
        [(s, s) for s in range(size)]
        if a not in free
        else (ring(size) if a == long else disjoint_pairs(size))
        for a, size in enumerate(domain.shape)
    ]
    fixed = [a for a in range(domain.ndim) if a not in free]
    return swaps(domain, steps, margins=margins, fixed=fixed, along=long)
