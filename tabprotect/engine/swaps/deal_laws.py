"""What dealing the places of drawn records anew does to the counts of a class, in closed form.

A class has N records, n of them in an area, m with an attribute, y with both. Every record is drawn
with chance r, and the areas of the drawn are dealt among them by chance. Given the class, all
assignments of areas to records being equally likely beforehand, the law of what was there before is
the law of what comes of y if the deal is made once more: the chain is reversible.

With one rate the count is a chain of its own whose eigenvectors are those of the exchange of two
records, tridiagonal, and whose eigenvalues are :func:`eigenvalues`. Where that loses its digits (a
count that independence makes nearly impossible), or rates differ by attribute, the counts that are
drawn of the four quarters are added up: no difference is taken there.
"""

from __future__ import annotations

import math
from functools import lru_cache

import numpy as np

from tabprotect.engine.arrays import Floats, Ints

Law = tuple[int, Floats]
"""A lowest count, and the chances from it on."""

Quarters = tuple[Floats, Floats, Floats, Floats]
"""Laws of what is drawn: of those with area and attribute, area only, attribute only, neither."""

RARE = 1e-7
"""Chance of a count under independence, beside the likeliest one's, below which digits are lost."""

TAIL, FAR_TAIL = 1e-16, 1e-75
"""Chances at the ends of a law that are left off: usually, and where they are divided by tiny ones."""

LOG_MOST = 650.0
"""Logs of binomial coefficients that are multiplied out."""


def eigenvalues(records: int, rate: float, number: int) -> Floats:
    """The eigenvalues 0, 1, ... of one deal of a class: dual Hahn, float64 (number,).

    The second, ``eigenvalues(N, r, 2)[1]``, is what is left of a departure from independence.
    """
    j = np.arange(number, dtype=np.float64)
    stay = 1.0 - rate
    return np.asarray(((records - j + 1) * stay**j - j * stay ** (records - j + 1)) / (records - 2 * j + 1))


def independent(records: int, inside: int, having: int) -> Law:
    """The law of a count if all assignments are equally likely: hypergeometric."""
    # Late: scipy would be a third of the start-up time.
    from scipy.special import gammaln

    low, high = max(0, inside + having - records), min(inside, having)
    x = np.arange(low, high + 1)
    logs = -(
        gammaln(x + 1)
        + gammaln(inside - x + 1)
        + gammaln(having - x + 1)
        + gammaln(records - inside - having + x + 1)
    )
    chances = np.exp(logs - logs.max())
    return low, np.asarray(chances / chances.sum())


@lru_cache(maxsize=4096)
def _vectors(records: int, inside: int, having: int) -> tuple[Floats, Floats]:
    """Eigenvectors of the exchange chain, largest first, and the roots of the stationary law."""
    from scipy.linalg import eigh_tridiagonal

    low, chances = independent(records, inside, having)
    x = np.arange(low, low + len(chances), dtype=np.float64)
    up, down = (inside - x) * (having - x), x * (records - inside - having + x)
    if len(x) == 1:
        return np.ones((1, 1)), np.ones(1)
    _, vectors = eigh_tridiagonal(-(up + down), np.sqrt(up[:-1] * down[1:]))
    return np.asarray(vectors[:, ::-1]), np.sqrt(chances)


def entries(records: int, inside: int, having: int) -> int:
    """Return how many counts are possible."""
    return min(inside, having) - max(0, inside + having - records) + 1


def loses_digits(records: int, inside: int, having: int, count: int) -> bool:
    """Return True if a count is so rare under independence that the eigenvectors do not tell its row."""
    low, chances = independent(records, inside, having)
    return bool(chances[count - low] < RARE * chances.max())


def dealt_again(records: int, inside: int, having: int, count: int, rate: float) -> Law:
    """The law of a count after one more deal with one rate: what was there before, given the count."""
    low = max(0, inside + having - records)
    vectors, roots = _vectors(records, inside, having)
    at = count - low
    found = vectors @ (eigenvalues(records, rate, len(roots)) * vectors[at]) * (roots / roots[at])
    return tidied(low, np.maximum(found, 0.0))


