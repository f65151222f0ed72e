"""The number of two-way tables of non-negative counts with given row and column totals.

Two rows: a row within bounds and with a sum, by inclusion and exclusion, whatever the size of the
totals. Otherwise exactly by a dynamic programme over what is left of the columns: columns are
interchangeable, so that a state is a sorted list of residuals. Beyond its limits by sequential
importance sampling (in the manner of Chen, Diaconis, Holmes and Liu 2005), with its standard error.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal, localcontext

import numpy as np
import numpy.typing as npt

from tabprotect.engine.arrays import Floats, Ints
from tabprotect.engine.budgets import COUNTING_DRAWS
from tabprotect.engine.equal_rows import equal_rows, runs
from tabprotect.engine.errors import InfeasibleError, ParameterError
from tabprotect.engine.progress import SILENT, PartialProgress, Progress
from tabprotect.engine.randomness import Randomness
from tabprotect.languages.messages import message

MOST_STEPS = 20_000_000
"""Most transitions between states of the exact way, in all."""

MOST_AT_ONCE = 6_000_000
"""Most transitions in one step, which bounds memory."""

MOST_TERMS = 200_000
"""Most different terms of inclusion and exclusion."""

MOST_DIGITS = 4000
"""Most digits of a number; longer ones are refused."""

COUNTING_AT_ONCE = 5_000
"""Most numbers side by side, which bounds memory."""

COUNTING_TABLED = 1_000_000
"""Largest total for which logarithms are looked up."""


PLACES = 800
"""Most runs of counts that a cell's count is drawn from; single counts where there are no more."""

MOST_TOTAL = 2**53


FITS = 2.0**61
"""Whole numbers below this may be added in int64."""


@dataclass(frozen=True)
class TableCount:
    """A number of tables.

    Attributes
    ----------
    count
        Rounded where it is an estimate.
    exact
        Whether the count is exact.
    error
        Its standard error; ``None`` when exact. A whole number where it is beyond floats.
    """

    count: int
    exact: bool
    error: float | int | None


def count_tables(
    rows: Sequence[int],
    columns: Sequence[int],
    *,
    randomness: Randomness | None = None,
    draws: int = COUNTING_DRAWS,
    progress: Progress = SILENT,
) -> TableCount:
    """Count the tables with these totals.

    Parameters
    ----------
    randomness, draws
        Random numbers and draws of importance sampling, where the exact way is too long.

    Raises
    ------
    ParameterError
        For totals that are negative or missing, or do not have the same sum.
    InfeasibleError
        When the number has too many digits.
    """
    a, b = _checked(rows, columns)
    # Fewer columns are fewer residuals; the row taken last costs nothing.
    few, many = sorted((a, b), key=len)
    exact = _two_rows(few, many, progress) if len(few) == 2 else None
    if exact is None:
        exact = _exact(sorted(many), few, progress)
    if exact is not None:
        return TableCount(exact, True, None)
    generator = (randomness or Randomness.fresh()).generator()
    return _estimated(sorted(many, reverse=True), few, draws, generator, progress)


def _checked(rows: Sequence[int], columns: Sequence[int]) -> tuple[list[int], list[int]]:
    wrong = {}
    for name, totals in (("rows", rows), ("cols", columns)):
        if not len(totals):
            wrong[name] = message("there are none")
        elif min(totals) < 0:
            wrong[name] = message("a total is negative: {totals}", min(totals))
    if not wrong and sum(rows) != sum(columns):
        wrong["cols"] = message("they add up to {columns}, the rows to {rows}", sum(columns), sum(rows))
    if not wrong and sum(rows) > MOST_TOTAL:
        wrong["rows"] = message("they add up to more than counts can be")
    if wrong:
        raise ParameterError(wrong, hint=message("both are totals of the same table"))
    return [int(t) for t in rows if t], [int(t) for t in columns if t]


