"""The whole table as the released margins alone suggest it: iterative proportional fitting."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from tabprotect.engine.errors import InputError
from tabprotect.engine.progress import SILENT, Progress
from tabprotect.engine.query_space.frontier import Frontier
from tabprotect.engine.tables.table import Table

MAX_CELLS = 2**22
MAX_SWEEPS = 200
CLOSE = 1e-9
"""Largest relative change of a sweep that counts as none."""


def fitted(
    table: Table, released: Frontier, progress: Progress = SILENT
) -> npt.NDArray[np.float64]:
    """The table of largest entropy with the released margins (shape of the table).

    Exact after one sweep for decomposable releases, else up to ``CLOSE``.

    Raises
    ------
    InputError
        For a table too large to be laid out.
    """
    shape = table.domain.shape
    if table.domain.size > MAX_CELLS:
        raise InputError(
            f"a table of {table.domain.size:,} cells is too large to be fitted in full",
            hint=f"take a margin of at most {MAX_CELLS:,} cells",
        )
    counts = table.counts.astype(np.float64)
    others = [
        tuple(v for v in range(len(shape)) if not query >> v & 1) for query in released.members
    ]
    targets = [counts.sum(axis=axes, keepdims=True) for axes in others]
    fit = np.full(shape, counts.sum() / table.domain.size)
    for sweep in range(MAX_SWEEPS):
        progress.report("fitting the margins", sweep / MAX_SWEEPS)
        before = fit
        for axes, target in zip(others, targets, strict=True):
            now = fit.sum(axis=axes, keepdims=True)
            fit = fit * np.divide(target, now, out=np.zeros_like(now), where=now > 0)
        if float(np.abs(fit - before).max()) <= CLOSE * max(1.0, float(counts.max())):
            break
    return fit


def misplaced(table: Table, fit: npt.NDArray[np.float64]) -> float:
    """Share of the records that a fitted table has in other cells, in 0..1."""
    total = table.total
    return float(np.abs(fit - table.counts).sum()) / (2 * total) if total else 0.0
