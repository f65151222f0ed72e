"""The association of two variables given all others: its fits, and the law of a table given its sums.

Two categories each: in every stratum Fisher's noncentral hypergeometric law (Breslow 1981). More: the
linear-by-linear association of Goodman 1979, its conditional law by the double saddlepoint.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tabprotect.engine.arrays import Floats, Ints
from tabprotect.engine.belief.table_draws import log_sums
from tabprotect.engine.errors import ParameterError
from tabprotect.engine.tables.domain import Domain
from tabprotect.languages.messages import message

FARTHEST = 12.0
"""Largest absolute log odds ratio that is looked at, of two categories each."""

SADDLE = (25, 1e-6)
"""Most sweeps of a fit to each table's own sums, and how close they must come."""

SPARSER = 8
"""Of the points of the likelihood, one in so many has fits of its own; between them it is smooth."""

LEAST = 1e-3
"""Least expected count of a cell: none is ruled out by the model."""

LEAST_MEAN = 1e-6
"""Least mean of a cell."""


@dataclass(frozen=True, eq=False)
class Association:
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
    def of(cls, domain: Domain, variables: tuple[str, str]) -> Association:
        axes = domain.axis(variables[0]), domain.axis(variables[1])
        if axes[0] == axes[1]:
            raise ParameterError(
                {"log_odds": message("a variable has no odds ratio with itself")},
                hint=message("name two variables"),
            )
        sizes = domain.shape[axes[0]], domain.shape[axes[1]]
        if min(sizes) < 2:
            raise ParameterError(
                {"log_odds": message("a variable of one category has no odds")},
                hint=message("name variables of two categories or more"),
            )
        return cls(domain, axes, (domain.size // (sizes[0] * sizes[1]), *sizes))

    @property
    def binary(self) -> bool:
        return self.shape[1:] == (2, 2)

    @property
    def farthest(self) -> float:
        """Largest absolute log odds ratio that is looked at: many categories multiply it."""
        return FARTHEST * min(1.0, 3.0 / float(self.scores.max()))

    @property
    def smoothing(self) -> float:
        """Return what a prior of half an observation for each parameter adds to every cell."""
        parameters = self.shape[0] * (sum(self.shape[1:]) - 1) + 1
        return parameters / (2 * self.domain.size)

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
        tilts = np.exp(np.array([-0.05, 0.05])[:, None, None] * (self.scores - self.scores.max()))
        less, more = self.total(_to_sums(tilts[:, None] * here, here))
        return float(1.0 / np.sqrt(max((more - less) / 0.1, 1e-3)))

    def with_odds(self, table: Floats, beta: float) -> Floats:
        """The fit of one arranged table's sums within strata at a log odds ratio."""
        return np.asarray(self.fits(table, np.array([beta]))[0])

    def fits(self, table: Floats, betas: Floats) -> Floats:
        """The same at several log odds ratios, float64 (ratios, strata, first, second)."""
        if self.binary:
            return _two_by_two(table, betas)
        start = np.exp(betas[:, None, None] * (self.scores - self.scores.max()))
        return _to_sums(np.repeat(start[:, None], self.shape[0], axis=1), table)

    def fitted(self, table: Floats) -> tuple[Floats, float]:
        """The fit of a table (*shape), and its log odds ratio."""
        held = np.maximum(self.arranged(table[None])[0], LEAST)
        wanted = float(self.total(held[None])[0])
        low, high = -FARTHEST, FARTHEST
        while high - low > 1e-8:
            grid = np.linspace(low, high, 33)
            # The statistic grows with the log odds ratio.
            at = int(np.searchsorted(self.total(self.fits(held, grid[1:-1])), wanted))
            low, high = float(grid[at]), float(grid[at + 1])
        beta = (low + high) / 2
        return self.restored(self.with_odds(held, beta)), beta


def _two_by_two(table: Floats, betas: Floats) -> Floats:
    """The fits of two by two strata: the root of a quadratic equation each."""
    rows, columns = table.sum(axis=2), table.sum(axis=1)
    n, row, column = rows.sum(axis=1), rows[:, 1], columns[:, 1]
    odds = np.exp(betas)[:, None]
    # x (n - row - column + x) = odds (row - x) (column - x)
    b = n - row - column + odds * (row + column)
    a, c = 1.0 - odds, -odds * row * column
    x = -2.0 * c / (b + np.sqrt(np.maximum(b * b - 4.0 * a * c, 0.0)))
    low = np.maximum(row + column - n, 0.0)
    x = np.clip(x, low, np.minimum(row, column))
    first = np.stack([n - row - column + x, column - x], axis=-1)
    return np.asarray(np.stack([first, np.stack([row - x, x], axis=-1)], axis=-2))


def _to_sums(start: Floats, table: Floats, near: tuple[int, float] = (200, 1e-10)) -> Floats:
    """Fits with the odds ratios of each ``start`` and the sums within strata of a table, or of each.

    Parameters
    ----------
    near
        Most sweeps, and how close the sums must come, relative to the total.

    Returns
    -------
    float64 (starts, strata, first, second)
    """
    out = start.copy()
    rows, columns = table.sum(axis=-1)[..., None], table.sum(axis=-2)[..., None, :]
    close = near[1] * max(float(rows.max() if table.ndim == 4 else table.sum()), 1.0)
    for _ in range(near[0]):
        out *= rows / np.maximum(out.sum(axis=3, keepdims=True), 1e-300)
        sums = out.sum(axis=2, keepdims=True)
        if np.abs(sums - columns).max() < close:
            break
        out *= columns / np.maximum(sums, 1e-300)
    return out


def log_sums_law(tables: Floats) -> Floats:
    """Log probability of tables (draws, strata, first, second) without association, (draws,).

    Of their sums: each stratum's total and its shares of the categories have Jeffreys' prior; of the
    tables given their sums: the hypergeometric law.
    """
    from scipy.special import gammaln

    total = tables.sum(axis=(2, 3))
    found = gammaln(total + 0.5)
    for axis in (2, 3):
        own = tables.sum(axis=axis)
        found += gammaln(own + 0.5).sum(axis=2) - gammaln(total + own.shape[2] / 2)
    return np.asarray(found.sum(axis=1) - gammaln(tables + 1.0).sum(axis=(1, 2, 3)))


def given_sums(model: Association, tables: Floats, grid: Floats, beta: float) -> Floats:
    """Do as :func:`noncentral` does for more categories, by the double saddlepoint (Davison 1988).

    The expected statistic of the fit to a table's own sums, integrated over the log odds ratio; and half
    the log of the information about these sums.
    """
    from scipy.interpolate import CubicSpline

    sums = np.concatenate([tables.sum(axis=3), tables.sum(axis=2)], axis=2)
    flat, at = np.unique(sums.reshape(len(sums), -1), axis=0, return_inverse=True)
    first = np.unique(at, return_index=True)[1]
    # Draws last: sums over the few categories then run along the many tables.
    held = np.ascontiguousarray(np.moveaxis(np.maximum(tables[first], LEAST), 0, -1))
    rows, columns = held.sum(axis=2, keepdims=True), held.sum(axis=1, keepdims=True)
    places = np.union1d(grid[::SPARSER], grid[-1:])
    means, free = np.empty((len(places), len(flat))), np.empty((len(places), len(flat)))
    middle = int(np.abs(places - beta).argmin())
    scores = (model.scores - model.scores.max())[:, :, None]
    near = np.repeat(np.exp(places[middle] * scores)[None], len(held), axis=0) * np.ones(len(flat))
    for way in (range(middle, len(places)), range(middle - 1, -1, -1)):
        fits, place = near, places[middle]
        for k in way:
            # The fit of the place beside it, bent to this odds ratio, is nearly the fit here.
            fits = fits * np.exp((places[k] - place) * scores)
            place = places[k]
            _swept(fits, rows, columns, SADDLE)
            means[k] = np.einsum("kijn,ij->n", fits, model.scores)
            free[k] = _information(fits)
            if k == middle:
                near = fits.copy()
    along = CubicSpline(places, means.T, axis=1).antiderivative()
    bent = CubicSpline(places, free.T, axis=1)
    points = np.append(grid, beta)
    logs = along(points) - 0.5 * bent(points)
    return np.asarray((logs[:, :-1] - logs[:, -1:])[at.reshape(-1)])


def _swept(fits: Floats, rows: Floats, columns: Floats, near: tuple[int, float]) -> None:
    """Fit tables (strata, first, second, draws) in place to their sums."""
    close = near[1] * max(float(rows.max()), 1.0)
    for _ in range(near[0]):
        fits *= rows / np.maximum(fits.sum(axis=2, keepdims=True), 1e-300)
        sums = fits.sum(axis=1, keepdims=True)
        if np.abs(sums - columns).max() < close:
            break
        fits *= columns / np.maximum(sums, 1e-300)


def _information(fits: Floats) -> Floats:
    """Log determinant of the information about the sums of fits, over all strata, float64 (draws,)."""
    rows, columns = fits.sum(axis=2, keepdims=True), fits.sum(axis=1)
    # Schur's complement: the rows are diagonal among themselves, one column is redundant.
    crossed = fits[:, :, 1:]
    inner = -((crossed / rows)[:, :, :, None] * crossed[:, :, None]).sum(axis=1)
    each = np.arange(inner.shape[1])
    inner[:, each, each] += columns[:, 1:]
    found = np.linalg.slogdet(np.moveaxis(inner, -1, 0))[1]
    return np.asarray(np.log(rows).sum(axis=(0, 1, 2)) + found.sum(axis=1))


def noncentral(tables: Floats, grid: Floats, beta: float) -> Floats:
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
        [tables.sum(axis=(2, 3)), tables[:, :, 1, :].sum(axis=2), tables[:, :, :, 1].sum(axis=2)], axis=-1
    )
    different, at = np.unique(margins.reshape(-1, 3), axis=0, return_inverse=True)
    points = np.append(grid, beta)
    logs = np.empty((len(different), len(points)))
    for k, (n, row, column) in enumerate(different.tolist()):
        x = np.arange(max(0.0, row + column - n), min(row, column) + 1.0)
        law = -gammaln(x + 1) - gammaln(row - x + 1) - gammaln(column - x + 1)
        law -= gammaln(n - row - column + x + 1)
        logs[k] = log_sums(law[:, None] + x[:, None] * points)
    logs = logs[:, :-1] - logs[:, -1:]
    place = at.reshape(tables.shape[:2])
    out = np.zeros((len(tables), len(grid)))
    for stratum in range(tables.shape[1]):
        out += logs[place[:, stratum]]
    return out