def _two_rows(rows: list[int], columns: list[int], progress: Progress) -> int | None:
    """First rows with the smaller total, no count above its column: ``None`` beyond the limits.

    The coefficient of ``z^total`` in the product of ``(1 - z^(column + 1)) / (1 - z)``.
    """
    total, free = min(rows), len(columns) - 1
    terms = {0: 1}
    for number, column in enumerate(columns):
        progress.report(message("counting tables"), number / len(columns))
        for power, sign in list(terms.items()):
            if power + column + 1 <= total:
                terms[power + column + 1] = terms.get(power + column + 1, 0) - sign
        if len(terms) > MOST_TERMS:
            return None
    return sum(sign * math.comb(total - power + free, free) for power, sign in terms.items())


def _exact(rows: list[int], columns: list[int], progress: Progress) -> int | None:
    """The exact number by states; ``None`` beyond the limits."""
    left = np.array([sorted(columns)], dtype=np.int64)
    ways: npt.NDArray[np.int64 | np.object_] = np.ones(1, dtype=np.int64)
    sizes = np.ones(1)
    steps = 0
    for number, total in enumerate(rows[:-1]):
        progress.report(message("counting tables"), number / len(rows))
        # The last column holds what the row still has to place.
        state = np.column_stack([left, np.full(len(left), total)])
        for column in range(left.shape[1]):
            rest = state[:, column + 1 : -1].sum(axis=1)
            low = np.maximum(state[:, -1] - rest, 0)
            lengths = np.maximum(np.minimum(state[:, column], state[:, -1]) - low + 1, 0)
            here = int(lengths.sum())
            steps += here
            if here > MOST_AT_ONCE or steps > MOST_STEPS:
                return None
            source, placed = runs(low, lengths)
            state = state[source]
            state[:, column] -= placed
            state[:, -1] -= placed
            state, ways, sizes = _merged(state, ways[source], sizes[source])
        left, ways, sizes = _merged(np.sort(state[:, :-1], axis=1), ways, sizes)
    # What is left is the last row.
    return int(sum(ways.tolist()))


def _merged(
    states: Ints, ways: npt.NDArray[np.int64 | np.object_], sizes: Floats
) -> tuple[Ints, npt.NDArray[np.int64 | np.object_], Floats]:
    """Merge equal states and add their ways: in whole numbers of any size once int64 may overflow."""
    first, inverse = equal_rows(states.T)
    after = np.asarray(np.bincount(inverse, weights=sizes), dtype=np.float64)
    if ways.dtype != np.object_ and after.max() >= FITS:
        ways = ways.astype(np.object_)
    out = np.zeros(len(first), dtype=ways.dtype)
    np.add.at(out, inverse, ways)
    return states[first], out, after


def _estimated(
    rows: list[int], columns: list[int], draws: int, generator: np.random.Generator, progress: Progress
) -> TableCount:
    """Tables drawn cell by cell, each weighed by one over its chance.

    A cell takes x with a chance in proportion to the ways to fill the rest of its column, times
    a normal approximation of the chance that the rest of the row then comes out right.
    """
    runs = [min(COUNTING_AT_ONCE, draws - at) for at in range(0, draws, COUNTING_AT_ONCE)]
    log_weight = np.concatenate(
        [
            _log_weights(rows, columns, size, generator, PartialProgress(progress, k, len(runs)))
            for k, size in enumerate(runs)
        ]
    )
    peak = float(log_weight.max())
    if peak > MOST_DIGITS * math.log(10):
        raise InfeasibleError(
            message("the number of tables has {peak:,} digits", int(peak / math.log(10))),
            hint=message("count smaller tables"),
        )
    weight = np.exp(log_weight - peak)
    mean_weight = float(weight.mean())
    error = float(weight.std(ddof=1)) / math.sqrt(draws)
    with localcontext() as context:
        context.prec = max(30, int(peak / math.log(10)) + 30)
        scale = Decimal(peak).exp()
        count = int((scale * Decimal(mean_weight)).to_integral_value())
        spread = scale * Decimal(error)
        whole = int(spread.to_integral_value())
    return TableCount(count, False, float(spread) if whole < 2**1000 else whole)


