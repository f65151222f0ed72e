"""Additivity restored: published counts that add up again, nearest to those given."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from tabprotect.engine.arrays import Bools, Floats, Ints
from tabprotect.engine.fitting.expected import check_size, published_values
from tabprotect.engine.progress import SILENT, Progress
from tabprotect.engine.tables.publication import Publication, distinct_rows
from tabprotect.languages.messages import message

if TYPE_CHECKING:
    from scipy.sparse import csr_array


RUNS = 3
REDUCTION = 1e-12
"""Factor by which one run reduces the gradient; further runs remove what rounding leaves."""

EPSILON = 2e-16
"""Relative error of one rounding."""

STEPS = 16
"""Steps between two checks for cancellation."""


def times(matrix: csr_array[np.float64], vector: Floats) -> Floats:
    """The product (rows,) of a matrix and a vector (columns,)."""
    return np.asarray(matrix @ vector)


def _dot(a: Floats, b: Floats) -> float:
    # Not by BLAS: its threads wait for each other where other processes share the cores.
    return float(np.einsum("i,i->", a, b))


def project(sums: csr_array[np.float64], values: Floats, start: Floats, tick: Callable[[], None]) -> Floats:
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
    floor = EPSILON * _dot(rough, rough) ** 0.5
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


LIMIT = 1e-10
ROUNDING = 1e-14
"""Share of the largest count below which a fit cannot be distinguished from zero."""


def restore(
    published: Publication | csr_array[np.int64],
    values: npt.ArrayLike,
    *,
    known: Bools | None = None,
    non_negative: bool = True,
    copies: bool = False,
    progress: Progress = SILENT,
) -> Floats:
    """Least squares fit of the published counts by sums of one inner table.

    The non-negativity device of Langsrud & Lupp (2021): fits below the limit are published as 0,
    the inner cells under any published 0 are 0 and leave the fit, and the rest is fitted anew until
    no more fits fall below the limit. It is a heuristic, neither the nearest non-negative fit nor
    a proof that a non-negative inner table exists. Observed zeros stay free while no fit is below
    the limit.

    Parameters
    ----------
    published
        Which inner cells each published count sums; as a matrix (published, inner) of 0 and 1.
    values : (published,)
        The counts as published.
    known : bool (published,)
        The counts that are published; all by default. The values of others are ignored.
    non_negative
        False gives the plain least squares fit.
    copies
        Whether published counts of the very same inner cells weigh in each on its own; else the
        first of them is fitted, and copied.

    Returns
    -------
    fitted : float64 (published,)
        NaN at an unknown count, unless a count of the same inner cells is known.

    Raises
    ------
    InputError
        For a wrong number of values, or values that are not finite.
    """
    if isinstance(published, Publication):
        check_size(published)
    sums, representatives, inverse = _system(published, copies=copies)
    given, stated = published_values(values, known, len(inverse))
    # Of copies the first one that is known.
    first = np.full(len(representatives), len(inverse))
    np.minimum.at(first, inverse[stated], np.flatnonzero(stated))
    there = first < len(inverse)
    observed = np.where(there, given[np.minimum(first, len(inverse) - 1)], 0.0)
    fitted = np.full(len(representatives), np.nan)
    fitted[there] = _fit(
        sums[there], observed[there], limit=LIMIT if non_negative else -np.inf, progress=progress
    )
    return np.asarray(fitted[inverse])


def _system(
    published: Publication | csr_array[np.int64], *, copies: bool
) -> tuple[csr_array[np.float64], Ints, Ints]:
    """The sums to fit (distinct, inner), the first row of each, and each row's place."""
    matrix = published.incidence if isinstance(published, Publication) else published
    if copies:
        every = np.arange(matrix.shape[0], dtype=np.int64)
        return matrix.astype(np.float64), every, every
    if isinstance(published, Publication):
        representatives, inverse = published.distinct
    else:
        representatives, inverse = distinct_rows(matrix)
    return matrix[representatives].astype(np.float64), representatives, inverse


def _fit(sums: csr_array[np.float64], observed: Floats, *, limit: float, progress: Progress) -> Floats:
    """The fit with the device, of counts that are all known and distinct."""

    def tick() -> None:
        progress.report(message("restoring additivity"), before / max(len(observed), 1))

    before = 0
    cells = project(sums, observed, np.zeros(sums.shape[1]), tick)
    fitted = times(sums, cells)
    if np.isfinite(limit):
        limit = max(limit, ROUNDING * float(np.abs(observed).max(initial=0.0)))
    across = sums.T.tocsr()
    low = fitted < limit
    while low.sum() > before:
        before = int(low.sum())
        observed = np.where(low, 0.0, observed)
        zero = observed == 0
        free = times(across, zero.astype(np.float64)) == 0
        left = sums[~zero][:, np.flatnonzero(free)]
        # What was found so far is near what is left to find.
        cells[~free] = 0
        cells[free] = project(left, observed[~zero], cells[free], tick)
        fitted = np.zeros(len(observed))
        fitted[~zero] = times(left, cells[free])
        low = fitted < limit
    return fitted
