"""A log-linear model of the true table, given releases: multiple imputation under the model itself.

The table is drawn given model and releases, the model given each drawn table (data augmentation, Tanner
and Wong 1987), here by weights in place of a chain: tables are drawn under a prior near the fit, and each
is weighed by its probability under the model, its parameters integrated out (Laplace's approximation).
The model's own prior is worth half an observation for each parameter, spread evenly over the cells
(Clogg, Rubin, Schenker, Schultz and Weidman 1991), so that no parameter is infinite.

The test of the model is Rao's score test with what the releases leave open: the sum over the cells of the
squares of (what is expected of the true table less the fit), over the fit, against the law that it has
when the model is true, by its first two moments (Satterthwaite 1946).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from tabprotect.engine.arrays import Floats, Ints
from tabprotect.engine.belief.believing import believe
from tabprotect.engine.belief.estimate import tails
from tabprotect.engine.belief.evidence import (
    HOW_IT_WAS_LET_OUT,
    Evidence,
    PriorKnowledge,
    distinct,
    finest_first,
)
from tabprotect.engine.belief.table_draws import (
    CLOSE,
    LEAST_EFFECTIVE,
    WANTED,
    WIDER,
    Believing,
    TableDraws,
    around,
)
from tabprotect.engine.posterior.analysis import ModelSummary, model_summary
from tabprotect.engine.posterior.independence import Independence, ModelTest, independence_model
from tabprotect.engine.posterior.log_linear import LogLinear, Pooled
from tabprotect.engine.posterior.posterior import Posterior
from tabprotect.engine.posterior.prior import NegativeBinomial, Poisson, Prior, Uniform
from tabprotect.engine.posterior.strength import SPREADS, Strength, likely
from tabprotect.engine.progress import SILENT, Progress
from tabprotect.engine.randomness import Randomness
from tabprotect.engine.release.release import Release
from tabprotect.languages.messages import message

PLACES = 4
"""Most priors that tables are drawn under, until they are worth enough under the model."""

ROUNDS = 30
"""Most rounds of the fit that is tested."""

SPREAD_ROUNDS = 12
"""Most rounds of the sums around which Cramer's V is looked for."""

LEAST_MEAN = 1e-6
"""Least mean of a cell."""

LEAST = 1e-3
"""Least mean of a cell around which Cramer's V is looked for."""

INTEGRATED = 60
"""Most parameters whose information counts in the weight of a table: else it is taken as equal."""

TESTED = 1_000
"""Most cells of a table whose model is tested given the release."""


@dataclass(frozen=True, eq=False)
class Imputed:
    """True tables drawn given releases and a model.

    Attributes
    ----------
    tables : int64 (draws, *shape)
    effective
        What they rest on, in independent draws.
    """

    tables: Ints
    effective: float

    @property
    def note(self) -> str:
        """Say what they lack, in words; empty for nothing."""
        if self.effective >= LEAST_EFFECTIVE:
            return ""
        return message(
            "Tables drawn under the model are worth {effective:.0f} independent ones only: too few "
            "for an interval.",
            self.effective,
        )


