"""Sweeps over strips of swaps in numpy, with the laws and draws of ``strip_sweeps.c``.

A strip has n columns of k + 1 cells; the swap (c, r) adds 1 to the cells (c, r) and (c + 1, r + 1) and
takes 1 from (c, r + 1) and (c + 1, r). The coefficients of column c + 1 are x, those of column c are
y. Backwards through the steps of column c, a table over x[0..r+1], y[r+1..] becomes one over
x[0..r], y[r..]: y[r] takes the place of x[r + 1], which nothing before it depends on. That is a
product with a 3 x 3 matrix, which depends on x[r - 1], x[r] and y[r + 1] too. All in plain numbers,
scaled once a column. Strips lie side by side in the last index, the lanes.
"""

from __future__ import annotations

import numpy as np

from tabprotect.engine.arrays import Floats, Ints, Signs
from tabprotect.engine.posterior.moves.strips import REACH

_X, _X1, _Y1, _Y = np.indices((3, 3, 3, 3)) - 1

CHANGE = _X - _X1 + _Y1 - _Y
"""Change of the cell (c + 1, r + 1) by x[r], x[r + 1], y[r + 1], y[r]; that of (c + 1, 0) by them."""

EDGE = _Y - _X


def swept(
    n: int, k: int, table: Floats, rows: Ints, weights: Floats | None, messages: Floats, laws: Floats | None
) -> bool:
    """Fill the messages and the laws of all changes; False where nothing is possible."""
    strips = Strips((n, k), table, rows, weights)
    return strips.forward(messages) and (laws is None or strips.backward(messages, laws))


def draw(
    n: int,
    k: int,
    column: int,
    draws: int,
    table: Floats,
    rows: Ints,
    weights: Floats | None,
    messages: Floats,
    random: Floats,
    given: Signs,
    to: Signs,
) -> None:
    """Draw the coefficients of the next column, given those of this one."""
    Strips((n, k), table, rows, weights).draw(column, messages[column + 1], random, given, to)


