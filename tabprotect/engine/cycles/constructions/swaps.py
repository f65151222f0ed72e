"""Swaps and strips of swaps, from the shape of a table alone."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Sequence
from functools import lru_cache

import numpy as np

from tabprotect.engine.cycles.constructions.long_cycles import check_shape
from tabprotect.engine.cycles.graphs import MAX_WIDTH, elimination_cost
from tabprotect.engine.errors import ParameterError
from tabprotect.engine.tables.domain import Domain
from tabprotect.engine.tables.margins import MarginSet, margins_of_order
from tabprotect.engine.tables.moves import MoveSet
from tabprotect.languages.messages import message

WIDEST_STRIPS = 8
"""Widest posterior of strips chosen by default: about a second."""

STRIP_WORK = 1.3 * 10**9
"""Most cells times 3^height of strips chosen by default: two seconds on the table, compiled."""

EXACT_WIDTH = 6
"""Widest posterior of the default design in one pass (the default number of passes)."""

MOST_SWAPS = 200_000
"""Most swaps that are listed."""

MOST_ENTRIES = 50_000_000
"""Most cells of all cycles together."""


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
            {"shape": message("{count:,} cycles of {value} cells are too many", count, 2 ** len(free))},
            hint=message("leave out a variable, or keep margins of fewer variables"),
        )
    # One dimension for the step on each axis, the slowest first, then one for its two sides.
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
    """Pairs of neighbours, and the last with the first."""
    return [(0, 1)] if size == 2 else [(s, (s + 1) % size) for s in range(size)]


def chain(size: int) -> list[tuple[int, int]]:
    """Pairs of neighbours, open at the ends."""
    return [(s, s + 1) for s in range(size - 1)]


def disjoint_pairs(size: int) -> list[tuple[int, int]]:
    """Disjoint pairs of neighbours; an odd size ends in a triple (two overlapping pairs)."""
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
            {"shape": message("{number:,} swaps are too many", number)}, hint=message("take elementary swaps")
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


def strips(domain: Domain, height: int = 2, closed: bool = True) -> MoveSet:
    """Swaps within disjoint blocks of categories on every axis but the longest, along that.

    Narrow at any size: the posterior stays exact. The sums over a block with every category of
    the long axis are published exactly; fewer of them the higher the blocks, and the wider the
    posterior (about as wide as the blocks are high).

    Parameters
    ----------
    height
        Categories of a block, as chains of neighbours.
    closed
        Whether blocks of 2 are closed to a ring along the long axis.

    Raises
    ------
    ParameterError
        For a height below 2.
    """
    check_shape(domain)
    if height < 2:
        raise ParameterError({"height": message("must be at least 2, is {height}", height)})
    return _strips(domain, ring if closed else chain) if height == 2 else _blocks(domain, height)


def highest(domain: Domain) -> int:
    """The height of the highest strips that are narrow enough for an exact posterior.

    Narrow enough at any size; less high where a posterior of so many cells would cost too much.
    """
    check_shape(domain)
    affordable = int(math.log(STRIP_WORK / domain.size, 3)) if domain.size < STRIP_WORK else 0
    # Readers know no less of blocks of six than of five, which cost a third.
    return min(_narrow_enough(domain.shape), max(affordable - (affordable == 6), 2))


@lru_cache(maxsize=64)
def _narrow_enough(shape: tuple[int, ...]) -> int:
    shortest = sorted(shape)[:-1]
    for tried in range(3, min(max(shortest), MAX_WIDTH) + 1):
        # A few blocks along a short stretch are as wide as all of them, and higher ones are wider.
        small = _stretch(shape, tried)
        cost = elimination_cost(_blocks(small, tried), limit=WIDEST_STRIPS)
        if cost is None or not cost.affordable:
            return tried - 1
    return max(min(max(shortest), MAX_WIDTH), 2)


def _stretch(shape: tuple[int, ...], height: int) -> Domain:
    """The smallest shape whose blocks are as wide."""
    long = int(np.argmax(shape))
    return Domain.of_shape([min(s, 2 * height + 4 if a == long else height) for a, s in enumerate(shape)])


def _blocks(domain: Domain, height: int) -> MoveSet:
    long = int(np.argmax(domain.shape))
    steps = [chain(s) if a == long else _chains(s, height) for a, s in enumerate(domain.shape)]
    return swaps(domain, steps, along=long)


def _chains(size: int, height: int) -> list[tuple[int, int]]:
    """Neighbours inside blocks of about equal size, at most ``height`` (3 for a lone last one)."""
    number = max(min(-(-size // height), size // 2), 1)
    bounds = [round(k * size / number) for k in range(number + 1)]
    return [(s, s + 1) for a, b in itertools.pairwise(bounds) for s in range(a, b - 1)]


def _strips(domain: Domain, along: Callable[[int], list[tuple[int, int]]]) -> MoveSet:
    # The long axis varies slowest: overlapping strips of an odd axis advance side by side,
    # which keeps the later neighbours of a cycle, and so the width, few.
    long = int(np.argmax(domain.shape))
    steps = [along(s) if a == long else disjoint_pairs(s) for a, s in enumerate(domain.shape)]
    return swaps(domain, steps, along=long)


def _miniature(domain: Domain) -> Domain:
    """The smallest shape whose strips are as wide: disjoint strips repeat, rings saturate."""
    long = int(np.argmax(domain.shape))
    shape = [min(s, 12) if a == long else 2 + s % 2 for a, s in enumerate(domain.shape)]
    return Domain.of_shape([max(s, 2) for s in shape])


def default_design(domain: Domain) -> tuple[str, dict[str, object]]:
    """Short cycles whose posterior stays exact, from the shape alone: a template, its parameters.

    Strips closed to rings if these are narrow enough, else open strips, else balanced cycles.
    """
    check_shape(domain)
    small = _miniature(domain)
    for closed in (True, False):
        if elimination_cost(strips(small, 2, closed), limit=EXACT_WIDTH) is not None:
            return "strips", {"height": 2} if closed else {"height": 2, "closed": False}
    return "balanced", {}
