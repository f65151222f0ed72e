"""The common log odds ratio of two variables given all others, with an interval that covers.

Its likelihood is that of the release itself: true tables are drawn from the posterior near the model,
and weighed by how likely each is under a log odds ratio (Geyer and Thompson 1992). Two categories each:
given the sums of a stratum the law is Fisher's noncentral hypergeometric one, so that many small strata
cost nothing (Breslow 1981). More categories: the linear-by-linear association of Goodman 1979, one log
odds ratio for all neighbouring categories, in the order of the table, its law given the sums by the
double saddlepoint (Davison 1988). The sums themselves are integrated over: the shares of the categories
have Jeffreys' prior in each stratum, which says nothing of the log odds ratio.

The interval is central under Jeffreys' prior of the log odds ratio, the square root of what a release
tells of it: of all priors the one whose intervals cover best (Welch and Peers 1963; Firth 1993).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from tabprotect.engine.arrays import Floats, Ints
from tabprotect.engine.belief.association import LEAST_MEAN, Association, given_sums, log_sums_law, noncentral
from tabprotect.engine.belief.estimate import LEVEL, Estimate, tails
from tabprotect.engine.belief.model_fit import ModelReading, flattened
from tabprotect.engine.belief.table_draws import LEAST_EFFECTIVE, WANTED, WIDER, TableDraws
from tabprotect.engine.posterior.prior import NegativeBinomial, Uniform
from tabprotect.languages.messages import message

POINTS = 161
"""Log odds ratios at which the likelihood is worked out: close together near the fitted one."""

FINEST = 0.1
"""Distance of these points at the fitted one, in standard errors of a table that is known."""

PLACES = 6
"""Most places that tables are drawn at, until the ends of the interval rest on enough draws."""

LEAST_TOLD = 0.05
"""Least share of the information in a table that its release is taken to tell."""


@dataclass(frozen=True)
class LogOdds(Estimate):
    """The common log odds ratio of two variables, as a release tells it.

    The estimate is the median given the release.

    Attributes
    ----------
    variables
        The two, in the order asked for.
    """

    variables: tuple[str, str]
    json_keys = f"variables {Estimate.json_keys}"

    @property
    def name(self) -> str:
        return message("Log odds ratio of {first} and {second}", *self.variables)

    @property
    def note(self) -> str:
        if self.effective >= LEAST_EFFECTIVE:
            return ""
        return message("The interval rests on few draws: it is only roughly right.")


def log_odds(reading: ModelReading, variables: tuple[str, str], *, level: float = LEVEL) -> LogOdds:
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
    found, shares = reading.found, tails(level)
    model = Association.of(found.domain, variables)
    curve = _drawn(reading, model)
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
    draws = TableDraws()
    draws.take(Uniform(), true[None])
    return _Curve(model, true + model.smoothing, draws).quantiles(tails(level))


def _drawn(reading: ModelReading, model: Association) -> _Curve:
    """The likelihood of the release, by tables drawn where they are likely under the model."""
    domain, held, shares = model.domain, reading.draws, tails(LEVEL)
    smoothing = model.smoothing
    # As many times wider than Poisson as the sums are uncertain.
    wider = min(WIDER, 0.25 / smoothing)
    curve = _Curve(model, held.tables.mean(axis=0).reshape(domain.shape) + smoothing, held)
    for place in range(PLACES):
        weights, ends = curve.shares(), curve.quantiles(shares)[::2]
        thinnest = min(ends, key=curve.effective)
        if curve.effective(thinnest) >= WANTED:
            break
        expected = flattened(weights, held) @ held.tables + smoothing
        if held.worth(weights) < LEAST_EFFECTIVE and not place:
            # Too far off to be of use: begin at the model's fit.
            fit, _ = model.fitted(expected.reshape(domain.shape))
            means, held = fit.reshape(-1), TableDraws()
            curve = _Curve(model, fit, held)
        else:
            base = model.arranged(expected.reshape(1, *domain.shape))[0]
            means = model.restored(model.with_odds(base, thinnest)).reshape(-1)
        means = np.maximum(means, LEAST_MEAN)
        prior = NegativeBinomial(means, wider * float(means.mean()))
        held.draw(reading.believing, prior, reading.generator, reading.progress)
        curve.look()
    reading.draws = held
    return curve


def _points(beta: float, spread: float, farthest: float) -> Floats:
    """Log odds ratios around a fitted one, out to the farthest, float64 (points,)."""
    half = POINTS // 2
    step = FINEST * spread
    # Sinh: steps grow with the distance, by a factor that takes the last one to the end.
    low, high = 1e-9, 1.0
    while step * np.sinh(high * half) / high < farthest + abs(beta):
        high *= 2
    for _ in range(60):
        middle = (low + high) / 2
        if step * np.sinh(middle * half) / middle < farthest + abs(beta):
            low = middle
        else:
            high = middle
    away = step * np.sinh(high * np.arange(-half, half + 1)) / high
    return np.asarray(beta + away)


class _Curve:
    """The likelihood of the log odds ratio, by weighted draws of the true table.

    Parameters
    ----------
    near : float64 (*shape)
        A table whose log odds ratio is near.
    draws
        The true tables.

    Attributes
    ----------
    grid, log, prior : float64 (points,)
        Log odds ratios, and the log likelihood and the log prior there, up to a constant.
    """

    def __init__(self, model: Association, near: Floats, draws: TableDraws) -> None:
        self._model, self._draws = model, draws
        fit, beta = model.fitted(near)
        self.grid = _points(beta, model.spread(model.arranged(fit[None])[0]), model.farthest)
        self._laws: Floats = np.zeros((0, len(self.grid)))
        self._curvatures: Floats = self._laws
        self._scores: Floats = self._laws
        self.look()

    def look(self) -> None:
        """Take in the draws that have come."""
        if not len(added := self._draws.tables[len(self._laws) :]):
            return
        laws = self.law(added)
        scores = np.gradient(laws, self.grid, axis=1)
        curvatures = np.gradient(scores, self.grid, axis=1)
        self._laws = np.concatenate([self._laws, laws])
        self._scores = np.concatenate([self._scores, scores])
        self._curvatures = np.concatenate([self._curvatures, curvatures])
        weights = self._laws - self._draws.log[:, None]
        peak = weights.max(axis=0)
        self._shares: Floats = np.exp(weights - peak)
        sums = self._shares.sum(axis=0)
        self._shares /= sums
        self.log: Floats = np.asarray(peak + np.log(sums))
        self.prior: Floats = self._prior()

    def law(self, tables: Ints) -> Floats:
        """Log probability of tables (draws, cells) at each point, float64 (draws, points)."""
        each = self._model.arranged(tables.reshape(-1, *self._model.domain.shape))
        if self._model.binary:
            law = noncentral(each, self.grid, 0.0)
        else:
            law = given_sums(self._model, each, self.grid, 0.0)
        return self.grid * self._model.total(each)[:, None] - law + log_sums_law(each)[:, None]

    def _prior(self) -> Floats:
        """Log of the square root of what the release tells at each point, float64 (points,).

        That is what the tables would tell, less how far their scores are still open (Louis 1982).
        """
        each = self._shares
        whole = np.maximum(-(each * self._curvatures).sum(axis=0), 1e-9)
        scores = each * self._scores
        open_ = (scores * self._scores).sum(axis=0) - scores.sum(axis=0) ** 2
        return np.asarray(0.5 * np.log(whole * np.maximum(1.0 - open_ / whole, LEAST_TOLD)))

    def shares(self, beta: float | None = None) -> Floats:
        """The share of each draw, at a log odds ratio or over all of them, float64 (draws,)."""
        if beta is not None:
            return self._shares[:, int(np.abs(self.grid - beta).argmin())]
        log = self.log + self.prior
        points = np.exp(log - log.max()) * np.gradient(self.grid)
        return np.asarray(self._shares @ (points / points.sum()))

    def effective(self, beta: float) -> float:
        """Return what the draws are worth at a log odds ratio."""
        return self._draws.worth(self.shares(beta))

    def quantiles(self, levels: Sequence[float]) -> list[float]:
        """Quantiles of the log odds ratio given the release."""
        log = self.log + self.prior
        density = np.exp(log - log.max())
        each = (density[1:] + density[:-1]) / 2 * np.diff(self.grid)
        ends = np.concatenate([[0.0], np.cumsum(each)])
        return [float(np.interp(level, ends / ends[-1], self.grid)) for level in levels]