def _log_weights(
    rows: list[int], columns: list[int], draws: int, generator: np.random.Generator, progress: Progress
) -> Floats:
    """One over the chance of each drawn table, in logs, (draws,)."""
    left = np.tile(np.array(columns, dtype=np.int64), (draws, 1))
    log_weight = np.zeros(draws)
    for i, total in enumerate(rows[:-1]):
        below = len(rows) - 1 - i
        most = int(left.max())
        ways = _log_ways(np.arange(most + 1), below) if most <= COUNTING_TABLED else None
        to_place = np.full(draws, total, dtype=np.int64)
        for j in range(len(columns) - 1):
            progress.report(message("drawing tables"), (i + j / len(columns)) / len(rows))
            rest = left[:, j + 1 :]
            low = np.maximum(to_place - rest.sum(axis=1), 0)
            high = np.minimum(left[:, j], to_place)
            first, widths = _places(low, high)
            middle = first + np.maximum(widths - 1, 0) // 2
            column = np.maximum(left[:, j, None] - middle, 0)
            logs = _log_ways(column, below) if ways is None else ways[column]
            mean, variance = _in_one_row(rest, below + 1)
            miss = (to_place[:, None] - middle) - mean[:, None]
            logs = logs - miss**2 / (2 * variance[:, None])
            logs = np.where(widths > 0, logs + np.log(np.maximum(widths, 1)), -np.inf)
            at, chance = _drawn(logs, generator)
            every = np.arange(draws)
            width = widths[every, at]
            x = first[every, at]
            # Single counts need no second draw.
            if int(widths.max()) > 1:
                x = x + generator.integers(0, width)
            log_weight -= chance - np.log(width)
            left[:, j] -= x
            to_place -= x
        left[:, -1] -= to_place
    return log_weight


def _places(low: Ints, high: Ints) -> tuple[Ints, Ints]:
    """First counts and lengths of the runs into which each draw's possible counts fall apart.

    int64 (draws, places); single counts where they are few.
    """
    widest = int((high - low).max()) + 1
    if widest <= PLACES:
        first = low[:, None] + np.arange(widest)
        return first, (first <= high[:, None]).astype(np.int64)
    whole, more = np.divmod(high - low + 1, PLACES)
    place = np.arange(PLACES + 1)
    edges = low[:, None] + place * whole[:, None] + np.minimum(place, more[:, None])
    return edges[:, :-1], np.diff(edges, axis=1)


def _in_one_row(left: Ints, rows: int) -> tuple[Floats, Floats]:
    """Mean and variance of the sum that all columns place in one of so many rows, (draws,) each.

    Columns are independent, and all ways to fill one are equally likely.
    """
    mean = left / rows
    variance = mean * (left + rows) * (rows - 1) / (rows * (rows + 1))
    return mean.sum(axis=1), variance.sum(axis=1) + 0.1


def _drawn(logs: Floats, generator: np.random.Generator) -> tuple[Ints, Floats]:
    """Draw one place of each row in proportion to its weights; also the logs of their chances."""
    logs = logs - logs.max(axis=1, keepdims=True)
    cumulative = np.cumsum(np.exp(logs), axis=1)
    u = generator.random(len(logs)) * cumulative[:, -1]
    at = (cumulative <= u[:, None]).sum(axis=1)
    # Rounding may lead beyond the last possible one.
    last = logs.shape[1] - 1 - np.argmax((logs > -np.inf)[:, ::-1], axis=1)
    at = np.minimum(at, last)
    return at, logs[np.arange(len(logs)), at] - np.log(cumulative[:, -1])


def _log_ways(totals: Ints, cells: int) -> Floats:
    """Logs of the number of ways to place each total in so many cells."""
    # scipy is a third of the program's start, and few count tables.
    from scipy.special import gammaln

    found = gammaln(totals + float(cells)) - gammaln(totals + 1.0) - gammaln(cells)
    return np.asarray(found, dtype=np.float64)
