"""Cramer's V of the population that a two-way table was drawn from, with an interval.

Pearson's statistic of a table has, where the variables go together, about the mean and the variance of
the noncentral chi-square law (Steiger and Fouladi 1997; Smithson 2003), here those of a gamma law. In
sparse tables and for strong associations both are off; what they are there is seen on tables drawn from
the population that the table is likely to come from (parametric bootstrap). A value is rejected in the
tails that the ratio of likelihoods chooses (Feldman and Cousins 1998): all of it above where V is 0, half
on each side far from 0. So 0 is inside where the test keeps independence, and coverage is even.

Given releases the chance above a statistic is the mean over tables drawn given them, as in proper multiple
imputation; these are drawn under counts around independence whose spread has a uniform prior (Gelman 2006).
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from tabprotect.engine.arrays import Floats, Ints

POINTS = 401
"""Values of V from 0 to 1 at which an interval is looked for."""

SPREADS = np.arange(0.05, 3.0, 0.1)
"""Relative standard deviations of the cells' means around independence, equally likely beforehand."""

TABLES = 1_000
"""Drawn to see the law of the statistic."""

FEW = 10_000
"""Counts below are looked up by themselves."""

STEP = 20
"""Every so many points are looked at first, then what lies between those where an answer turns."""

ROUNDING = 2e-3
"""How far off a tail may be: where all that is rejected lies above, the least statistic is none of it."""

CORRECTED = 1.5
"""Least noncentrality over degrees of freedom at which the law is looked at: else the table is too small."""

SLOPE = (0.15, 1.5)
"""Least and most variance for a unit of noncentrality, over that of the noncentral law."""

RAISED = (0.3, 1.5)
"""Least and most mean beside the noncentrality, over the degrees of freedom."""


@dataclass(frozen=True)
class Strength:
    """Cramer's V of a population.

    Attributes
    ----------
    estimate
        Above it and below it lies half of what the tables say.
    interval
        From 0 where independence is not ruled out.
    """

    estimate: float
    interval: tuple[float, float]

    @classmethod
    def of_table(cls, counts: Ints, level: float) -> Strength | None:
        """Measure a table that is taken as true; negative counts count as none. ``None`` if it has no V."""
        table = np.maximum(counts, 0)
        if not _has(table.shape) or not table.sum():
            return None
        near = table + 1e-3
        means = near.sum(axis=1, keepdims=True) * near.sum(axis=0, keepdims=True) / near.sum()
        weights = likely(table.reshape(1, -1), means.reshape(-1))
        weights = np.exp(weights - weights.max())
        return cls.of(table[None], weights / weights.sum(), means.reshape(-1), level)

    @classmethod
    def of(
        cls, tables: Ints, weights: Floats, means: Floats, level: float, *, stands: bool | None = None
    ) -> Strength | None:
        """Measure drawn tables (draws, first, second); ``None`` if there is no V.

        Parameters
        ----------
        weights : float64 (draws, spreads)
            What each is worth, with each of ``SPREADS``.
        means : float64 (cells,)
            Independent ones, that the tables were drawn around.
        stands
            Whether a test has kept independence; else the statistics say it.
        """
        shape = tables.shape[1:]
        flat, each = tables.reshape(len(tables), -1), weights.sum(axis=1)
        total = float(each @ flat.sum(axis=1))
        if not _has(shape) or not total > 0:
            return None
        shrink = 1.0 / (1.0 + means[:, None] * SPREADS**2)  # (cells, spreads)
        mixed = shrink @ weights.sum(axis=0) * means
        population = mixed + np.einsum("nc,ns,cs->c", flat, weights, 1 - shrink, optimize=True)
        law = _Law.of(population, shape, total)
        values = np.linspace(0.0, 1.0, POINTS)
        far = total * (min(shape) - 1) * values**2
        upper = np.interp(far, *upper_tails(law.degrees, level))
        marks = np.stack([upper, level + upper + ROUNDING, np.full(POINTS, 0.5)])
        above = law.above_near(marks, each, total * association(flat, shape), far)
        inside = (above >= marks[0]) & (above <= marks[1])
        if stands is not None:
            inside[0] = stands
        there = np.flatnonzero(inside)
        middle = float(values[min(int(np.searchsorted(above, 0.5)), POINTS - 1)])
        if not len(there):
            return cls(middle, (middle, middle))
        low = 1 if there[0] == 0 and not stands and stands is not None else there[0]
        return cls(middle, (float(values[low]), float(values[there[-1]])))


def _has(shape: tuple[int, ...]) -> bool:
    return len(shape) == 2 and min(shape) > 1


def likely(tables: Ints, means: Floats) -> Floats:
    """Log probability of tables (draws, cells) around means for each of ``SPREADS``, (draws, spreads)."""
    from scipy.special import gammaln

    # Few counts are different: what depends on a count alone is worked out once for each.
    counts = np.arange(tables.max() + 1) if tables.max() < FEW else np.unique(tables)
    at = tables if len(counts) == counts[-1] + 1 else np.searchsorted(counts, tables)
    sizes = 1.0 / SPREADS**2
    own = gammaln(counts[:, None] + sizes) - gammaln(sizes) - gammaln(counts + 1.0)[:, None]
    out = tables @ np.log(means[:, None] / (sizes + means[:, None]))
    out += (sizes * np.log(sizes / (sizes + means[:, None]))).sum(axis=0)
    for cell in at.T:
        out += own[cell]
    return np.asarray(out)


