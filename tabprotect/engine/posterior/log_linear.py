"""A log-linear model fitted to every table drawn from a posterior, with pooled fits.

The model is a family of margins, in which its fit agrees with the table. Estimates that differ from
draw to draw are pooled by Rubin's rules (Rubin 1987): the spread between draws, which perturbation
adds, beside the sampling error within each. Deviances are pooled by the statistic D2 of Li, Meng,
Raghunathan and Rubin 1991.
"""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from tabprotect.engine.arrays import Floats, Ints
from tabprotect.engine.errors import ParameterError
from tabprotect.engine.tables.domain import Domain
from tabprotect.engine.tables.formula import terms
from tabprotect.engine.tables.margins import MarginSet, dimension, maximal_margins
from tabprotect.languages.messages import message

LOG_LINEAR_SWEEPS = 500
"""Most sweeps of one fit of a log-linear model."""

LOG_LINEAR_PARAMETERS = 400
"""Most parameters whose sampling error is computed: their information matrix has this size."""


TINY = 1e-300
"""Below the least fitted count that is told from none."""

TOLERANCE = 1e-8
"""How close a fit must come to its margins, relative to the total."""


@dataclass(frozen=True, eq=False)
class Pooled:
    """Estimates from several draws pooled by Rubin's rules.

    Attributes
    ----------
    estimate : float64 (estimates,)
        Means over the draws; NaN if fewer than two draws have a finite estimate.
    within : float64 (estimates,)
        Mean sampling variance: the variance without perturbation.
    between : float64 (estimates,)
        Variance over the draws: what perturbation adds.
    draws : int64 (estimates,)
        Number of draws in which the estimate is finite.
    """

    estimate: Floats
    within: Floats
    between: Floats
    draws: Ints

    @classmethod
    def of(cls, estimates: Floats, variances: Floats) -> Pooled:
        """Pool estimates and their sampling variances, (draws, estimates) each."""
        good = np.isfinite(estimates) & np.isfinite(variances)
        number = good.sum(axis=0)
        with np.errstate(divide="ignore", invalid="ignore"):
            mean = np.where(good, estimates, 0.0).sum(axis=0) / number
            within = np.where(good, variances, 0.0).sum(axis=0) / number
            squares = np.where(good, (estimates - mean) ** 2, 0.0).sum(axis=0)
            between = squares / (number - 1)
        few = number < 2
        for array in (mean, within, between):
            array[few] = np.nan
        return cls(mean, within, between, number.astype(np.int64))

    @staticmethod
    def mixed(estimates: Floats, variances: Floats, level: float = 0.95) -> Floats:
        """Intervals of the mixture of all draws' normal laws, float64 (2, estimates)."""
        from scipy.special import ndtr

        out = np.full((2, estimates.shape[1]), np.nan)
        for k in range(estimates.shape[1]):
            good = np.isfinite(estimates[:, k]) & np.isfinite(variances[:, k])
            if good.sum() < 2:
                continue
            middle, spread = estimates[good, k], np.sqrt(variances[good, k])
            for end, share in enumerate(((1 - level) / 2, (1 + level) / 2)):
                low, high = (middle - 9 * spread).min(), (middle + 9 * spread).max()
                for _ in range(60):
                    at = (low + high) / 2
                    if ndtr((at - middle) / spread).mean() < share:
                        low = at
                    else:
                        high = at
                out[end, k] = (low + high) / 2
        return out

    @property
    def total(self) -> Floats:
        """Variance of the pooled estimate: within, and between with its own error."""
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.asarray(self.within + (1.0 + 1.0 / self.draws) * self.between)

    @property
    def missing(self) -> Floats:
        """Share of the variance that is due to perturbation."""
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.asarray(1.0 - self.within / self.total)


def pooled_test(deviances: Floats, degrees: int) -> tuple[float, float]:
    """The statistic D2 of the draws' deviances, and its p-value; NaN for fewer than two draws."""
    found = deviances[np.isfinite(deviances)]
    number = len(found)
    if number < 2 or not degrees:
        return math.nan, math.nan
    # As chi2.sf and f.sf of scipy.stats, which takes longer to load than most analyses.
    from scipy.special import chdtrc, fdtrc

    spread = (1.0 + 1.0 / number) * float(np.sqrt(found).var(ddof=1))
    if spread < 1e-12:
        value = float(found.mean()) / degrees
        return value, float(chdtrc(degrees, max(value * degrees, 0.0)))
    value = (found.mean() / degrees - (number + 1) / (number - 1) * spread) / (1.0 + spread)
    other = degrees ** (-3.0 / number) * (number - 1) * (1.0 + 1.0 / spread) ** 2
    return float(value), float(fdtrc(degrees, other, max(value, 0.0)))


