"""Strips of swaps: blocks of categories that share no cell, so that the posterior stays exact."""

from __future__ import annotations

import itertools
from collections.abc import Callable

import numpy as np

from tabprotect.engine.budgets import EXACT_WIDTH, MAX_WIDTH, WIDEST_STRIPS
from tabprotect.engine.cycles.constructions.long_cycles import check_shape
from tabprotect.engine.cycles.constructions.swaps import chain, disjoint_pairs, ring, swaps
from tabprotect.engine.cycles.elimination_width import elimination_cost
from tabprotect.engine.errors import ParameterError
from tabprotect.engine.tables.domain import Domain
from tabprotect.engine.tables.moves import MoveSet


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
        raise ParameterError({"height": f"must be at least 2, is {height}"})
    return _strips(domain, ring if closed else chain) if height == 2 else _blocks(domain, height)


def highest(domain: Domain) -> int:
    """The height of the highest strips that are not too wide for an exact posterior."""
    check_shape(domain)
    shortest = sorted(domain.shape)[:-1]
    for tried in range(min(max(shortest), MAX_WIDTH), 2, -1):
        # A few blocks along a short stretch are as wide as all of them.
        small = _stretch(domain, tried)
        cost = elimination_cost(_blocks(small, tried), limit=MAX_WIDTH)
        if cost is not None and cost.width <= WIDEST_STRIPS and cost.affordable:
            return tried
    return 2


def _stretch(domain: Domain, height: int) -> Domain:
    """The smallest shape whose blocks are as wide."""
    long = int(np.argmax(domain.shape))
    return Domain.of_shape(
        [min(s, 2 * height + 4 if a == long else height) for a, s in enumerate(domain.shape)]
    )


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

    Strips closed to rings where that is narrow enough, else open strips, else balanced cycles.
    """
    check_shape(domain)
    small = _miniature(domain)
    for closed in (True, False):
        if elimination_cost(strips(small, 2, closed), limit=EXACT_WIDTH) is not None:
            return "strips", {"height": 2} if closed else {"height": 2, "closed": False}
    return "balanced", {}
