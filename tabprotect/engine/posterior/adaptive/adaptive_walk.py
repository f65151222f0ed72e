"""Weighted draws, at any size, where the current table chooses the cycles: the mechanism backwards.

At a table y, a step back undoes +M (or -M) where y - M (or y + M) is positive on M; its mass is
alpha (or beta) over the number of cycles through positive cells of the table *before*. A step
is drawn as if that number were the same as at y, which is nearly so, and the ratio goes into the
weight. A guide (the prior) tilts the masses; the weights correct for it at the end.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from tabprotect.engine.arrays import Bools, Floats, Ints, Singles
from tabprotect.engine.cycles.cycle_family import FULL, Family
from tabprotect.engine.posterior.populations import guide_of, resampled
from tabprotect.engine.posterior.prior import Prior, Uniform
from tabprotect.engine.release.likelihood import AdaptiveSequence

BLOCK = 64
"""Masses of one block: a draw picks a block by its sum, then a mass in it."""

MOST_ENTRIES = 2**22
"""Most masses (cycle, coin, draw) of one population: bounds its memory."""

MOST_SPAN = 1000
"""Largest change of a count that the guide resolves."""


FEWEST, MOST = 16, 2000
"""Fewest and most draws of one population."""


STEEPEST = 50.0
"""Most (in logs) by which the guide may favour one step: keeps single precision finite."""


class AdaptiveWalk:
    """Weighted draws of originals.

    Parameters
    ----------
    family
        The family of the likelihood's cycles.
    prior
        The guide follows it; a uniform prior needs no guide.
    """

    def __init__(self, likelihood: AdaptiveSequence, family: Family, prior: Prior) -> None:
        self.likelihood, self.family, self.prior = likelihood, family, prior
        self._published = likelihood.published.counts.reshape(-1)[family.touched]
        self._neighbours = family.neighbours()
        span = min(likelihood.steps, MOST_SPAN)
        # Column 0 of the guide stands for this count; the padding cell weighs nothing.
        self._first = np.append(self._published - span, 0)
        self._guide = None
        if not isinstance(prior, Uniform):
            values = self._published[:, None] + np.arange(-span, span + 1)
            log_prior = prior.log_weight(family.touched[:, None], values)
            self._guide = guide_of(np.concatenate([log_prior, np.zeros((1, 2 * span + 1))]))
        # The cycle that pads the lists of neighbours.
        pad_cells = np.full((1, family.cells.shape[1]), len(family.touched))
        self._cells = np.concatenate([family.cells, pad_cells])
        self._signs = np.concatenate([family.signs, np.zeros_like(pad_cells)])
        # Cells by their place in the cycle, for quick look-ups.
        self._columns = [
            (np.ascontiguousarray(cell), np.ascontiguousarray(sign))
            for cell, sign in zip(self._cells.T, self._signs.T, strict=True)
        ]

    @property
    def updates(self) -> int:
        """Cost of one draw, in masses."""
        return 4 * len(self.family) * self.likelihood.steps

    @property
    def largest_population(self) -> int:
        """Number of draws that fit the memory bound side by side."""
        return int(np.clip(MOST_ENTRIES // (2 * len(self.family)), FEWEST, MOST))

    def population(self, size: int, generator: np.random.Generator, report: Callable[[float], None]) -> Ints:
        """Joint draws of equal weight: counts of the touched cells, int64 (touched, size).

        Draws of one population share ancestors where weights had to be resampled; populations
        are independent of each other.

        Raises
        ------
        InfeasibleError
            If no draw fits.
        """
        likelihood, every = self.likelihood, np.arange(size)
        counts = self.family.padded(np.repeat(self._published[:, None], size, axis=1))
        flat = np.zeros((-(-2 * len(self._cells) // BLOCK) * BLOCK, size), dtype=np.float32)
        free = np.zeros((len(self._cells), size), dtype=np.bool_)
        rows = np.repeat(np.arange(len(self.family))[:, None], size, axis=1)
        self._look(counts, flat, free, rows, every)
        number = free.sum(axis=0)
        log_weight = np.zeros(size)
        for step in range(likelihood.steps):
            report(step / likelihood.steps)
            leave = np.where(number > 0, likelihood.gamma, 1.0)
            choices = np.maximum(number, 1)
            sums = flat.reshape(-1, BLOCK, size).sum(axis=1, dtype=np.float64)
            total = leave + sums.sum(axis=0) / choices
            u = (generator.random(size) * total - leave) * choices
            moving = np.flatnonzero((u >= 0) & (total > leave))
            at = _drawn(flat, sums, u, moving)
            minus, cycle = np.divmod(at, len(self._cells))
            sign = 1 - 2 * minus
            counts[self._cells[cycle], moving[:, None]] -= sign[:, None] * self._signs[cycle]
            if self._neighbours is None:
                rows = np.repeat(np.arange(len(self.family))[:, None], len(moving), axis=1)
            else:
                rows = self._neighbours[cycle].T
            before = number[moving].copy()
            number[moving] += self._look(counts, flat, free, rows, moving)
            with np.errstate(divide="ignore"):
                log_weight += np.log(total)
            log_weight[moving] += np.log(np.maximum(before, 1) / number[moving])
            for chosen in resampled(log_weight[None], generator, 0.5)[1]:
                # np.take, not an index: it keeps rows contiguous, so that reshape gives views.
                flat = np.take(flat, chosen, axis=1)
                counts, free = np.take(counts, chosen, axis=1), np.take(free, chosen, axis=1)
                number, log_weight = number[chosen], np.zeros(size)
        if self._guide is not None:
            log_weight += self.prior.log_weight(self.family.touched[:, None], counts[:-1]).sum(0)
            log_weight -= self._guided(np.arange(len(self._published))[:, None], counts[:-1]).sum(0)
        for chosen in resampled(log_weight[None], generator, 1.0)[1]:
            return counts[:-1, chosen]
        return counts[:-1]

    def _guided(self, cells: Ints, counts: Ints) -> Floats:
        """The guide at counts of cells; counts beyond its ends take the value at the end."""
        assert self._guide is not None
        column = np.clip(counts - self._first[cells], 0, self._guide.shape[1] - 1)
        return np.asarray(self._guide[cells, column])

    def _look(self, counts: Ints, flat: Singles, free: Bools, rows: Ints, draws: Ints) -> Ints:
        """Update cycles ``rows`` (any, draws); return how many more are free in each draw."""
        size = counts.shape[1]
        low = np.full(rows.shape, FULL)
        low_undone = [low.copy(), low.copy()]
        tilts = [np.zeros(rows.shape), np.zeros(rows.shape)] if self._guide is not None else []
        for cells, signs in self._columns:
            cell, sign = cells.take(rows), signs.take(rows)
            here = counts.reshape(-1).take(cell * size + draws)
            np.minimum(low, here, out=low)
            undone = (here - sign, here + sign)
            for minus in range(2):
                np.minimum(low_undone[minus], undone[minus], out=low_undone[minus])
                if tilts:
                    tilts[minus] += self._guided(cell, undone[minus]) - self._guided(cell, here)
        real = rows < len(self.family)
        at = rows * size + draws
        now = (low > 0) & real
        # Padding occurs several times in a column; each writes that nothing is free.
        gained = now.sum(axis=0) - (free.reshape(-1).take(at) & real).sum(axis=0)
        free.reshape(-1)[at] = now
        for minus, chance in enumerate((self.likelihood.alpha, self.likelihood.beta)):
            found = np.where((low_undone[minus] > 0) & real, chance, 0.0)
            if tilts:
                found *= np.exp(np.clip(tilts[minus], -STEEPEST, STEEPEST))
            flat.reshape(-1)[at + minus * len(self._cells) * size] = found
        return np.asarray(gained, dtype=np.int64)


def _drawn(flat: Singles, sums: Floats, u: Floats, draws: Ints) -> Ints:
    """The row of ``flat`` where the cumulative sum of each draw passes its ``u``; int64 (draws,).

    ``sums`` are the block sums. Where rounding puts ``u`` beyond the total, the last row with
    positive mass is taken.
    """
    edges = np.cumsum(sums[:, draws], axis=0)
    block = np.argmax(edges > np.minimum(u[draws], np.nextafter(edges[-1], 0)), axis=0)
    column = np.arange(len(draws))
    left = u[draws] - (edges[block, column] - sums[block, draws])
    within = flat.reshape(-1, BLOCK, flat.shape[1])[block, :, draws].astype(np.float64)
    inner = np.cumsum(within, axis=1)
    row = np.argmax(inner > np.minimum(left, np.nextafter(inner[:, -1], 0))[:, None], axis=1)
    return np.asarray(block * BLOCK + row, dtype=np.int64)
