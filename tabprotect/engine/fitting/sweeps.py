"""Sweeps of iterative proportional fitting, over listed cells or over whole arrays."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from tabprotect.engine.arrays import Floats
from tabprotect.engine.budgets import FITTED_CELLS
from tabprotect.engine.errors import InputError
from tabprotect.engine.fitting.settled_cells import Reduced
from tabprotect.engine.progress import Progress
from tabprotect.engine.tables.publication import Publication

STAGE = "fitting the inner cells"
STILL = 1e-6
"""Relative change of the deviation in one sweep that counts as standing still."""


def check_size(publication: Publication) -> None:
    """Refuse an inner table too large to be fitted in full.

    Raises
    ------
    InputError
    """
    if publication.domain.size > FITTED_CELLS:
        raise InputError(
            f"{publication.domain.size:,} inner cells are too many to be fitted",
            hint=f"take a table of at most {FITTED_CELLS:,} cells",
        )


def by_cells(problem: Reduced, close: float, sweeps: int, progress: Progress) -> tuple[Floats, int]:
    """Listed cells: one sum over keys and one gather for each margin.

    Returns
    -------
    cells : float64 (open,)
    sweeps
        How many were made until no published count was further off than ``close``.
    """
    cells = np.ones(len(problem.open))
    before = np.inf
    for sweep in range(1, sweeps + 1):
        progress.report(STAGE, sweep / sweeps)
        off = 0.0
        for keys, target, fixed in problem.margins:
            sums = np.bincount(keys, cells, minlength=len(target))
            if fixed is None:
                off = max(off, float(np.abs(sums - target).max()))
                ratio = np.divide(target, sums, out=np.zeros_like(sums), where=sums > 0)
            else:
                off = max(off, float(np.abs(sums - target)[fixed].max(initial=0.0)))
                ratio = np.divide(target, sums, out=np.ones_like(sums), where=fixed & (sums > 0))
            cells *= ratio[keys]
        if off <= close or abs(before - off) <= STILL * off:
            return cells, sweep
        before = off
    return cells, sweeps


def by_margins(
    publication: Publication,
    margins: Sequence[int],
    targets: Sequence[Floats],
    cells: Floats,
    close: float,
    sweeps: int,
    progress: Progress,
) -> int:
    """The whole array at once: one sum over axes and one broadcast for each margin.

    Parameters
    ----------
    margins
        Margins of variables only.
    targets
        What is to be reached, one array (cells of the margin,) for each.
    cells : (shape of the inner table)
        Where to start; fitted in place.

    Returns
    -------
    sweeps
    """
    shape = cells.shape
    plan = []
    for m, target in zip(margins, targets, strict=True):
        axes = others(publication, m)
        kept = tuple(1 if a in axes else size for a, size in enumerate(shape))
        plan.append((axes, target.reshape(kept)))
    before = np.inf
    for sweep in range(1, sweeps + 1):
        progress.report(STAGE, sweep / sweeps)
        off = 0.0
        for axes, target in plan:
            sums = cells.sum(axis=axes, keepdims=True)
            off = max(off, float(np.abs(sums - target).max()))
            cells *= np.divide(target, sums, out=np.zeros_like(sums), where=sums > 0)
        if off <= close or abs(before - off) <= STILL * off:
            return sweep
        before = off
    return sweeps


def others(publication: Publication, m: int) -> tuple[int, ...]:
    """The axes a margin of variables is summed over."""
    margin = publication.margins[m]
    return tuple(a for a, name in enumerate(publication.domain.names) if name not in margin)
