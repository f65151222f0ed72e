"""Priors: beliefs about each true count before the release, as products over cells.

Weights need not be normalised (the uniform prior over all non-negative counts cannot be). An
intruder who knows more is a prior with more zeros.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from tabprotect.engine.arrays import Floats, Ints
from tabprotect.engine.equal_rows import place_among
from tabprotect.engine.errors import InputError, ParameterError
from tabprotect.engine.release.likelihood import UNBOUNDED
from tabprotect.engine.tables.domain import Domain
from tabprotect.languages.messages import message


class Prior(ABC):
    """A product over cells of weights on the counts 0, 1, 2, ..."""

    @property
    @abstractmethod
    def label(self) -> str:
        """The holder of this belief, in words."""

    @abstractmethod
    def _log_weight(self, keys: Ints, values: Ints) -> Floats:
        """Log weights at non-negative values."""

    def log_weight(self, keys: npt.ArrayLike, values: npt.ArrayLike) -> Floats:
        """Log weight of the counts ``values`` at the flat cells ``keys``; -inf is impossible.

        The two broadcast against each other; the result has their common shape. Negative counts
        are impossible under every prior.
        """
        k, v = np.broadcast_arrays(np.asarray(keys, dtype=np.int64), np.asarray(values, dtype=np.int64))
        return np.where(v < 0, -np.inf, self._log_weight(k, np.maximum(v, 0)))

    def alike(self, keys: Ints) -> Ints:
        """A number for each flat cell, int64 (keys,); equal only where the weights are equal."""
        return np.arange(len(keys), dtype=np.int64)

    def support(self, keys: Ints) -> tuple[Ints, Ints]:
        """The lowest and highest possible count of flat cells; ``UNBOUNDED`` if there is none.

        Possible counts may still have holes between them.
        """
        return np.zeros(len(keys), dtype=np.int64), np.full(len(keys), UNBOUNDED, dtype=np.int64)

    def distribution(self, key: int, values: npt.ArrayLike) -> Floats:
        """The prior of a flat cell, normalised over given counts (all 0 if none is possible)."""
        log = self.log_weight(key, values)
        if not np.isfinite(log).any():
            return np.zeros(len(log))
        weight = np.exp(log - log.max())
        return np.asarray(weight / weight.sum(), dtype=np.float64)


@dataclass(frozen=True)
class Uniform(Prior):
    """Every count is as likely as any other."""

    @property
    def label(self) -> str:
        return message("assumes nothing")

    def alike(self, keys: Ints) -> Ints:
        return np.zeros(len(keys), dtype=np.int64)

    def _log_weight(self, keys: Ints, values: Ints) -> Floats:
        return np.zeros(keys.shape)


class OneCell(Prior):
    """A belief about the count that is looked at, or about chosen ones, all else being exchangeable.

    Where records changed places it weighs the law of that count.

    Attributes
    ----------
    cells
        Flat keys of the chosen cells; ``None`` for whichever is looked at.
    """

    cells: Ints | None = None

    def alike(self, keys: Ints) -> Ints:
        chosen = np.ones(len(keys)) if self.cells is None else np.isin(keys, self.cells)
        return chosen.astype(np.int64)

    def weight(self, values: Ints, exchangeable: Floats) -> Floats:
        """The weight of counts beside the exchangeable belief, whose chances of them are given."""
        return np.exp(self.log_weight(np.zeros_like(values), values))


@dataclass(frozen=True, eq=False)
class Flat(OneCell):
    """Every count of the cell that is looked at is as likely as any other."""

    @property
    def label(self) -> str:
        return message("takes every count of a cell to be as likely")

    def _log_weight(self, keys: Ints, values: Ints) -> Floats:
        return np.zeros(keys.shape)

    def weight(self, values: Ints, exchangeable: Floats) -> Floats:
        with np.errstate(divide="ignore"):
            return np.where(exchangeable > 0, 1.0 / exchangeable, 0.0)


@dataclass(frozen=True, eq=False)
class Member(OneCell):
    """Knows to be in the cell: counts weigh by how many they are."""

    cells: Ints | None = None

    @property
    def label(self) -> str:
        return message("knows to be in the cell")

    def support(self, keys: Ints) -> tuple[Ints, Ints]:
        low, high = super().support(keys)
        return low + self.alike(keys), high

    def _log_weight(self, keys: Ints, values: Ints) -> Floats:
        chosen = np.isin(keys, self.cells) if self.cells is not None else True
        with np.errstate(divide="ignore"):
            return np.where(chosen, np.log(values.astype(np.float64)), 0.0)


@dataclass(frozen=True, eq=False)
class Positive(OneCell):
    """At least 1 in the chosen cells ("I am in the survey"), else uniform.

    Attributes
    ----------
    cells
        Flat keys of the chosen cells; ``None`` for all.
    """

    cells: Ints | None = None

    @property
    def label(self) -> str:
        if self.cells is None:
            return message("knows that every cell holds somebody")
        return message("knows who is in the survey")

    def support(self, keys: Ints) -> tuple[Ints, Ints]:
        low, high = super().support(keys)
        return low + self.alike(keys), high

    def _log_weight(self, keys: Ints, values: Ints) -> Floats:
        chosen = np.isin(keys, self.cells) if self.cells is not None else True
        return np.where(chosen & (values < 1), -np.inf, 0.0)


@dataclass(frozen=True, eq=False)
class _Expected(Prior):
    """Around an expected count per cell; an expected count of 0 is certainly 0.

    Attributes
    ----------
    means : float64 (cells,)
    knows
        What they are taken from, in words.
    """

    means: Floats
    knows: str = field(default=message("knows earlier counts"), kw_only=True)

    def __post_init__(self) -> None:
        means = np.asarray(self.means, dtype=np.float64).reshape(-1)
        if not np.isfinite(means).all() or (means < 0).any():
            raise InputError(message("an expected count is negative or not a number"))
        object.__setattr__(self, "means", means)

    def alike(self, keys: Ints) -> Ints:
        # Equal means have equal numbers.
        return np.unique(self.means[keys], return_inverse=True)[1].reshape(-1).astype(np.int64)

    def support(self, keys: Ints) -> tuple[Ints, Ints]:
        low, high = super().support(keys)
        return low, np.where(self.means[keys] == 0, 0, high)


class Poisson(_Expected):
    """Poisson around an expected count per cell; an expected count of 0 is certainly 0."""

    @property
    def label(self) -> str:
        return message("{knows} (Poisson)", self.knows)

    def _log_weight(self, keys: Ints, values: Ints) -> Floats:
        # Imported late: scipy would be a third of the start-up time.
        from scipy.special import gammaln, xlogy

        # xlogy(0, 0) = 0 and xlogy(v, 0) = -inf: an expected zero needs no special case.
        mean = self.means[keys]
        return np.asarray(xlogy(values, mean) - mean - gammaln(values + 1.0), dtype=np.float64)


@dataclass(frozen=True, eq=False)
class NegativeBinomial(_Expected):
    """Like Poisson, but wider: variance ``mean + mean^2 / dispersion``.

    Attributes
    ----------
    dispersion
        Positive; the larger, the closer to Poisson.
    """

    dispersion: float = 1.0

    def __post_init__(self) -> None:
        super().__post_init__()
        if not 0 < self.dispersion < np.inf:
            raise ParameterError(
                {"dispersion": message("must be positive, is {dispersion}", self.dispersion)}
            )

    @property
    def label(self) -> str:
        return message(
            "{knows} (negative binomial, dispersion {dispersion:.2g})", self.knows, self.dispersion
        )

    def _log_weight(self, keys: Ints, values: Ints) -> Floats:
        # Imported late: see Poisson.
        from scipy.special import gammaln, xlogy

        mean, r = self.means[keys], self.dispersion
        return np.asarray(
            gammaln(values + r)
            - gammaln(values + 1.0)
            - gammaln(r)
            + xlogy(values, mean / (mean + r))
            - r * np.log1p(mean / r),
            dtype=np.float64,
        )


@dataclass(frozen=True, eq=False)
class CellTable(Prior):
    """Arbitrary weights: a list of counts and weights for each listed cell, the others uniform.

    Attributes
    ----------
    keys, values : int64 (entries,)
        Flat cell and count of each entry, sorted by cell, then count, without repetition.
    weights : float64 (entries,)
        Non-negative; a listed cell's unlisted counts have weight 0.
    """

    keys: Ints
    values: Ints
    weights: Floats
    source: str = field(default=message("a table of weights"), compare=False)

    def __post_init__(self) -> None:
        keys = np.asarray(self.keys, dtype=np.int64)
        values = np.asarray(self.values, dtype=np.int64)
        weights = np.asarray(self.weights, dtype=np.float64)
        if not np.isfinite(weights).all() or (weights < 0).any():
            raise InputError(message("a weight is negative or not a number"))
        if (values < 0).any():
            raise InputError(message("a count is negative"))
        order = np.lexsort((values, keys))
        keys, values, weights = keys[order], values[order], weights[order]
        if ((np.diff(keys) == 0) & (np.diff(values) == 0)).any():
            raise InputError(message("a cell lists the same count twice"))
        for name, array in (("keys", keys), ("values", values), ("weights", weights)):
            object.__setattr__(self, name, array)

    @property
    def label(self) -> str:
        return message("believes {source}", self.source)

    def alike(self, keys: Ints) -> Ints:
        listed = np.isin(keys, self.keys)
        return np.where(listed, np.arange(1, len(keys) + 1), 0)

    def support(self, keys: Ints) -> tuple[Ints, Ints]:
        low, high = super().support(keys)
        believed = self.weights > 0
        cells, first = np.unique(self.keys[believed], return_index=True)
        last = np.append(first[1:], believed.sum()) - 1
        # Listed without any weight: no count is possible.
        low[np.isin(keys, self.keys)], high[np.isin(keys, self.keys)] = 1, 0
        at, values = place_among(cells, keys), self.values[believed]
        found = at >= 0
        low[found], high[found] = values[first[at[found]]], values[last[at[found]]]
        return low, high

    def _log_weight(self, keys: Ints, values: Ints) -> Floats:
        with np.errstate(divide="ignore"):
            logs = np.log(np.append(self.weights, 0.0))
        # One sorted code per (cell, count): ranks keep it within int64 for any cell key.
        cells, first = np.unique(self.keys, return_index=True)
        if not len(cells):
            return np.zeros(keys.shape)
        at = place_among(cells, keys)
        ceiling = int(self.values.max()) + 2
        rank = np.repeat(np.arange(len(cells)), np.diff(np.append(first, len(self.keys))))
        codes = rank * ceiling + self.values
        wanted = at * ceiling + np.minimum(values, ceiling - 1)
        # What is not listed has the last weight, which is none.
        return np.where(at < 0, 0.0, logs[place_among(codes, wanted)])


@dataclass(frozen=True)
class Factorial(Prior):
    """Proportional to prod (1/x!)^theta: for theta 1 the law of counts without association.

    Given kept margins, that is the conditional law under the log-linear model of exactly these
    margins; whatever is expected of a cell cancels. The blocking rule ``reversible`` is the chain
    that leaves this law as it is.

    Attributes
    ----------
    theta
        0 is uniform.
    """

    theta: float = 1.0

    @property
    def label(self) -> str:
        return message("assumes no association beyond what the margins say")

    def alike(self, keys: Ints) -> Ints:
        return np.zeros(len(keys), dtype=np.int64)

    def _log_weight(self, keys: Ints, values: Ints) -> Floats:
        # Imported late: scipy would be a third of the start-up time.
        from scipy.special import gammaln

        return np.asarray(-self.theta * gammaln(values + 1.0), dtype=np.float64)


class Exchangeable(Factorial):
    """Every assignment of places to the records of a class is equally likely.

    Given the sums that a swap of records keeps that is the law of counts without association.
    """

    @property
    def label(self) -> str:
        return message("takes any record of a class to be anywhere as likely")


@dataclass(frozen=True, eq=False)
class KnowingZeros(Prior):
    """Another prior, restricted by the structural zeros, which everybody knows.

    Attributes
    ----------
    prior
    domain
        The domain whose structural zeros apply.
    """

    prior: Prior
    domain: Domain

    @property
    def label(self) -> str:
        return self.prior.label

    def alike(self, keys: Ints) -> Ints:
        # The numbers need not be consecutive.
        return self.prior.alike(keys) * 2 + self.domain.structural_cells(keys)

    def support(self, keys: Ints) -> tuple[Ints, Ints]:
        low, high = self.prior.support(keys)
        return low, np.where(self.domain.structural_cells(keys), 0, high)

    def _log_weight(self, keys: Ints, values: Ints) -> Floats:
        nobody = self.domain.structural_cells(keys.reshape(-1)).reshape(keys.shape)
        log = self.prior.log_weight(keys, values)
        return np.where(nobody, np.where(values == 0, 0.0, -np.inf), log)
