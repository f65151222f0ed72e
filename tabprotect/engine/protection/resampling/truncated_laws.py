"""What the resampling methods share: how far a count may move, and truncated distributions.

A count x of n records, drawn anew with replacement, is binomial with standard error
``sqrt(x (1 - x / n))``; it may move by S of them. Averages of M samples (M odd) are handled as
the sum of the samples, which is one sample of M n records.

Source: Domingo-Ferrer and Mateo-Sanz 1999, after Heer 1993.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from tabprotect.engine.arrays import Bools, Floats, Ints
from tabprotect.engine.budgets import TRUNCATED_SPAN as MOST_SPAN
from tabprotect.engine.budgets import TRUNCATED_WEIGHTS as MOST_WEIGHTS
from tabprotect.engine.errors import InputError, TooLargeError
from tabprotect.engine.parameters import Parameter
from tabprotect.engine.protection.resampling.sum_tree import SumTree

QUALITY: Parameter[float] = Parameter(
    "S",
    "Quality bound S",
    "How many standard errors a count may move at most. Smaller is truer and safer less.",
    "real",
    2.0,
    low=0.5,
    high=10.0,
    unit="standard errors",
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


def law_of_cell(
    counts: Ints, published: Ints, total: int | Ints, quality: float, samples: int = 1
) -> Floats:
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
    """What each published count says of its true count: factor kinds of a likelihood.

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
        raise InputError(f"no true count leads to the published count {int(published[wrong][0])}")
    lengths = high - low + 1
    if int(lengths.sum()) > MOST_WEIGHTS:
        return [(int(a), int(b), None) for a, b in zip(low, high, strict=True)]
    ends = np.cumsum(lengths)
    x = np.arange(int(ends[-1])) - np.repeat(ends - lengths - low, lengths)
    n, out = np.repeat(total, lengths), np.repeat(published, lengths)
    logs = np.split(law_of_cell(x, out, n, quality, samples), ends[:-1])
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


def boxed(
    counts: Ints, times: Ints, box: tuple[Ints, Ints], samples: int = 1
) -> tuple[SumTree, float]:
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
            "a count may move too far for its distribution to be laid out",
            hint="take binomial_compensated, or a smaller quality bound or fewer samples",
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
