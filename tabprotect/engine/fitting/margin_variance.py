"""What least squares over published tables leaves of their noise, before any draw.

For complete tables over the variables themselves the projections of a table onto its interactions
are the eigenspaces, so that the variance follows in closed form from the tables alone.

Sources: Barak et al. 2007; Li et al. 2010, The matrix mechanism.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

import numpy as np

from tabprotect.engine.arrays import Bools, Floats
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
    # Of each set the sum over all sets that hold it.
    for axis in range(axes):
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


def least_deviation(shape: Sequence[int], tables: Bools, variance: float) -> float:
    """The least standard deviation that least squares over some tables leaves on a cell of one of them.

    Upon a table with the axes M another with the axes N acts as one over those of M in N, whose noise
    is that of a sum over the others of N.

    Parameters
    ----------
    shape
        Categories of each variable.
    tables : bool (tables, variables)
        The variables of each published table, all complete.
    variance
        Of the noise of every published number.
    """
    logs, least = np.log(np.asarray(shape, dtype=np.float64)), math.inf
    for target in np.unique(tables, axis=0):
        own = np.flatnonzero(target).tolist()
        # The eigenvalue of each interaction within the target, by the tables that hold it.
        inside = tables[:, own]
        gained = np.exp(~inside @ logs[own] - (tables & ~target) @ logs) / variance
        held: Floats = np.zeros(2 ** len(own))
        np.add.at(held, inside @ (1 << np.arange(len(own))), gained)
        for axis in range(len(own)):
            pairs = held.reshape(-1, 2, 2**axis)
            pairs[:, 0] += pairs[:, 1]
        sizes = [shape[axis] for axis in own]
        least = min(least, _variance_of(sizes, held, range(len(own))))
    return math.sqrt(least)


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
