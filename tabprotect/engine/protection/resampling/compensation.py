"""Counts drawn one by one and then corrected to their known sum: the draw, and its exact chance.

Every count x of a block of n records becomes a binomial one within its range l..u. The block's
sum is then off by D units: these are taken off (D > 0) or added, one after the other, to a cell
with a chance in proportion to the room it has left, y - l or u - y, like balls drawn from an urn
without putting them back. So D is spread by one multivariate hypergeometric draw.

Source: Domingo-Ferrer and Mateo-Sanz 1999, section 3.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from tabprotect.engine.arrays import Floats, Ints
from tabprotect.engine.equal_rows import by_number, equal_rows
from tabprotect.engine.errors import TooLargeError
from tabprotect.engine.protection.resampling.truncated_laws import binomial_logs, limits
from tabprotect.languages.messages import message

MOST_PUT_RIGHT = 2_000_000
"""Most units by which a cell may move."""

AT_ONCE = 256
"""Originals whose chances are worked out together."""

NODES, CLOSE, MOST_HALVED = 16, 1e-12, 20
"""Points in each part of an integral, and the relative difference that makes none."""

POINTS = 2_000.0
"""Points at which an integral is looked at, roughly."""


def draw(counts: Ints, block: Ints, quality: float, generator: np.random.Generator) -> Ints:
    """Resampled counts with the sum of each block, int64 (cells,).

    Parameters
    ----------
    counts, block : int64 (cells,)
        True counts, and the number of the block of each cell.
    quality
        S, in standard errors.

    Raises
    ------
    TooLargeError
        When counts are so large that too many units may have to be corrected, one by one.
    """
    sums = np.zeros(int(block.max(initial=-1)) + 1, dtype=np.int64)
    np.add.at(sums, block, counts)
    total = sums[block]
    low, high = limits(counts, total, quality)
    if int((high - low).max(initial=0)) > MOST_PUT_RIGHT:
        raise TooLargeError(
            message("the counts are too large to be put right one by one"),
            hint=message("take another method"),
        )
    drawn = counts.copy()
    waiting = np.flatnonzero(low < high)
    while len(waiting):
        n, x = total[waiting], counts[waiting]
        y = generator.binomial(n, x / n)
        inside = (y >= low[waiting]) & (y <= high[waiting])
        drawn[waiting[inside]] = y[inside]
        waiting = waiting[~inside]
    off = -sums
    np.add.at(off, block, drawn)
    order, begins = by_number(block, len(sums))
    for number in np.flatnonzero(off).tolist():
        cells = order[begins[number] : begins[number + 1]]
        many = int(off[number])
        room = drawn[cells] - low[cells] if many > 0 else high[cells] - drawn[cells]
        ends = np.cumsum(room)
        # Balls by number: like one multivariate hypergeometric draw, for urns of any size.
        balls = generator.choice(int(ends[-1]), size=abs(many), replace=False, shuffle=False)
        taken = np.bincount(np.searchsorted(ends, balls, side="right"), minlength=len(cells))
        drawn[cells] -= int(np.sign(many)) * taken
    return drawn


def log_chances(counts: Ints, published: Ints, quality: float) -> tuple[Floats, Floats]:
    """log P(published | true counts) of one block for many originals; -inf where impossible.

    For D > 0 the draw that led to the published counts had d more in each cell, d adding up to D:
    the sum over all of them of the product over cells of b(out + d) C(out + d - l, d), over
    C(R + D, D); b is the binomial law in its range and R the sum of out - l. As 1 / C(R + D, D) is R
    times the integral of t^D (1 - t)^(R - 1) over 0..1, the sum is R times the integral of
    (1 - t)^(R - 1) times a product over cells of polynomials in t. D < 0 is the mirror image.

    Parameters
    ----------
    counts : int64 (originals, cells)
    published : int64 (cells,)
    quality
        S, in standard errors.

    Returns
    -------
    alone : float64 (originals,)
        The sum of log b(out), of the cells on their own.
    beyond : float64 (originals,)
        What has to be added to it.
    """
    total = int(published.sum())
    low, high = limits(counts, total, quality)
    possible = ((published >= low) & (published <= high)).all(axis=1) & (counts.sum(axis=1) == total)
    alone, beyond = np.full((2, len(counts)), -np.inf)
    left = np.flatnonzero(possible)
    for begin in range(0, len(left), AT_ONCE):
        some = left[begin : begin + AT_ONCE]
        out = np.broadcast_to(published, (len(some), len(published)))
        each = [one.reshape(-1) for one in (counts[some], out, low[some], high[some])]
        first, kind = equal_rows(each[:2])
        rows = np.repeat(np.arange(len(some)), len(published))
        number = np.bincount(rows * len(first) + kind, minlength=len(some) * len(first))
        times = number.reshape(len(some), -1).astype(np.float64)
        x, y, least, most = (one[first] for one in each)
        laws = [
            binomial_logs(count, total, a, b)
            for count, a, b in zip(x.tolist(), least.tolist(), most.tolist(), strict=True)
        ]
        places = list(zip(laws, (y - least).tolist(), strict=True))
        alone[some] = times @ np.array([law[at] for law, at in places])
        up = _put_right(times, y - least, [law[at:] - law[at] for law, at in places])
        down = _put_right(times, most - y, [law[at::-1] - law[at] for law, at in places])
        # Nothing to put right, of weight 1, is in both: once is enough.
        beyond[some] = np.logaddexp(up, down + np.log(np.maximum(-np.expm1(-down), 1e-300)))
    return alone, beyond


def _put_right(times: Floats, room: Ints, logs: list[Floats]) -> Floats:
    """Log of the sum over all units that may have been taken off, over the term of none.

    Parameters
    ----------
    times : float64 (originals, kinds)
        How many cells are of each kind.
    room : int64 (kinds,)
        How far the published count is from the end that units are taken towards.
    logs
        Of each kind, log b(out + d) - log b(out), d = 0, 1, ...
    """
    steps = np.zeros((max(map(len, logs)), len(logs)))
    for kind, law in enumerate(logs):
        d = np.arange(1.0, len(law))
        steps[1 : len(law), kind] = np.exp(np.diff(law)) * (room[kind] + d) / d

    def product(t: Floats) -> Floats:
        """Logs of (1 - t)^R times the product of polynomials, (originals, nodes)."""
        term = np.exp(np.multiply.outer(room, np.log1p(-t)))
        value = term.copy()
        for step in steps[1:]:
            term *= np.multiply.outer(step, t)
            value += term
        return np.asarray(times @ np.log(np.maximum(value, 1e-300)), dtype=np.float64)

    whole = times @ room
    # Without room there is one way to take each number of units off: the product at t = 1.
    found: Floats = times @ np.array([np.log(np.exp(law).sum()) for law in logs])
    some = whole > 0
    if some.any():
        times, whole = times[some], whole[some]
        found[some] = np.log(whole) + log_integrals(lambda t: product(t) - np.log1p(-t), float(whole.max()))
    return found


def log_integrals(logs: Callable[[Floats], Floats], steepest: float) -> Floats:
    """Logs of integrals over 0..1 of smooth positive functions, float64 (functions,).

    Parts of the interval are halved until it makes no difference to any function.

    Parameters
    ----------
    logs
        Logs of the functions at some points, ``(points,) -> (functions, points)``.
    steepest
        How often the first part, at 0, fits into the interval.
    """
    nodes, shares = np.polynomial.legendre.leggauss(NODES)
    ends = np.append(0.0, 0.5 ** np.arange(math.ceil(math.log2(steepest + 1.0)), -1, -1.0))
    low, high = ends[:-1], ends[1:]

    def at(low: Floats, high: Floats) -> Floats:
        points = (low + high)[:, None] / 2 + np.multiply.outer(high - low, nodes / 2)
        found = logs(points.reshape(-1))
        return found.reshape(len(found), *points.shape)

    values = at(low, high)
    peak = values.max(axis=(1, 2), initial=-np.inf)[:, None, None]
    whole = np.exp(values - peak) @ shares * (high - low) / 2
    done = np.zeros(len(whole))
    for _ in range(MOST_HALVED):
        middle = (low + high) / 2
        low, high = np.concatenate([low, middle]), np.concatenate([middle, high])
        halves = np.exp(at(low, high) - peak) @ shares * (high - low) / 2
        left, right = np.split(halves, 2, axis=1)
        both = left + right
        sure = (np.abs(both - whole) <= CLOSE * (done + both.sum(axis=1))[:, None]).all(axis=0)
        done += both[:, sure].sum(axis=1)
        if sure.all():
            break
        open_ = np.tile(~sure, 2)
        low, high, whole = low[open_], high[open_], halves[:, open_]
    else:
        done += whole.sum(axis=1)
    return np.asarray(peak[:, 0, 0] + np.log(done))


def work_of(published: Ints, quality: float) -> float:
    """Estimate the steps that :func:`log_chances` takes for some hundred originals of a block."""
    low, high = limits(np.unique(published), int(published.sum()), quality)
    return POINTS * float(((high - low + 1.0) ** 2).sum())
