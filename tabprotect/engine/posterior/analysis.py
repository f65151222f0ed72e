"""An analysis over tables drawn from the posterior: the spread that perturbation adds to it."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from tabprotect.engine.arrays import Floats, Ints
from tabprotect.engine.errors import ParameterError
from tabprotect.engine.posterior.independence import Independence, ModelTest
from tabprotect.engine.posterior.log_linear import LogLinear, Pooled, pooled_test
from tabprotect.engine.posterior.posterior import Posterior
from tabprotect.engine.progress import SILENT, Progress
from tabprotect.engine.tables.domain import Domain
from tabprotect.languages.messages import joined, message, percent

BLOCK_CELLS = 2**22
"""Cells of the tables held at once."""


Statistic = Callable[[Ints], Floats]
"""Maps tables (draws, *shape) to one number each; NaN where it is undefined."""

QUANTILES = (0.025, 0.25, 0.5, 0.75, 0.975)


@dataclass(frozen=True, eq=False)
class AnalysisSummary:
    """A statistic over posterior draws.

    Attributes
    ----------
    name
        The name of the statistic, in words.
    published
        Its value on the published table.
    values : float64 (draws,)
        Its value on each drawn table.
    independence
        The test of independence and Cramer's V given the releases, which the draws do not tell.
    """

    name: str
    published: float
    values: Floats
    independence: Independence | None = None

    @property
    def _defined(self) -> Floats:
        return self.values[~np.isnan(self.values)]

    @property
    def undefined(self) -> int:
        """Number of draws for which the statistic is undefined (an empty row, 0/0)."""
        return int(np.isnan(self.values).sum())

    @property
    def mean(self) -> float:
        """Mean over the draws; NaN where it is defined for none."""
        return float(self._defined.mean()) if len(self._defined) else float("nan")

    @property
    def standard_deviation(self) -> float:
        """The spread that perturbation adds."""
        return float(self._defined.std(ddof=1)) if len(self._defined) > 1 else float("nan")

    def rank(self, value: float) -> float:
        """Share of the draws below a value; equal draws count half.

        Over many originals and releases the ranks of the true values are uniform if the
        posterior is the right one.
        """
        found = self._defined
        below = np.count_nonzero(found < value) + np.count_nonzero(found == value) / 2
        return float(below / len(found)) if len(found) else float("nan")

    @property
    def quantiles(self) -> dict[float, float]:
        """Quantiles over the draws."""
        if not len(self._defined):
            return dict.fromkeys(QUANTILES, float("nan"))
        # Odds ratios can be infinite: take an order statistic, do not interpolate between two.
        found = np.quantile(self._defined, QUANTILES, method="nearest")
        return dict(zip(QUANTILES, found.tolist(), strict=True))

    @property
    def line(self) -> str:
        """Mean, range and published value as text."""
        return message(
            "{name}: {mean:.4g} (95 % of the draws {low:.4g} to {high:.4g}), published {published:.4g}",
            self.name,
            self.mean,
            self.quantiles[0.025],
            self.quantiles[0.975],
            self.published,
        )

    def __str__(self) -> str:
        return self.line


def chi_square(tables: Ints) -> Floats:
    """Pearson's chi-square for independence of all variables, (draws,).

    NaN for an empty table; empty categories add nothing.
    """
    x = tables.astype(np.float64)
    k = x.ndim - 1
    total = x.reshape(len(x), -1).sum(axis=1)
    every = [1] * k
    expected = np.ones_like(x)
    for axis in range(1, k + 1):
        margin = x.sum(axis=tuple(a for a in range(1, k + 1) if a != axis))
        shape = [len(x), *every]
        shape[axis] = x.shape[axis]
        expected = expected * margin.reshape(shape)
    with np.errstate(divide="ignore", invalid="ignore"):
        expected /= (total ** (k - 1)).reshape(-1, *every)
        terms = np.where(expected > 0, (x - expected) ** 2 / expected, 0.0)
    return np.where(total > 0, terms.reshape(len(x), -1).sum(axis=1), np.nan)


def cramers_v(tables: Ints) -> Floats:
    """Cramer's V of two-way tables, (draws,).

    Raises
    ------
    ParameterError
        If the tables do not have two variables.
    """
    if tables.ndim != 3:
        raise ParameterError(
            {"analysis": message("Cramer's V is for two-way tables")}, hint=message("take chi-square")
        )
    total = tables.reshape(len(tables), -1).sum(axis=1).astype(np.float64)
    least = min(tables.shape[1:]) - 1
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.asarray(np.sqrt(chi_square(tables) / (total * least)), dtype=np.float64)


def odds_ratio(domain: Domain, first: Sequence[int], second: Sequence[int]) -> Statistic:
    """The odds ratio of the 2 x 2 block with the opposite corners ``first`` and ``second``.

    The corners differ in exactly two variables: n(first) n(second) / (n(other) n(other)).

    Raises
    ------
    ParameterError
        If they differ in another number of variables.
    """
    differ = [a for a, (i, j) in enumerate(zip(first, second, strict=True)) if i != j]
    if len(differ) != 2:
        raise ParameterError(
            {"analysis": message("the corners of an odds ratio differ in exactly two variables")},
            hint=message("choose two cells in different rows and columns of one layer"),
        )
    one, other = list(first), list(first)
    one[differ[0]] = second[differ[0]]
    other[differ[1]] = second[differ[1]]
    keys = [domain.flat(cell) for cell in (first, second, one, other)]

    def statistic(tables: Ints) -> Floats:
        a, d, b, c = tables.reshape(len(tables), -1)[:, keys].T.astype(np.float64)
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.asarray((a * d) / (b * c), dtype=np.float64)

    return statistic


def analyse(
    posterior: Posterior,
    statistic: Statistic,
    name: str,
    *,
    generator: np.random.Generator,
    draws: int = 1000,
    progress: Progress = SILENT,
) -> AnalysisSummary:
    """Evaluate a statistic on joint draws from the posterior and on the published table."""
    size = int(np.clip(BLOCK_CELLS // max(posterior.published.domain.size, 1), 1, draws))
    values: list[Floats] = []
    for done in range(0, draws, size):
        progress.report(message("analysing drawn tables"), done / draws)
        tables = posterior.sample(min(size, draws - done), generator, progress)
        values.append(statistic(tables))
    published = float(statistic(posterior.published.counts[None])[0])
    return AnalysisSummary(name, published, np.concatenate(values))


@dataclass(frozen=True, eq=False)
class ModelSummary:
    """A log-linear model over posterior draws.

    Attributes
    ----------
    model
        The fitted model.
    deviance
        Deviances of the draws, and of the published table.
    test
        The pooled statistic D2 and its p-value.
    published : float64 (associations,)
        Log odds ratios of the published table; NaN where it does not determine one.
    pooled
        Log odds ratios pooled over the draws.
    intervals : float64 (2, associations) or None
        Their 95 % intervals, where the tables were drawn under the model.
    given
        The test of the model given the releases, there.
    naive
        The same test of the published table taken as true; ``None`` where counts are missing.
    effective
        What the draws under the model are worth as independent ones; ``None`` for others.
    note
        What the intervals lack, in words.
    """

    model: LogLinear
    deviance: AnalysisSummary
    test: tuple[float, float]
    published: Floats
    pooled: Pooled
    intervals: Floats | None = None
    given: ModelTest | None = None
    naive: ModelTest | None = None
    effective: float | None = None
    note: str = ""

    def interval(self, k: int) -> tuple[float, float]:
        """The 95 % interval of one log odds ratio."""
        if self.intervals is not None:
            return float(self.intervals[0, k]), float(self.intervals[1, k])
        middle, spread = self.pooled.estimate[k], 1.96 * math.sqrt(self.pooled.total[k])
        return float(middle - spread), float(middle + spread)

    @property
    def title(self) -> str:
        """The model as text."""
        formula = joined((":".join(margin) for margin in self.model.margins), " + ")
        return message("Model {formula}, {degrees:,} degrees of freedom", formula, self.model.degrees)

    def __str__(self) -> str:
        return "\n".join([self.title, self.deviance.line, *self.lines])

    @property
    def lines(self) -> list[str]:
        """The pooled test and the odds ratios as text, a line each."""
        pooled = self.pooled
        lines = [message("Pooled test: D2 = {test:.4g}, p = {test2:.3g}", self.test[0], self.test[1])]
        if self.given is not None:
            lines.append(
                message(
                    "Test of the model given the release: chi-square {value:.4g} with {degrees:.1f} "
                    "degrees of freedom, p = {p:.3g}",
                    self.given.statistic,
                    self.given.degrees,
                    self.given.p,
                )
            )
        if self.naive is not None:
            lines.append(message("With the published counts taken as true: p = {p:.3g}", self.naive.p))
        if self.note:
            lines.append(self.note)
        if self.model.associations:
            lines.append(message("odds ratio, 95 % interval, share of the variance that perturbation adds"))
        for k, name in enumerate(self.model.associations):
            middle = float(pooled.estimate[k])
            if not math.isfinite(middle):
                lines.append(message("  {name}: open, a fitted count is 0", name))
                continue
            low, high = map(math.exp, self.interval(k))
            share = float(pooled.missing[k])
            lines.append(
                message(
                    "  {name}: {middle:.3f} ({low:.3f} to {high:.3f}), {share}",
                    name,
                    math.exp(middle),
                    low,
                    high,
                    percent(share),
                )
            )
        return lines


def fit_model(
    posterior: Posterior,
    model: LogLinear,
    *,
    generator: np.random.Generator,
    draws: int = 200,
    progress: Progress = SILENT,
) -> ModelSummary:
    """Fit a log-linear model to joint draws from the posterior and to the published table."""
    size = int(np.clip(BLOCK_CELLS // max(posterior.domain.size, 1), 1, draws))
    found: list[Floats] = []
    parts: list[tuple[Floats, Floats]] = []
    for done in range(0, draws, size):
        progress.report(message("fitting the model to drawn tables"), done / draws)
        tables = posterior.sample(min(size, draws - done), generator, progress)
        fitted = model.fit(tables)
        found.append(model.deviance(tables, fitted))
        parts.append(model.log_odds_ratios(fitted))
    estimates, variances = map(np.concatenate, zip(*parts, strict=True))
    return model_summary(posterior, model, np.concatenate(found), (estimates, variances))


def model_summary(
    posterior: Posterior, model: LogLinear, found: Floats, odds: tuple[Floats, Floats]
) -> ModelSummary:
    """Deviances (draws,) and log odds ratios with their variances (draws, associations), pooled."""
    counts = posterior.published.counts
    shown = counts[None]
    fitted = model.fit(shown)
    deviance = AnalysisSummary("deviance", float(model.deviance(shown, fitted)[0]), found)
    whole = bool(posterior.is_published.all())
    return ModelSummary(
        model,
        deviance,
        pooled_test(found, model.degrees),
        model.log_odds_ratios(fitted)[0][0],
        Pooled.of(*odds),
        naive=ModelTest.of_table(model, counts) if whole and model.degrees else None,
    )
