"""What least squares over published tables leaves of their noise, before any draw.

For complete tables over the variables themselves the projections of a table onto its interactions
are the eigenspaces, so that the variance follows in closed form from the tables alone.

Sources: Barak et al. 2007; Li et al. 2010, The matrix mechanism.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from tabprotect.engine.arrays import Bools, Floats, Ints
from tabprotect.engine.tables.domain import Domain
from tabprotect.engine.tables.formula import in_formula
from tabprotect.engine.tables.publication import Publication
from tabprotect.languages.messages import message, percent

Margin = tuple[tuple[int, ...], float]
"""The axes of a published table, and the variance of its noise."""

EXACT_VARIANCE = 1e-6
"""Stands for the variance of an exact number."""

UNDONE = 0.45
"""The standard deviation left on an inner cell below which readers undo the noise: 73 % come out."""

THIN = 0.75
"""Below it they nearly do."""

ENOUGH = 0.9
"""From it on releases of most synthetic tables passed in the shapes that were tried (2x2x2 to 2^8,
3x3x3x3 and 4x4x4), where variables are as uneven as a uniform law of their shares makes them: the gate
still judges each."""

MOST_VARIABLES = 16
"""With more, all margins are never published."""


def strengths(shape: Sequence[int], margins: Sequence[Margin]) -> Floats:
    """The eigenvalue of each interaction, by bit mask of its axes, (2^axes,)."""
    axes = len(shape)
    found = np.zeros(2**axes)
    for margin, variance in margins:
        others = math.prod(n for axis, n in enumerate(shape) if axis not in margin)
        found[sum(1 << axis for axis in set(margin))] += others / max(variance, EXACT_VARIANCE)
    return _in_all_that_hold(found)


def _in_all_that_hold(found: Floats) -> Floats:
    """Of each set, by bit mask, the sum over all sets that hold it."""
    for axis in range(len(found).bit_length() - 1):
        pairs = found.reshape(-1, 2, 2**axis)
        pairs[:, 0] += pairs[:, 1]
    return found


def variance_left(
    shape: Sequence[int], margins: Sequence[Margin], over: Sequence[int] | None = None
) -> float:
    """The variance of the least-squares estimate of a sum, from the published tables alone.

    Parameters
    ----------
    shape
        Categories of each variable.
    margins
        The published tables, each complete.
    over
        The axes that the sum is over; all of them, for an inner cell, by default.

    Returns
    -------
    float
        Infinite if it is not estimable.
    """
    axes = range(len(shape)) if over is None else over
    return _variance_of(shape, strengths(shape, margins), axes)


def _variance_of(shape: Sequence[int], of_sets: Floats, axes: Sequence[int]) -> float:
    outer = math.prod(n for axis, n in enumerate(shape) if axis not in axes)
    inside = sum(1 << axis for axis in axes)
    weight = np.ones(1)
    for n in shape:
        weight = np.concatenate([weight, weight * (n - 1)])
    masks = np.arange(len(of_sets))
    # An axis of one category has no interactions.
    used = (masks & ~inside == 0) & (weight > 0)
    if (of_sets[used] <= 0).any():
        return math.inf
    return float((weight[used] / of_sets[used]).sum() * outer / math.prod(shape[a] for a in axes))


@dataclass(frozen=True, eq=False)
class SameOrder:
    """Tables of as many variables each, with what least squares has of their interactions.

    Attributes
    ----------
    tables : bool (tables, variables)
    own : int (tables, order)
        The axes of each.
    weight : float (tables, 2^order)
        The share of each interaction in the variance of a cell, by bit mask of the axes.
    held : float (tables, 2^order)
        The eigenvalue of each.
    """

    tables: Bools
    own: Ints
    weight: Floats
    held: Floats

    def acted_on(self, table: Bools, gained: Floats) -> SameOrder:
        """The same once one more table is out, which gains each of these so much."""
        shared = table[self.own] @ (1 << np.arange(self.own.shape[1]))
        within = np.arange(self.held.shape[1]) & ~shared[:, None] == 0
        return replace(self, held=self.held + gained[:, None] * within)

    def and_also(self, other: SameOrder) -> SameOrder:
        """These tables and others of the order."""
        mine, others = vars(self).values(), vars(other).values()
        return SameOrder(*(np.concatenate(pair) for pair in zip(mine, others, strict=True)))


@dataclass(frozen=True, eq=False)
class LeastLeft:
    """What least squares leaves on the cells of complete tables that come out one after the other.

    Upon a table with the axes M another with the axes N acts as one over those of M in N, whose noise
    is that of a sum over the others of N. The eigenvalues of all interactions are kept: what one more
    table does takes a time that grows with the tables, and not with their square.

    Attributes
    ----------
    shape
        Categories of each variable.
    variance
        Of the noise of every published number.
    orders
        The tables that are out, by their number of variables.
    """

    shape: Ints
    variance: float
    orders: Mapping[int, SameOrder] = field(default_factory=dict)

    def and_one(self, table: Bools) -> LeastLeft:
        """The same with one more table, bool (variables,)."""
        held = {
            order: same.acted_on(table, self._gained(same.tables, table))
            for order, same in self.orders.items()
        }
        one = self._first_seen(table)
        order = one.own.shape[1]
        return replace(self, orders={**held, order: held[order].and_also(one) if order in held else one})

    def deviations(self) -> tuple[Bools, Floats]:
        """The tables, (tables, variables), and the standard deviation that is left on a cell of each."""
        left = [np.sqrt((same.weight / same.held).sum(axis=1)) for same in self.orders.values()]
        return np.concatenate([same.tables for same in self.orders.values()]), np.concatenate(left)

    def _gained(self, upon: Bools, tables: Bools) -> Floats:
        """What tables add to eigenvalues of others."""
        logs = np.log(self.shape)
        return np.asarray(np.exp((upon & ~tables) @ logs - (tables & ~upon) @ logs) / self.variance)

    def _first_seen(self, table: Bools) -> SameOrder:
        own = np.flatnonzero(table)
        out = np.concatenate([*(same.tables for same in self.orders.values()), table[None]])
        held = np.zeros(2 ** len(own))
        np.add.at(held, out[:, own] @ (1 << np.arange(len(own))), self._gained(table, out))
        weight = np.ones(1)
        for n in self.shape[own].tolist():
            weight = np.concatenate([weight, weight * (n - 1)])
        return SameOrder(table[None], own[None], (weight / weight.sum())[None], _in_all_that_hold(held)[None])


def deviation_left(publication: Publication, variance: float) -> float | None:
    """The standard deviation that least squares leaves on an inner cell; ``None`` for tables that
    are not all complete and over the variables themselves.

    Parameters
    ----------
    variance
        Of the noise of every published number.
    """
    published = _published(publication, variance)
    return None if published is None else math.sqrt(variance_left(publication.domain.shape, published))


def _published(publication: Publication, variance: float) -> list[Margin] | None:
    domain, margins = publication.domain, publication.margins
    plain = all(map(publication.is_plain, range(len(margins))))
    if not plain or domain.structural or domain.ndim > MOST_VARIABLES:
        return None
    return [(tuple(map(domain.axis, names)), variance) for names in margins]


def _least_left(publication: Publication, variance: float) -> float | None:
    """The least that is left on a cell of a published table of two or more variables.

    Where variables are uneven, small counts are in these tables, too; in larger sums they are rare.
    """
    published = _published(publication, variance)
    if published is None:
        return None
    shape = publication.domain.shape
    of_sets = strengths(shape, published)
    # A family has all tables of an order: the smallest have the least left.
    order = min((len(axes) for axes, _ in published if len(axes) > 1), default=0)
    found = (_variance_of(shape, of_sets, axes) for axes, _ in published if len(axes) == order)
    return math.sqrt(min(found, default=math.inf))


def families(domain: Domain) -> Iterator[str]:
    """Families of published tables as formulas, from all margins down to the inner cells alone."""
    names = [in_formula(name) for name in domain.names]
    inner, every = ":".join(names), " + ".join(names)
    if domain.ndim <= MOST_VARIABLES:
        yield "*".join(names)
        for order in range(domain.ndim - 2, 1, -1):
            yield f"({every})^{order} + {inner}"
    if domain.ndim > 2:
        yield f"{every} + {inner}"
    if domain.ndim > 1:
        yield inner
    yield f"{inner} - 1"


def largest_family(domain: Domain, variance: float) -> str:
    """The largest family whose noise least squares leaves large enough, in every table of several
    variables.

    A function of the table's shape and the variance alone.
    """
    found = ""
    for found in families(domain):
        left = _least_left(Publication.of(domain, found), variance)
        if left is None or left >= ENOUGH:
            break
    return found


def words(deviation: float) -> str:
    """Say what a standard deviation left on an inner cell means, in words."""
    right = math.erf(0.5 / deviation / math.sqrt(2))
    return message(
        "Putting the published tables together leaves a standard deviation of {deviation:.2f} on "
        "an inner cell: rounded, {right} of the counts come out.",
        deviation,
        percent(right),
    )
