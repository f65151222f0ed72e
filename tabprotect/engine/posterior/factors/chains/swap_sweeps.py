"""Swaps all over a table at once: products of differences along some of its axes.

A swap takes two categories of each axis of a set S and alternates the signs over the 2^|S| corners
(2 x 2 in two-way tables). It keeps a sum over a box of cells when the box is full along an axis of
S. Pairing the categories of each axis at random gives disjoint swaps in the whole table.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence

import numpy as np

from tabprotect.engine.arrays import Ints
from tabprotect.engine.posterior.factors.components import FactorComponent


class SwapSweeps:
    """The swaps of a component that keep all its sums; built by :meth:`of`."""

    def __init__(self, grid: Ints, axes: list[tuple[int, ...]]) -> None:
        self._grid, self._axes = grid, axes

    @classmethod
    def of(cls, component: FactorComponent, shape: Sequence[int]) -> SwapSweeps | None:
        """Return ``None`` if no swap keeps the sums, or they are not sums over boxes.

        Parameters
        ----------
        shape
            Shape of the table that the flat cells of the component belong to.
        """
        places = np.array(np.unravel_index(component.cells, shape))
        used = [np.unique(row) for row in places]
        grid = np.full([len(u) for u in used], -1, dtype=np.int64)
        at = [np.searchsorted(u, row) for u, row in zip(used, places, strict=True)]
        grid[tuple(at)] = np.arange(len(component))
        there = grid >= 0
        full: set[tuple[int, ...]] = set()
        for one in component.sums:
            box = [np.unique(row[one.cells]) for row in at]
            if int(there[np.ix_(*box)].sum()) != len(one.cells):
                return None
            full.add(tuple(a for a, mine in enumerate(box) if len(mine) == grid.shape[a]))
        wide = [a for a, size in enumerate(grid.shape) if size > 1]
        found: list[tuple[int, ...]] = []
        for size in range(1, len(wide) + 1):
            for axes in itertools.combinations(wide, size):
                smaller = any(set(known) <= set(axes) for known in found)
                if not smaller and all(set(axes) & set(mine) for mine in full):
                    found.append(axes)
        return cls(grid, found) if found else None

    def draw(self, generator: np.random.Generator) -> tuple[list[Ints], list[int]]:
        """Draw disjoint swaps: the local cells of each corner, int64 (swaps,), and its sign."""
        axes = self._axes[int(generator.integers(len(self._axes)))]
        halves: list[list[tuple[int, Ints]]] = []
        for axis, size in enumerate(self._grid.shape):
            if axis in axes:
                pairs = generator.permutation(size)[: size // 2 * 2].reshape(2, -1)
                halves.append([(1, pairs[0]), (-1, pairs[1])])
            else:
                halves.append([(1, np.arange(size))])
        corners, signs = [], []
        for chosen in itertools.product(*halves):
            corners.append(self._grid[np.ix_(*(index for _, index in chosen))].reshape(-1))
            signs.append(int(np.prod([sign for sign, _ in chosen])))
        # A corner without a local number is a known cell: such a swap is dropped.
        whole = np.logical_and.reduce([corner >= 0 for corner in corners])
        return [corner[whole] for corner in corners], signs
