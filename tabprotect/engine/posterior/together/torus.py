"""Several releases by all swaps of neighbours around a two-way table, seen from its rings.

Swap (i, j) adds to cells (i, j) and (i + 1, j + 1) and subtracts from (i, j + 1) and (i + 1, j), all
modulo the shape. The swaps of a row, and those of a column, add up to nothing: a ring. Given all
other swaps, the steps hang on three neighbours of a ring at a time.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from tabprotect.engine.arrays import Bools, Floats, Ints, Signs
from tabprotect.engine.posterior.together.differences import NoneFitError
from tabprotect.engine.posterior.together.joint_model import JointModel, SumFactor

LEAST = 3
"""Swaps of the shortest ring in which neighbours differ."""

CORNERS = ((0, 0), (1, 1), (0, 1), (1, 0))
"""The cells of a swap: two that it adds to, two that it subtracts from."""

TOUCHING = ((0, 0, 1), (-1, -1, 1), (0, -1, -1), (-1, 0, -1))
"""The swaps that touch a cell, and their signs."""

TRIPLES: Signs = np.array(np.meshgrid([-1, 0, 1], [-1, 0, 1], [-1, 0, 1], indexing="ij")).reshape(3, 27).T.astype(np.int8)  # fmt: skip
"""The coefficients of three neighbours of a ring."""

MOST = 100
"""Larger counts block no step: they fit eight bits."""

REACH = 4
"""Largest change of a cell."""


def _at(array: np.ndarray[tuple[int, ...], np.dtype[np.generic]], down: int, right: int) -> Signs:
    """The entry so many rows down and columns to the right of each, around the table."""
    return np.roll(array, (-down, -right), (-2, -1))


@dataclass(frozen=True, eq=False)
class Torus:
    """The releases by their swaps; swap and cell (i, j) stand in row i, column j.

    Attributes
    ----------
    counts : int8 (releases, rows, columns)
        What each release published, cut off at ``MOST``.
    ranks : int64 (releases, rows, columns)
        When each swap is made.
    logs : float64 (releases, 48)
        Log masses of a step: by its coefficient, the smallest count it added to, and that it
        subtracted from; from -1 to 2, less and more alike.
    weights : float64 (rows, columns, 2 REACH + 1) or None
        Log weight of the change (original - first release) of each cell, where more is known.
    groups : int64 (rows, columns)
        The number of each cell's group in the model.
    differences : int64 (releases - 1, rows, columns)
        One solution of by how much the coefficients of the first release exceed those of each other.
    """

    counts: Signs
    ranks: Ints
    logs: Floats
    weights: Floats | None
    groups: Ints
    differences: Ints

    @classmethod
    def of(cls, model: JointModel, shape: Sequence[int]) -> Torus | None:
        """Return ``None`` for other cycles, more than one pass, and evidence on sums of cells.

        Raises
        ------
        NoneFitError
            If the releases differ in a sum of a row or column.
        """
        sig = model.signatures
        if len(shape) != 2 or min(shape) < LEAST or len(sig) != shape[0] * shape[1]:
            return None
        if model.cycles != len(sig) or any(len(one.sequence) != len(sig) for one in model.releases):
            return None
        groups = sig.group_of_cell.reshape(shape)
        swaps = _swaps(model, groups)
        if swaps is None:
            return None
        weights = _weights(model.factors, swaps) if model.factors else None
        if model.factors and weights is None:
            return None
        ranks = np.stack([np.argsort(one.sequence)[swaps] for one in model.releases])
        counts = np.stack([np.clip(one.lowest, -MOST, MOST)[groups] for one in model.releases])
        logs = np.stack([np.concatenate(one.coin.logs) for one in model.releases])
        less = model.difference.T[:, groups]
        if less.sum(axis=1).any() or less.sum(axis=2).any():
            raise NoneFitError
        solved = np.cumsum(np.cumsum(less, axis=1), axis=2)
        return cls(counts.astype(np.int8), ranks, logs, weights, groups, solved)

    @property
    def shape(self) -> tuple[int, int]:
        """Rows and columns."""
        return self.counts.shape[1], self.counts.shape[2]

    def turned(self) -> Torus:
        """The same with rows and columns exchanged."""
        weights = None if self.weights is None else self.weights.transpose(1, 0, 2)
        return replace(
            self,
            counts=self.counts.transpose(0, 2, 1),
            ranks=self.ranks.transpose(0, 2, 1),
            weights=weights,
            groups=self.groups.T,
            differences=self.differences.transpose(0, 2, 1),
        )

    def walled(self, height: float) -> Torus:
        """The same with what is impossible only improbable, by so much in logs."""
        weights = None if self.weights is None else _walled(self.weights, height)
        return replace(self, logs=_walled(self.logs, height), weights=weights)

    def change(self, taken: Signs) -> Signs:
        """Original - first release, int8 (chains, rows, columns), of coefficients shaped alike."""
        out = np.zeros_like(taken)
        for down, right, sign in TOUCHING:
            out -= sign * _at(taken, down, right)
        return out

    def after(self, taken: Signs) -> Signs:
        """The counts after each step, int8 (releases, chains, 4 corners, rows, columns)."""
        releases, chains = taken.shape[:2]
        out = np.empty((releases, chains, 4, *self.shape), dtype=np.int8)
        for corner, (down, right) in enumerate(CORNERS):
            counts = _at(self.counts, down, right)[:, None]
            out[:, :, corner] = counts
            for touch, (up, left, _) in enumerate(TOUCHING):
                later = self._later[:, None, corner, touch]
                out[:, :, corner] -= later * _at(taken, down + up, right + left)
        return out

    def possible(self, taken: Signs) -> Bools:
        """Tell whether each chain's coefficients (releases, chains, rows, columns) can be, (chains,)."""
        after = self.after(taken)
        low_plus = np.clip(after[:, :, :2].min(axis=2), -1, 2)
        low_minus = np.clip(after[:, :, 2:].min(axis=2), -1, 2)
        at = (taken + 1) * 16 + (low_plus + 1) * 4 + low_minus + 1
        fine = np.ones(taken.shape[1], dtype=np.bool_)
        for logs, one in zip(self.logs, at, strict=True):
            fine &= (logs[one] > -np.inf).all(axis=(1, 2))
        if self.weights is not None:
            fine &= (self._of_cells(self.change(taken[0])) > -np.inf).all(axis=(1, 2))
        return fine

    def _of_cells(self, change: Signs) -> Floats:
        assert self.weights is not None
        rows, columns = np.indices(self.shape)
        return np.asarray(self.weights[rows, columns, change.astype(np.int64) + REACH])

    @cached_property
    def _later(self) -> Signs:
        """The signs of the touching swaps that are made after a step, else 0."""
        out = np.zeros((len(self.counts), 4, 4, *self.shape), dtype=np.int8)
        for corner, (down, right) in enumerate(CORNERS):
            for touch, (up, left, sign) in enumerate(TOUCHING):
                other = _at(self.ranks, down + up, right + left)
                out[:, corner, touch] = sign * (other > self.ranks)
        return out

    @cached_property
    def _effects(self) -> Signs:
        """Return what three neighbours of ring i take off the corners of the steps beside them.

        int8 (releases, 3 rows from i - 1 on, 4 corners, rows, columns, 27).
        """
        out = np.zeros((len(self.counts), 3, 4, *self.shape, 27), dtype=np.int8)
        for row in range(3):
            for corner, (down, right) in enumerate(CORNERS):
                for touch, (up, left, _) in enumerate(TOUCHING):
                    if row - 1 + down + up == 0 and -1 <= right + left <= 1:
                        later = _at(self._later[:, corner, touch], row - 1, 0)
                        out[:, row, corner] += later[..., None] * TRIPLES[:, right + left + 1]
        return out

    def of_rings(self, taken: Signs, rings: Ints) -> Floats:
        """Log weights of three neighbours of some rings, given all other swaps.

        Parameters
        ----------
        taken : int8 (releases, chains, rows, columns)
            The coefficients.
        rings : int64 (n,)
            Rows, of which no step sees two.

        Returns
        -------
        float64 (releases, chains, n, columns, 27)
        """
        after, own = self.after(taken), taken[:, :, rings].astype(np.int64)
        now = (np.roll(own, 1, -1) + 1) * 9 + (own + 1) * 3 + np.roll(own, -1, -1) + 1
        out = np.zeros((*own.shape, 27))
        ring, column = np.indices(own.shape[2:])
        for row in range(3):
            steps = (rings + row - 1) % self.shape[0]
            for r, logs in enumerate(self.logs):
                effects = self._effects[r, row][:, rings]
                base = after[r][:, :, steps] + effects[:, ring, column, now[r]].swapaxes(0, 1)
                count = base[..., None] - effects
                np.clip(count, -1, 2, out=count)
                at = np.minimum(count[:, 0], count[:, 1])
                at *= np.int8(4)
                at += np.minimum(count[:, 2], count[:, 3])
                at += np.int8(5)
                self_ = TRIPLES[:, 1] if row == 1 else taken[r][:, steps][..., None]
                out[r] += logs[at + (self_ + np.int8(1)) * np.int8(16)]
        if self.weights is not None:
            out[0] += self._known(taken[0], rings)
        return out

    def _known(self, taken: Signs, rings: Ints) -> Floats:
        """Log weights of the cells beside rings, (chains, n, columns, 27)."""
        assert self.weights is not None
        change, own = self.change(taken), taken[:, rings]
        further = np.roll(own, 1, -1)[..., None] - TRIPLES[:, 0]
        here = own[..., None] - TRIPLES[:, 1]
        out = np.zeros(further.shape)
        column = np.arange(self.shape[1])[:, None]
        # Cell (i, j) is touched by swaps j (+) and j - 1 (-) of ring i, cell (i + 1, j) by the opposite.
        for down, sign in ((0, 1), (1, -1)):
            rows = (rings + down) % self.shape[0]
            moved = change[:, rows][..., None] + sign * (here - further)
            at = np.clip(moved.astype(np.int64) + REACH, 0, 2 * REACH)
            out += self.weights[rows[:, None, None], column, at]
        return out


