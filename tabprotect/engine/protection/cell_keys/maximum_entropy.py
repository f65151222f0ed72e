"""Noise of largest entropy with zero mean and a bounded variance, through the dual.

Each row asks for the probabilities ``p`` of given noise values ``v`` that minimise
``sum p log p`` subject to ``sum p = 1``, ``sum v p = 0``, ``sum v^2 p <= V``, ``p(v=0) >= stay``
and, where wanted, ``p`` not falling from the lowest noise up to 0. The dual has one unknown for
each constraint: ``p_v`` is proportional to ``exp(-(l1 v + l2 v^2 - nu [v=0] + sum_k mu_k
(e_k - e_{k+1})_v))`` with ``l2, nu, mu >= 0``. It is smooth and convex, so a projected Newton
method (Bertsekas 1982) solves all rows at once to rounding error.

Source: Marley and Leaver 2011 (the entropy form); Giessing 2016.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial

import numpy as np

from tabprotect.engine.arrays import Bools, Floats, Ints

STEPS = 80
"""Newton steps after which a row counts as having no solution (about ten are usual)."""

SETTLED = 1e-13
"""Largest violation of the optimality conditions at which a row is done."""


@dataclass(frozen=True)
class Noise:
    """Solutions of some rows.

    Attributes
    ----------
    p : float64 (rows, values)
        Zero where the row does not allow the value.
    variance : float64 (rows,)
    held : bool (rows,)
        Whether the lower bound on staying is binding.
    solved : bool (rows,)
        Whether the optimality conditions hold; false where no such noise exists.
    """

    p: Floats
    variance: Floats
    held: Bools
    solved: Bools


def maximum_entropy(
    values: Ints, allowed: Bools, *, variance: float, stay: Floats, monotone: Bools, attain: bool = False
) -> Noise:
    """Solve every row.

    Parameters
    ----------
    values : int64 (rows, values)
        Noise values, ascending in each row.
    allowed : bool (rows, values)
        Which of them the row may use. There must be noise of both signs.
    variance
        The bound V.
    stay : float64 (rows,)
        Lower bound of the probability of noise 0, below 1; of no effect where 0 is not allowed.
    monotone : bool (rows,)
        Whether probabilities may not fall from the lowest noise up to 0.
    attain
        Whether the variance must equal V.
    """
    plain = _solve(values, allowed, variance, stay, np.zeros_like(monotone), attain)
    moved = np.take_along_axis(plain.p, _to_front(allowed), axis=1)
    falls = (np.diff(moved, axis=1) < 0) & _rising(values, allowed)
    again = monotone & falls.any(axis=1)
    if not again.any():
        return plain
    other = _solve(values[again], allowed[again], variance, stay[again], monotone[again], attain)
    for name in ("p", "variance", "held", "solved"):
        getattr(plain, name)[again] = getattr(other, name)
    return plain


def _to_front(allowed: Bools) -> Ints:
    """The order that moves the allowed entries of each row to its front."""
    return np.argsort(~allowed, axis=1, kind="stable").astype(np.int64)


def _rising(values: Ints, allowed: Bools) -> Bools:
    """The neighbours among the allowed values (moved to the front) that must not fall: up to noise 0."""
    order = _to_front(allowed)
    moved = np.take_along_axis(values, order, axis=1)
    valid = np.take_along_axis(allowed, order, axis=1)
    zero = (allowed & (values == 0)).any(axis=1)
    return np.asarray(valid[:, 1:] & (moved[:, 1:] <= 0) & zero[:, None])


def _features(
    values: Ints, allowed: Bools, variance: float, stay: Floats, monotone: Bools
) -> tuple[Floats, Floats]:
    """Constraints as ``E[features] <= bounds`` (the first an equality), scaled to about 1."""
    rows, size = values.shape
    scale = float(np.abs(values).max())
    v = values / scale
    rising = _rising(values, allowed) & monotone[:, None]
    steps = int(rising.sum(axis=1).max(initial=0))
    features = np.zeros((rows, 3 + steps, size))
    features[:, 0], features[:, 1], features[:, 2] = v, v**2, -1.0 * (values == 0)
    order = _to_front(allowed)
    # Pairs that must not fall are the first of each row: from the lowest value up to noise 0.
    at, k = np.nonzero(rising[:, :steps])
    features[at, 3 + k, order[at, k]] = 1.0
    features[at, 3 + k, order[at, k + 1]] = -1.0
    bounds = np.zeros((rows, 3 + steps))
    bounds[:, 1], bounds[:, 2] = variance / scale**2, -stay
    return features, bounds


def _newton(curvature: Floats, slope: Floats, at: Floats, pinned: Bools) -> Floats:
    """Newton's step of the free unknowns; pinned ones go to 0."""
    held = np.where(pinned[:, :, None] | pinned[:, None, :], 0.0, curvature)
    diagonal = np.arange(slope.shape[1])
    # A ridge for rows whose constraints depend on each other (two noise values only).
    held[:, diagonal, diagonal] += np.where(pinned, 1.0, 1e-14)
    right = np.where(pinned, at, slope)
    return np.asarray(-np.linalg.solve(held, right[..., None])[..., 0], dtype=np.float64)