def association(tables: Ints, shape: tuple[int, ...]) -> Floats:
    """Pearson's statistic of tables (draws, cells) over their totals, float64 (draws,)."""
    table = tables.reshape(-1, *shape).astype(np.float64)
    total = np.maximum(table.sum(axis=(1, 2), keepdims=True), 1.0)
    fit = table.sum(axis=1, keepdims=True) * table.sum(axis=2, keepdims=True) / total
    off = np.divide((table - fit) ** 2, fit, out=np.zeros_like(fit), where=fit > 0)
    return np.asarray(off.sum(axis=(1, 2)) / total[:, 0, 0])


@dataclass(frozen=True)
class _Law:
    """The law of Pearson's statistic: a gamma law for each noncentrality."""

    degrees: int
    place: float
    raised: float
    slope: float

    @classmethod
    def of(cls, population: Floats, shape: tuple[int, ...], total: float) -> _Law:
        """Find the law of tables drawn from about a population of expected counts (cells,)."""
        degrees = (shape[0] - 1) * (shape[1] - 1)
        place = total * float(association(population[None], shape)[0])  # type: ignore[arg-type]
        if place < CORRECTED * degrees:
            return cls(degrees, 1.0, 0.0, 1.0)
        # The same tables each time: the interval is a function of the release and the seed.
        drawn = np.random.default_rng(1).poisson(population, (TABLES, len(population)))
        found = total * association(drawn, shape)
        raised = np.clip((found.mean() - place) / degrees, *RAISED) - 1.0
        slope = np.clip((found.var() - 2.0 * degrees) / (4.0 * place), *SLOPE)
        return cls(degrees, place, degrees * float(raised), float(slope))

    def above_near(self, marks: Floats, weights: Floats, statistics: Floats, far: Floats) -> Floats:
        """``above`` where it crosses one of the marks (marks, noncentralities), else on the same side."""
        different, at = np.unique(statistics, return_inverse=True)
        shares = np.asarray(np.bincount(at.reshape(-1), weights), dtype=np.float64)
        coarse = np.arange(0, len(far), STEP)
        found = self.above(shares, different, far[coarse])
        out = np.interp(far, far[coarse], found)
        over = found >= marks[:, coarse]
        for k in np.flatnonzero((over[:, 1:] != over[:, :-1]).any(axis=0)):
            between = slice(coarse[k] + 1, coarse[k + 1])
            out[between] = self.above(shares, different, far[between])
        return out

    def above(self, weights: Floats, statistics: Floats, far: Floats) -> Floats:
        """The chance above statistics, weighed, at each noncentrality, float64 (noncentralities,)."""
        from scipy.special import gammaincc

        mean = self.degrees + far + self.raised * np.minimum(far / self.place, 2.0)
        variance = 2.0 * self.degrees + 4.0 * self.slope * far
        scale = variance / mean
        chances = gammaincc(mean / scale, statistics[:, None] / scale)
        return np.asarray(weights @ chances)


@lru_cache(maxsize=64)
def upper_tails(degrees: int, level: float) -> tuple[Floats, Floats]:
    """Return how much of what is rejected lies above, at noncentralities: float64 (noncentralities,) each."""
    from scipy.special import gammainc, gammaln

    far = np.concatenate([[0.0], np.geomspace(0.05, 1000.0 + 10.0 * degrees, 70)])

    def log(at: Floats, noncentrality: Floats | float) -> Floats:
        mean, variance = degrees + noncentrality, 2.0 * degrees + 4.0 * noncentrality
        size, scale = mean * mean / variance, variance / mean
        own = (size - 1.0) * np.log(at) - at / scale
        return np.asarray(own - gammaln(size) - size * np.log(scale))

    out = np.empty(len(far))
    for k, noncentrality in enumerate(far.tolist()):
        mean, spread = degrees + noncentrality, np.sqrt(2.0 * degrees + 4.0 * noncentrality)
        at = np.linspace(max(mean - 7 * spread, 1e-6), mean + 9 * spread, 2_000)
        here = log(at, noncentrality)
        # The likeliest noncentrality lies near the statistic less its mean under independence.
        best = np.maximum(at - degrees, 0.0)
        near = np.stack([log(at, share * best) for share in (0.7, 0.8, 0.9, 1.0, 1.1)])
        ratio = here - np.maximum(near.max(axis=0), here)
        below = gammainc(mean * mean / spread**2, at * mean / spread**2)
        order = np.argsort(-ratio, kind="stable")
        held = np.cumsum(np.diff(below, prepend=0.0)[order])
        inside = order[: int(np.searchsorted(held, level)) + 1]
        out[k] = 1.0 - below[inside.max()]
    return far, np.clip(out, 0.0, 1.0 - level)
