"""Discrete Laplace and Gaussian noise, drawn with whole numbers only: rounding leaks nothing.

Source: Canonne, Kamath and Steinke 2020, "The discrete Gaussian for differential privacy",
algorithms 1 to 3, here for many draws at once.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from math import isqrt

import numpy as np

from tabprotect.engine.arrays import Bools, Ints
from tabprotect.languages.messages import message

MOST_BITS = 57
"""Most bits of a denominator: its product with a loop's counter stays within 63 bits."""


def _bernoulli(generator: np.random.Generator, over: Ints, under: Ints | int) -> Bools:
    """True with probability over / under, one by one; exact, as bounded integers are uniform."""
    return np.asarray(generator.integers(0, under, len(over)) < over)


def _exp_of_part(generator: np.random.Generator, over: Ints, under: int) -> Bools:
    """True with probability exp(-over / under), for 0 <= over <= under (algorithm 1)."""
    out = np.zeros(len(over), dtype=np.bool_)
    running = np.arange(len(over))
    turn = 1
    while len(running):
        on = _bernoulli(generator, over[running], under * turn)
        out[running[~on]] = turn % 2 == 1
        running = running[on]
        turn += 1
    return out


def bernoulli_exp(generator: np.random.Generator, whole: Ints, over: Ints, under: int) -> Bools:
    """True with probability exp(-(whole + over / under)), for 0 <= over < under."""
    out = _exp_of_part(generator, over, under)
    left = np.where(out, whole, 0)
    while (running := np.flatnonzero(left > 0)).size:
        one = np.ones(len(running), dtype=np.int64)
        goes_on = _exp_of_part(generator, one, 1)
        out[running[~goes_on]] = False
        left[running] = np.where(goes_on, left[running] - 1, 0)
    return out


def _until(size: int, draw: Callable[[int], tuple[Ints, Bools]]) -> Ints:
    """``size`` accepted draws; each is repeated until it is accepted."""
    out = np.zeros(size, dtype=np.int64)
    open_ = np.arange(size)
    while len(open_):
        found, accepted = draw(len(open_))
        out[open_[accepted]] = found[accepted]
        open_ = open_[~accepted]
    return out


def discrete_laplace(
    generator: np.random.Generator, scale: Fraction, size: int, cap: int | None = None
) -> Ints:
    """Whole numbers z with probabilities proportional to exp(-abs(z) / scale), int64 (size,).

    Parameters
    ----------
    cap
        The largest absolute value; larger ones are drawn again.
    """
    t, s = scale.numerator, scale.denominator
    _check(t)

    def draw(number: int) -> tuple[Ints, Bools]:
        u = generator.integers(0, t, number)
        accepted = _exp_of_part(generator, u, t)
        v = np.zeros(number, dtype=np.int64)
        running = np.flatnonzero(accepted)
        while len(running):
            running = running[_exp_of_part(generator, np.ones_like(running), 1)]
            v[running] += 1
        y = (u + t * v) // s
        negative = generator.integers(0, 2, number) == 1
        accepted &= ~(negative & (y == 0))
        if cap is not None:
            accepted &= y <= cap
        return np.where(negative, -y, y), accepted

    return _until(size, draw)


def discrete_gaussian(
    generator: np.random.Generator, variance: Fraction, size: int, cap: int | None = None
) -> Ints:
    """Whole numbers z with probabilities proportional to exp(-z^2 / (2 variance)), int64 (size,).

    Parameters
    ----------
    variance
        The parameter sigma^2; the variance of the numbers is a little less where it is small.
    cap
        As in :func:`discrete_laplace`.
    """
    p, q = variance.numerator, variance.denominator
    t = isqrt(p // q) + 1
    under = 2 * p * q * t * t
    _check(under)

    def draw(number: int) -> tuple[Ints, Bools]:
        y = discrete_laplace(generator, Fraction(t), number, cap)
        # In Python's integers: a square can be beyond 63 bits.
        square = (np.abs(y).astype(object) * (q * t) - p) ** 2
        whole = (square // under).astype(np.int64)
        over = (square % under).astype(np.int64)
        return y, bernoulli_exp(generator, whole, over, under)

    return _until(size, draw)


def _check(under: int) -> None:
    if under.bit_length() > MOST_BITS:
        raise OverflowError(message("a denominator is too large for exact draws"))
