"""Perturbation tables: the noise of a count, for each cell key.

A table has one row for each count 0, 1, ..., and its last rows serve all larger counts. A row
cuts the cell keys 0 .. 10^8 - 1 into intervals and gives each its noise. Count 0 has noise 0.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
import numpy.typing as npt

from tabprotect.engine.arrays import Bools, Floats, Ints
from tabprotect.engine.errors import InfeasibleError, InputError, ParameterError
from tabprotect.engine.protection.cell_keys.maximum_entropy import Noise, maximum_entropy
from tabprotect.engine.randomness import KEY_MODULUS
from tabprotect.languages.messages import joined, message, plural

KEYS = KEY_MODULUS
"""Number of cell keys: 0 .. 10^8 - 1."""

LARGEST_D = 200
REACHED = 5e-4
"""Tolerance within which a variance counts as equal to V (three decimals)."""

STAY_STEP = 0.05
"""Step by which the bound on staying is lowered where it makes V impossible."""


@dataclass(frozen=True)
class Unreached:
    """A row whose noise has a variance other than the one asked for.

    Attributes
    ----------
    row
        The count.
    variance
        The variance attained.
    stay
        The lower bound of staying that was kept, where one was asked for and had to be lowered.
    """

    row: int
    variance: float
    stay: float | None = None

    def __str__(self) -> str:
        kept = "" if self.stay is None else message(", staying bounded by {stay:g} only", self.stay)
        return message("count {row}: variance {variance:.4g}{kept}", self.row, self.variance, kept)


@dataclass(frozen=True, eq=False)
class PerturbationTable:
    """Intervals of cell keys and their noise.

    Attributes
    ----------
    starts : int64 (rows + 1,)
        Where the intervals of each row begin.
    upper : int64 (intervals,)
        Exclusive upper ends in units of 10^-8, not falling in a row; the last of a row is 10^8.
    noise : int64 (intervals,)
        Published minus true count.
    probabilities : float64 (intervals,)
        The probabilities the ends were made from; the widths of the intervals are these to eight
        decimals.
    period
        How many rows at the end are used in turn for larger counts (1: the last one for all).
    unreached
        Rows whose variance is not the one asked for.
    """

    starts: Ints
    upper: Ints
    noise: Ints
    probabilities: Floats
    period: int = 1
    unreached: tuple[Unreached, ...] = ()

    def __post_init__(self) -> None:
        if not 1 <= self.period < self.rows:
            raise InputError(message("a perturbation table needs rows for 0 and for a positive count"))
        row = self.row
        for wrong, why in (
            (self.widths < 0, message("its intervals of cell keys overlap")),
            (row + self.noise < 0, message("it makes a count negative")),
            ((row == 0) & (self.noise != 0), message("it changes the count 0")),
        ):
            if wrong.any():
                raise InputError(
                    message("count {row} of the perturbation table: {why}", row[np.argmax(wrong)], why)
                )
        ends = self.upper[self.starts[1:] - 1]
        if (ends != KEYS).any() or (np.diff(self.starts) < 1).any():
            at = int(np.argmax(ends != KEYS))
            raise InputError(
                message(
                    "count {at} of the perturbation table: its probabilities add up to {ends:g}, not to 1",
                    at,
                    ends[at] / KEYS,
                )
            )

    @classmethod
    def of_rows(
        cls, rows: Iterable[tuple[npt.ArrayLike, npt.ArrayLike]], *, unreached: tuple[Unreached, ...] = ()
    ) -> PerturbationTable:
        """Make one from ``(noise, probabilities)`` of each row; ends are rounded to eight decimals.

        Raises
        ------
        InputError
            Where probabilities do not add up to 1 (within 10^-6) or noise is impossible.
        """
        found = [(np.asarray(v, dtype=np.int64), np.asarray(p, dtype=np.float64)) for v, p in rows]
        ends = []
        for count, (_, p) in enumerate(found):
            if not len(p) or not np.isfinite(p).all() or (p < 0).any() or abs(p.sum() - 1) > 1e-6:
                raise InputError(
                    message(
                        "count {count} of the perturbation table: its probabilities add up to "
                        "{sum:g}, not to 1",
                        count,
                        p.sum(),
                    )
                )
            end = np.rint(np.cumsum(p) * KEYS).astype(np.int64)
            end[-1] = KEYS
            ends.append(np.minimum(end, KEYS))
        return cls(
            starts=np.concatenate([[0], np.cumsum([len(v) for v, _ in found])]).astype(np.int64),
            upper=np.concatenate(ends),
            noise=np.concatenate([v for v, _ in found]),
            probabilities=np.concatenate([p for _, p in found]),
            unreached=unreached,
        )

    @property
    def rows(self) -> int:
        """Number of rows, including that of the count 0."""
        return len(self.starts) - 1

    @cached_property
    def row(self) -> Ints:
        """The row of each interval."""
        return np.repeat(np.arange(self.rows), np.diff(self.starts))

    @cached_property
    def largest(self) -> int:
        """Largest |noise| of positive probability."""
        return int(np.abs(self.noise[self.widths > 0]).max(initial=0))

    @cached_property
    def widths(self) -> Ints:
        """Number of cell keys in each interval: its exact probability, times 10^8."""
        lower = np.concatenate([[0], self.upper[:-1]])
        lower[self.starts[:-1]] = 0
        return np.asarray(self.upper - lower, dtype=np.int64)

    @cached_property
    def chances(self) -> Floats:
        """The exact probability of each noise from -largest to largest, float64 (rows, noises)."""
        chances = np.zeros((self.rows, 2 * self.largest + 1))
        used = self.widths > 0
        np.add.at(chances, (self.row[used], self.noise[used] + self.largest), self.widths[used] / KEYS)
        return chances

    @cached_property
    def bias(self) -> float:
        """Largest |mean noise| of a row."""
        return float(np.abs(np.add.reduceat(self.noise * self.widths, self.starts[:-1])).max() / KEYS)

    @cached_property
    def never(self) -> int:
        """The largest count such that it and all smaller positive ones are never published."""
        made = set((self.row + self.noise)[(self.widths > 0) & (self.row > 0)].tolist())
        # Rows used for many counts give larger results too; small ones are all listed.
        small = 0
        while small + 1 < self.rows and small + 1 not in made:
            small += 1
        return small

    def row_of(self, counts: Ints) -> Ints:
        """The row that serves each count."""
        beyond = np.maximum(counts - self.rows, 0) % self.period + self.rows - self.period
        return np.asarray(np.where(counts < self.rows, counts, beyond), dtype=np.int64)

    def noise_of(self, counts: Ints, keys: Ints) -> Ints:
        """The noise of each count (>= 0) under its cell key (0 .. 10^8 - 1): the first interval
        whose end lies above the key."""
        ladder = np.repeat(np.arange(self.rows) * KEYS, np.diff(self.starts)) + self.upper
        at = np.searchsorted(ladder, self.row_of(counts) * KEYS + keys, side="right")
        return np.asarray(self.noise[at], dtype=np.int64)

    def transitions(self, row: int) -> dict[int, float]:
        """Noise -> its exact probability in a row, only what has a chance."""
        of_row = slice(int(self.starts[row]), int(self.starts[row + 1]))
        found: dict[int, float] = {}
        for noise, width in zip(self.noise[of_row].tolist(), self.widths[of_row].tolist(), strict=True):
            if width:
                found[noise] = found.get(noise, 0.0) + width / KEYS
        return found

    def on_grid(self, key_range: int) -> PerturbationTable:
        """The table that cell keys of fewer values look up: probabilities are multiples of 1 / key_range."""
        steps = (2 * self.upper * key_range + KEYS - 1) // (2 * KEYS)
        upper = steps * KEYS // key_range
        if (upper == self.upper).all():
            return self
        found = replace(self, upper=upper)
        return replace(found, probabilities=found.widths / KEYS)

    @cached_property
    def targets(self) -> Ints:
        """The published counts that occur in some row, ascending: columns of ``matrix``."""
        return np.unique(self.row + self.noise)

    @cached_property
    def matrix(self) -> Floats:
        """P(published | true) by row and target, (rows, targets), before rounding to keys."""
        matrix = np.zeros((self.rows, len(self.targets)))
        at = self.row, np.searchsorted(self.targets, self.row + self.noise)
        np.add.at(matrix, at, self.probabilities)
        return matrix


def perturbation_table(
    *,
    D: int,  # noqa: N803 (the field's letters)
    V: float,  # noqa: N803
    js: int = 0,
    pstay: float = 0.0,
    monotone: bool = True,
    attain: bool = False,
) -> PerturbationTable:
    """The perturbation table of largest entropy.

    Parameters
    ----------
    D
        Largest |noise|.
    V
        Variance of the noise, an upper bound (an equality with ``attain``).
    js
        Counts 1..js are never published.
    pstay
        Lower bound of the probability that a count stays; it is lowered in steps of 0.05 in
        rows that would miss V because of it.
    monotone
        Probabilities do not fall from the lowest noise up to noise 0 (counts above js).

    Returns
    -------
    PerturbationTable
        Counts 0..D (``js`` = 0), else 0..D + js + 1; rows that miss V are in ``unreached``.

    Raises
    ------
    ParameterError
    InfeasibleError
        Naming every row without a solution, and why.
    """
    _check(D, V, js, pstay)
    last = D + js + 1 if js else D
    count = np.arange(1, last + 1)
    noise = np.broadcast_to(np.arange(-D, D + 1), (last, 2 * D + 1)).astype(np.int64)
    bound = (count > js) & (monotone or pstay > 0)
    allowed, stuck, widest = _allowed(count, noise, V, js, attain & ~bound)
    _fail_rows(count[attain & (widest < V * (1 - 1e-12))].tolist(), widest, V)
    stay = np.where(count > js, pstay, 0.0)

    def solve(rows: Ints, bound: Floats) -> Noise:
        return maximum_entropy(
            noise[rows],
            allowed[rows],
            variance=V,
            stay=np.minimum(bound, 1 - 1e-9),
            monotone=(count > js)[rows] & monotone,
            attain=attain,
        )

    p = (allowed & stuck[:, None]).astype(np.float64)
    unreached, failed = _solved(solve, p, np.flatnonzero(~stuck), stay, V)
    _fail_rows(failed, widest, V)
    rows = [(noise[r][allowed[r]], p[r][allowed[r]]) for r in range(last)]
    return PerturbationTable.of_rows([([0], [1.0]), *rows], unreached=unreached)


def _allowed(
    count: Ints,
    noise: Ints,
    V: float,  # noqa: N803
    js: int,
    attained: Bools,
) -> tuple[Bools, Bools, Ints]:
    """The noise that each count may have (rows, noises), which counts must stay, and the most
    variance that each can have.

    Corners that the dual only tends to are taken here.

    Parameters
    ----------
    attained : bool (rows,)
        Rows without further bounds whose variance must be V itself.
    """
    target = count[:, None] + noise
    allowed = (target >= 0) & ((target == 0) | (target > js))
    # A count js + 1 with no target below has to stay; with the smallest possible variance a
    # blocked count goes to 0 or js + 1 only, with the largest any count goes to its two farthest
    # targets only.
    stuck = ~(allowed & (noise < 0)).any(axis=1)
    least = np.where(count <= js, count * (js + 1 - count), 0)
    corner = (count <= js) & (least * (1 + 1e-12) >= V)
    allowed[corner] &= (target[corner] == 0) | (target[corner] == js + 1)
    ends = np.where(allowed, noise, 0)
    lowest, highest = ends.min(axis=1), ends.max(axis=1)
    widest = -lowest * highest
    corner = attained & ~stuck & (np.abs(widest - V) <= 1e-12 * V)
    allowed[corner] &= (noise == lowest[:, None])[corner] | (noise == highest[:, None])[corner]
    allowed[stuck] = noise[stuck] == 0
    return allowed, stuck, widest


def _solved(
    solve: Callable[[Ints, Floats], Noise],
    p: Floats,
    rows: Ints,
    stay: Floats,
    V: float,  # noqa: N803
) -> tuple[tuple[Unreached, ...], list[int]]:
    """Solve rows of a table, with the bound on staying lowered as little as V allows.

    Parameters
    ----------
    solve
        (rows, their bounds on staying) -> the noise of largest entropy.
    p
        The probabilities (all rows, noises), filled in place.

    Returns
    -------
    The rows that have another variance or a lower bound, and the counts without a solution.
    """
    reached, failed = np.zeros(len(stay)), []
    # How often the bound has to be lowered: between ``missed`` and ``enough`` times. The lower the
    # bound, the more variance there can be, so halving finds the first that does.
    enough = np.ceil(stay / STAY_STEP - 1e-9).astype(np.int64)
    missed, kept = np.full(len(stay), -1), np.full(len(stay), -1)
    trying = np.zeros(len(stay), dtype=np.int64)
    while len(rows):
        bound = np.maximum(stay - STAY_STEP * trying, 0.0)[rows]
        found = solve(rows, bound)
        short = ~found.solved | (np.abs(found.variance - V) >= REACHED)
        bad = short & (bound > 0) & (found.held | ~found.solved)
        good = rows[~bad]
        p[good], reached[good] = found.p[~bad], found.variance[~bad]
        enough[good] = kept[good] = trying[good]
        missed[rows[bad]] = trying[rows[bad]]
        failed += (rows[~found.solved & ~bad] + 1).tolist()
        rows = rows[(kept != enough)[rows] | (enough - missed > 1)[rows]]
        rows = rows[~np.isin(rows + 1, failed)]
        middle = (missed + enough) // 2
        trying = np.where(enough - missed > 1, middle, enough)
    lowered = np.maximum(kept, 0)
    stay = np.maximum(stay - STAY_STEP * lowered, 0.0)
    unreached = (
        Unreached(int(row) + 1, float(reached[row]), float(stay[row]) if lowered[row] else None)
        for row in np.flatnonzero((np.abs(reached - V) >= REACHED) | (lowered > 0))
    )
    return tuple(unreached), failed


def _fail_rows(failed: list[int], widest: Ints, V: float) -> None:  # noqa: N803
    _fail(
        message("count {row}: no noise has variance {V:g}", row, V)
        + (
            message(", at most {widest} is possible", widest[row - 1])
            if widest[row - 1] < V
            else message(" with the bounds on staying and on monotony")
        )
        for row in sorted(failed)
    )


def _check(D: int, V: float, js: int, pstay: float) -> None:  # noqa: N803
    wrong: dict[str, str] = {}
    if not 1 <= D <= LARGEST_D:
        wrong["D"] = message("must be between 1 and {LARGEST_D}, is {D}", LARGEST_D, D)
    if not (np.isfinite(V) and V > 0):
        wrong["V"] = message("must be above 0, is {V}", V)
    if not 0 <= js <= LARGEST_D:
        wrong["js"] = message("must be between 0 and {LARGEST_D}, is {js}", LARGEST_D, js)
    if not 0 <= pstay <= 1:
        wrong["pstay"] = message("must be between 0 and 1, is {pstay}", pstay)
    if wrong:
        raise ParameterError(wrong)
    # Counts 1..js can go to 0 or above js: both near enough, and V large enough.
    reasons = []
    for count in range(1, js + 1):
        up, least = js + 1 - count, count * (js + 1 - count)
        if count > D or up > D:
            reasons.append(
                message(
                    "count {count}: it must go to 0 or to at least {js} with mean noise 0, which "
                    "takes D of at least {count2}",
                    count,
                    js + 1,
                    max(count, up),
                )
            )
        elif least * (1 - 1e-12) > V:
            reasons.append(
                message(
                    "count {count}: going to 0 or to {js} with mean noise 0 has the variance "
                    "{least}, above V = {V:g}",
                    count,
                    js + 1,
                    least,
                    V,
                )
            )
    _fail(reasons)


def _fail(reasons: Iterable[str]) -> None:
    """Raise the error that names all reasons, if there are any."""
    if not (listed := list(reasons)):
        return
    others = len(listed) - 1
    more = plural(others, " (and {listed} more count)", " (and {listed} more counts)", listed=others)
    raise InfeasibleError(
        message("there is no such perturbation table: {listed}{more}", listed[0], more if others else ""),
        hint=message("take a larger D, a larger V or a smaller js"),
        detail=joined(listed, "\n"),
    )