@dataclass(eq=False)
class ModelReading:
    """Releases of one original, and the tables drawn given them, which several analyses share.

    Attributes
    ----------
    found
        The posterior that assumes nothing.
    believing
        The posterior under another prior.
    plain : int64 (draws, cells)
        Drawn tables of the posterior that assumes nothing.
    draws
        Those that served last, under a prior near a model.
    """

    found: Posterior
    believing: Believing
    plain: Ints
    draws: TableDraws
    generator: np.random.Generator
    progress: Progress

    @classmethod
    def of(
        cls,
        releases: Sequence[Release | Evidence],
        knowing: PriorKnowledge = HOW_IT_WAS_LET_OUT,
        randomness: Randomness | None = None,
        progress: Progress = SILENT,
        *,
        known: Posterior | None = None,
    ) -> ModelReading:
        """Read releases.

        Parameters
        ----------
        known
            Their posterior that assumes nothing, where somebody has it already.
        """
        evidence = [one if isinstance(one, Evidence) else Evidence(one) for one in releases]
        evidence = finest_first(distinct(evidence))
        chance = randomness or Randomness.fresh()

        def believing(prior: Prior) -> Posterior:
            return believe(evidence, prior, knowing=knowing, randomness=chance, progress=progress).posterior

        domain = evidence[0].likelihood.domain
        found = known if known is not None and known.domain == domain else believing(Uniform())
        generator, draws = chance.generator(), TableDraws()
        draws.take_posterior(found, Uniform(), generator, progress)
        return cls(found, believing, draws.tables, draws, generator, progress)

    def around(self, fitted: Callable[[Floats], Floats], *, rounds: int) -> tuple[TableDraws, Floats]:
        """Draws near a model's fit to what is expected of the table under it, and that fit."""
        chance = self.generator, self.progress
        self.draws, means = around(self.believing, self.draws, fitted, rounds=rounds, draws=chance)
        return self.draws, means

    def imputed(self, model: LogLinear, number: int) -> Imputed:
        """Tables drawn given the releases and a model."""
        domain, held = model.domain, self.draws
        # As many times wider than Poisson as the model's own parameters are uncertain.
        wider = min(WIDER, domain.size / (2 * model.parameters))
        weights = held.weights(log_evidence(model, held.tables))
        for place in range(PLACES):
            if held.worth(weights) >= WANTED:
                break
            near = flattened(weights, held)
            means = np.maximum(near @ held.tables + model.smoothing, LEAST_MEAN)
            if len(held.tables) and held.worth(weights) < LEAST_EFFECTIVE:
                means = model.fit(means.reshape(1, *domain.shape)).reshape(-1)
            prior = NegativeBinomial(means, wider * float(means.mean()))
            if place == 0:
                held = TableDraws()
            held.draw(self.believing, prior, self.generator, self.progress)
            weights = held.weights(log_evidence(model, held.tables))
        # Systematic draws: each table as often as its weight says, but for one.
        self.draws = held
        ends = np.cumsum(weights)
        at = (np.arange(number) + self.generator.random()) / number * ends[-1]
        chosen = held.tables[np.searchsorted(ends, at)]
        return Imputed(chosen.reshape(number, *domain.shape), held.worth(weights))

    def tested(self, model: LogLinear) -> ModelTest | None:
        """The test of a model; ``None`` beyond the cells that are tested, or without freedom."""
        if model.domain.size > TESTED or not model.degrees:
            return None

        def fitted(expected: Floats) -> Floats:
            table = expected.reshape(1, *model.domain.shape)
            return np.maximum(model.fit(table).reshape(-1), LEAST_MEAN)

        draws, means = self.around(fitted, rounds=ROUNDS)
        weights = draws.weights(draws.density(Poisson(means)))
        if draws.worth(weights) < LEAST_EFFECTIVE:
            return None
        expected = weights @ draws.tables
        off = draws.tables - expected
        open_ = (weights[:, None] * off).T @ off
        return score_test(model, means, expected, open_)

    def independence(self, level: float) -> Independence:
        """Tell whether the variables go together, and how strongly, with an interval of a level."""
        tails(level)
        domain = self.found.domain
        whole = bool(self.found.is_published.all()) and domain.ndim > 1
        shown = self.found.published.counts if whole else None
        model = independence_model(domain)
        found, strength = self.tested(model), None
        if found is not None and domain.ndim == 2 and found.degrees > 0:
            strength = self._strength(found, level)
        return Independence.of(domain, found, strength, shown, level)

    def _strength(self, test: ModelTest, level: float) -> Strength | None:
        """Cramer's V of two variables, where the draws tell it."""
        held, model = self.draws, independence_model(self.found.domain)
        # Not the fit of independence: where that is far off, its sums are too.
        means = self._independent(model, self.plain.mean(axis=0))
        weights = _of_spreads(held, means)
        for _ in range(SPREAD_ROUNDS):
            if held.worth(weights.sum(axis=1)) < WANTED:
                spread = float(weights.sum(axis=0) @ SPREADS)
                prior = NegativeBinomial(means, 1.0 / spread**2)
                held.draw(self.believing, prior, self.generator, self.progress)
                weights = _of_spreads(held, means)
            before, means = means, self._independent(model, weights.sum(axis=1) @ held.tables)
            weights = _of_spreads(held, means)
            if np.abs(np.sqrt(means) - np.sqrt(before)).max() < CLOSE:
                break
        if held.worth(weights.sum(axis=1)) < LEAST_EFFECTIVE:
            return None
        tables = held.tables.reshape(-1, *self.found.domain.shape)
        return Strength.of(tables, weights, means, level, stands=test.p >= 1.0 - level)

    def _independent(self, model: LogLinear, expected: Floats) -> Floats:
        """The means of independence with the sums of an expected table, float64 (cells,)."""
        table = expected.reshape(1, *model.domain.shape)
        return np.maximum(model.fit(table).reshape(-1), LEAST)


