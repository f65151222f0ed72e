"""Attack published numbers: what somebody who puts them all together can know of every count.

Proofs come from the supports of the laws; probabilities from the joint chain where it settles within
the work; else from least squares, with the variance raised so that its claims hold. The outcome is a
function of the numbers alone: anybody gets the same.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from tabprotect.engine.arrays import Bools, Floats, Ints
from tabprotect.engine.attack.chain import WORK, JointShares, joint_shares, usual_plan
from tabprotect.engine.attack.least_squares import Estimate, least_squares
from tabprotect.engine.attack.proofs import affordable, narrowed, proved
from tabprotect.engine.fitting.margin_variance import variance_left
from tabprotect.engine.progress import SILENT, Progress
from tabprotect.engine.release.findings import Omission
from tabprotect.engine.release.published_numbers import PublishedNumbers
from tabprotect.languages.messages import message

Way = Literal["proved", "joint", "least_squares"]

WAYS: tuple[Way, ...] = ("proved", "joint", "least_squares")

WIDENED = 1.32
"""Factor on the variance of least squares: sums over the same records share noise, so that errors
hang together and claims at the plain variance are a little too bold."""

TAIL = 5.0
"""Standard deviations beyond which a normal belief is none."""

TIE = 1.4142135e-7
"""Ties are rounded alike on all machines."""

MOST_LISTED = 2**25
"""Most values of all cells and sums together in a belief."""


@dataclass(frozen=True, eq=False)
class Beliefs:
    """Distributions of some true counts.

    Attributes
    ----------
    first : int64 (counts,)
        The first value of each.
    starts : int64 (counts + 1,)
        Where its chances begin; none where nothing can be said.
    chances : float64 (values,)
    """

    first: Ints
    starts: Ints
    chances: Floats

    def distribution(self, k: int) -> dict[int, float]:
        """Value -> its chance, those that have one."""
        of = self.chances[self.starts[k] : self.starts[k + 1]]
        first = int(self.first[k])
        return {first + at: float(of[at]) for at in np.flatnonzero(of > 0).tolist()}

    def laid_out(self, rows: slice) -> tuple[Ints, Ints, Floats]:
        """One row for each count: its row, first value and the chances (counts, values)."""
        starts = self.starts[rows.start : rows.stop + 1]
        sizes = np.diff(starts)
        found = np.zeros((len(sizes), max(int(sizes.max(initial=0)), 1)))
        row = np.repeat(np.arange(len(sizes)), sizes)
        at = np.arange(int(sizes.sum())) - np.repeat(starts[:-1] - starts[0], sizes)
        found[row, at] = self.chances[starts[0] : starts[-1]]
        return np.arange(len(sizes)), self.first[rows], found

    def most_likely(self) -> tuple[Ints, Floats]:
        """The likeliest value of each and its chance; 0 and 0 where nothing can be said."""
        size = len(self.first)
        value, belief = np.zeros(size, dtype=np.int64), np.zeros(size)
        sizes = np.diff(self.starts)
        some = np.flatnonzero(sizes)
        if len(some):
            best = np.maximum.reduceat(self.chances, self.starts[:-1][some])
            belief[some] = best
            of = np.repeat(np.arange(size), sizes)
            hits = np.flatnonzero(self.chances == belief[of])
            at, firsts = np.unique(of[hits], return_index=True)
            value[at] = self.first[at] + hits[firsts] - self.starts[:-1][at]
        return value, belief


@dataclass(frozen=True, eq=False)
class Attacked:
    """The beliefs that published numbers allow about every cell.

    Attributes
    ----------
    numbers
    cells, sums
        Beliefs about the inner cells and about the published sums.
    ends : int64 (cells + sums,), (cells + sums,)
        Proved bounds of the cells and then of the sums.
    way
        The way of what is not proved.
    joint
        The joint chain; ``None`` where it was beyond the work.
    error
        The largest standard error of a chance.
    notes
        What was found out on the way, in sentences.
    left_out
        The kinds of what is left out.
    """

    numbers: PublishedNumbers
    cells: Beliefs
    sums: Beliefs
    ends: tuple[Ints, Ints]
    way: Way
    joint: JointShares | None = None
    error: float = 0.0
    notes: tuple[str, ...] = ()
    left_out: tuple[Omission, ...] = ()

    def ways(self) -> tuple[Way, ...]:
        """The way of each inner cell."""
        size = self.numbers.domain.size
        fixed = (self.ends[0] == self.ends[1])[:size]
        return tuple("proved" if one else self.way for one in fixed.tolist())

    def published_exactly(self) -> Bools:
        """The inner cells whose counts are published as they are, bool (cells,)."""
        numbers = self.numbers
        found = np.zeros(numbers.domain.size, dtype=np.bool_)
        low, high = numbers.support()
        alone = np.flatnonzero((np.diff(numbers.starts) == 1) & (low == high))
        found[numbers.cells[numbers.starts[:-1][alone]]] = True
        return found

    def as_json(self, shown: Ints, limit: float) -> dict[str, object]:
        """Return what can be known, cell by cell.

        Parameters
        ----------
        shown : int64 (cells,)
            The published count of each inner cell, -1 for none.
        limit
            The belief above which a count is known.
        """
        domain, ways = self.numbers.domain, self.ways()
        value, belief = self.cells.most_likely()
        cells = [
            {
                "labels": dict(zip(domain.names, domain.labels(domain.unflat(cell)), strict=True)),
                "published": None if shown[cell] < 0 else int(shown[cell]),
                "count": int(value[cell]) if belief[cell] else None,
                "belief": float(belief[cell]) if belief[cell] else None,
                "distribution": {
                    str(count): chance for count, chance in self.cells.distribution(cell).items()
                },
                "way": ways[cell],
            }
            for cell in range(domain.size)
        ]
        of_hidden = self.of_hidden(shown, limit)
        return {
            **({} if of_hidden is None else dict(zip(_OF_HIDDEN, of_hidden, strict=True))),
            "cells": cells,
            "known": self.known(limit),
            "proved": sum(way == "proved" for way in ways),
            "told": int(self.published_exactly().sum()),
            "way": self.way,
            "error": self.error,
            "left_out": list(self.left_out),
            "notes": list(self.notes),
        }

    def of_hidden(self, shown: Ints, limit: float) -> tuple[int, int, int] | None:
        """How many counts are hidden, how many of these can be known, and how many are proved.

        ``None`` where what is published is not the true count.
        """
        hidden: Bools = shown < 0
        if not self.published_exactly()[~hidden].all():
            return None
        known = self.cells.most_likely()[1] > limit
        proved = np.array([way == "proved" for way in self.ways()])
        return int(hidden.sum()), int((known & hidden).sum()), int((proved & hidden).sum())

    def known(self, limit: float) -> int:
        """The number of inner cells one of whose values is believed with more than a limit."""
        return int((self.cells.most_likely()[1] > limit).sum())


_OF_HIDDEN = ("hidden", "hidden_known", "hidden_proved")


def attack(
    numbers: PublishedNumbers,
    *,
    plan: Sequence[int] | None = None,
    work: int = WORK,
    programmes: int = 0,
    progress: Progress = SILENT,
) -> Attacked:
    """Return what somebody who puts all published numbers together can know of every count.

    Parameters
    ----------
    plan
        Sweeps of each chain, the next where they have not settled; empty for least squares
        alone, by default :func:`chain.usual_plan`.
    work
        Most visits of sums by the chains.
    programmes
        The number of cells, from the first on, that integer programmes are solved for; fewer in
        large tables.

    Raises
    ------
    InputError
        When no table fits the numbers.
    Interrupted
        When cancelled.
    """
    ends = proved(numbers)
    if programmes:
        open_ = np.flatnonzero((ends[0] < ends[1])[: numbers.domain.size])
        few = open_[: affordable(numbers, programmes)]
        ends = narrowed(numbers, ends, few.tolist(), progress)
    estimate = least_squares(numbers)
    joint = None
    plan = usual_plan(numbers) if plan is None else plan
    if plan:
        start = np.floor(np.maximum(estimate.cells, 0) + 0.5 + TIE).astype(np.int64)
        joint = joint_shares(numbers, start, ends, plan=plan, work=work, progress=progress)
    size = numbers.domain.size
    if joint is not None and joint.settled:
        cells, sums = _split(Beliefs(joint.first, joint.starts, joint.shares), size)
        error = float(joint.error.max(initial=0.0))
        return Attacked(numbers, cells, sums, ends, "joint", joint, error)
    cells, sums = _by_least_squares(numbers, estimate, ends)
    notes = []
    if plan:
        notes.append(
            message("The numbers are too many to be put together in full: least squares alone was used.")
            if joint is None
            else message(
                "Putting the numbers together in full has not settled: least squares alone was used."
            )
        )
    return Attacked(
        *(numbers, cells, sums, ends, "least_squares", joint), notes=tuple(notes), left_out=("joint_noise",)
    )


def _split(both: Beliefs, size: int) -> tuple[Beliefs, Beliefs]:
    cut = int(both.starts[size])
    return (
        Beliefs(both.first[:size], both.starts[: size + 1], both.chances[:cut]),
        Beliefs(both.first[size:], both.starts[size:] - cut, both.chances[cut:]),
    )


def _by_least_squares(
    numbers: PublishedNumbers, estimate: Estimate, ends: tuple[Ints, Ints]
) -> tuple[Beliefs, Beliefs]:
    size = numbers.domain.size
    of = numbers.of_entry
    sums = np.bincount(of, estimate.cells[numbers.cells], numbers.numbers)
    variance = np.full(numbers.numbers, np.inf)
    margins = [(table.axes, table.variance) for table in numbers.tables if table.axes is not None]
    for table in numbers.tables:
        if table.axes is not None and np.isfinite(table.variance):
            variance[table.rows] = variance_left(numbers.domain.shape, margins, table.axes)
    # A sum by itself is never known worse than from its own number.
    variance = np.minimum(variance, numbers.variance)
    own = np.isfinite(numbers.variance) & (variance == numbers.variance)
    sums[own] = numbers.published[own]
    mean = np.concatenate([estimate.cells, sums])
    variance = np.concatenate([estimate.variance, variance])
    return _split(_normal(mean, variance * WIDENED, ends), size)


def _normal(mean: Floats, variance: Floats, ends: tuple[Ints, Ints]) -> Beliefs:
    """Normal beliefs in whole numbers within proved bounds."""
    low, high = ends
    said = np.isfinite(variance)
    deviation = np.sqrt(np.where(said, np.maximum(variance, 1e-4), 1.0))
    center = np.clip(mean, low, np.minimum(high, 2**53).astype(np.float64))
    first = np.maximum(low, np.floor(center - TAIL * deviation).astype(np.int64))
    last = np.minimum(high, np.ceil(center + TAIL * deviation).astype(np.int64))
    proved_ = low == high
    said |= proved_
    first, last = np.where(proved_, low, first), np.where(proved_, high, last)
    sizes = np.where(said, last - first + 1, 0)
    if int(sizes.sum()) > MOST_LISTED:
        sizes = np.where(proved_, 1, 0)
    starts = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
    of = np.repeat(np.arange(len(sizes)), sizes)
    value = np.arange(starts[-1]) - starts[:-1][of] + first[of]
    logs = -0.5 * ((value - mean[of]) / deviation[of]) ** 2
    some = np.flatnonzero(sizes)
    chances = np.zeros(len(logs))
    if len(some):
        best = np.full(len(sizes), 0.0)
        best[some] = np.maximum.reduceat(logs, starts[:-1][some])
        chances = np.exp(logs - best[of])
        total = np.bincount(of, chances, len(sizes))
        chances /= total[of]
    return Beliefs(first.astype(np.int64), starts, chances)
