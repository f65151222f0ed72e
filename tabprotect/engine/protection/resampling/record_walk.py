"""Originals behind a table whose records moved at random, drawn in two blocks.

All tables of one total are equally likely when every record is in a cell with the same chances, and
these are themselves drawn evenly (Dirichlet, all ones). So two steps leave the posterior of a reader
who assumes nothing as it is: given where the records are, draw the chances of the cells; given these,
send every published record back to where it may have come from, one variable after the other.

Source: Tanner and Wong 1987 (data augmentation).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from tabprotect.engine.arrays import Bools, Floats, Ints
from tabprotect.engine.protection.resampling import record_moves

MANY = 4
"""Records for each way back from which on they are sent by numbers and not one by one."""

TRIES = 200
"""Sweeps in which a first original is sought that makes the stated matrices."""

RECORD_COST, WAY_COST = 0.015, 0.0004
"""Microseconds of a record that is sent back along one variable, and of a way back that is weighed."""


@dataclass(frozen=True, eq=False)
class RecordWalk:
    """Walks through the originals of one published table.

    Attributes
    ----------
    published : int64, one axis for each matrix
    matrices : float64 (categories, categories)
        Rows are true categories, columns published ones.
    nobody : bool, as the published table
        Cells in which nobody can truly be.
    fits
        Whether an original is possible by what else is stated; ``None`` if all are.
    """

    published: Ints
    matrices: Sequence[Floats]
    nobody: Bools
    fits: Callable[[Ints], bool] | None = None

    @property
    def cost(self) -> float:
        """Nominal microseconds of one sweep."""
        records, moving = int(self.published.sum()), self._moving
        sizes = sum(self.published.shape[axis] for axis in moving)
        return float(
            len(moving) * RECORD_COST * records + WAY_COST * sizes * np.count_nonzero(self.published)
        )

    @property
    def _moving(self) -> list[int]:
        whole = [bool((one == np.eye(len(one))).all()) for one in self.matrices]
        return [axis for axis, still in enumerate(whole) if not still]

    def __call__(self, generator: np.random.Generator) -> Iterator[Ints]:
        """Walk: one original after the other, int64 (cells,).

        It ends at once where no original is found that fits what is stated.
        """
        state = generator.integers(0, 2**63, 1, dtype=np.uint64)
        chances = generator.standard_gamma(np.ones(self.published.shape))
        here: Ints | None = None
        tries = 0
        while here is not None or tries < TRIES:
            found = self._sent_back(np.where(self.nobody, 0.0, chances), generator, state)
            if self.fits is None or self.fits(found):
                here = found
            tries += 1
            if here is not None:
                yield here.reshape(-1)
            # A step that is not taken leaves the walk where it is.
            chances = generator.standard_gamma(1.0 + (found if here is None else here))

    def _sent_back(self, chances: Floats, generator: np.random.Generator, state: np.ndarray) -> Ints:
        """All records back where they may have come from, given the chances of the cells."""
        moving = self._moving
        mass = [chances]
        for axis in moving:
            mass.append(np.moveaxis(np.moveaxis(mass[-1], axis, -1) @ self.matrices[axis], -1, axis))
        counts = self.published
        for before, axis in zip(reversed(mass[:-1]), reversed(moving), strict=True):
            counts = one_back(before, self.matrices[axis], axis, counts, generator, state)
        return counts


def one_back(
    mass: Floats,
    matrix: Floats,
    axis: int,
    counts: Ints,
    generator: np.random.Generator,
    state: np.ndarray | None,
) -> Ints:
    """Draw the counts before records moved along one variable, given those after.

    Parameters
    ----------
    mass : float64, as the counts
        How likely a record was in each cell before.
    state : uint64 (1,)
        Random numbers of records that are sent one by one; ``None``: by numbers.
    """
    shape = counts.shape
    outer, size, inner = math.prod(shape[:axis]), shape[axis], math.prod(shape[axis + 1 :])
    if state is not None and int(counts.sum()) < MANY * int((counts > 0).sum()) * size:
        before = np.zeros(shape, dtype=np.int64)
        flat = np.ascontiguousarray(mass), np.ascontiguousarray(matrix)
        record_moves.returned(outer, size, inner, *flat, np.ascontiguousarray(counts), before, state)
        return before
    last = np.moveaxis(counts, axis, -1).reshape(-1, size)
    weights = np.moveaxis(mass, axis, -1).reshape(-1, size)
    row, column = np.nonzero(last)
    ways = weights[row] * matrix[:, column].T
    sent = generator.multinomial(last[row, column], ways / ways.sum(axis=1, keepdims=True))
    out = np.zeros_like(last)
    np.add.at(out, row, sent)
    rest = (*shape[:axis], *shape[axis + 1 :], size)
    return np.ascontiguousarray(np.moveaxis(out.reshape(rest), -1, axis))