@dataclass(frozen=True)
class LogLinear:
    """A hierarchical log-linear model.

    Attributes
    ----------
    domain
        The variables of the table.
    margins
        The margins that the model fits, none inside another.
    """

    domain: Domain
    margins: MarginSet

    @classmethod
    def of(cls, domain: Domain, formula: str) -> LogLinear:
        """Parse a formula: ``a*b + c`` has an association of a and b, and c independent of them.

        Raises
        ------
        InputError
            If a variable is unknown.
        ParameterError
            If a variable is left out: its categories would all count as equally frequent.
        """
        margins = maximal_margins(domain, terms(formula, domain.names))
        left_out = [n for n in domain.names if not any(n in margin for margin in margins)]
        if left_out:
            raise ParameterError(
                {"model": message("{left_out} is in no term of the model", ", ".join(left_out))},
                hint=message("add the variable by itself, as in a*b + c"),
            )
        return cls(domain, margins)

    @cached_property
    def degrees(self) -> int:
        """Degrees of freedom of the deviance."""
        return dimension(self.domain, self.margins)

    def fit(self, tables: Ints | Floats) -> Floats:
        """The fitted counts of tables (draws, *shape), by iterative proportional fitting."""
        found = np.ones(tables.shape)
        axes = [
            tuple(a + 1 for a, name in enumerate(self.domain.names) if name not in margin)
            for margin in self.margins
        ]
        goals = [tables.sum(axis=gone, keepdims=True).astype(np.float64) for gone in axes]
        scale = np.maximum(tables.reshape(len(tables), -1).sum(axis=1), 1).max(initial=1)
        for _ in range(LOG_LINEAR_SWEEPS):
            off = 0.0
            for gone, goal in zip(axes, goals, strict=True):
                reached = found.sum(axis=gone, keepdims=True)
                off = max(off, float(np.abs(reached - goal).max(initial=0.0)))
                with np.errstate(divide="ignore", invalid="ignore"):
                    found *= np.where(reached > 0, goal / reached, 0.0)
            if off <= TOLERANCE * scale:
                break
        return found

    def deviance(self, tables: Ints, fitted: Floats) -> Floats:
        """2 sum x log(x / fitted) of each table, (draws,)."""
        x = tables.astype(np.float64)
        ratio = np.divide(x, np.maximum(fitted, TINY), out=np.ones_like(x), where=x > 0)
        found = 2.0 * (x * np.log(ratio)).reshape(len(x), -1).sum(axis=1)
        return np.asarray(np.maximum(found, 0.0))

    @cached_property
    def _columns(self) -> list[tuple[tuple[int, ...], tuple[int, ...]]]:
        """Parameters: the axes of a term, and a category (not the first) on each of them."""
        faces: dict[tuple[int, ...], None] = {}
        for margin in self.margins:
            own = [self.domain.axis(name) for name in margin]
            for size in range(len(own) + 1):
                faces.update(dict.fromkeys(itertools.combinations(own, size)))
        return [
            (face, at)
            for face in sorted(faces, key=lambda face: (len(face), face))
            for at in itertools.product(*(range(1, self.domain.shape[a]) for a in face))
        ]

    @property
    def associations(self) -> list[str]:
        """The odds ratios that the model estimates, in words: parameters of two or more variables.

        Each is relative to the first category of its variables, at the first category of those that
        are not named.
        """
        return [self._words(*column) for column in self._columns if len(column[0]) > 1]

    def _words(self, face: tuple[int, ...], at: tuple[int, ...]) -> str:
        variables = [self.domain.variables[a] for a in face]
        return ":".join(f"{v.name}={v.categories[c]}" for v, c in zip(variables, at, strict=True))

    @property
    def parameters(self) -> int:
        """Return how many the model has, the constant among them."""
        return self.domain.size - self.degrees

    @property
    def smoothing(self) -> float:
        """Return what a prior of half an observation for each parameter adds to every cell."""
        return self.parameters / (2 * self.domain.size)

    @cached_property
    def design(self) -> npt.NDArray[np.float64]:
        """The design matrix: which parameters each cell has, (cells, parameters)."""
        cells = np.array(list(np.ndindex(self.domain.shape)), dtype=np.int64)
        columns = [
            np.logical_and.reduce([cells[:, a] == c for a, c in zip(face, at, strict=True)])
            if face
            else np.ones(len(cells), dtype=np.bool_)
            for face, at in self._columns
        ]
        return np.stack(columns, axis=1).astype(np.float64)

    def log_odds_ratios(self, fitted: Floats) -> tuple[Floats, Floats]:
        """The logarithms of :attr:`associations` and their sampling variances.

        float64 (draws, associations) each; NaN where a fitted count is 0.

        Raises
        ------
        ParameterError
            If there are more than ``LOG_LINEAR_PARAMETERS`` parameters.
        """
        if len(self._columns) > LOG_LINEAR_PARAMETERS:
            raise ParameterError(
                {
                    "model": message(
                        "it has {columns:,} parameters, more than {LOG_LINEAR_PARAMETERS}",
                        len(self._columns),
                        LOG_LINEAR_PARAMETERS,
                    )
                },
                hint=message("take out a term, or merge categories"),
            )
        first = sum(len(face) < 2 for face, _ in self._columns)
        design = self.design
        flat = fitted.reshape(len(fitted), -1)
        out = np.full((2, len(flat), design.shape[1] - first), np.nan)
        contrasts = np.linalg.pinv(design)[first:]
        for k, counts in enumerate(flat):
            if counts.min() <= 0:
                continue
            information = design.T @ (counts[:, None] * design)
            out[0, k] = contrasts @ np.log(counts)
            out[1, k] = np.diag(np.linalg.inv(information))[first:]
        return out[0], out[1]
