"""The common log odds ratio of two variables given all others, with an interval that covers.

Its likelihood is that of the release itself: true tables are drawn from the posterior under a fitted
model, and weighed by how much likelier each is under another log odds ratio (Geyer and Thompson 1992).
Two categories each: given the sums of a stratum its law is Fisher's noncentral hypergeometric one, so
that many small strata cost nothing (Breslow 1981). More categories: the linear-by-linear association of
Goodman 1979, one log odds ratio for all neighbouring categories, in the order of the table, its law given
the sums by the double saddlepoint (Davison 1988).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from tabprotect.engine.arrays import Floats, Ints
from tabprotect.engine.belief.association import (
    FARTHEST,
    LEAST_MEAN,
    Association,
    given_sums,
    noncentral,
)
from tabprotect.engine.belief.estimate import LEVEL, Estimate, tails
from tabprotect.engine.belief.model_fit import Reading
from tabprotect.engine.belief.table_draws import LEAST_EFFECTIVE, WANTED, TableDraws, log_sums
from tabprotect.engine.posterior.prior import Poisson
from tabprotect.languages.said import say

ROUNDS = 12
"""Most fits of the model to what is expected of the true table."""


POINTS = 161
"""Log odds ratios at which the likelihood is worked out: close together near the fitted one."""

FINEST = 0.1
"""Distance of these points at the fitted one, in standard errors of a table that is known."""

PLACES = 4
"""Most further places that tables are drawn at, until the ends of the interval rest on enough draws."""


@dataclass(frozen=True)
class LogOdds(Estimate):
    """What a release says of the common log odds ratio of two variables.

    The estimate is the median given the release, under a prior that hardly matters (log F with 1 and 1
    degrees of freedom: as two records more would tell).

    Attributes
    ----------
    variables
        The two, in the order asked for.
    """

    variables: tuple[str, str]

    @property
    def name(self) -> str:
        return say("Log odds ratio of {first} and {second}", *self.variables)

    @property
    def asked(self) -> dict[str, object]:
        return {"variables": list(self.variables)}

    @property
    def note(self) -> str:
        if self.effective >= LEAST_EFFECTIVE:
            return ""
        return say("The interval rests on few draws: it is only roughly right.")


def log_odds(reading: Reading, variables: tuple[str, str], *, level: float = LEVEL) -> LogOdds:
    """The common log odds ratio of two variables given all others.

    Parameters
    ----------
    variables
        Two variables of the table.
    level
        The probability of the interval.

    Raises
    ------
    InputError
        When a variable is unknown.
    ParameterError
        When the two are one, or one has a single category; when the level is no probability.
    InfeasibleError
        When there is no posterior.
    """
    domain, found = reading.found.domain, reading.found
    shares = tails(level)
    model = Association.of(domain, variables)

    def fitted(expected: Floats) -> Floats:
        means, _ = model.fitted(expected.reshape(domain.shape))
        return np.maximum(means.reshape(-1), LEAST_MEAN)

    draws, means = reading.around(fitted, rounds=ROUNDS)
    curve = _Curve(model, *model.fitted(means.reshape(domain.shape)), draws)
    for _ in range(PLACES):
        thinnest = min(curve.quantiles(shares)[::2], key=curve.effective)
        if curve.effective(thinnest) >= WANTED:
            break
        curve.draw(thinnest, reading)
    given = curve.quantiles(shares)
    taken = None
    if found.is_published.all():
        taken = of_table(found.published.counts, model, level)
    worth = min(map(curve.effective, given[::2]))
    return LogOdds(given, taken, level, worth, variables)


def of_table(counts: Ints, model: Association, level: float) -> list[float]:
    """The same of a table that is taken as true: the interval's ends, and its median between them.

    Negative counts count as none.
    """
    true = np.maximum(counts, 0)
    curve = _Curve(model, *model.fitted(true.astype(np.float64)))
    curve.add(curve.beta, true[None])
    return curve.quantiles(tails(level))


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

    def __init__(
        self, model: Association, means: Floats, beta: float, draws: TableDraws | None = None
    ) -> None:
        self._model, self.beta = model, beta
        self._base = model.arranged(means[None])[0]
        self._grid = _points(beta, model.spread(self._base))
        self._draws = TableDraws() if draws is None else draws
        self._log: Floats | None = None
        self._laws: Floats = np.zeros((0, len(self._grid)))

    def means(self, beta: float) -> Floats:
        """What is expected of each cell at a log odds ratio, float64 (*shape)."""
        return self._model.restored(self.means_arranged(beta))

    def add(self, beta: float, tables: Ints) -> None:
        """Take in draws from the posterior around the means at a log odds ratio."""
        self._draws.take(Poisson(self.means(beta).reshape(-1)), tables)
        self._log = None

    def draw(self, beta: float, reading: Reading) -> None:
        """Draw them, and take them in."""
        prior = Poisson(self.means(beta).reshape(-1))
        self._draws.draw(reading.believing, prior, reading.generator, reading.progress)
        self._log = None

    @property
    def log(self) -> Floats:
        """Log likelihood at each point, up to a constant, float64 (points,)."""
        return log_sums(self._weights)

    @property
    def _weights(self) -> Floats:
        """Log weight of each draw at each point, float64 (draws, points)."""
        if self._log is None:
            base = Poisson(self.means(self.beta).reshape(-1))
            drawn = self._draws.log - self._draws.density(base)
            self._log = self._against() - drawn[:, None]
        return self._log

    def means_arranged(self, beta: float) -> Floats:
        """The means in strata, float64 (strata, first, second)."""
        return np.maximum(self._model.with_odds(self._base, beta), LEAST_MEAN)

    def _against(self) -> Floats:
        """Log of how likely each draw is at each point against the fit, float64 (draws, points)."""
        added = self._draws.tables[len(self._laws) :]
        tables = self._model.arranged(added.reshape(-1, *self._model.domain.shape))
        found = (self._grid - self.beta) * self._model.total(tables)[:, None]
        if self._model.binary:
            found -= noncentral(tables, self._grid, self.beta)
        else:
            found -= given_sums(self._model, tables, self._grid, self.beta)
        self._laws = np.concatenate([self._laws, found])
        return self._laws

    def effective(self, beta: float) -> float:
        """What the draws are worth at a log odds ratio."""
        weights = self._weights[:, int(np.abs(self._grid - beta).argmin())]
        weights = np.exp(weights - weights.max())
        return self._draws.worth(weights / weights.sum())

    def quantiles(self, levels: Sequence[float]) -> list[float]:
        """Quantiles of the log odds ratio given the release."""
        log = self.log + self._grid / 2 - np.logaddexp(0.0, self._grid)
        density = np.exp(log - log.max())
        each = (density[1:] + density[:-1]) / 2 * np.diff(self._grid)
        ends = np.concatenate([[0.0], np.cumsum(each)])
        return [float(np.interp(level, ends / ends[-1], self._grid)) for level in levels]
