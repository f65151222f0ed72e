"""The exact law of a sum of cells: the elimination sweep with the partial sum as one more axis.

The change of a sum is a linear combination of the effective coefficients of the cycles that cross
its border; cycles inside it cancel. Each message depends on coefficients still to be eliminated
and on the combination of those already eliminated. Components are independent: their laws are
convolved.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tabprotect.engine.arrays import Floats, Ints
from tabprotect.engine.posterior.moves.backward_factors import laid_out
from tabprotect.engine.posterior.moves.elimination import Elimination, EliminationPlan, EliminationSweep
from tabprotect.engine.progress import SILENT, Progress

SUM_ENTRIES = 2**27
"""Most entries (coefficients, sum) that the exact law of one sum may cost: some seconds."""

SUM_HELD = 2**24
"""Most entries of its largest table (128 MiB)."""


@dataclass(frozen=True)
class _Part:
    """Components of one structure that a sum crosses in the same way.

    Attributes
    ----------
    columns
        Their numbers in the batch of the structure.
    coefficients
        What each variable adds to the sum when its value is 1.
    work, held
        Entries computed, and entries of the largest table.
    """

    plan: EliminationPlan
    columns: Ints
    coefficients: list[int]
    work: int
    held: int


def crossing_components(exact: Elimination, weights: Ints) -> list[_Part] | None:
    """The components whose cycles cross the border of a sum; ``None`` if one is too wide.

    Parameters
    ----------
    weights : int64 (groups,)
        The weights of the cells of each signature group in the sum, added up.
    """
    if exact.thinned is not None:
        weights = np.repeat(weights, np.diff(exact.thinned.starts))
    moves, passes = exact.model.moves, exact.model.passes
    each = moves.signs * weights[moves.cells]
    of_cycle = -np.bincount(moves.rows, each, minlength=len(moves)).astype(np.int64)
    out = []
    for plan in exact.plans:
        local = of_cycle[plan.structure.cycle_members]
        crossing = np.flatnonzero(local.any(axis=0))
        if not len(crossing):
            continue
        one = exact.tree(plan)
        if one is None:
            return None
        kinds, kind = np.unique(local[:, crossing], axis=1, return_inverse=True)
        for k in range(kinds.shape[1]):
            columns = crossing[kind.reshape(-1) == k]
            coefficients = np.repeat(kinds[:, k], passes).tolist()
            work, held = _cost(one, coefficients)
            out.append(_Part(one, columns, coefficients, work * len(columns), held * len(columns)))
    return out


def law(exact: Elimination, crossed: list[_Part], progress: Progress = SILENT) -> tuple[int, Floats]:
    """The law of the sum of weights[g] * change[g]: chances of ``first``, ``first + 1``, ..."""
    first, chances = 0, np.ones(1)
    for number, part in enumerate(crossed):
        members = part.plan.structure.members[:, part.columns]
        sweep = EliminationSweep(exact.model, part.plan, members, number / len(crossed), progress)
        low, found = _swept(sweep, part.plan, part.coefficients)
        for column in found.T:
            first += low
            chances = np.convolve(chances, column)
    some = np.flatnonzero(chances > 0)
    return first + int(some[0]), chances[some[0] : some[-1] + 1] / chances.sum()


@dataclass(frozen=True, eq=False)
class SumLaws:
    """The laws of sums of cells under an exact posterior.

    Attributes
    ----------
    group_of_cell : int64 (cells,)
        The signature group of each cell; untouched cells have a last one.
    published : int64 (cells,)
    """

    exact: Elimination
    group_of_cell: Ints
    published: Ints

    def _parts(self, weights: Ints) -> list[_Part] | None:
        groups = len(self.exact.model.lowest)
        if self.exact.thinned is not None:
            groups = len(self.exact.thinned.starts) - 1
        of_group = np.bincount(self.group_of_cell, weights, minlength=groups)[:groups]
        return crossing_components(self.exact, np.rint(of_group).astype(np.int64))

    def _once(self, cells: Ints) -> Ints:
        return np.bincount(cells, minlength=len(self.published)).astype(np.int64)

    @staticmethod
    def _work(crossed: list[_Part] | None) -> int | None:
        if crossed is None:
            return None
        work = sum(part.work for part in crossed)
        wide = any(part.held > SUM_HELD for part in crossed)
        return None if wide or work > SUM_ENTRIES else work

    def work(self, cells: Ints) -> int | None:
        """Entries that the law of the sum of these flat cells costs; ``None`` if it is too wide."""
        return self._work(self._parts(self._once(cells)))

    def law(self, cells: Ints, progress: Progress = SILENT) -> tuple[int, Floats]:
        """The first possible sum, and the chances from it on."""
        crossed = self._parts(self._once(cells))
        assert crossed is not None, "where the work is known"
        first, chances = law(self.exact, crossed, progress)
        return int(self.published[cells].sum()) + first, chances

    def weighted(self, weights: Ints, most: int, progress: Progress = SILENT) -> tuple[int, Floats] | None:
        """The same of all cells, each times its weight, int64 (cells,); ``None`` beyond the work."""
        crossed = self._parts(weights)
        work = self._work(crossed)
        if crossed is None or work is None or work > most:
            return None
        first, chances = law(self.exact, crossed, progress)
        return int(self.published @ weights) + first, chances


def _reaches(one: EliminationPlan, coefficient: list[int]) -> tuple[list[int], list[int]]:
    """Return how far the sum can go either way, before and after each position is eliminated."""
    before: list[int] = []
    after: list[int] = []
    for axes, children in zip(one.axes, one.children, strict=True):
        before.append(sum(after[child] for child in children))
        after.append(before[-1] + abs(coefficient[axes[0]]) * (one.levels // 2))
    return before, after


def _cost(one: EliminationPlan, coefficient: list[int]) -> tuple[int, int]:
    """Entries computed, and entries of the largest table."""
    _, after = _reaches(one, coefficient)
    work, held = 0, 0
    for k, axes in enumerate(one.axes):
        size = one.levels ** len(axes)
        joined = 1
        for child in one.children[k]:
            work += size * joined * (2 * after[child] + 1)
            joined += 2 * after[child]
        work += size * (2 * after[k] + 1)
        held = max(held, size * (2 * after[k] + 1))
    return work, held


def _swept(sweep: EliminationSweep, one: EliminationPlan, coefficient: list[int]) -> tuple[int, Floats]:
    """The lowest value and the law (values, batch) of a batch of identical components."""
    _, after = _reaches(one, coefficient)
    messages: list[Floats] = []
    roots: list[tuple[int, Floats]] = []
    for k, axes in enumerate(one.axes):
        # Axes: coefficients, then the sum, then the batch.
        table = sweep.factors(k)[..., None, :]
        for child in one.children[k]:
            table = _folded(table, _spread(messages[child], one.axes[child][1:], axes))
            messages[child] = np.empty(0)
        message = _eliminated(table, coefficient[axes[0]])
        peak = message.max(axis=tuple(range(message.ndim - 1)))
        messages.append(message - peak)
        if len(axes) == 1:
            roots.append((-after[k], np.exp(message - peak)))
    low, law = 0, np.ones((1, messages[-1].shape[-1]))
    for first, found in roots:
        low += first
        columns = [np.convolve(a, b) for a, b in zip(law.T, found.T, strict=True)]
        law = np.stack(columns, axis=1)
    return low, np.asarray(law / law.sum(axis=0))


def _spread(message: Floats, variables: tuple[int, ...], axes: tuple[int, ...]) -> Floats:
    """A message (its sum and batch axes last) reshaped to broadcast over ``axes``."""
    sums, batch = message.shape[-2:]
    flat = message.reshape(*message.shape[:-2], sums * batch)
    out = laid_out(flat, variables, axes)
    return out.reshape(*out.shape[:-1], sums, batch)


def _folded(table: Floats, message: Floats) -> Floats:
    """Log of the sum over all ways in which two parts add up to a total."""
    long, short = table.shape[-2], message.shape[-2]
    if short == 1 or long == 1:
        return table + message
    shape = np.broadcast_shapes(table.shape[:-2], message.shape[:-2])
    out = np.full((*shape, long + short - 1, table.shape[-1]), -np.inf)
    for shift in range(short):
        part = out[..., shift : shift + long, :]
        np.logaddexp(part, table + message[..., shift : shift + 1, :], out=part)
    return out


def _eliminated(table: Floats, coefficient: int) -> Floats:
    """Sum out the first variable, adding ``coefficient`` times its value to the sum."""
    most = table.shape[0] // 2
    wide = abs(coefficient) * most
    sums = table.shape[-2]
    out = np.full((*table.shape[1:-2], sums + 2 * wide, table.shape[-1]), -np.inf)
    for value in range(-most, most + 1):
        begin = wide + value * coefficient
        part = out[..., begin : begin + sums, :]
        np.logaddexp(part, table[value + most], out=part)
    return out
