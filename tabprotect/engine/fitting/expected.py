"""Expected inner cells from the published counts alone, by iterative proportional fitting."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np
import numpy.typing as npt

from tabprotect.engine.arrays import Bools, Floats, Ints
from tabprotect.engine.budgets import FITTED_CELLS
from tabprotect.engine.errors import InputError
from tabprotect.engine.progress import SILENT, Progress
from tabprotect.engine.tables.publication import Publication
from tabprotect.languages.messages import message

DENSE = 0.3
"""Share of inner cells that must be open for whole margins to be faster than listed cells."""

EXPECTED_SWEEPS = 1000
"""Sweeps of one fit of expected cells."""


@dataclass(frozen=True, eq=False)
class Reduced:
    """A fit without the cells that are settled.

    Attributes
    ----------
    settled : float64 (inner,)
        The values of the settled cells; 0 elsewhere.
    open : int64 (open,)
        The other inner cells.
    margins
        For each margin: its cell that each open cell adds into, int64 (open,); the remainder of its
        published counts, float64 (cells of the margin,); and whether each of these is published,
        ``None`` where all are.
    """

    settled: Floats
    open: Ints
    margins: tuple[tuple[Ints, Floats, Bools | None], ...]


def reduce(
    publication: Publication, margins: list[int], targets: Floats, stated: Bools, close: float
) -> Reduced:
    """Settle cells under a published 0, and cells alone under a published count, until none is left.

    Parameters
    ----------
    targets : (published,)
    stated : bool (published,)
        Which counts are published.
    close
        Counts up to this are 0.
    """
    begin, end = publication.starts[:-1], publication.starts[1:]
    keys = [publication.keys(m) for m in margins]
    left = [np.maximum(targets[begin[m] : end[m]], 0.0) for m in margins]
    fixed = [stated[begin[m] : end[m]] for m in margins]
    settled = np.zeros(publication.domain.size)
    cells = np.arange(publication.domain.size, dtype=np.int64)
    while len(cells):
        gone = np.zeros(len(cells), dtype=np.bool_)
        alone: list[Ints] = []
        for key, rest, known in zip(keys, left, fixed, strict=True):
            zero = known & (rest <= close)
            if zero.any():
                gone |= zero[key]
        if not gone.any():
            for key, rest, known in zip(keys, left, fixed, strict=True):
                single = known & (np.bincount(key, minlength=len(rest)) == 1)
                if single.any():
                    places = np.flatnonzero(single[key] & ~gone)
                    settled[cells[places]] = rest[key[places]]
                    gone[places] = True
                    alone.append(places)
        if not gone.any():
            break
        for places in alone:
            values = settled[cells[places]]
            for key, rest in zip(keys, left, strict=True):
                rest -= np.bincount(key[places], values, minlength=len(rest))
        for rest in left:
            np.maximum(rest, 0.0, out=rest)
        cells = cells[~gone]
        keys = [key[~gone] for key in keys]
    return Reduced(
        settled,
        cells,
        tuple(
            (key, rest, None if known.all() else known)
            for key, rest, known in zip(keys, left, fixed, strict=True)
        ),
    )


CLOSE = 0.01
"""Tolerance for values written with few decimals."""


def contradiction(publication: Publication, values: Floats) -> str:
    """Two margins and the count they disagree on, in words; empty where all agree.

    Parameters
    ----------
    values : (published,)
    """
    close = max(CLOSE, 1e-9 * float(np.abs(values).max(initial=0.0)))
    parts = [part.reshape(-1) for part in publication.split(values)]
    for one, other in combinations(range(len(parts)), 2):
        a, b = publication.margins[one], publication.margins[other]
        both = [n for n in a if publication.determines(b, [n])]
        both += [n for n in b if publication.determines(a, [n]) and n not in both]
        shared = Publication.of(publication.domain, [both], publication.groupings)
        into = shared.keys(0)
        sums = []
        for m in (one, other):
            coarse = np.zeros(len(parts[m]), dtype=np.int64)
            coarse[publication.keys(m)] = into
            sums.append(np.bincount(coarse, parts[m], minlength=shared.size))
        off = np.abs(sums[0] - sums[1])
        worst = int(np.argmax(off))
        if off[worst] > close:
            return message(
                "the margins {a} and {b} contradict each other: "
                "{worst} is {sums:g} in one and "
                "{sums2:g} in the other",
                _said(a),
                _said(b),
                shared.cell_text(worst),
                sums[0][worst],
                sums[1][worst],
            )
    return ""


def _said(margin: tuple[str, ...]) -> str:
    return ":".join(margin) or message("grand total")


TOLERANCE = 1e-9
"""Deviation at which the fit stops; rounding allows no better than ``ROUNDING`` of the largest."""

ROUNDING = 1e-13
REACHED = 1e-6
NOTHING = 1e-12
"""Share of the largest count up to which a published count is taken as 0."""


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

    cells: Floats
    sweeps: int
    deviation: float
    reached: bool


def expected(
    publication: Publication,
    values: npt.ArrayLike,
    *,
    known: Bools | None = None,
    progress: Progress = SILENT,
) -> Floats:
    """The cells of :func:`fit`, float64 (shape of the inner table)."""
    return fit(publication, values, known=known, progress=progress).cells


def fit(
    publication: Publication,
    values: npt.ArrayLike,
    *,
    known: Bools | None = None,
    tolerance: float = TOLERANCE,
    sweeps: int = EXPECTED_SWEEPS,
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
    targets, stated = published_values(values, known, publication.size)
    scale = max(1.0, float(targets[stated].max(initial=0.0)))
    if targets[stated].min(initial=0.0) < -1e-9 * scale:
        worst = int(np.flatnonzero(stated)[np.argmin(targets[stated])])
        raise InputError(
            message("the published count of {worst} is negative", publication.cell_text(worst)),
            hint=message("restore additivity without negative counts first"),
        )
    margins = _swept(publication, stated)
    close = max(tolerance, ROUNDING * scale)
    stop = Stop(close, sweeps)
    cells, done = _fitted(publication, margins, np.where(stated, targets, 0.0), stated, stop, progress)
    deviation = _deviation(publication, cells, targets, stated)
    reached = deviation <= max(REACHED, 100 * close)
    if not reached and stated.all() and (said := contradiction(publication, targets)):
        raise InputError(said, hint=message("restore additivity first"))
    return Expected(cells, done, deviation, reached)


def published_values(values: npt.ArrayLike, known: Bools | None, size: int) -> tuple[Floats, Bools]:
    """The published values (size,), and which of them are known.

    Raises
    ------
    InputError
        For a wrong number of values, or values that are not finite.
    """
    given = np.asarray(values, dtype=np.float64)
    if given.shape != (size,):
        raise InputError(message("{size} values are given for {size2} published cells", given.size, size))
    stated = np.ones(size, dtype=np.bool_) if known is None else np.asarray(known)
    if not np.isfinite(given[stated]).all():
        raise InputError(message("a published value is no finite number"))
    return given, stated


def _fitted(
    publication: Publication,
    margins: list[int],
    targets: Floats,
    stated: Bools,
    stop: Stop,
    progress: Progress,
) -> tuple[Floats, int]:
    """The cells (shape of the inner table) by the quickest way, and the sweeps it took."""
    domain = publication.domain
    parts = [targets[publication.starts[m] : publication.starts[m + 1]] for m in margins]
    none = NOTHING * max(1.0, float(targets.max(initial=0.0)))
    plain = bool(stated.all()) and all(publication.is_plain(m) for m in margins)
    if plain and all(len(p) < domain.size and p.min() > none for p in parts):
        # No cell can be settled before the fit.
        whole = np.ones(domain.shape)
        return whole, by_margins(publication, margins, parts, whole, stop, progress)
    problem = reduce(publication, margins, targets, stated, none)
    if not len(problem.open):
        return problem.settled.reshape(domain.shape), 0
    cells = problem.settled
    if plain and len(problem.open) > DENSE * domain.size:
        whole = np.zeros(domain.shape)
        whole.reshape(-1)[problem.open] = 1.0
        parts = [left for _, left, _ in problem.margins]
        done = by_margins(publication, margins, parts, whole, stop, progress)
        return cells.reshape(domain.shape) + whole, done
    cells[problem.open], done = by_cells(problem, stop, progress)
    return cells.reshape(domain.shape), done


def _swept(publication: Publication, stated: Bools) -> list[int]:
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


def _deviation(publication: Publication, cells: Floats, targets: Floats, stated: Bools) -> float:
    largest = 0.0
    for m, (begin, end) in enumerate(zip(publication.starts[:-1], publication.starts[1:], strict=True)):
        if publication.is_plain(m):
            sums = cells.sum(axis=others(publication, m)).reshape(-1)
        else:
            sums = np.bincount(publication.keys(m), cells.reshape(-1), minlength=end - begin)
        off = np.abs(sums - targets[begin:end])[stated[begin:end]]
        largest = max(largest, float(off.max(initial=0.0)))
    return largest


STAGE = message("fitting the inner cells")
STILL = 1e-6
"""Relative change of the deviation in one sweep that counts as standing still."""


@dataclass(frozen=True)
class Stop:
    """When fitting ends.

    Attributes
    ----------
    close
        Deviation of every published count that is enough.
    sweeps
        Most sweeps.
    """

    close: float
    sweeps: int

    def reached(self, off: float, before: float) -> bool:
        """Return True if a sweep came close enough, or no closer than the one before it."""
        return off <= self.close or abs(before - off) <= STILL * off


def check_size(publication: Publication) -> None:
    """Refuse an inner table too large to be fitted in full.

    Raises
    ------
    InputError
    """
    if publication.domain.size > FITTED_CELLS:
        raise InputError(
            message("{size:,} inner cells are too many to be fitted", publication.domain.size),
            hint=message("take a table of at most {FITTED_CELLS:,} cells", FITTED_CELLS),
        )


def by_cells(problem: Reduced, stop: Stop, progress: Progress) -> tuple[Floats, int]:
    """Listed cells: one sum over keys and one gather for each margin.

    Returns
    -------
    cells : float64 (open,)
    sweeps
        How many were made.
    """
    cells = np.ones(len(problem.open))
    before = np.inf
    for sweep in range(1, stop.sweeps + 1):
        progress.report(STAGE, sweep / stop.sweeps)
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
        if stop.reached(off, before):
            return cells, sweep
        before = off
    return cells, stop.sweeps


def by_margins(
    publication: Publication,
    margins: Sequence[int],
    targets: Sequence[Floats],
    cells: Floats,
    stop: Stop,
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
    for sweep in range(1, stop.sweeps + 1):
        progress.report(STAGE, sweep / stop.sweeps)
        off = 0.0
        for axes, target in plan:
            sums = cells.sum(axis=axes, keepdims=True)
            off = max(off, float(np.abs(sums - target).max()))
            cells *= np.divide(target, sums, out=np.zeros_like(sums), where=sums > 0)
        if stop.reached(off, before):
            return sweep
        before = off
    return stop.sweeps


def others(publication: Publication, m: int) -> tuple[int, ...]:
    """The axes a margin of variables is summed over."""
    margin = publication.margins[m]
    return tuple(a for a, name in enumerate(publication.domain.names) if name not in margin)
