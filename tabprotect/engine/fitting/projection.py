"""Least squares fit of published counts by an additive table."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np

from tabprotect.engine.arrays import Floats

if TYPE_CHECKING:
    from scipy.sparse import csr_array


RUNS = 3
REDUCTION = 1e-12
"""How far one run takes the gradient down; what rounding leaves, the next run takes."""

ROUNDING = 2e-16
STEPS = 16
"""Between two looks whether the work is still wanted."""


def times(matrix: csr_array[np.float64], vector: Floats) -> Floats:
    """The product (rows,) of a matrix and a vector (columns,)."""
    return np.asarray(matrix @ vector)


def _dot(a: Floats, b: Floats) -> float:
    # Not by BLAS: its threads wait for each other where other processes share the cores.
    return float(np.einsum("i,i->", a, b))


def project(
    sums: csr_array[np.float64], values: Floats, start: Floats, tick: Callable[[], None]
) -> Floats:
    """Inner cells whose sums are nearest to ``values``: least squares.

    Conjugate gradients on the normal equations (Hestenes & Stiefel 1952). The eigenvalues of the
    sums of crossed variables fall into few clusters, one for each set of variables, so that tens
    of steps are exact, even where cells have been taken out; nothing is factorised. Further runs
    from the recomputed residual remove what rounding has left.

    Parameters
    ----------
    sums : (published, inner)
        0 or 1; may be of any rank.
    values : (published,)
    start : (inner,)
        Where to start; it settles which of the solutions is found, whose sums are all the same.
    tick
        Called now and then; may raise.

    Returns
    -------
    cells : float64 (inner,)
    """
    across = sums.T.tocsr()
    inner = start.copy()
    # What rounding of the published counts alone makes of the gradient.
    rough = times(across, np.abs(values))
    floor = ROUNDING * _dot(rough, rough) ** 0.5
    for _ in range(RUNS):
        inner += _conjugate(sums, across, values - times(sums, inner), floor, tick)
    return inner


def _conjugate(
    sums: csr_array[np.float64],
    across: csr_array[np.float64],
    values: Floats,
    floor: float,
    tick: Callable[[], None],
) -> Floats:
    """One run from zero: the inner cells (inner,)."""
    inner = np.zeros(sums.shape[1])
    residual = values.copy()
    gradient = times(across, residual)
    direction = gradient.copy()
    size = first = _dot(gradient, gradient)
    # In exact arithmetic the rank is enough.
    for step in range(2 * min(sums.shape) + 10):
        if step % STEPS == 0:
            tick()
        if size <= max(REDUCTION**2 * first, floor**2):
            break
        ahead = times(sums, direction)
        length = size / _dot(ahead, ahead)
        inner += length * direction
        residual -= length * ahead
        gradient = times(across, residual)
        before, size = size, _dot(gradient, gradient)
        direction = gradient + (size / before) * direction
    return inner
