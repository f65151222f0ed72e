"""Sample uniques that are population uniques: how many people counted alone in a survey are alone.

Somebody who is the only one of a kind in a survey may be one of several in the population. Population
counts F are taken as Poisson with means L of a log-linear model, and the survey as drawn from them with
the cells' sampling fractions q, so that the people of a kind who are not in the survey are Poisson with
mean (1 - q) L, whatever is in it. For a cell with one record

    P(F = 1 | f = 1) = exp(-(1 - q) L),   E(1 / F | f = 1) = (1 - exp(-(1 - q) L)) / ((1 - q) L).

Their sums over the sample uniques are the expected number of population uniques, and of right matches by
a reader who does not know who is in the survey and takes anybody of the kind. L is fitted to the sums of
the design weights (pseudo maximum likelihood); q is the count over the sum of weights.

Which model: too simple a one (means L that vary within a fitted mean) takes sample uniques for
population uniques too often, too rich a one too seldom, for it follows the sample. To second order in
the true mean less the fitted one, the expected error of the first sum is that of

    B = sum exp(-L) (1 - q) (L (f - q L) + (2 - L (1 + q)) ((f - q L)^2 - f) / (2 q))

over all cells, whose variance is sum exp(-2 L) (1 - q)^2 (L^2 q L + (2 - L (1 + q))^2 L^2 / 2) where the
model holds. From the variables on their own on, the pair of variables that the model misses most (by
its chi-square in standard deviations) is added until B is within 1.96 standard deviations, or all pairs
are in.

Source: Skinner and Shlomo 2008; Skinner and Holmes 1998.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations

import numpy as np

from tabprotect.engine.arrays import Bools, Floats
from tabprotect.engine.errors import InputError
from tabprotect.engine.posterior.log_linear import LogLinear
from tabprotect.engine.tables.design_weights import SCALE, DesignWeights
from tabprotect.engine.tables.domain import Domain
from tabprotect.engine.tables.margins import MarginSet, maximal_margins
from tabprotect.engine.tables.table import Table
from tabprotect.languages.messages import message, plural

MOST_CELLS = 2**22
"""Most cells of a table that a model is fitted to."""

PASSES = 1.96
"""A model whose error is within this many standard deviations is taken."""


@dataclass(frozen=True, eq=False)
class SampleUniques:
    """The sample uniques of a table. Confidential.

    Attributes
    ----------
    cells : bool, shape of the table
        Those with one record.
    outside : float64, shape of the table
        Expected number of people of the kind who are not in the survey, (1 - q) L; NaN where the survey
        has nobody.
    pairs
        The pairs of variables that the model has.
    error
        B in standard deviations: above 0 too many are taken for population uniques.
    """

    cells: Bools
    outside: Floats
    pairs: MarginSet
    error: float

    @property
    def number(self) -> int:
        """The sample uniques."""
        return int(np.count_nonzero(self.cells))

    @cached_property
    def alone(self) -> Floats:
        """P(F = 1 | f = 1) of each sample unique, (sample uniques,)."""
        return np.asarray(np.exp(-self.outside[self.cells]))

    @property
    def population_uniques(self) -> float:
        """Expected number of them that are alone in the population."""
        return float(self.alone.sum())

    @property
    def matches(self) -> float:
        """Expected number of right matches: one person of the kind is taken for each, at random."""
        outside = self.outside[self.cells]
        return float(np.where(outside > 0, -np.expm1(-outside) / np.where(outside > 0, outside, 1), 1).sum())

    def to_json(self) -> dict[str, object]:
        """The figures by name."""
        return {
            "sample_uniques": self.number,
            "population_uniques": self.population_uniques,
            "share": self.population_uniques / self.number if self.number else None,
            "right_matches": self.matches,
            "pairs": self.pairs,
            "error": self.error,
        }

    def line(self) -> str:
        """Say it to staff, beside what somebody knows who knows who is in the survey."""
        if not self.number:
            return message("No cell holds one person of the survey.")
        return plural(
            self.number,
            "The {number:,} person who is alone in a cell of the survey is expected to be alone in the "
            "population with a chance of {alone:.2f}; a reader who knows that they are in the survey "
            "finds them, one who does not with {matches:.2f}",
            "Of {number:,} people who are alone in a cell of the survey, {alone:,.1f} are expected to be "
            "alone in the population; a reader who knows that they are in the survey finds them all, "
            "one who does not {matches:,.1f}",
            self.number,
            self.population_uniques,
            self.matches,
        )


def sample_uniques(
    table: Table, weights: DesignWeights | None = None, *, fraction: float | None = None
) -> SampleUniques:
    """Estimate how many sample uniques are population uniques.

    Parameters
    ----------
    table
        The counts of the survey's records.
    weights
        Their design weights.
    fraction
        Without weights: the share of the population in the survey, above 0 and at most 1.

    Raises
    ------
    InputError
        Without either, for a fraction outside (0, 1], for weights below 1 (a record stands for less than
        itself), or a table too large to fit a model to.
    """
    counts, sums = _in_population(table, weights, fraction)
    with np.errstate(divide="ignore", invalid="ignore"):
        sampled = np.where(counts > 0, counts / sums, counts.sum() / max(sums.sum(), 1.0))
    domain, pairs = table.domain, list[tuple[str, ...]]()
    # Both variables of a table of two would be the table itself, which has no error and tells nothing.
    left = list(combinations(domain.names, 2)) if domain.ndim > 2 else []
    while True:
        model = LogLinear(domain, maximal_margins(domain, [*pairs, *((n,) for n in domain.names)]))
        means = model.fit(sums[None])[0]
        error = _error(counts, means, sampled)
        if abs(error) <= PASSES or not left:
            break
        missed = max(left, key=lambda pair: _missed(domain, pair, counts, sampled * means))
        left.remove(missed)
        pairs.append(missed)
    outside = np.where(counts > 0, (1 - sampled) * means, np.nan)
    return SampleUniques(counts == 1, outside, tuple(pairs), error)


def _missed(domain: Domain, pair: tuple[str, ...], counts: Floats, expected: Floats) -> float:
    """Chi-square of a pair's table against a model, in standard deviations above its mean."""
    others = tuple(a for a, name in enumerate(domain.names) if name not in pair)
    seen, fitted = counts.sum(axis=others), expected.sum(axis=others)
    held = fitted > 0
    degrees = math.prod(size - 1 for size in seen.shape)
    chi_square = float(((seen[held] - fitted[held]) ** 2 / fitted[held]).sum())
    return float((chi_square - degrees) / math.sqrt(2 * max(degrees, 1)))


