"""The posterior of each true count: a distribution per cell, and joint draws."""

from __future__ import annotations

import pickle
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Literal, Protocol, TypeVar, cast

import numpy as np
import numpy.typing as npt

from tabprotect.engine.arrays import Bools, Floats, Ints, Signs
from tabprotect.engine.bounds.counting import TableCount
from tabprotect.engine.errors import ParameterError
from tabprotect.engine.posterior.prior import Prior
from tabprotect.engine.posterior.widening import NOT_WIDENED, Widening
from tabprotect.engine.progress import SILENT, Progress
from tabprotect.engine.release.findings import Omission
from tabprotect.engine.sensitivity.small_count import SmallCount
from tabprotect.engine.tables.domain import Domain, Index
from tabprotect.engine.tables.table import Table
from tabprotect.languages.messages import message

Scalar = TypeVar("Scalar", bound=np.generic)

TIE = 1e-9
"""Probabilities closer than this count as equal: a tie goes to the published value."""

WIDE = 64
"""Rows wider than this are searched one by one."""


class ExactSums(Protocol):
    """Exact laws of sums of cells, one sum at a time."""

    def work(self, cells: Ints) -> int | None:
        """Entries that the law of the sum of these flat cells costs; ``None`` if it is too wide."""

    def law(self, cells: Ints, progress: Progress) -> tuple[int, Floats]:
        """The first possible sum, and the chances from it on."""


NARROW_COUNTS = 80
"""Counts up to which originals drawn in eight bits are right."""


@dataclass(frozen=True, eq=False)
class IndependentPart:
    """A part of the cells whose counts are independent of all others.

    Attributes
    ----------
    cells
        The flat cells, ascending.
    draw
        Joint draws in eight bits, (number, cells): see ``Posterior.draw_narrow``.
    """

    cells: Ints
    draw: Callable[[int, np.random.Generator, Progress], Signs]


SomeParts = Callable[[int, np.random.Generator], IndependentPart | None]
"""Parts taken by chance until they have so many cells; ``None`` if they cannot be drawn."""


class KnownSums(Protocol):
    """The laws of those sums that were followed while a posterior was simulated."""

    def law(self, cells: Ints) -> tuple[int, Floats] | None:
        """The first value of the sum of flat cells, and its chances; ``None`` if not followed."""


@dataclass(frozen=True, eq=False)
class Weakened:
    """Estimates for users of counts in which association is weakened by a known factor.

    Attributes
    ----------
    left : float64 (cells,)
        What is left, on average, of a count's departure from independence.
    unbiased : float64 (cells,)
        The published counts with that made up for: without bias, and perhaps below 0.
    """

    left: Floats
    unbiased: Floats