def _dual(base: Floats, features: Floats, bounds: Floats, at: Floats) -> tuple[Floats, Floats]:
    """The dual objective of each row, and the probabilities that belong to it."""
    exponent = base - np.matmul(at[:, None, :], features)[:, 0]
    top = exponent.max(axis=1)
    weight = np.exp(exponent - top[:, None])
    mass = weight.sum(axis=1)
    return top + np.log(mass) + (bounds * at).sum(axis=1), weight / mass[:, None]


def _solve(
    values: Ints, allowed: Bools, variance: float, stay: Floats, monotone: Bools, attain: bool
) -> Noise:
    features, bounds = _features(values, allowed, variance, stay, monotone)
    rows, unknowns, _ = features.shape
    # Mean zero is an equality, the variance too where it is to be attained: no sign there.
    signed = np.ones(unknowns, dtype=np.bool_)
    signed[0], signed[1] = False, not attain
    base = np.where(allowed, 0.0, -np.inf)
    dual = partial(_dual, base, features, bounds)
    at = np.zeros((rows, unknowns))
    value, p = dual(at)
    settled = np.zeros(rows, dtype=np.bool_)
    for _ in range(STEPS):
        weighted = features * p[:, None, :]
        mean = weighted.sum(axis=2)
        slope = bounds - mean
        pinned = signed & (at <= 1e-9) & (slope > 0)
        residual = np.where(pinned, at, np.abs(slope)).max(axis=1)
        done = residual < SETTLED
        if (done & settled).all():
            break
        # One more step after the tolerance: Newton's last step reaches rounding error.
        settled = done
        curvature = np.matmul(weighted, features.transpose(0, 2, 1))
        curvature -= mean[:, :, None] * mean[:, None, :]
        step = _newton(curvature, slope, at, pinned)
        # What the step would take below 0 stays there, and the others move as if it did not exist.
        below = signed & (at <= 0) & (step < 0)
        if below.any():
            pinned |= below
            step = _newton(curvature, slope, at, pinned)
        length = np.ones(rows)
        for _ in range(40):
            ahead = at + length[:, None] * step
            ahead[:, signed] = np.maximum(ahead[:, signed], 0.0)
            new, there = dual(ahead)
            wanted = 1e-4 * (slope * (ahead - at)).sum(axis=1)
            # Close to the optimum the decrease drowns in rounding: take the step.
            bad = (new > value + np.minimum(wanted, 0.0) + 1e-14) & ~done
            if not bad.any():
                break
            length[bad] /= 2
        at, value, p = ahead, new, there
    else:
        slope = bounds - (features * p[:, None, :]).sum(axis=2)
        pinned = signed & (at <= 1e-9) & (slope > 0)
        settled = np.where(pinned, at, np.abs(slope)).max(axis=1) < 1e-9
    return Noise(p=p, variance=(p * values**2).sum(axis=1), held=at[:, 2] > 1e-9, solved=settled)
