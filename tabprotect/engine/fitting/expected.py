"""Expected inner cells: what the published counts alone suggest, by iterative proportional fitting."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from tabprotect.engine.errors import InputError
from tabprotect.engine.fitting.additivity import Mask, check_size
from tabprotect.engine.fitting.contradictions import contradiction
from tabprotect.engine.fitting.known_cells import Reduced, reduce
from tabprotect.engine.fitting.projection import Reals
from tabprotect.engine.progress import SILENT, Progress
from tabprotect.engine.tables.publication import Publication

TOLERANCE = 1e-9
"""Deviation at which the fit stops; rounding allows no better than ``ROUNDING`` of the largest."""

ROUNDING = 1e-13
REACHED = 1e-6
STILL = 1e-6
"""Relative change of the deviation in one sweep that counts as standing still."""

MAX_SWEEPS = 1000
DENSE = 0.3
"""Share of inner cells that must be open for whole margins to be faster than listed cells."""


@dataclass(frozen=True, eq=False)
class Expected:
    """A fitted inner table.

    Attributes
    ----------
    cells : float64 (shape of the inner table)
    sweeps
        How often every margin was fitted.
    deviation
        Largest distance of a sum of the cells from its published count.
    reached
        Whether the published counts are met; else no non-negative inner table has them (or the
        sweeps were too few to come near one at the edge of what is possible).
    """

    cells: Reals
    sweeps: int
    deviation: float
    reached: bool


def expected(
    publication: Publication,
    values: npt.ArrayLike,
    *,
    known: Mask | None = None,
    progress: Progress = SILENT,
) -> Reals:
    """The cells of :func:`fit`, float64 (shape of the inner table)."""
    return fit(publication, values, known=known, progress=progress).cells


def fit(
    publication: Publication,
    values: npt.ArrayLike,
    *,
    known: Mask | None = None,
    tolerance: float = TOLERANCE,
    sweeps: int = MAX_SWEEPS,
    progress: Progress = SILENT,
) -> Expected:
    """The inner table of largest entropy with the published counts.

    Iterative proportional fitting from equal cells (Deming & Stephan 1940): the maximum likelihood
    fit of the log-linear model whose sufficient statistics are the published counts. Cells under a
    published 0, and cells that are alone under a published count, are settled first. Margins that
    follow from other margins are not fitted on their own.

    Parameters
    ----------
    publication
        Which sub-tables are published; the inner table is laid out in full.
    values : (published,)
        Additive counts, as :func:`~tabprotect.engine.fitting.additivity.restore` makes them.
    known : bool (published,)
        The counts that are published; all by default.
    tolerance
        Deviation to reach.

    Raises
    ------
    InputError
        For a wrong number of values, negative ones, or margins that contradict each other (named).
    """
    check_size(publication)
    targets = np.asarray(values, dtype=np.float64)
    stated = np.ones(publication.size, dtype=np.bool_) if known is None else np.asarray(known)
    if targets.shape != (publication.size,):
        raise InputError(f"{targets.size} values are given for {publication.size} published cells")
    if not np.isfinite(targets[stated]).all():
        raise InputError("a published value is no finite number")
    scale = max(1.0, float(targets[stated].max(initial=0.0)))
    if targets[stated].min(initial=0.0) < -1e-9 * scale:
        worst = int(np.flatnonzero(stated)[np.argmin(targets[stated])])
        raise InputError(
            f"the published count of {publication.cell_text(worst)} is negative",
            hint="restore additivity without negative counts first",
        )
    margins = _swept(publication, stated)
    problem = reduce(publication, margins, np.where(stated, targets, 0.0), stated, 1e-12 * scale)
    close = max(tolerance, ROUNDING * scale)
    if not len(problem.open):
        sweeps = 0
    plain = all(set(publication.margins[m]) <= set(publication.domain.names) for m in margins)
    if plain and stated.all() and len(problem.open) > DENSE * publication.domain.size:
        done = _by_margins(publication, margins, problem, close, sweeps, progress)
    else:
        done = _by_cells(problem, close, sweeps, progress)
    cells = problem.settled
    cells[problem.open] = done[0]
    deviation = _deviation(publication, cells, targets, stated)
    reached = deviation <= max(REACHED, 100 * close)
    if not reached and stated.all() and (said := contradiction(publication, targets)):
        raise InputError(said, hint="restore additivity first")
    return Expected(cells.reshape(publication.domain.shape), done[1], deviation, reached)


def _swept(publication: Publication, stated: Mask) -> list[int]:
    """The margins to fit: those that follow from no other complete one."""
    names = publication.margins
    begin, end = publication.starts[:-1], publication.starts[1:]
    complete = [bool(stated[b:e].all()) for b, e in zip(begin, end, strict=True)]
    chosen = []
    for m in range(len(names)):
        follows = any(
            complete[other]
            and publication.determines(names[other], names[m])
            # Of two margins that determine each other the first is fitted.
            and (other < m or not publication.determines(names[m], names[other]))
            for other in range(len(names))
            if other != m
        )
        if stated[begin[m] : end[m]].any() and not follows:
            chosen.append(m)
    return chosen


def _deviation(publication: Publication, cells: Reals, targets: Reals, stated: Mask) -> float:
    largest = 0.0
    for m, (begin, end) in enumerate(
        zip(publication.starts[:-1], publication.starts[1:], strict=True)
    ):
        sums = np.bincount(publication.keys(m), cells, minlength=end - begin)
        off = np.abs(sums - targets[begin:end])[stated[begin:end]]
        largest = max(largest, float(off.max(initial=0.0)))
    return largest


def _by_cells(problem: Reduced, close: float, sweeps: int, progress: Progress) -> tuple[Reals, int]:
    """Listed cells: one sum over keys and one gather for each margin."""
    cells = np.ones(len(problem.open))
    before, sweep = np.inf, 0
    for sweep in range(1, sweeps + 1):
        progress.report("fitting the inner cells", sweep / sweeps)
        off = 0.0
        for keys, target, fixed in problem.margins:
            sums = np.bincount(keys, cells, minlength=len(target))
            if fixed is None:
                off = max(off, float(np.abs(sums - target).max(initial=0.0)))
                ratio = np.divide(target, sums, out=np.zeros_like(sums), where=sums > 0)
            else:
                off = max(off, float(np.abs(sums - target)[fixed].max(initial=0.0)))
                ratio = np.divide(target, sums, out=np.ones_like(sums), where=fixed & (sums > 0))
            cells *= ratio[keys]
        if off <= close or abs(before - off) <= STILL * off:
            break
        before = off
    return cells, sweep


def _by_margins(
    publication: Publication,
    margins: list[int],
    problem: Reduced,
    close: float,
    sweeps: int,
    progress: Progress,
) -> tuple[Reals, int]:
    """The whole array at once: one sum over axes and one broadcast for each margin."""
    shape, names = publication.domain.shape, publication.domain.names
    cells = np.zeros(publication.domain.size)
    cells[problem.open] = 1.0
    cells = cells.reshape(shape)
    plan = []
    for m, (_, target, _) in zip(margins, problem.margins, strict=True):
        axes = tuple(a for a, name in enumerate(names) if name not in publication.margins[m])
        kept = tuple(1 if a in axes else size for a, size in enumerate(shape))
        plan.append((axes, target.reshape(kept)))
    before, sweep = np.inf, 0
    for sweep in range(1, sweeps + 1):
        progress.report("fitting the inner cells", sweep / sweeps)
        off = 0.0
        for axes, target in plan:
            sums = cells.sum(axis=axes, keepdims=True)
            off = max(off, float(np.abs(sums - target).max()))
            cells *= np.divide(target, sums, out=np.zeros_like(sums), where=sums > 0)
        if off <= close or abs(before - off) <= STILL * off:
            break
        before = off
    return cells.reshape(-1)[problem.open], sweep
