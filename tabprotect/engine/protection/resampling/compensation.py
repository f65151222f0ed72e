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
from tabprotect.engine.equal_rows import by_number
from tabprotect.engine.errors import TooLargeError
from tabprotect.engine.protection.resampling.truncated_laws import binomial_logs, limits
from tabprotect.languages.messages import message

MOST_PUT_RIGHT = 2_000_000
"""Most units by which a cell may move."""


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


def log_chance(counts: Ints, published: Ints, quality: float) -> float:
    """log P(published | true counts) of one block, exactly; -inf where impossible.

    For D > 0 the draw that led to the published counts had d more in each cell, d adding up to D:
    the sum over all of them of the product over cells of b(out + d) C(out + d - l, d), over
    C(n + D - L, D), is one coefficient of a product of polynomials; b is the binomial law in its
    range and L the sum of the lower ends. D < 0 is the mirror image.

    Parameters
    ----------
    counts, published : int64 (cells,)
    quality
        S.
    """
    total = int(counts.sum())
    low, high = limits(counts, total, quality)
    if int(published.sum()) != total or ((published < low) | (published > high)).any():
        return -math.inf
    laws = [
        binomial_logs(x, total, a, b)
        for x, a, b in zip(counts.tolist(), low.tolist(), high.tolist(), strict=True)
    ]
    choose = _binomials()
    spare, above = published - low, high - published
    up, down = np.zeros(1), np.zeros(1)
    for law, under, over in zip(laws, spare.tolist(), above.tolist(), strict=True):
        more, less = np.arange(over + 1), np.arange(under + 1)
        up = _log_convolved(up, law[under:] + choose(under + more, more))
        down = _log_convolved(down, law[under::-1] + choose(over + less, less))
    # Nothing to put right is in both: once is enough.
    off = np.arange(len(up))
    up = up - choose(int(spare.sum()) + off, off)
    off = np.arange(1, len(down))
    down = down[1:] - choose(int(above.sum()) + off, off)
    return float(np.logaddexp.reduce(np.concatenate([up, down])))


def compensation_work(published: Ints, quality: float) -> float:
    """Estimate the steps that :func:`log_chance` takes for a block."""
    low, high = limits(published, int(published.sum()), quality)
    return float(len(published) * (200 + 2.0 * (high - low).sum()) * (1 + (high - low).mean()))


def _binomials() -> Callable[[int | Ints, Ints], Floats]:
    """A function that gives the logs of binomial coefficients."""
    # A third of the program's start, and few need it.
    from scipy.special import gammaln

    def choose(n: int | Ints, k: Ints) -> Floats:
        found: Floats = gammaln(n + 1.0) - gammaln(k + 1.0) - gammaln(n - k + 1.0)
        return found

    return choose


def _log_convolved(a: Floats, b: Floats) -> Floats:
    """Log coefficients of a product of polynomials given by logs; term by term, to keep precision."""
    if len(b) > len(a):
        a, b = b, a
    out = np.full(len(a) + len(b) - 1, -np.inf)
    for shift, log in enumerate(b.tolist()):
        part = out[shift : shift + len(a)]
        np.logaddexp(part, a + log, out=part)
    return out