def _of_spreads(held: TableDraws, means: Floats) -> Floats:
    """Return what draws are worth around means with each spread, float64 (draws, spreads)."""
    log = likely(held.tables, means) - held.log[:, None]
    weights = np.exp(log - log.max())
    return np.asarray(weights / weights.sum())


def flattened(weights: Floats, held: TableDraws) -> Floats:
    """Weights made more even until the draws are worth enough to take a mean over."""
    while held.worth(weights) < LEAST_EFFECTIVE / 2:
        weights = np.sqrt(weights)
        weights /= weights.sum()
        if weights.max() < 2.0 / len(weights):
            break
    return weights


def log_evidence(model: LogLinear, tables: Ints) -> Floats:
    """Log probability of tables (draws, cells) under a model, its parameters integrated out."""
    from scipy.special import gammaln

    smoothed = np.asarray(tables + model.smoothing, dtype=np.float64)
    means = model.fit(smoothed.reshape(-1, *model.domain.shape)).reshape(len(tables), -1)
    means = np.maximum(means, LEAST_MEAN)
    log = (smoothed * np.log(means)).sum(axis=1) - gammaln(tables + 1.0).sum(axis=1)
    log -= means.sum(axis=1)
    if model.parameters == model.domain.size:
        return np.asarray(log - 0.5 * np.log(means).sum(axis=1))
    if model.parameters <= INTEGRATED:
        design = model.design
        information = np.einsum("nc,ci,cj->nij", means, design, design, optimize=True)
        log -= 0.5 * np.linalg.slogdet(information)[1]
    return np.asarray(log)


def score_test(model: LogLinear, means: Floats, expected: Floats, open_: Floats) -> ModelTest:
    """Test a model by what is expected of the true table under it.

    Parameters
    ----------
    means, expected : float64 (cells,)
        The fit, and what is expected of the true table given the releases and the fit.
    open_ : float64 (cells, cells)
        The covariance of the true counts given both.
    """
    from scipy.special import chdtrc

    scale = np.sqrt(means)
    own, _ = np.linalg.qr(scale[:, None] * model.design)
    apart = np.eye(len(means)) - own @ own.T
    left = apart @ ((expected - means) / scale)
    explained = np.eye(len(means)) - open_ / np.outer(scale, scale)
    # What the fit of the model's own parameters takes from the information.
    crossed = explained @ own
    rest = explained - crossed @ np.linalg.pinv(own.T @ crossed, hermitian=True) @ crossed.T
    shares = np.maximum(np.linalg.eigvalsh(apart @ rest @ apart), 0.0)
    total, square = float(shares.sum()), float((shares**2).sum())
    if total < 1e-9:
        return ModelTest(float("nan"), 0.0, float("nan"), 0.0)
    degrees = total * total / square
    value = float(left @ left) * total / square
    return ModelTest(value, degrees, float(chdtrc(degrees, value)), total / model.degrees)


def fit_releases(reading: ModelReading, model: LogLinear, *, draws: int = 200) -> ModelSummary:
    """Fit a log-linear model to what releases say of the true table.

    Parameters
    ----------
    model
        Of the table that the posterior is about.
    draws
        Imputed tables.
    """
    imputed = reading.imputed(model, draws)
    plain = reading.plain[:draws].reshape(-1, *model.domain.shape)
    deviances = model.deviance(plain, model.fit(plain))
    fitted = model.fit(np.asarray(imputed.tables + model.smoothing, dtype=np.float64))
    estimates, variances = model.log_odds_ratios(fitted)
    if imputed.note:
        estimates = np.full_like(estimates, math.nan)
    found = model_summary(reading.found, model, deviances, (estimates, variances))
    return replace(
        found,
        intervals=Pooled.mixed(estimates, variances),
        given=reading.tested(model),
        effective=imputed.effective,
        note=imputed.note,
    )
