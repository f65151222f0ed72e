"""The common log odds ratio of two variables given all others, with an interval that covers.

Its likelihood is that of the release itself: true tables are drawn from the posterior under a fitted
model, and weighed by how much likelier each is under another log odds ratio (Geyer and Thompson 1992).
Two categories each: given the sums of a stratum its law is Fisher's noncentral hypergeometric one, so
that many small strata cost nothing (Breslow 1981). More categories: the linear-by-linear association of
Goodman 1979, one log odds ratio for all neighbouring categories, in the order of the table.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from tabprotect.engine.arrays import Floats, Ints
from tabprotect.engine.belief.believing import believe
from tabprotect.engine.belief.evidence import (
    HOW_IT_WAS_LET_OUT,
    Evidence,
    Knowing,
    distinct,
    finest_first,
)
from tabprotect.engine.errors import ParameterError
from tabprotect.engine.posterior.posterior import Posterior
from tabprotect.engine.posterior.prior import Poisson, Prior
from tabprotect.engine.progress import SILENT, Progress
from tabprotect.engine.randomness import Randomness
from tabprotect.engine.release.release import Release
from tabprotect.engine.tables.domain import Domain
from tabprotect.languages.said import say

LEVEL = 0.95
"""Probability of the interval, if no other is asked for."""

ROUNDS = 12
"""Most fits of the model to what is expected of the true table."""

CLOSE = 0.1
"""Change of the log odds ratio, in standard errors of a known table, at which the fits end: the draws
are weighed anyway."""

FARTHEST = 12.0
"""Largest absolute log odds ratio that is looked at."""

POINTS = 161
"""Log odds ratios at which the likelihood is worked out: close together near the fitted one."""

FINEST = 0.1
"""Distance of these points at the fitted one, in standard errors of a table that is known."""

DRAWS = 2_000
"""True tables drawn at each of the three places."""

LEAST_EFFECTIVE = 100.0
"""With fewer effective draws at an end of the interval the note says so."""

SWEEPS = 200
"""Most sweeps of one fit."""

LEAST = 1e-3
"""Least expected count of a cell: none is ruled out by the model."""


@dataclass(frozen=True)
class LogOdds:
    """What a release says of the common log odds ratio of two variables.

    Attributes
    ----------
    variables
        The two, in the order asked for.
    estimate
        The median given the release, under a prior that hardly matters (log F with 1 and 1 degrees
        of freedom: as two records more would tell).
    interval
        Its central interval.
    level
        The probability of the interval.
    published
        The same estimate with the published table taken as true; ``None`` where a count is missing.
    effective
        What the draws are worth at the ends of the interval, at least.
    """

    variables: tuple[str, str]
    estimate: float
    interval: tuple[float, float]
    level: float
    published: float | None
    effective: float

    @property
    def note(self) -> str:
        """What the figures lack, in words; empty for nothing."""
        if self.effective >= LEAST_EFFECTIVE:
            return ""
        return say("The interval rests on few draws: it is only roughly right.")

    def as_json(self) -> dict[str, object]:
        """For ``--json``."""
        return {
            "variables": list(self.variables),
            "estimate": self.estimate,
            "interval": list(self.interval),
            "level": self.level,
            "published": self.published,
            "effective": self.effective,
            "note": self.note,
        }

    @property
    def lines(self) -> list[str]:
        """The same as text."""
        low, high = self.interval
        first, second = self.variables
        out = [
            say(
                "Log odds ratio of {first} and {second}: {estimate:.3f} ({level:.0f} % interval "
                "{low:.3f} to {high:.3f})",
                first,
                second,
                self.estimate,
                100 * self.level,
                low,
                high,
            )
        ]
        if self.published is not None:
            out.append(
                say(
                    "With the published counts taken as true it would be {value:.3f}.",
                    self.published,
                )
            )
        return [*out, *filter(None, [self.note])]


def log_odds(
    releases: Sequence[Release | Evidence],
    variables: tuple[str, str],
    *,
    level: float = LEVEL,
    knowing: Knowing = HOW_IT_WAS_LET_OUT,
    randomness: Randomness | None = None,
    progress: Progress = SILENT,
) -> LogOdds:
    """The common log odds ratio of two variables given all others.

    Parameters
    ----------
    releases
        At least one, all of one original.
    variables
        Two variables of the table.
    level
        The probability of the interval.

    Raises
    ------
    InputError
        When a variable is unknown, or the releases do not belong together.
    ParameterError
        When the two are one, or one has a single category; when the level is no probability.
    InfeasibleError
        When there is no posterior.
    """
    evidence = [one if isinstance(one, Evidence) else Evidence(one) for one in releases]
    domain = finest_first(distinct(evidence))[0].likelihood.domain
    if not 0.0 < level < 1.0:
        raise ParameterError({"level": say("must lie between 0 and 1, is {level}", level)})
    chance = randomness or Randomness.fresh()

    def posterior(prior: Prior | None) -> Posterior:
        return believe(
            evidence, prior, knowing=knowing, randomness=chance, progress=progress
        ).posterior

    found = posterior(None)
    model = _Association.of(domain, variables)
    means, beta = model.fitted(found.mean.astype(np.float64))
    for _ in range(ROUNDS):
        before, expected = beta, posterior(Poisson(means.reshape(-1))).mean
        means, beta = model.fitted(expected)
        if abs(beta - before) < CLOSE * model.spread(model.arranged(means[None])[0]):
            break
    curve = _Curve(model, means, beta)
    generator = chance.generator()

    def draw(at: float) -> None:
        told = posterior(Poisson(curve.means(at).reshape(-1)))
        curve.add(at, told.sample(DRAWS, generator, progress))

    draw(beta)
    for end in curve.quantiles([(1 - level) / 2, (1 + level) / 2]):
        draw(end)
    low, middle, high = curve.quantiles([(1 - level) / 2, 0.5, (1 + level) / 2])
    shown = None
    if found.is_published.all() and (found.published.counts >= 0).all():
        alone = _Curve(model, *model.fitted(found.published.counts.astype(np.float64)))
        alone.add(alone.beta, found.published.counts[None])
        shown = alone.quantiles([0.5])[0]
    worth = min(curve.effective(low), curve.effective(high))
    return LogOdds(variables, middle, (low, high), level, shown, worth)


@dataclass(frozen=True, eq=False)
class _Association:
    """The model: each variable with all others, and one association of the two.

    Attributes
    ----------
    arranged
        Brings tables (..., *shape) into (..., strata, first, second).
    """

    domain: Domain
    axes: tuple[int, int]
    shape: tuple[int, int, int]

    @classmethod
    def of(cls, domain: Domain, variables: tuple[str, str]) -> _Association:
        axes = domain.axis(variables[0]), domain.axis(variables[1])
        if axes[0] == axes[1]:
            raise ParameterError(
                {"log_odds": say("a variable has no odds ratio with itself")},
                hint=say("name two variables"),
            )
        sizes = domain.shape[axes[0]], domain.shape[axes[1]]
        if min(sizes) < 2:
            raise ParameterError(
                {"log_odds": say("a variable of one category has no odds")},
                hint=say("name variables of two categories or more"),
            )
        return cls(domain, axes, (domain.size // (sizes[0] * sizes[1]), *sizes))

    @property
    def binary(self) -> bool:
        return self.shape[1:] == (2, 2)

    def arranged(self, tables: Ints | Floats) -> Floats:
        """Tables (number, *shape) as float64 (number, strata, first, second)."""
        at = [1 + axis for axis in self.axes]
        moved = np.moveaxis(tables, at, [tables.ndim - 2, tables.ndim - 1])
        return np.asarray(moved.reshape(len(tables), *self.shape), dtype=np.float64)

    def restored(self, table: Floats) -> Floats:
        """A table (strata, first, second) with the axes of the domain."""
        rest = [size for k, size in enumerate(self.domain.shape) if k not in self.axes]
        sizes = [self.domain.shape[axis] for axis in self.axes]
        return np.moveaxis(table.reshape(*rest, *sizes), [-2, -1], self.axes)

    @property
    def scores(self) -> Floats:
        """Products of the places of the categories, float64 (first, second)."""
        return np.outer(np.arange(self.shape[1]), np.arange(self.shape[2])).astype(np.float64)

    def total(self, tables: Floats) -> Floats:
        """The sufficient statistic of arranged tables, float64 (number,)."""
        return np.asarray(np.einsum("nkij,ij->n", tables, self.scores))

    def spread(self, table: Floats) -> float:
        """The standard error of the log odds ratio of a known table (strata, first, second)."""
        here = np.maximum(table, LEAST)
        near = self.fitted_total(here, 0.05) - self.fitted_total(here, -0.05)
        return float(1.0 / np.sqrt(max(near / 0.1, 1e-3)))

    def fitted_total(self, table: Floats, more: float) -> float:
        """The statistic that is expected where a fitted table's log odds ratio is so much more."""
        tilted = table * np.exp(more * (self.scores - self.scores.max()))
        return float(self.total(_to_sums(tilted, table)[None])[0])

    def with_odds(self, table: Floats, beta: float) -> Floats:
        """The fit of one arranged table's sums within strata at a log odds ratio."""
        start = np.exp(beta * (self.scores - self.scores.max()))
        return _to_sums(np.broadcast_to(start, table.shape), table)

    def fitted(self, table: Floats) -> tuple[Floats, float]:
        """The fit of a table (*shape), and its log odds ratio."""
        held = np.maximum(self.arranged(table[None])[0], LEAST)
        wanted = float(self.total(held[None])[0])
        low, high = -FARTHEST, FARTHEST
        for _ in range(40):
            middle = (low + high) / 2
            if float(self.total(self.with_odds(held, middle)[None])[0]) < wanted:
                low = middle
            else:
                high = middle
        beta = (low + high) / 2
        return self.restored(self.with_odds(held, beta)), beta