def _in_population(
    table: Table, weights: DesignWeights | None, fraction: float | None
) -> tuple[Floats, Floats]:
    """Counts of records, and the estimated counts of people; shape of the table each."""
    if table.domain.size > MOST_CELLS:
        raise InputError(
            message("a table of {size:,} cells is too large to be fitted in full", table.domain.size),
            hint=message("take a margin of at most {FITTED_TABLE_CELLS:,} cells", MOST_CELLS),
        )
    counts = table.counts.astype(np.float64)
    if weights is not None and fraction is not None:
        raise InputError(
            message("the share of the population is given beside design weights, which say it"),
            hint=message("leave one of the two out"),
        )
    if weights is not None:
        if weights.low < SCALE and table.total:
            raise InputError(
                message("a record has a design weight below 1: it stands for less than one person"),
                hint=message("leave out records of weight 0 before they are counted"),
            )
        return counts, weights.sums.counts / SCALE
    if fraction is None:
        raise InputError(
            message("how many people each record stands for is not known"),
            hint=message(
                "count the records with their design weights: --design-weight W; or give the share: --sampled 0.1"
            ),
        )
    if not 0 < fraction <= 1:
        raise InputError(message("the share of people in the survey is above 0 and at most 1"))
    return counts, counts / fraction


def _error(counts: Floats, means: Floats, sampled: Floats) -> float:
    """B over its standard deviation; see the module."""
    expected = sampled * means
    off = counts - expected
    leaning = (2 - means * (1 + sampled)) / (2 * sampled)
    scale = np.exp(-means) * (1 - sampled)
    bias = float((scale * (means * off + leaning * (off**2 - counts))).sum())
    variance = float((scale**2 * (means**2 * expected + 2 * leaning**2 * expected**2)).sum())
    return bias / math.sqrt(variance) if variance > 0 else 0.0
