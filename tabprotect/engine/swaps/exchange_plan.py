"""Exchange steps: two cells exchange a unit, by a rule that is reversible and never blocks.

The variables are split into three: in every stratum of the last ones a table of the first by the second
ones. A step draws two cells of a stratum that are not empty, equally and independently; where they differ
in both, a unit of each exchanges its second variables. It is taken with the chance
min(1, (m / m')^2 (w' / w)), m the number of cells that are not empty and w = prod (1/x!)^theta, before and
after, and never leads to a unit where nobody can be. That keeps w as it is, so that whoever holds w for the originals believes what comes of the same
steps run once more from the published table: independent draws, without a beginning to be waited for.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from tabprotect.engine.arrays import Bools, Floats, Ints, Signs
from tabprotect.engine.swaps import exchanges
from tabprotect.engine.workers.threads import meanwhile

AT_ONCE = 2**20
"""Random numbers of one call: 8 MiB."""


@dataclass(frozen=True, eq=False)
class ExchangePlan:
    """How the units of a table change place.

    Attributes
    ----------
    cell : int64 (cells,)
        The flat cell at each place: strata, then rows, then columns.
    shape
        The numbers of strata, rows and columns.
    rate
        Steps for each unit of a stratum, to the nearest whole number.
    theta
        Of the law that is kept: 0 weighs all tables alike.
    nobody : bool (cells,)
        The flat cells in which nobody can be; ``None`` for none.
    """

    cell: Ints
    shape: tuple[int, int, int]
    rate: float
    theta: float = 0.0
    nobody: Bools | None = None

    @cached_property
    def closed(self) -> Bools:
        """``nobody`` by place, bool (cells,)."""
        return np.zeros(len(self.cell), dtype=np.bool_) if self.nobody is None else self.nobody[self.cell]

    def same_split(self, other: ExchangePlan) -> bool:
        """Whether the same cells exchange units."""
        return (
            self.shape == other.shape
            and np.array_equal(self.cell, other.cell)
            and np.array_equal(self.closed, other.closed)
        )

    def part(self, strata: Ints) -> tuple[Ints, ExchangePlan]:
        """The flat cells of some strata, and the plan of a table of these cells alone."""
        cells = self.cell.reshape(self.shape[0], -1)[strata].reshape(-1)
        nobody = None if self.nobody is None else self.nobody[cells]
        shape = (len(strata), *self.shape[1:])
        return cells, replace(self, cell=np.arange(len(cells)), shape=shape, nobody=nobody)

    def steps(self, counts: Ints) -> Ints:
        """The number of steps in each stratum, int64 (strata,): its units are kept."""
        units = counts[self.cell].reshape(self.shape[0], -1).sum(axis=1)
        return np.asarray(np.rint(self.rate * units), dtype=np.int64)

    def changes(
        self, counts: Ints, number: int, generator: np.random.Generator, steps: Ints | None = None
    ) -> Iterator[tuple[Ints, Ints, Ints, int]]:
        """Run so many times from one table, in blocks: the flat cells that changed, by how much, and whose.

        Parameters
        ----------
        counts : int64 (cells,)
        steps
            In each stratum; by the rate where none are given.

        Returns
        -------
        int64 (changes,) three times, int
            The number of the run within the block, and how many runs that has.
        """
        each = self.steps(counts) if steps is None else steps
        starts = np.concatenate([[0], np.cumsum(each)]).astype(np.int64)
        total, size = int(starts[-1]), self.shape[1] * self.shape[2]
        held, most = counts[self.cell], max(AT_ONCE // max(3 * total, 1), 1)
        filled, at = (np.zeros(2 * size, dtype=np.int64) for _ in range(2))
        touched = np.empty(4 * int(each.max(initial=0)), dtype=np.int64)

        def drawn() -> Iterator[tuple[int, Floats]]:
            for begin in range(0, number, most):
                copies = min(most, number - begin)
                yield copies, generator.random(3 * total * copies)

        def run(block: tuple[int, Floats]) -> tuple[Ints, Ints, Ints, int]:
            copies, random = block
            found = [np.empty(4 * total * copies, dtype=np.int64) for _ in range(3)]
            last = np.zeros(1, dtype=np.int64)
            exchanges.steps(
                *((copies, *self.shape), self.theta, self.closed, starts, random),
                *(held, filled, at, touched, *found, last),
            )
            cells, by, whose = (one[: int(last[0])] for one in found)
            return self.cell[cells], by, whose, copies

        yield from meanwhile(run, drawn())

    def tables(
        self, counts: Ints, number: int, generator: np.random.Generator, steps: Ints | None = None
    ) -> Ints:
        """So many tables that the plan makes of this one, int64 (number, cells)."""
        out, done = np.tile(counts, (number, 1)), 0
        for cells, by, whose, copies in self.changes(counts, number, generator, steps):
            out[done + whose, cells] += by
            done += copies
        return out

    def narrow(self, counts: Ints, number: int, generator: np.random.Generator, most: int) -> Signs:
        """The same in eight bits: what is more than ``most`` is ``most``."""
        out, done = np.tile(np.minimum(counts, most).astype(np.int8), (number, 1)), 0
        for cells, by, whose, copies in self.changes(counts, number, generator):
            out[done + whose, cells] = np.minimum(counts[cells] + by, most)
            done += copies
        return out