def _to_sums(start: Floats, table: Floats) -> Floats:
    """The fit with the odds ratios of ``start`` and the sums of a table within its strata."""
    out = start.copy()
    rows, columns = table.sum(axis=2, keepdims=True), table.sum(axis=1, keepdims=True)
    close = 1e-10 * max(float(table.sum()), 1.0)
    for _ in range(SWEEPS):
        out *= rows / np.maximum(out.sum(axis=2, keepdims=True), 1e-300)
        sums = out.sum(axis=1, keepdims=True)
        if np.abs(sums - columns).max() < close:
            break
        out *= columns / np.maximum(sums, 1e-300)
    return out


def _points(beta: float, spread: float) -> Floats:
    """Log odds ratios around a fitted one, out to the farthest, float64 (points,)."""
    half = POINTS // 2
    step = FINEST * spread
    # Sinh: steps grow with the distance, by a factor that takes the last one to the end.
    low, high = 1e-9, 1.0
    while step * np.sinh(high * half) / high < FARTHEST + abs(beta):
        high *= 2
    for _ in range(60):
        middle = (low + high) / 2
        if step * np.sinh(middle * half) / middle < FARTHEST + abs(beta):
            low = middle
        else:
            high = middle
    away = step * np.sinh(high * np.arange(-half, half + 1)) / high
    return np.asarray(beta + away)


