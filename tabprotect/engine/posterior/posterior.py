"""What can now be believed about each true count: a distribution per cell, and joint draws."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Literal, TypeVar

import numpy as np
import numpy.typing as npt

from tabprotect.engine.errors import ParameterError
from tabprotect.engine.posterior.prior import Prior
from tabprotect.engine.progress import SILENT, Progress
from tabprotect.engine.sensitivity.small_count import SmallCount
from tabprotect.engine.tables.table import Table

IntArray = npt.NDArray[np.int64]
FloatArray = npt.NDArray[np.float64]
BoolArray = npt.NDArray[np.bool_]
Scalar = TypeVar("Scalar", bound=np.generic)

TIE = 1e-9
"""Probabilities closer than this are equal: a tie goes to the published value."""


@dataclass(frozen=True, eq=False)
class Posterior:
    """Posterior distribution of every true count.

    Cells that always move together share the distribution of their *change*, original minus
    published; a figure of a million cells is a few figures looked up a million times.

    Attributes
    ----------
    published
        The released table.
    prior
        What was believed before.
    way
        ``exact``, or ``monte_carlo`` with an error.
    reason
        Why this way, in one sentence.
    group_of_cell : int64 (cells,)
        The group of each flat cell; the last group holds the cells that nothing touches.
    changes : float64 (groups, 2 span + 1)
        Probability of the change ``column - span``.
    draw_changes, count_originals
        Joint draws of the groups' changes, and the number of originals: worked out when asked.
    standard_errors : float64 (groups, 2 span + 1) or None
        Of ``changes``; ``None`` when exact.
    error
        The largest standard error over all cells and values; ``None`` when exact.
    effective_sample_size
        Independent draws that would have the same error; ``None`` when exact.
    draws
        Draws taken; ``None`` when exact.
    """

    published: Table
    prior: Prior
    way: Literal["exact", "monte_carlo"]
    reason: str
    group_of_cell: IntArray
    changes: FloatArray
    draw_changes: Callable[[int, np.random.Generator, Progress], IntArray] = field(repr=False)
    count_originals: Callable[[], int | None] = field(repr=False)
    standard_errors: FloatArray | None = None
    error: float | None = None
    effective_sample_size: float | None = None
    draws: int | None = None

    @property
    def span(self) -> int:
        """The largest change any cell can have."""
        return int(self.changes.shape[1] // 2)

    @cached_property
    def originals(self) -> int | None:
        """How many original tables remain possible; ``None`` when too many to count."""
        return self.count_originals()

    @cached_property
    def _steps(self) -> IntArray:
        return np.arange(-self.span, self.span + 1)

    def _per_cell(self, figures: npt.NDArray[Scalar]) -> npt.NDArray[Scalar]:
        return figures[self.group_of_cell].reshape(self.published.domain.shape)

    def distribution(self, index: Sequence[int]) -> tuple[IntArray, FloatArray]:
        """Values a true count can have, ascending, and their probabilities."""
        key = self.published.domain.flat(index)
        row = self.changes[self.group_of_cell[key]]
        possible = np.flatnonzero(row > 0)
        return self._steps[possible] + self.published[index], row[possible]

    def errors(self, index: Sequence[int]) -> FloatArray | None:
        """Standard errors of :meth:`distribution`; ``None`` when exact."""
        if self.standard_errors is None:
            return None
        group = self.group_of_cell[self.published.domain.flat(index)]
        return np.asarray(self.standard_errors[group][self.changes[group] > 0])

    def prior_distribution(self, index: Sequence[int], values: npt.ArrayLike) -> FloatArray:
        """The prior of a cell, normalised over the given counts."""
        return self.prior.distribution(self.published.domain.flat(index), values)

    @cached_property
    def mean(self) -> FloatArray:
        """Expected true count of each cell."""
        return self.published.counts + self._per_cell(self.changes @ self._steps)

    @cached_property
    def standard_deviation(self) -> FloatArray:
        """Standard deviation of each true count."""
        first = self.changes @ self._steps
        second = self.changes @ (self._steps.astype(np.float64) ** 2)
        return np.asarray(self._per_cell(np.sqrt(np.maximum(second - first**2, 0.0))))

    @cached_property
    def _mode_change(self) -> IntArray:
        """Most probable change of each group; of equal ones the smallest in size, then the lower."""
        near = np.argsort(np.abs(self._steps), kind="stable")
        ordered = self.changes[:, near]
        high = ordered >= ordered.max(axis=1, keepdims=True) - TIE
        return np.asarray(self._steps[near[high.argmax(axis=1)]])

    @cached_property
    def mode(self) -> IntArray:
        """Most probable true count of each cell; of equal ones the nearest to the published."""
        return self.published.counts + self._per_cell(self._mode_change)

    @cached_property
    def mode_matches(self) -> BoolArray:
        """Cells whose published count is (one of) the most probable, as far as was computed."""
        return np.asarray(self._per_cell(self._mode_change == 0))

    @property
    def mode_is_published(self) -> bool:
        """Whether that holds in every cell. It does for many releases, not for all."""
        return bool(self.mode_matches.all())

    @cached_property
    def entropy(self) -> FloatArray:
        """What is not known about each true count, in bits."""
        with np.errstate(divide="ignore", invalid="ignore"):
            terms = np.where(self.changes > 0, self.changes * np.log2(self.changes), 0.0)
        return np.asarray(self._per_cell(np.maximum(-terms.sum(axis=1), 0.0)))

    def probability(self, counts: npt.ArrayLike) -> FloatArray:
        """P(true count = the given one) of each cell, for one count or one per cell."""
        wanted = np.broadcast_to(np.asarray(counts, dtype=np.int64), self.published.domain.shape)
        change = (wanted - self.published.counts).reshape(-1)
        inside = np.abs(change) <= self.span
        column = np.where(inside, change, 0) + self.span
        found = np.where(inside, self.changes[self.group_of_cell, column], 0.0)
        return found.reshape(self.published.domain.shape)

    @cached_property
    def _cumulative(self) -> FloatArray:
        below = np.zeros((len(self.changes), self.changes.shape[1] + 1))
        np.cumsum(self.changes, axis=1, out=below[:, 1:])
        return below

    def small(self, rule: SmallCount) -> FloatArray:
        """P(low <= true count <= high) of each cell."""
        counts = self.published.counts.reshape(-1)
        last = self.changes.shape[1]
        # Column of the first count inside, and of the first beyond.
        begin = np.clip(rule.low - counts + self.span, 0, last)
        end = np.clip(rule.high + 1 - counts + self.span, 0, last)
        below = self._cumulative
        inside = below[self.group_of_cell, end] - below[self.group_of_cell, begin]
        return np.clip(inside, 0.0, 1.0).reshape(self.published.domain.shape)

    def interval(self, level: float) -> tuple[IntArray, IntArray]:
        """The shortest run of counts with at least this probability, (low, high) per cell.

        Of equally short runs the most probable.

        Raises
        ------
        ParameterError
            When the level is not in (0, 1].
        """
        if not 0 < level <= 1:
            raise ParameterError({"level": f"must be above 0 and at most 1, is {level}"})
        below = self._cumulative
        low = np.full(len(below), -self.span)
        high = np.full(len(below), self.span)
        open_ = np.arange(len(below))
        for length in range(1, below.shape[1]):
            mass = below[open_, length:] - below[open_, :-length]
            best = mass.argmax(axis=1)
            enough = mass[np.arange(len(open_)), best] >= level - TIE
            low[open_[enough]] = best[enough] - self.span
            high[open_[enough]] = best[enough] - self.span + length - 1
            open_ = open_[~enough]
            if not len(open_):
                break
        counts = self.published.counts
        return counts + self._per_cell(low), counts + self._per_cell(high)

    def sample(
        self, number: int, generator: np.random.Generator, progress: Progress = SILENT
    ) -> IntArray:
        """Whole originals drawn jointly, int64 (number, *shape).

        Exact draws are independent; Monte Carlo draws of one call may share ancestors.
        """
        changes = self.draw_changes(number, generator, progress)
        # Cells that nothing touches belong to a last group that never changes.
        changes = np.concatenate([changes, np.zeros((number, 1), dtype=np.int64)], axis=1)
        tables = changes[:, self.group_of_cell]
        tables += self.published.counts.reshape(-1)
        return tables.reshape(number, *self.published.domain.shape)
