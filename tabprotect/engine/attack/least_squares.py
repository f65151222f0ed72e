"""Least squares over published sums: the variance it leaves, before any draw, and the estimate.

For complete tables over the variables themselves the projections of a table onto its interactions
are the eigenspaces, and both follow in closed form. With levels, groupings or hidden numbers the
normal equations are solved.

Sources: Barak et al. 2007; Li et al. 2010, The matrix mechanism.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from tabprotect.engine.arrays import Floats
from tabprotect.engine.fitting.margin_variance import EXACT_VARIANCE, Margin, strengths, variance_left
from tabprotect.engine.release.published_numbers import NumbersOfTable, PublishedNumbers

if TYPE_CHECKING:
    from scipy.sparse import csr_array

DENSE_CELLS = 1_500
"""Inner cells up to which the normal equations are solved in full."""

ITERATED_CELLS = 100_000
"""Inner cells up to which they are solved by iteration; beyond, nothing is said."""

REPLICATIONS = 100
"""Beyond, draws of noise from which the variance is estimated."""

ESTIMABLE = 1e-9


@dataclass(frozen=True, eq=False)
class Estimate:
    """Least squares over all numbers with a variance.

    Attributes
    ----------
    cells : float64 (cells,)
        The estimated inner counts; of least norm where they are not estimable.
    variance : float64 (cells,)
        Infinite where a cell is not estimable.
    """

    cells: Floats
    variance: Floats


def _complete(tables: Sequence[NumbersOfTable]) -> list[Margin] | None:
    found = [
        (table.axes, table.variance)
        for table in tables
        if table.axes is not None and math.isfinite(table.variance)
    ]
    return found if len(found) == len(tables) else None


def least_squares(numbers: PublishedNumbers) -> Estimate:
    """The estimate of every inner count, and its variance."""
    margins = _complete(numbers.tables)
    if margins is not None:
        return _closed(numbers, margins)
    size = numbers.domain.size
    if size > ITERATED_CELLS or not np.isfinite(numbers.variance).any():
        return Estimate(np.zeros(size), np.full(size, np.inf))
    published = numbers.published.astype(np.float64)
    if numbers.domain.size <= DENSE_CELLS:
        return _dense(numbers, published)
    return _iterated(numbers, published)


def _contrasts(n: int) -> Floats:
    """An orthonormal basis whose first vector is constant, (n, n) by row."""
    basis = np.zeros((n, n))
    basis[0] = 1 / math.sqrt(n)
    for k in range(1, n):
        basis[k, :k] = 1.0
        basis[k, k] = -k
        basis[k] /= math.sqrt(k * (k + 1))
    return basis


def _closed(numbers: PublishedNumbers, margins: Sequence[Margin]) -> Estimate:
    shape = numbers.domain.shape
    spread = np.zeros(shape)
    for table, (axes, variance) in zip(numbers.tables, margins, strict=True):
        # The axes of a table are in the order of the variables.
        kept = [n if axis in axes else 1 for axis, n in enumerate(shape)]
        part = numbers.published[table.rows].astype(np.float64).reshape(kept)
        spread += part / max(variance, EXACT_VARIANCE)
    bases = [_contrasts(n) for n in shape]
    for axis, basis in enumerate(bases):
        spread = np.moveaxis(np.tensordot(basis, spread, axes=(1, axis)), 0, axis)
    of_sets = strengths(shape, margins)
    mask = np.zeros(shape, dtype=np.int64)
    for axis, n in enumerate(shape):
        each = (np.arange(n) > 0).astype(np.int64) << axis
        mask += each.reshape([-1 if a == axis else 1 for a in range(len(shape))])
    strength = of_sets[mask]
    spread = np.divide(spread, strength, out=np.zeros(shape), where=strength > 0)
    for axis, basis in enumerate(bases):
        spread = np.moveaxis(np.tensordot(basis.T, spread, axes=(1, axis)), 0, axis)
    variance = variance_left(shape, margins)
    return Estimate(spread.reshape(-1), np.full(numbers.domain.size, variance))


def _weighted(numbers: PublishedNumbers) -> tuple[csr_array[np.float64], Floats]:
    """The sums that count and the roots of their weights; structural zeros are in none."""
    from scipy.sparse import csr_array

    used = np.isfinite(numbers.variance)
    ones = np.ones(len(numbers.cells))
    incidence = csr_array((ones, numbers.cells, numbers.starts), shape=(numbers.numbers, numbers.domain.size))
    weights = 1 / np.sqrt(np.maximum(numbers.variance[used], EXACT_VARIANCE))
    return incidence[used].tocsr(), weights  # type: ignore[return-value]


def _dense(numbers: PublishedNumbers, published: Floats) -> Estimate:
    incidence, weights = _weighted(numbers)
    laid_out = incidence.toarray() * weights[:, None]
    values, vectors = np.linalg.eigh(laid_out.T @ laid_out)
    kept = values > values.max(initial=0.0) * ESTIMABLE
    own = vectors[:, kept]
    right = laid_out.T @ (weights * published[np.isfinite(numbers.variance)])
    cells = own @ ((own.T @ right) / values[kept])
    variance = (own**2 / values[kept]).sum(axis=1)
    open_ = 1 - (own**2).sum(axis=1) > 1e-6
    variance[open_] = np.inf
    return Estimate(cells, _without_nobody(numbers, variance))


def _iterated(numbers: PublishedNumbers, published: Floats) -> Estimate:
    from scipy.sparse import diags_array
    from scipy.sparse.linalg import lsmr

    incidence, weights = _weighted(numbers)
    system = diags_array(weights) @ incidence
    right = weights * published[np.isfinite(numbers.variance)]
    cells = lsmr(system, right, atol=1e-12, btol=1e-12)[0]
    # Estimates of noise alone and of known tables: their variance, and whether it is one at all.
    generator = np.random.Generator(np.random.PCG64(0))
    squares = np.zeros(numbers.domain.size)
    for _ in range(REPLICATIONS):
        squares += lsmr(system, generator.normal(size=len(weights)), atol=1e-4, btol=1e-4)[0] ** 2
    known = generator.normal(size=numbers.domain.size)
    again = lsmr(system, np.asarray(system @ known), atol=1e-9, btol=1e-9)[0]
    variance = np.where(np.abs(again - known) < 1e-3, squares / REPLICATIONS, np.inf)
    return Estimate(cells, _without_nobody(numbers, variance))


def _without_nobody(numbers: PublishedNumbers, variance: Floats) -> Floats:
    """Cells where nobody can be are no estimates."""
    if numbers.domain.structural:
        variance = np.where(numbers.domain.structural_cells(), 0.0, variance)
    return variance
