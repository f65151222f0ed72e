"""The expected counts under kept margins, and synthetic tables drawn around them.

Kept margins are published, so trials on such tables disclose nothing confidential.
"""

from __future__ import annotations

import math

import numpy as np

from tabprotect.engine.arrays import Bools, Floats, Ints
from tabprotect.engine.fitting.expected import fit
from tabprotect.engine.progress import SILENT, Progress
from tabprotect.engine.tables.kept_margins import KeptMargins

DIGITS = 9
"""Digits to which expected counts are rounded: rounding errors must not decide."""

LARGEST = 1e9
"""Largest expected count: a larger one is never at risk, never blocks a cycle, and cannot be drawn."""


def expected_counts(kept: KeptMargins, zeros: Bools | None = None, progress: Progress = SILENT) -> Floats:
    """The expected count of each cell from the kept margins, rounded, (cells,); 0: a public zero.

    Parameters
    ----------
    zeros : bool (cells,)
        Cells that are empty whatever is published, beside the table's structural zeros.
    """
    mu = np.round(fit(kept.publication, kept.counts, progress=progress).cells.reshape(-1), DIGITS)
    if zeros is not None:
        mu[zeros] = 0.0
    if kept.domain.structural:
        mu[kept.domain.structural_cells()] = 0.0
    return mu


def synthetic_counts(
    expected: Floats, number: int, generator: np.random.Generator, *, shape: float | None = None
) -> Ints:
    """Independent counts with the expected ones as means, int64 (cells, number).

    Parameters
    ----------
    expected : float64 (cells,)
    shape
        Poisson counts by default; else negative binomial ones of this shape, which are zero more
        often.
    """
    rate = np.minimum(expected, LARGEST)
    if shape is None:
        # Table by table: more of them begin with the same ones.
        return generator.poisson(rate, (number, len(rate))).astype(np.int64).T
    wide = rate[:, None] * generator.standard_gamma(shape, (len(rate), number))
    return generator.poisson(wide).astype(np.int64)


def shrunk(shape: tuple[int, ...], cells: int) -> tuple[int, ...]:
    """A shape of so many cells at most, the longest axes shortened."""
    low, high = 1, max(shape)
    while low < high:
        size = (low + high + 1) // 2
        fits = math.prod(min(size, one) for one in shape) <= cells
        low, high = (size, high) if fits else (low, size - 1)
    return tuple(min(max(low, 2), one) for one in shape)


def spread_part(expected: Floats, sizes: tuple[int, ...]) -> Floats:
    """The expected counts of so many categories of each variable, from the rarest to the most frequent.

    Parameters
    ----------
    expected : float64, one axis for each variable
    """
    chosen = []
    for axis, size in enumerate(sizes):
        by_total = np.argsort(
            np.moveaxis(expected, axis, 0).reshape(expected.shape[axis], -1).sum(1), kind="stable"
        )
        spread = (2 * np.arange(size) + 1) * expected.shape[axis] // (2 * size)
        chosen.append(np.sort(by_total[spread]))
    return np.asarray(expected[np.ix_(*chosen)])