@dataclass(frozen=True, eq=False)
class Posterior:
    """Posterior distribution of every true count.

    Cells with equal posteriors share a *row*: a figure of a million cells is a few figures
    looked up a million times. Columns of a row are consecutive counts; each cell has its own count
    for the first column.

    Attributes
    ----------
    published
        The published counts on the original's variables; a cell without one holds 0.
    prior
        The prior belief.
    way
        ``exact``, or ``monte_carlo`` with an error.
    reason
        Why this way, in one sentence.
    group_of_cell : int64 (cells,)
        The row of each flat cell.
    first : int64 (cells,)
        The count that column 0 stands for in each flat cell.
    chances : float64 (groups, width)
        Probability of the count ``first + column``.
    draw_originals
        ``(number, generator, progress) -> int64 (number, cells)``: joint draws.
    count_originals
        The number of originals, worked out when asked; ``None`` when there are too many (or
        infinitely many) to count.
    hidden : bool, shape of the table, or None
        Cells without a published count (suppressed, or published only inside sums).
    standard_errors : float64 (groups, width) or None
        Of ``chances``; ``None`` when exact.
    error
        The largest standard error over all cells and values; ``None`` when exact.
    effective_sample_size
        Independent draws that would have the same error; ``None`` when exact.
    draws
        Draws taken; ``None`` when exact.
    r_hat
        How well chains agree that started far apart: 1 is perfect, above 1.1 is too little;
        ``None`` where draws are independent or the posterior is exact.
    independent
        Whether the draws are independent and from the posterior itself: simulated, but not an
        approximation.
    note
        The part of the mechanism that was left out, in words; empty if none was.
    basis
        What was weighed of the choice of the published numbers, in words; empty if nothing was.
    approximate
        Whether the part that was used is only close to the mechanism's own law.
    list_originals
        All originals int64 (originals, cells) and their probabilities, worked out when asked;
        ``None`` if there are too many to be listed (or drawn).
    estimate_originals
        An estimate of the number of originals if they cannot be counted, worked out when asked.
    exact_sums
        Reads the exact law of a sum of cells; ``None`` where only originals tell it, listed or
        drawn.
    draw_in_order
        As ``draw_originals``, those that chains recorded at places below ``draws``, int64 (number,), instead of
        a number, chain by chain: the means of runs of them tell what a mean is worth. ``None`` where draws are
        of no order.
    draw_narrow
        As ``draw_originals`` in eight bits, for who looks at small counts only: counts beyond
        ``NARROW_COUNTS`` are some count beyond it.
    some_parts
        Parts that are independent of each other; ``None`` where everything hangs together.
    recorded_sums
        The laws of sums that were followed while it was simulated.
    widening
        What is known of what was bounded and not taken in.
    weakened
        What users make of published counts in which association is weakened; ``None`` where it is not.
    """

    published: Table
    prior: Prior
    way: Literal["exact", "monte_carlo"]
    reason: str
    group_of_cell: Ints
    first: Ints
    chances: Floats
    draw_originals: Callable[[int, np.random.Generator, Progress], Ints] = field(repr=False)
    count_originals: Callable[[], int | None] = field(repr=False)
    hidden: Bools | None = None
    standard_errors: Floats | None = None
    error: float | None = None
    effective_sample_size: float | None = None
    draws: int | None = None
    r_hat: float | None = None
    independent: bool = False
    note: str = ""
    basis: str = ""
    approximate: bool = False
    left_out: tuple[Omission, ...] = ()
    list_originals: Callable[[], tuple[Ints, Floats] | None] = field(default=lambda: None, repr=False)
    estimate_originals: Callable[[], TableCount | None] = field(default=lambda: None, repr=False)
    exact_sums: ExactSums | None = field(default=None, repr=False)
    draw_in_order: Callable[[Ints, np.random.Generator, Progress], Ints] | None = field(
        default=None, repr=False
    )
    draw_narrow: Callable[[int, np.random.Generator, Progress], Signs] | None = field(
        default=None, repr=False
    )
    some_parts: SomeParts | None = field(default=None, repr=False)
    recorded_sums: KnownSums | None = field(default=None, repr=False)
    widening: Widening = NOT_WIDENED
    weakened: Weakened | None = None

    def __getstate__(self) -> bytes:
        # Late: only who pickles waits for it. It takes functions within functions, as those that draw are.
        import cloudpickle

        return cast(bytes, cloudpickle.dumps(self.__dict__))

    def __setstate__(self, state: bytes) -> None:
        self.__dict__.update(pickle.loads(state))

    @property
    def domain(self) -> Domain:
        """The variables of the original."""
        return self.published.domain

    @property
    def complete(self) -> bool:
        """True if all that the mechanism says was used, and exactly."""
        return not (self.left_out or self.approximate)

    @property
    def width(self) -> int:
        """Number of counts in one row."""
        return int(self.chances.shape[1])

    @cached_property
    def originals(self) -> int | None:
        """The number of original tables that remain possible; ``None`` if too many to count."""
        return self.count_originals()

    @cached_property
    def count_estimate(self) -> TableCount | None:
        """An estimate of that number if :attr:`originals` is unknown and an estimate can be had."""
        return None if self.originals is not None else self.estimate_originals()

    def published_count(self, index: Sequence[int]) -> int | None:
        """The published count of a cell; ``None`` if it has none."""
        hidden = self.hidden is not None and self.hidden[tuple(index)]
        return None if hidden else self.published[index]

    @cached_property
    def is_published(self) -> Bools:
        """Mask of the cells with a published count, shape of the table."""
        return np.ones(self.domain.shape, dtype=np.bool_) if self.hidden is None else ~self.hidden

    @cached_property
    def _steps(self) -> Ints:
        return np.arange(self.width, dtype=np.int64)

    def _per_cell(self, figures: npt.NDArray[Scalar]) -> npt.NDArray[Scalar]:
        return figures[self.group_of_cell].reshape(self.domain.shape)

    @cached_property
    def _first(self) -> Ints:
        return self.first.reshape(self.domain.shape)

    def distribution(self, index: Sequence[int]) -> tuple[Ints, Floats]:
        """Values a true count can have, ascending, and their probabilities."""
        key = self.domain.flat(index)
        row = self.chances[self.group_of_cell[key]]
        possible = np.flatnonzero(row > 0)
        return possible + self.first[key], row[possible]

    def errors(self, index: Sequence[int]) -> Floats | None:
        """Standard errors of :meth:`distribution`; ``None`` when exact."""
        if self.standard_errors is None:
            return None
        group = self.group_of_cell[self.domain.flat(index)]
        return np.asarray(self.standard_errors[group][self.chances[group] > 0])

    def prior_distribution(self, index: Sequence[int], values: npt.ArrayLike) -> Floats:
        """The prior of a cell, normalised over the given counts."""
        return self.prior.distribution(self.domain.flat(index), values)

    @cached_property
    def mean(self) -> Floats:
        """Expected true count of each cell."""
        return self._first + self._per_cell(self.chances @ self._steps)

    @cached_property
    def standard_deviation(self) -> Floats:
        """Standard deviation of each true count."""
        middle = self.chances @ self._steps
        from_middle = (self._steps - middle[:, None]) ** 2
        spread = (self.chances * from_middle).sum(axis=1)
        return np.asarray(self._per_cell(np.sqrt(spread)))

    @cached_property
    def _most_probable(self) -> Bools:
        """Columns of each row that are the most probable, up to ties."""
        highest = self.chances.max(axis=1, keepdims=True)
        return np.asarray(self.chances >= highest - TIE)

    @cached_property
    def _published_column(self) -> Ints:
        """Column of each flat cell's published count, clipped to the row; 0 if it has none."""
        column = np.clip(self.published.counts.reshape(-1) - self.first, 0, self.width - 1)
        return np.where(self.is_published.reshape(-1), column, 0)

    @cached_property
    def mode(self) -> Ints:
        """Most probable true count of each cell; among equals the one nearest to the published.

        Among equally near ones, or without a published count, the lowest.
        """
        high = self._most_probable
        column = high.argmax(axis=1)[self.group_of_cell]
        several = np.flatnonzero((np.count_nonzero(high, axis=1) > 1)[self.group_of_cell])
        if len(several):
            column[several] = self._nearest(several)
        return np.asarray((self.first + column).reshape(self.domain.shape))

    def _nearest(self, cells: Ints) -> Ints:
        """The most probable column nearest to the published one, of flat cells."""
        rows, row = np.unique(self.group_of_cell[cells], return_inverse=True)
        high, steps, last = self._most_probable[rows], self._steps, self.width - 1
        # The nearest maximal column at or before each column, and at or after it.
        before = np.maximum.accumulate(np.where(high, steps, -2 * last - 2), axis=1)
        after = np.where(high, steps, 4 * last + 4)[:, ::-1]
        after = np.minimum.accumulate(after, axis=1)[:, ::-1]
        at = self._published_column[cells]
        down, up = before[row, at], after[row, at]
        return np.asarray(np.where(at - down <= up - at, down, up))

    @cached_property
    def mode_matches(self) -> Bools:
        """Cells whose published count is (one of) the most probable, as far as computed.

        A cell without a published count has nothing to match.
        """
        return np.asarray((self.mode == self.published.counts) & self.is_published)

    @property
    def mode_is_published(self) -> bool:
        """True if :meth:`mode_matches` in every published cell: so in many releases, not in all."""
        return bool(self.is_published.any() and self.mode_matches[self.is_published].all())

    def right(self, most: int = 3) -> dict[int, tuple[int, float]]:
        """By published count up to one: the cells that have it, and the mean chance that it is the true count."""
        found = {}
        for count in range(most + 1):
            has = self.is_published & (self.published.counts == count)
            if has.any():
                found[count] = (int(has.sum()), float(self.probability(count)[has].mean()))
        return found

    @cached_property
    def entropy(self) -> Floats:
        """Entropy of each true count, in bits."""
        with np.errstate(divide="ignore", invalid="ignore"):
            terms = np.where(self.chances > 0, self.chances * np.log2(self.chances), 0.0)
        return np.asarray(self._per_cell(np.maximum(-terms.sum(axis=1), 0.0)))

    def probability(self, counts: npt.ArrayLike) -> Floats:
        """P(true count = the given count) of each cell, for one count or one per cell."""
        wanted = np.broadcast_to(np.asarray(counts, dtype=np.int64), self.domain.shape)
        column = wanted.reshape(-1) - self.first
        inside = (column >= 0) & (column < self.width)
        found = self.chances[self.group_of_cell, np.where(inside, column, 0)]
        return np.where(inside, found, 0.0).reshape(self.domain.shape)

    @cached_property
    def _cumulative(self) -> Floats:
        below = np.zeros((len(self.chances), self.width + 1))
        np.cumsum(self.chances, axis=1, out=below[:, 1:])
        return below

    def small(self, rule: SmallCount) -> Floats:
        """P(low <= true count <= high) of each cell."""
        # Column of the first count inside the rule's range, and of the first beyond.
        begin = np.clip(rule.low - self.first, 0, self.width)
        end = np.clip(rule.high + 1 - self.first, 0, self.width)
        below = self._cumulative
        inside = below[self.group_of_cell, end] - below[self.group_of_cell, begin]
        return np.clip(inside, 0.0, 1.0).reshape(self.domain.shape)

    def interval(self, level: float) -> tuple[Ints, Ints]:
        """The shortest interval of counts with at least this probability, (low, high) per cell.

        Among equally short ones the most probable.

        Raises
        ------
        ParameterError
            If the level is not in (0, 1].
        """
        if not 0 < level <= 1:
            raise ParameterError({"level": message("must be above 0 and at most 1, is {level}", level)})
        below = self._cumulative
        if self.width <= WIDE:
            low, high = _shortest_runs(below, level)
        else:
            ends = [_shortest_run(row, level) for row in below]
            low, high = np.array(ends, dtype=np.int64).reshape(-1, 2).T
        return self._first + self._per_cell(low), self._first + self._per_cell(high)

    def interval_of(self, index: Index, level: float) -> tuple[int, int]:
        """:meth:`interval` of one cell, without computing all others."""
        key = self.domain.flat(index)
        low, high = _shortest_run(self._cumulative[self.group_of_cell[key]], level)
        return int(self.first[key]) + low, int(self.first[key]) + high

    def sample(self, number: int, generator: np.random.Generator, progress: Progress = SILENT) -> Ints:
        """Whole originals drawn jointly, int64 (number, *shape).

        Exact draws are independent; Monte Carlo draws of one call may share ancestors.
        """
        tables = self.draw_originals(number, generator, progress)
        return tables.reshape(number, *self.domain.shape)


def _shortest_runs(below: Floats, level: float) -> tuple[Ints, Ints]:
    """First and last column of the shortest interval of every row at once, length by length."""
    low = np.zeros(len(below), dtype=np.int64)
    high = np.full(len(below), below.shape[1] - 2, dtype=np.int64)
    open_ = np.arange(len(below))
    for length in range(1, below.shape[1]):
        mass = below[open_, length:] - below[open_, :-length]
        best = mass.argmax(axis=1)
        enough = mass[np.arange(len(open_)), best] >= level - TIE
        low[open_[enough]] = best[enough]
        high[open_[enough]] = best[enough] + length - 1
        open_ = open_[~enough]
        if not len(open_):
            break
    return low, high


def _shortest_run(below: Floats, level: float) -> tuple[int, int]:
    """First and last column of the shortest interval of one wide row, by search."""
    last = len(below) - 1
    ends = np.searchsorted(below, below + (level - TIE))
    begins = np.flatnonzero(ends <= last)
    if not len(begins):
        return 0, last - 1
    length = int((ends[begins] - begins).min())
    mass = below[length:] - below[:-length]
    best = int(mass.argmax())
    return best, best + length - 1
