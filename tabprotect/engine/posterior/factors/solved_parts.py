"""A solved part of an original: distributions of its cells, joint draws, number of originals."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from tabprotect.engine.arrays import Floats, Ints
from tabprotect.engine.bounds.counting import TableCount
from tabprotect.engine.bounds.fibre import Fibre, fibre
from tabprotect.engine.errors import InfeasibleError
from tabprotect.engine.posterior.factors.cellwise import Cellwise
from tabprotect.engine.posterior.factors.components import FactorComponent
from tabprotect.engine.posterior.factors.convolution import Convolution
from tabprotect.engine.posterior.factors.residual_sums import ResidualSums
from tabprotect.engine.progress import SILENT, Progress
from tabprotect.languages.messages import message

PART_SUMS_COUNTED = 1_000_000
"""Most entries (row, count) of a part times its cells for which its originals are counted."""

PART_SUMS_LISTED = 2**22
"""Most counts in all originals of a part that are listed for the law of a sum."""

FOLD = 1000
"""Overhead of one convolution call, in entries."""

Draw = Callable[[int, np.random.Generator, Progress], Ints]

DrawBlocks = Callable[[int, int, np.random.Generator, Progress], Ints]


@dataclass(frozen=True, eq=False)
class SolvedPart:
    """Cells that were solved together.

    Attributes
    ----------
    cells : int64 (cells,)
        Flat cells.
    first : int64 (cells,)
        The count that the first entry of each cell's row stands for.
    rows
        Probabilities of each cell's counts; cells with equal posteriors may share one array.
    draw
        ``(number, generator, progress) -> int64 (number, cells)``.
    count
        The number of originals of these cells; ``None`` if unknown.
    estimate
        An estimate of that number if it is unknown; ``None`` without one.
    listed
        Every original, int64 (originals, cells), with its probability; ``None`` if they cannot
        be listed. Ask for the count first.
    errors
        Standard errors of the rows; ``None`` when exact.
    effective_sample_size, draws, r_hat
        Of a Monte Carlo part.
    in_order
        Those that were recorded at places below ``draws``, int64 (number,), chain by chain; ``None`` without
        chains.
    draw_blocks
        ``(blocks, number, generator, progress) -> int64 (blocks * number, cells)``: as so many calls
        of ``draw`` one after the other, at once; ``None`` if there is no such way.
    total
        The law of the sum of all these cells: the first possible sum and the chances from it
        on; ``None`` if it can only be read off originals.
    """

    cells: Ints
    first: Ints
    rows: Sequence[Floats]
    draw: Draw
    count: Callable[[], int | None]
    listed: Callable[[], tuple[Ints, Floats]] | None = None
    errors: Sequence[Floats] | None = None
    effective_sample_size: float | None = None
    draws: int | None = None
    r_hat: float | None = None
    in_order: Callable[[Ints], Ints] | None = None
    estimate: Callable[[], TableCount | None] = lambda: None
    total: Callable[[], tuple[int, Floats]] | None = None
    draw_blocks: DrawBlocks | None = None


def by_convolution(component: FactorComponent, progress: Progress = SILENT) -> SolvedPart | None:
    """A component with one sum; ``None`` if it has more, or is too large."""
    even = EvenShares.of(component)
    if even is not None:
        cells, low = component.cells, component.low
        return SolvedPart(cells, low, even.marginals(), even.draw, even.count, _listing(component))
    found = Convolution.of(component)
    solved = _solved(component, found, _listing(component), progress)
    return solved if solved is None or found is None else replace(solved, total=found.total)


def _solved(
    component: FactorComponent,
    found: Convolution | ResidualSums | None,
    listed: Callable[[], tuple[Ints, Floats]],
    progress: Progress,
) -> SolvedPart | None:
    if found is None:
        return None
    if not found.possible:
        raise no_original()
    marginals = found.marginals(progress)
    return SolvedPart(component.cells, component.low, marginals, found.draw, found.count, listed)


def _listing(component: FactorComponent) -> Callable[[], tuple[Ints, Floats]]:
    def listed() -> tuple[Ints, Floats]:
        # With so few originals there are few states.
        walked = ResidualSums.of(component)
        assert walked is not None
        return walked.originals()

    return listed


def by_residuals(component: FactorComponent, *, most: int, progress: Progress = SILENT) -> SolvedPart | None:
    """Any component with at most so many transitions between states; ``None`` beyond."""
    found = ResidualSums.of(component, most=most, progress=progress)
    if found is None:
        return None
    solved = _solved(component, found, found.originals, progress)
    return None if solved is None else replace(solved, draw_blocks=found.draw_blocks)


def by_fibre(component: FactorComponent, *, most: int, progress: Progress = SILENT) -> SolvedPart | None:
    """A component with at most so many originals, however many sums it has; ``None`` beyond."""
    sums = [(one.cells, one.low, one.high) for one in component.sums]
    found = fibre(component.low, component.high, sums, most=most, progress=progress)
    if found is None:
        return None
    chances = _weighed(component, found)
    cells = np.arange(len(component))
    widths = component.high - component.low + 1
    rows = [np.zeros(width) for width in widths]
    for chosen, tables in found.blocks():
        for cell in cells:
            column = tables[:, cell] - component.low[cell]
            rows[cell] += np.bincount(column, chances[chosen], minlength=widths[cell])
    cumulative = np.cumsum(chances)
    possible = np.flatnonzero(chances > 0)

    def draw(number: int, generator: np.random.Generator, progress: Progress) -> Ints:
        at = np.searchsorted(cumulative, generator.random(number) * cumulative[-1], side="right")
        return found.tables(np.minimum(at, possible[-1]))

    return SolvedPart(
        component.cells,
        component.low,
        rows,
        draw,
        lambda: len(possible),
        lambda: (found.tables(possible), chances[possible]),
    )


def _weighed(component: FactorComponent, found: Fibre) -> Floats:
    """The probability of every table, (tables,)."""
    telling = [cell for cell, logs in enumerate(component.logs) if np.ptp(logs) > 0]
    sums = [one for one in component.sums if one.logs is not None and np.ptp(one.logs) > 0]
    logs = np.zeros(len(found))
    for chosen, tables in found.blocks() if telling or sums else ():
        for cell in telling:
            logs[chosen] += component.logs[cell][tables[:, cell] - component.low[cell]]
        for one in sums:
            logs[chosen] += one.logs[tables[:, one.cells].sum(axis=1) - one.low]  # type: ignore[index]
    if not len(logs) or logs.max() == -np.inf:
        raise no_original()
    weights = np.exp(logs - logs.max())
    return np.asarray(weights / weights.sum(), dtype=np.float64)


def by_cell(cells: Cellwise) -> SolvedPart:
    """A few independent cells as a part."""

    def listed() -> tuple[Ints, Floats]:
        tables, chances = np.zeros((1, 0), dtype=np.int64), np.ones(1)
        for first, row in zip(firsts, rows, strict=True):
            possible = np.flatnonzero(row > 0)
            tables = np.concatenate(
                [np.repeat(tables, len(possible), axis=0), np.tile(possible + first, len(tables))[:, None]],
                axis=1,
            )
            chances = np.repeat(chances, len(possible)) * np.tile(row[possible], len(chances))
        return tables, chances

    rows = [cells.chances[row] for row in cells.row_of_cell]
    firsts = cells.first[cells.row_of_cell]
    return SolvedPart(
        cells.cells,
        firsts,
        rows,
        cells.draw,
        lambda: None if cells.log_count > LOG_MOST else cells.count(),
        listed,
    )


LOG_MOST = 690.0
"""A number of originals above exp(690) is reported as too many to count."""


def no_original() -> InfeasibleError:
    """The error when no original fits."""
    return InfeasibleError(
        message("no original table fits this release and prior"),
        hint=message("check that tables and mechanism belong together, or choose a wider prior"),
    )


MOST_CELLS = 10_000
"""Most cells for which the exact number of originals is computed."""


class EvenShares:
    """The uniform posterior of cells that share a total, as stars and bars."""

    def __init__(self, total: int, cells: int) -> None:
        self._total, self._cells = total, cells

    @classmethod
    def of(cls, component: FactorComponent) -> EvenShares | None:
        """Return ``None`` for any other component."""
        if len(component.sums) != 1 or len(component) < 2:
            return None
        (one,) = component.sums
        bounded = (component.low != 0).any() or (component.high != one.high).any()
        if one.low != one.high or bounded or len(set(map(id, component.logs))) > 1:
            return None
        return cls(one.high, len(component)) if np.ptp(component.logs[0]) == 0 else None

    def marginals(self) -> list[Floats]:
        """Probabilities of each cell's counts 0, 1, ..., without the tail below the smallest float."""
        # scipy is a third of the start-up time.
        from scipy.special import gammaln

        rest, others = self._total - np.arange(self._total + 1.0), self._cells - 1
        logs = gammaln(rest + others) - gammaln(rest + 1) - gammaln(others)
        chances = np.exp(logs - logs.max())
        chances = chances[: int(np.flatnonzero(chances > 0)[-1]) + 1]
        return [chances / chances.sum()] * self._cells

    def draw(self, number: int, generator: np.random.Generator, progress: Progress = SILENT) -> Ints:
        """Independent joint draws, int64 (number, cells)."""
        out = np.empty((number, self._cells), dtype=np.int64)
        places = self._total + self._cells - 1
        for k in range(number):
            progress.report(message("drawing tables"), k / number)
            bars = generator.choice(places, self._cells - 1, replace=False, shuffle=False)
            bars.sort()
            out[k] = np.diff(bars, prepend=-1, append=places) - 1
        return out

    def count(self) -> int | None:
        """The number of originals; ``None`` if it is too large."""
        if self._cells > MOST_CELLS:
            return None
        return math.comb(self._total + self._cells - 1, self._cells - 1)