class Strips:
    """Some strips of one shape, and the factors of their steps.

    Parameters
    ----------
    shape
        n and k.
    table : float64 (rows, 243)
        Factors over x[r - 1], x[r], x[r + 1], y[r + 1], y[r]; those that are not there count as 0.
    rows : int32 (n - 1, k, lanes)
        The row of each step.
    weights : float64 (n, k + 1, lanes, 9), or None
        What each change of a cell weighs.
    """

    def __init__(self, shape: tuple[int, int], table: Floats, rows: Ints, weights: Floats | None) -> None:
        self.n, self.k = shape
        self._table, self._rows, self._weights = table, rows, weights

    def _factor(self, c: int, r: int) -> Floats:
        found: Floats = self._table[self._rows[c, r]].T.reshape(3, 3, 3, 3, 3, -1)
        if self._weights is not None:
            found = found * np.moveaxis(self._weights[c + 1, r + 1][:, CHANGE + REACH], 0, -1)
            if r == 0:
                found = found * np.moveaxis(self._weights[c + 1, 0][:, EDGE + REACH], 0, -1)
        return found

    def _shapes(self, r: int) -> tuple[tuple[int, ...], tuple[int, ...]]:
        """The axes outside x[r - 1], x[r - 1], x[r], then x[r + 1], y[r + 1] and what is inside."""
        outer = (3 ** (r - 1), 3, 3) if r else (1, 1, 3)
        # The last swap of a column has nothing beyond it.
        inner = (1, 1, 1) if r == self.k - 1 else (3, 3, 3 ** (self.k - r - 2))
        return outer, inner

    def _matrices(self, r: int, factor: Floats) -> Floats:
        """(x[r - 1], x[r], x[r + 1], y[r + 1], y[r], 1, lanes), without what is not there."""
        above = slice(None) if r else slice(1, 2)
        beyond = slice(1, 2) if r == self.k - 1 else slice(None)
        return factor[above, :, beyond, beyond, :, None]

    def _step(self, r: int, factor: Floats, given: Floats) -> Floats:
        outer, inner = self._shapes(r)
        lanes = given.shape[-1]
        table = given.reshape(*outer, *inner, lanes)
        m = self._matrices(r, factor)
        out = np.empty((*outer, 3, *inner[1:], lanes))
        for y in range(3):
            total = table[:, :, :, 0] * m[:, :, 0, :, y]
            for x in range(1, inner[0]):
                total += table[:, :, :, x] * m[:, :, x, :, y]
            out[:, :, :, y] = total
        return out.reshape(-1, lanes)

    def _column(self, c: int, message: Floats) -> tuple[list[Floats], list[Floats], Floats]:
        """What each step of a column takes in, the factors, and what comes out at last."""
        taken, factors = [message], [self._factor(c, self.k - 1)]
        for r in range(self.k - 1, 0, -1):
            taken.insert(0, self._step(r, factors[0], taken[0]))
            factors.insert(0, self._factor(c, r - 1))
        return taken, factors, self._step(0, factors[0], taken[0])

    def forward(self, messages: Floats) -> bool:
        """Fill the messages float64 (n, 3^k, lanes); False where nothing is possible."""
        messages[-1] = 0.0
        messages[-1, 3**self.k // 2] = 1.0
        for c in range(self.n - 2, -1, -1):
            table = messages[c + 1]
            for r in range(self.k - 1, -1, -1):
                table = self._step(r, self._factor(c, r), table)
            total = table.reshape(3, 3**self.k, -1).sum(axis=0)
            mass = total.sum(axis=0)
            if not (mass > 0).all():
                return False
            messages[c] = total * (1.0 / mass)
        return True

    def first(self, lanes: int) -> tuple[Floats, Ints]:
        """Weights of the coefficients of the first column; the changes of its cells, (k + 1, 3^k)."""
        y = np.indices((3,) * self.k).reshape(self.k, -1) - 1
        edged = np.pad(y, ((1, 1), (0, 0)))
        change = edged[:-1] - edged[1:]
        outside = np.ones((3**self.k, lanes))
        if self._weights is not None:
            for r in range(self.k + 1):
                outside *= self._weights[0, r][:, change[r] + REACH].T
        return outside, change

    def backward(self, messages: Floats, laws: Floats) -> bool:
        """Fill the laws float64 (n, k + 1, lanes, 9) of the changes of all cells."""
        lanes = messages.shape[-1]
        outside, change = self.first(lanes)
        ok = all(_read_off(laws[0, r], messages[0] * outside, change[r]) for r in range(self.k + 1))
        for c in range(self.n - 1):
            if not ok:
                return False
            taken, factors, _ = self._column(c, messages[c + 1])
            outside = np.concatenate([outside] * 3)
            for r in range(self.k):
                outside, sums = self._back(r, factors[r], taken[r], outside)
                joint = sums * factors[r]
                if r == 0:
                    ok &= _read_off(laws[c + 1, 0], joint, EDGE)
                ok &= _read_off(laws[c + 1, r + 1], joint, CHANGE)
            mass = outside.sum(axis=0)
            ok &= bool((mass > 0).all())
            outside = outside * (1.0 / mass)
        return ok

    def _back(self, r: int, factor: Floats, given: Floats, outside: Floats) -> tuple[Floats, Floats]:
        outer, inner = self._shapes(r)
        lanes = given.shape[-1]
        table = given.reshape(*outer, *inner, lanes)
        after = outside.reshape(*outer, 3, *inner[1:], lanes)
        m = self._matrices(r, factor)
        before = np.empty_like(table)
        sums = np.zeros((3, 3, 3, 3, 3, lanes))
        part = sums[
            slice(None) if r else slice(1, 2),
            :,
            slice(1, 2) if r == self.k - 1 else slice(None),
            slice(1, 2) if r == self.k - 1 else slice(None),
        ]
        for x in range(inner[0]):
            total = after[:, :, :, 0] * m[:, :, x, :, 0]
            for y in range(1, 3):
                total += after[:, :, :, y] * m[:, :, x, :, y]
            before[:, :, :, x] = total
            for y in range(3):
                part[:, :, x, :, y] = (table[:, :, :, x] * after[:, :, :, y]).sum(axis=(0, 4))
        return before.reshape(-1, lanes), sums

    def draw(self, c: int, message: Floats, random: Floats, given: Signs, to: Signs) -> None:
        """Draw the coefficients of column c + 1, int8 (draws, k, lanes), given those of column c.

        Parameters
        ----------
        message
            That of column c + 1.
        random : float64 (draws, k, lanes)
            Uniform numbers.
        """
        taken, factors, last = self._column(c, message)
        lanes = np.arange(to.shape[-1])
        places = 3 ** np.arange(self.k - 1, -1, -1)
        y = given.astype(np.int64) + 1
        at = (y * places[:, None]).sum(axis=1)
        size = 3**self.k
        ways = np.arange(3)[:, None, None]
        x = _chosen(last[at + ways * size, lanes], random[:, 0])
        to[:, 0] = x - 1
        at += x * size
        above = np.ones_like(x)
        for r in range(self.k - 1):
            at -= y[:, r] * places[r]
            m = factors[r][above, x, ways, y[:, r + 1], y[:, r], lanes]
            weight = taken[r][at + ways * places[r], lanes] * m
            above, x = x, _chosen(weight, random[:, r + 1])
            to[:, r + 1] = x - 1
            at += x * places[r]


def _chosen(weight: Floats, random: Floats) -> Ints:
    below = np.cumsum(weight, axis=0)
    return np.asarray((random * below[2] >= below[:2]).sum(axis=0), dtype=np.int64)


def _read_off(to: Floats, joint: Floats, change: Ints) -> bool:
    """The law of a change, (lanes, 9), from masses over all that decides it."""
    lanes = to.shape[0]
    mass = joint.reshape(-1, change.size, lanes).sum(axis=0)
    law = np.zeros((2 * REACH + 1, lanes))
    for value in range(-REACH, REACH + 1):
        law[value + REACH] = mass[change.reshape(-1) == value].sum(axis=0)
    total = law.sum(axis=0)
    to[:] = (law / np.where(total > 0, total, 1.0)).T
    return bool((total > 0).all())
