"""Shared by the resampling methods: how far a count may move, and truncated distributions.

A count x of n records, drawn anew with replacement, is binomial with standard error
``sqrt(x (1 - x / n))``; it may move by S of them. Averages of M samples (M odd) are handled as
the sum of the samples, which is one sample of M n records.

Source: Domingo-Ferrer and Mateo-Sanz 1999, after Heer 1993.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from tabprotect.engine.arrays import Bools, Floats, Ints
from tabprotect.engine.equal_rows import spread
from tabprotect.engine.errors import InputError, TooLargeError
from tabprotect.engine.parameters import Parameter
from tabprotect.languages.messages import message

MOST_SPAN = 20_000_000
"""Most sums that one count may take."""

MOST_WEIGHTS = 5_000_000
"""Most possible true counts, over all different published ones, that are weighed."""


NEGLIGIBLE = 1e-30
"""Ends of a joined distribution below this chance are cut off."""

DIRECT = 2_000
"""Length up to which distributions are convolved directly; beyond by Fourier transform."""


@dataclass(frozen=True, eq=False)
class SumTree:
    """The distribution of the sum of independent counts, from which the counts can be drawn.

    The counts are joined in pairs, equal laws first, so that a table of a million cells has some
    thousand different joined distributions. A draw splits the sum from the root down.

    Attributes
    ----------
    first
        Smallest possible sum.
    chances : float64 (sums,)
        Probability of ``first, first + 1, ...``.
    law
        Number of the law of a single count; -1 for a sum.
    left, right
        The two parts of a sum; ``None`` for a single count.
    """

    first: int
    chances: Floats
    law: int = -1
    left: SumTree | None = None
    right: SumTree | None = None

    @classmethod
    def of(cls, laws: Sequence[tuple[int, Floats]], times: Sequence[int] | Ints) -> SumTree:
        """Join ``times[k]`` counts with the distribution ``laws[k]`` (first count, chances)."""
        parts: list[SumTree] = []
        for number, ((first, chances), many) in enumerate(zip(laws, times, strict=True)):
            power = cls(first, chances, number)
            left = int(many)
            while left:
                if left & 1:
                    parts.append(power)
                left >>= 1
                if left:
                    power = cls._joined(power, power)
        if not parts:
            return cls(0, np.ones(1))
        while len(parts) > 1:
            # Short ones first: what is long is joined as seldom as possible.
            parts.sort(key=lambda part: len(part.chances))
            joined = [cls._joined(a, b) for a, b in zip(parts[::2], parts[1::2], strict=False)]
            parts = joined + parts[len(joined) * 2 :]
        return parts[0]

    @classmethod
    def _joined(cls, a: SumTree, b: SumTree) -> SumTree:
        chances = _convolved(a.chances, b.chances)
        kept = np.flatnonzero(chances > NEGLIGIBLE)
        begin, end = int(kept[0]), int(kept[-1]) + 1
        return cls(a.first + b.first + begin, chances[begin:end], -1, a, b)

    @cached_property
    def laws(self) -> Ints:
        """The law of each count in the order of :meth:`draw`, int64 (counts,)."""
        if self.left is None or self.right is None:
            return np.full(1 if self.law >= 0 else 0, self.law, dtype=np.int64)
        return np.concatenate([self.left.laws, self.right.laws])

    def chance(self, total: int) -> float:
        """Probability of a sum."""
        at = total - self.first
        return float(self.chances[at]) if 0 <= at < len(self.chances) else 0.0

    def draw(self, total: int, generator: np.random.Generator) -> Ints:
        """The counts, given that they add up to ``total`` (possible), int64 (counts,)."""
        found: Ints = self._draw(np.array([total], dtype=np.int64), generator)[0]
        return found

    def _draw(self, totals: Ints, generator: np.random.Generator) -> Ints:
        """Independent draws, one for each total, int64 (totals, counts)."""
        a, b = self.left, self.right
        if a is None or b is None:
            return totals[:, None] if self.law >= 0 else np.zeros((len(totals), 0), np.int64)
        mine = np.empty_like(totals)
        u = generator.random(len(totals))
        order = np.argsort(totals, kind="stable")
        sums, begins = np.unique(totals[order], return_index=True)
        ends = np.append(begins[1:], len(totals))
        for total, begin, end in zip(sums.tolist(), begins, ends, strict=True):
            low = max(a.first, total - b.first - len(b.chances) + 1)
            high = min(a.first + len(a.chances) - 1, total - b.first)
            weight = a.chances[low - a.first : high - a.first + 1]
            other = b.chances[total - high - b.first : total - low - b.first + 1]
            cumulative = np.cumsum(weight * other[::-1])
            which = order[begin:end]
            at = np.searchsorted(cumulative, u[which] * cumulative[-1], side="right")
            mine[which] = low + np.minimum(at, high - low)
        if a is b:
            both = a._draw(np.concatenate([mine, totals - mine]), generator)
            return np.concatenate([both[: len(totals)], both[len(totals) :]], axis=1)
        return np.concatenate([a._draw(mine, generator), b._draw(totals - mine, generator)], axis=1)


def _convolved(a: Floats, b: Floats) -> Floats:
    if min(len(a), len(b)) <= DIRECT:
        return np.convolve(a, b)
    length = len(a) + len(b) - 1
    size = 1 << (length - 1).bit_length()
    product = np.fft.rfft(a, size) * np.fft.rfft(b, size)
    # What is left of rounding must not look like a possible sum.
    found = np.fft.irfft(product, size)[:length]
    return np.where(found > 1e-18, found, 0.0)


QUALITY: Parameter[float] = Parameter(
    "S",
    message("Quality bound S"),
    message("How many standard errors a count may move at most. Smaller changes less and protects less."),
    "real",
    2.0,
    low=0.5,
    high=10.0,
    unit=message("standard errors"),
)


def limits(counts: Ints, total: int | Ints, quality: float, samples: int = 1) -> tuple[Ints, Ints]:
    """Smallest and largest allowed sum over the samples of each count, int64 like ``counts``.

    Both rise with the count; 0 and the total stay what they are.

    Parameters
    ----------
    counts
        True counts.
    total
        n, of each count or of all.
    quality
        S, in standard errors.
    samples
        M.
    """
    n = np.maximum(total, 1)
    room = quality * np.sqrt(counts.astype(np.float64) * (n - counts) / n) * samples
    low = np.maximum(np.ceil(samples * counts - room), 0).astype(np.int64)
    high = np.minimum(np.floor(samples * counts + room).astype(np.int64), samples * n)
    return low, np.where(counts == 0, 0, high)


def averaged(sums: Ints, samples: int) -> Ints:
    """The rounded average of M samples; M is odd, so that there are no ties."""
    return (2 * sums + samples) // (2 * samples)


def possible_true_counts(
    published: Ints, total: int | Ints, quality: float, samples: int = 1
) -> tuple[Ints, Ints]:
    """The true counts that could lead to each published one: closed intervals, by bisection.

    Returns
    -------
    low, high : int64 like ``published``
        ``low > high`` where there is none.
    """
    whole = np.broadcast_to(np.asarray(total, dtype=np.int64), published.shape)

    def reached(x: Ints) -> Bools:
        return averaged(limits(x, whole, quality, samples)[1], samples) >= published

    def passed(x: Ints) -> Bools:
        return averaged(limits(x, whole, quality, samples)[0], samples) > published

    return _first(whole, reached), _first(whole, passed) - 1


def _first(total: Ints, holds: Callable[[Ints], Bools]) -> Ints:
    """The smallest x in 0..total from which on a rising condition holds; else total + 1."""
    low, high = np.zeros_like(total), total + 1
    while (low < high).any():
        middle = (low + high) // 2
        yes = holds(np.minimum(middle, total)) & (middle <= total)
        low, high = np.where(yes | (low >= high), low, middle + 1), np.where(yes, middle, high)
    return low


def law_of_cell(counts: Ints, published: Ints, total: int | Ints, quality: float, samples: int = 1) -> Floats:
    """log P(published count | true count) of a cell on its own, drawn until it is in its range.

    Cells are drawn together, so this is not all that a release says; but it is most of it.

    Parameters
    ----------
    counts, published, total : int64, of one shape
        Each true count could lead to the published one.
    """
    from scipy.special import betainc, gammaln, xlog1py, xlogy  # a third of the program's start

    low, high = limits(counts, total, quality, samples)
    n = samples * np.maximum(np.asarray(total, dtype=np.float64), 1.0)
    chance = counts / np.maximum(total, 1)

    def below(sums: Ints) -> Floats:
        """P(sum <= sums)."""
        k = np.clip(sums, 0, n - 1)
        part = np.where(sums < n, betainc(n - k, k + 1.0, 1.0 - chance), 1.0)
        return np.asarray(np.where(sums < 0, 0.0, part), dtype=np.float64)

    logs = np.full(np.shape(counts), -np.inf)
    half = (samples - 1) // 2
    for step in range(-half, half + 1):
        y = samples * published + step
        inside = (y >= low) & (y <= high)
        y = np.where(inside, y, low)
        log = gammaln(n + 1.0) - gammaln(y + 1.0) - gammaln(n - y + 1.0)
        log = log + xlogy(y, chance) + xlog1py(n - y, -chance)
        logs = np.where(inside, np.logaddexp(logs, log), logs)
    # A count of 0 or of all records is certain.
    fixed = low == high
    return np.where(fixed, 0.0, logs - np.log(np.where(fixed, 1.0, below(high) - below(low - 1))))


def weighed(
    published: Ints, total: Ints, quality: float, samples: int = 1
) -> list[tuple[int, int, Floats | None]]:
    """The law of the true count behind each published count: factor kinds of a likelihood.

    Parameters
    ----------
    published, total : int64 (kinds,)

    Returns
    -------
    (lowest, highest true count, log weights), without weights for all kinds where these would be
    too many.

    Raises
    ------
    InputError
        For a count that no true count leads to.
    """
    low, high = possible_true_counts(published, total, quality, samples)
    wrong = (low > high) | (published < 0)
    if wrong.any():
        raise InputError(
            message("no true count leads to the published count {published}", int(published[wrong][0]))
        )
    lengths = high - low + 1
    if int(lengths.sum()) > MOST_WEIGHTS:
        return [(int(a), int(b), None) for a, b in zip(low, high, strict=True)]
    n, out = np.repeat(total, lengths), np.repeat(published, lengths)
    every = law_of_cell(spread(low, lengths), out, n, quality, samples)
    logs = np.split(every, np.cumsum(lengths)[:-1])
    return [(int(a), int(b), run) for a, b, run in zip(low, high, logs, strict=True)]


def binomial_logs(count: int, total: int, low: int, high: int) -> Floats:
    """Log chances of low..high under Binomial(total, count / total), given that range."""
    if low == high:
        return np.zeros(1)
    y = np.arange(low, high, dtype=np.float64)
    steps = np.log((total - y) / (y + 1.0)) + math.log(count) - math.log(total - count)
    return normalised(steps)


def poisson_logs(mean: float, low: int, high: int) -> tuple[Floats, float]:
    """Log chances of low..high under a Poisson law given that range, and the log of its weight.

    The weight leaves out the factor exp(-mean), which would swamp all other figures.
    """
    y = np.arange(low, high, dtype=np.float64)
    logs = normalised(math.log(mean) - np.log(y + 1.0))
    first = low * math.log(mean) - math.lgamma(low + 1.0)
    return logs, first - float(logs[0])


def normalised(steps: Floats) -> Floats:
    """Log chances from the log ratios of each to the one before, float64 (steps + 1,)."""
    logs = np.concatenate([[0.0], np.cumsum(steps)])
    peak = float(logs.max())
    return np.asarray(logs - peak - math.log(float(np.exp(logs - peak).sum())))


def multinomial(counts: Ints, drawn: Ints, times: Ints) -> float:
    """Log probability of one sample of all records: ``drawn`` where there were ``counts`` > 0."""
    from scipy.special import gammaln  # a third of the program's start

    total = float(counts @ times)
    each = drawn * np.log(counts / total) - gammaln(drawn + 1.0)
    return math.lgamma(total + 1.0) + float(each @ times)


def boxed(counts: Ints, times: Ints, box: tuple[Ints, Ints], samples: int = 1) -> tuple[SumTree, float]:
    """A multinomial sample of M n records, given that every cell stays in its range.

    Cells of a multinomial sample are independent Poisson counts given their sum; and they stay so
    when all means are multiplied by one number, chosen so that the sum is a typical one.

    Parameters
    ----------
    counts, times : int64 (k,)
        Positive true counts, and the number of cells that have each.
    box : int64 (k,), int64 (k,)
        Smallest and largest sums over the samples.
    samples
        M.

    Returns
    -------
    tree, log_chance
        The cells given the ranges, before their sum is known; and the log of the probability that
        all cells stay in their ranges, -inf where they cannot.

    Raises
    ------
    TooLargeError
        For counts of such size that their distributions do not fit into memory.
    """
    records = samples * int(counts @ times)
    low, high = box
    if int((high - low).max(initial=0)) > MOST_SPAN:
        raise TooLargeError(
            message("a count may move too far for its distribution to be laid out"),
            hint=message("take binomial_compensated, or a smaller quality bound or fewer samples"),
        )
    if not len(counts):
        return SumTree.of([], []), 0.0
    if int(low @ times) > records or int(high @ times) < records or (low > high).any():
        return SumTree.of([], []), -math.inf
    tilt = 0.0
    for _ in range(50):
        laws = [
            poisson_logs(samples * math.exp(tilt) * count, a, b)
            for count, a, b in zip(counts.tolist(), low.tolist(), high.tolist(), strict=True)
        ]
        chances = [np.exp(logs) for logs, _ in laws]
        offsets = [np.arange(len(p)) for p in chances]
        means = np.array([float(p @ at) for p, at in zip(chances, offsets, strict=True)])
        squares = np.array([float(p @ (at * at)) for p, at in zip(chances, offsets, strict=True)])
        spread = float((squares - means**2) @ times)
        missing = records - float((low + means) @ times)
        if missing * missing <= 0.25 * spread or spread <= 0.0:
            break
        # The derivative of the mean by the tilt is the variance.
        tilt += float(np.clip(missing / spread, -1.0, 1.0))
    tree = SumTree.of(list(zip(low.tolist(), chances, strict=True)), times)
    within = math.log(max(tree.chance(records), 1e-300))
    # The factors exp(-mean) of the cells are those of the sum.
    at_sum = records * (math.log(records) + tilt) - math.lgamma(records + 1.0)
    return tree, float(np.array([weight for _, weight in laws]) @ times) + within - at_sum