def tidied(low: int, chances: Floats, tail: float = TAIL) -> Law:
    """A law without what is nothing at its ends, adding up to 1."""
    some = np.flatnonzero(chances > tail)
    first, last = int(some[0]), int(some[-1])
    kept = chances[first : last + 1]
    return low + first, np.asarray(kept / kept.sum())


def binomial(number: int, rate: float) -> Floats:
    """The law of how many of so many are drawn, float64 (number + 1,)."""
    from scipy.special import gammaln, xlog1py, xlogy

    x = np.arange(number + 1)
    logs = gammaln(number + 1) - gammaln(x + 1) - gammaln(number - x + 1)
    return np.asarray(np.exp(logs + xlogy(x, rate) + xlog1py(number - x, -rate)))


def drawn(counts: Ints, rates: Floats) -> Floats:
    """The law of how many are drawn of counts with a rate each."""
    law = np.ones(1)
    for rate in np.unique(rates[counts > 0]).tolist():
        law = np.convolve(law, binomial(int(counts[rates == rate].sum()), rate))
    return law


def by_quarters(laws: Quarters, count: int, tail: float = TAIL) -> Law | None:
    """The law of a count after one more deal, from the laws of what is drawn of the four quarters.

    Parameters
    ----------
    laws
        Of the records with area and attribute, with the area only, with the attribute only, and with
        neither.
    count
        Those with both.
    tail
        Chances that are left off.

    Returns
    -------
    Law or None
        ``None`` where the coefficients are too large to be multiplied out.
    """
    both, area, having, others = (_window(law, tail) for law in laws)
    most = sum(low + len(law) - 1 for low, law in (both, area, having, others))
    special = both[0] + len(both[1]) + having[0] + len(having[1]) - 2
    if _log_choose(np.array([most]), np.array([min(special, most // 2)]))[0] > LOG_MOST:
        return None
    high = count + having[0] + len(having[1]) - 1
    out = np.zeros(high + 1)
    areas, rest = (low + np.arange(len(law)) for low, law in (area, others))
    for z1, chance in enumerate(both[1], both[0]):
        for z3, more in enumerate(having[1], having[0]):
            v = z1 + z3
            k = np.arange(v + 1)
            into = area[1][:, None] * np.exp(_log_choose(areas[:, None] + z1, k))
            beside = others[1][:, None] * np.exp(_log_choose(rest[:, None] + z3, v - k))
            ways = np.exp(-_log_choose(v + areas[:, None] + rest, np.array(v)))
            out[count - z1 : count - z1 + v + 1] += chance * more * ((ways @ beside) * into).sum(axis=0)
    return tidied(0, out, tail)


def quarters_work(laws: Quarters, tail: float = TAIL) -> float:
    """Products that :func:`by_quarters` takes."""
    both, area, having, others = (len(_window(law, tail)[1]) for law in laws)
    return float(both * having) * (2_000.0 + area * others * (both + having))


def _window(law: Floats, tail: float) -> Law:
    some = np.flatnonzero(law > tail)
    return int(some[0]), law[some[0] : some[-1] + 1]


def _log_choose(of: Ints, some: Ints) -> Floats:
    """Logs of binomial coefficients; -inf where there are none."""
    from scipy.special import gammaln

    found = gammaln(of + 1.0) - gammaln(some + 1.0) - gammaln(np.maximum(of - some, 0) + 1.0)
    return np.asarray(np.where(some <= of, found, -np.inf))


def epsilon(records: int, rate: float) -> float:
    """The budget of pure differential privacy of one deal of classes of up to so many records.

    All that is kept being fixed; neighbours differ in one exchange of two areas within a class.
    """
    if rate >= 1.0 or records < 2:
        return 0.0
    odds = rate / (1.0 - rate)
    return math.inf if not odds else math.log1p(2 * records / odds + records * (records - 1) / odds**2)