@dataclass(frozen=True, eq=False)
class PartSums:
    """Exact laws of sums of cells of an original solved part by part; an :class:`ExactSums`.

    Parts are independent: the law of a sum is the convolution of the laws of what each part
    contributes: the law of one cell, that of the part's total, or one read off its listed originals.

    Attributes
    ----------
    group, first : int64 (cells,)
        As in ``Posterior``.
    rows : float64 (groups, width)
    parts
        Cells that were solved together; all others are independent.
    part_of_cell : int64 (cells,)
        The number of each cell's part; -1 for the others.
    """

    group: Ints
    first: Ints
    rows: Floats
    parts: Sequence[SolvedPart]
    part_of_cell: Ints
    _known: dict[object, tuple[int, Floats]] = field(default_factory=dict)
    _counts: dict[int, int | None] = field(default_factory=dict)
    _last: dict[int, tuple[Ints, Floats]] = field(default_factory=dict)

    @classmethod
    def of(cls, group: Ints, first: Ints, rows: Floats, parts: Sequence[SolvedPart]) -> PartSums:
        """Build it from the fields of a posterior and its parts."""
        part_of_cell = np.full(len(group), -1, dtype=np.int64)
        for number, part in enumerate(parts):
            part_of_cell[part.cells] = number
        return cls(group, first, rows, parts, part_of_cell)

    def work(self, cells: Ints) -> int | None:
        """Entries that the law of the sum of these flat cells costs; ``None`` if it is too wide."""
        alone, together = self._split(cells)
        widths = (self.rows[self.group[alone]] > 0).sum(axis=1)
        wide, work = int(widths.sum()), FOLD * len(alone)
        for part, places in together:
            cost = self._cost(part, places)
            if cost is None:
                return None
            work += FOLD + cost
            wide += sum(len(part.rows[place]) for place in places)
        return work + wide * (len(alone) + 1)

    def law(self, cells: Ints, progress: Progress = SILENT) -> tuple[int, Floats]:
        """The first possible sum, and the chances from it on."""
        alone, together = self._split(cells)
        laws = [(int(self.first[cell]), self.rows[self.group[cell]]) for cell in alone]
        laws += [self._law(part, places) for part, places in together]
        first, chances = 0, np.ones(1)
        for start, row in laws:
            possible = np.flatnonzero(row > 0)
            first += start + int(possible[0])
            chances = np.convolve(chances, row[possible[0] : possible[-1] + 1])
        return first, chances

    def weighted(self, weights: Ints, most: int, progress: Progress = SILENT) -> tuple[int, Floats] | None:
        """The same of all cells, each times its weight, int64 (cells,); ``None`` beyond the work."""
        alone, together = self._split(np.flatnonzero(weights))
        laws = [
            _stretched(int(self.first[cell]), self.rows[self.group[cell]], int(weights[cell]))
            for cell in alone
        ]
        work = 0
        for part, places in together:
            of_part = weights[part.cells]
            same = np.unique(of_part[places])
            cost = self._cost(part, places) if len(same) == 1 else self._listing(part)
            if cost is None or (work := work + cost) > most:
                return None
            if len(same) == 1:
                laws.append(_stretched(*self._law(part, places), int(same[0])))
            else:
                tables, chances = self._originals(part)
                different, place = np.unique(tables @ of_part, return_inverse=True)
                found_here = np.bincount(place.reshape(-1), chances).astype(np.float64)
                laws.append((different.astype(np.int64), found_here))
        first, found = 0, np.ones(1)
        for values, row in laws:
            low, high = int(values.min()), int(values.max())
            if (work := work + len(values) * (len(found) + high - low)) > most:
                return None
            first, sums = first + low, np.zeros(len(found) + high - low)
            for value, chance in zip((values - low).tolist(), row.tolist(), strict=True):
                sums[value : value + len(found)] += chance * found
            found = sums
        return first, found

    def _split(self, cells: Ints) -> tuple[Ints, list[tuple[SolvedPart, Ints]]]:
        """The independent cells, and for each part its cells' places that are in the sum."""
        of = self.part_of_cell[cells]
        together = []
        for number in np.unique(of[of >= 0]).tolist():
            part = self.parts[number]
            together.append((part, np.flatnonzero(np.isin(part.cells, cells[of == number]))))
        return cells[of < 0], together

    def _cost(self, part: SolvedPart, places: Ints) -> int | None:
        if part.errors is not None:
            return None
        if len(places) == 1:
            return 0
        if len(places) == len(part.cells) and part.total is not None:
            return 0
        if (id(part.rows), places.tobytes()) in self._known:
            return 0
        return self._listing(part)

    def _listing(self, part: SolvedPart) -> int | None:
        """Entries that all originals of a part hold; ``None`` if they are too many."""
        if part.errors is not None:
            return None
        # Counting takes time: do not count originals that cannot be listed anyway.
        entries = sum(map(len, part.rows)) * len(part.cells)
        if part.listed is None or entries > PART_SUMS_COUNTED:
            return None
        if id(part.rows) not in self._counts:
            self._counts[id(part.rows)] = part.count()
        number = self._counts[id(part.rows)]
        if number is None or number * len(part.cells) > PART_SUMS_LISTED:
            return None
        return number * len(part.cells)

    def _law(self, part: SolvedPart, places: Ints) -> tuple[int, Floats]:
        if len(places) == 1:
            return int(part.first[places[0]]), part.rows[places[0]]
        # Identical parts share their rows.
        key = id(part.rows), places.tobytes()
        if key not in self._known:
            if len(places) == len(part.cells) and part.total is not None:
                self._known[key] = part.total()
            else:
                tables, chances = self._originals(part)
                sums = tables[:, places].sum(axis=1)
                first = int(sums.min())
                self._known[key] = (first, np.bincount(sums - first, weights=chances).astype(np.float64))
        return self._known[key]

    def _originals(self, part: SolvedPart) -> tuple[Ints, Floats]:
        """The listed originals of a part; those of one part only are kept, for its other sums."""
        key = id(part.rows)
        if key not in self._last:
            assert part.listed is not None
            self._last.clear()
            self._last[key] = part.listed()
        return self._last[key]


def _stretched(first: int, row: Floats, weight: int) -> tuple[Ints, Floats]:
    """The possible values of a count times its weight, and their chances."""
    possible = np.flatnonzero(row > 0)
    return (first + possible) * weight, row[possible]