class _Curve:
    """The likelihood of the log odds ratio, by weighted draws of the true table.

    The draws of several places are one mixture; what each place's share of the likelihood is follows
    from the draws themselves (Meng and Wong 1996).
    """

    def __init__(self, model: _Association, means: Floats, beta: float) -> None:
        self._model, self.beta = model, beta
        self._base = model.arranged(means[None])[0]
        self._grid = _points(beta, model.spread(self._base))
        self._tables = np.zeros((0, *model.shape))
        self._places: list[float] = []
        self._log: Floats | None = None

    def means(self, beta: float) -> Floats:
        """What is expected of each cell at a log odds ratio, float64 (*shape)."""
        return self._model.restored(np.maximum(self._model.with_odds(self._base, beta), 1e-6))

    def add(self, beta: float, tables: Ints) -> None:
        """Take in draws from the posterior around the means at a log odds ratio."""
        self._tables = np.concatenate([self._tables, self._model.arranged(tables)])
        self._places.append(beta)
        self._log = None

    @property
    def log(self) -> Floats:
        """Log likelihood at each point, up to a constant, float64 (points,)."""
        return _log_sums(self._weights)

    @property
    def _weights(self) -> Floats:
        """Log weight of each draw at each point, float64 (draws, points)."""
        if self._log is None:
            drawn = self._drawn_from()
            self._log = self._against() - drawn[:, None]
        return self._log

    def _drawn_from(self) -> Floats:
        """Log density of each draw under the mixture of all places, float64 (draws,)."""
        flat = self._tables.reshape(len(self._tables), -1)
        base = np.log(np.maximum(self._base.reshape(-1), 1e-6))
        each = np.stack(
            [flat @ (np.log(self.means_arranged(beta).reshape(-1)) - base) for beta in self._places]
        )
        constants = np.zeros(len(self._places))
        share = np.log(1.0 / len(self._places))
        for _ in range(200):
            mixture = _log_sums((each - constants[:, None]) + share)
            found = _log_sums((each - mixture).T) - np.log(each.shape[1])
            found -= found[0]
            if np.abs(found - constants).max() < 1e-9:
                break
            constants = found
        return _log_sums((each - constants[:, None]) + share)

    def means_arranged(self, beta: float) -> Floats:
        """The means in strata, float64 (strata, first, second)."""
        return np.maximum(self._model.with_odds(self._base, beta), 1e-6)

    def _against(self) -> Floats:
        """Log of how likely each draw is at each point against the fit, float64 (draws, points)."""
        statistic = self._model.total(self._tables)
        if self._model.binary:
            out = (self._grid - self.beta) * statistic[:, None]
            return out - _noncentral(self._tables, self._grid, self.beta)
        flat = self._tables.reshape(len(self._tables), -1)
        base = np.log(np.maximum(self._base.reshape(-1), 1e-6))
        fits = np.stack([np.log(self.means_arranged(b).reshape(-1)) - base for b in self._grid], 1)
        return np.asarray(flat @ fits)

    def effective(self, beta: float) -> float:
        """What the draws are worth at a log odds ratio."""
        weights = self._weights[:, int(np.abs(self._grid - beta).argmin())]
        weights = np.exp(weights - weights.max())
        return float(weights.sum() ** 2 / (weights**2).sum())

    def quantiles(self, levels: Sequence[float]) -> list[float]:
        """Quantiles of the log odds ratio given the release."""
        log = self.log + self._grid / 2 - np.logaddexp(0.0, self._grid)
        density = np.exp(log - log.max())
        each = (density[1:] + density[:-1]) / 2 * np.diff(self._grid)
        ends = np.concatenate([[0.0], np.cumsum(each)])
        return [float(np.interp(level, ends / ends[-1], self._grid)) for level in levels]