def _walled(logs: Floats, height: float) -> Floats:
    lowest = float(logs[logs > -np.inf].min(initial=0.0))
    return np.maximum(logs, lowest - height)


def _swaps(model: JointModel, groups: Ints) -> Ints | None:
    """The cycle of each swap, int64 (rows, columns); ``None`` if they are others."""
    sig = model.signatures
    if (groups < 0).any() or (np.diff(sig.starts) != 4).any():
        return None
    group = np.repeat(np.arange(len(sig)), 4)
    # Each swap is told by its four cells and their signs.
    known: dict[tuple[int, ...], int] = {}
    for cycle in range(model.cycles):
        own = np.flatnonzero(sig.cycles == cycle)
        known[tuple(sorted((group[own] * 2 + (sig.signs[own] > 0)).tolist()))] = cycle
    corners = [
        _at(groups, *corner).astype(np.int64) * 2 + (number < 2) for number, corner in enumerate(CORNERS)
    ]
    out = np.zeros(groups.shape, dtype=np.int64)
    for at in np.ndindex(groups.shape):
        cycle = known.get(tuple(sorted(int(one[at]) for one in corners)), -1)
        if cycle < 0:
            return None
        out[at] = cycle
    return out


def _weights(factors: Sequence[SumFactor], swaps: Ints) -> Floats | None:
    """Evidence on single cells as weights of their changes; ``None`` if there is other evidence."""
    cell_of: dict[tuple[tuple[int, int], ...], tuple[int, ...]] = {}
    for at in np.ndindex(swaps.shape):
        touching = [(int(_at(swaps, up, left)[at]), sign) for up, left, sign in TOUCHING]
        cell_of[tuple(sorted(touching))] = at
    out = np.zeros((*swaps.shape, 2 * REACH + 1))
    for one in factors:
        cell = cell_of.get(tuple(sorted(zip(one.cycles, one.signs, strict=True))))
        if cell is None:
            return None
        out[cell] += one.weight(np.arange(-REACH, REACH + 1))
    return out