def _log_sums(logs: Floats) -> Floats:
    """Log of the sum of exponentials over the first axis."""
    peak = logs.max(axis=0)
    return np.asarray(peak + np.log(np.exp(logs - peak).sum(axis=0)))


def _noncentral(tables: Floats, grid: Floats, beta: float) -> Floats:
    """Sum over strata of the log of Fisher's constant at each point against that at ``beta``.

    Parameters
    ----------
    tables : float64 (draws, strata, 2, 2)

    Returns
    -------
    float64 (draws, points)
    """
    from scipy.special import gammaln

    margins = np.stack(
        [
            tables.sum(axis=(2, 3)),
            tables[:, :, 1, :].sum(axis=2),
            tables[:, :, :, 1].sum(axis=2),
        ],
        axis=-1,
    )
    different, at = np.unique(margins.reshape(-1, 3), axis=0, return_inverse=True)
    points = np.append(grid, beta)
    logs = np.empty((len(different), len(points)))
    for k, (n, row, column) in enumerate(different.tolist()):
        x = np.arange(max(0.0, row + column - n), min(row, column) + 1.0)
        law = -gammaln(x + 1) - gammaln(row - x + 1) - gammaln(column - x + 1)
        law -= gammaln(n - row - column + x + 1)
        logs[k] = _log_sums(law[:, None] + x[:, None] * points)
    logs = logs[:, :-1] - logs[:, -1:]
    place = at.reshape(tables.shape[:2])
    out = np.zeros((len(tables), len(grid)))
    for stratum in range(tables.shape[1]):
        out += logs[place[:, stratum]]
    return out
