"""What the supports of all laws prove: no table of whole counts lies outside.

Propagation comes first, as it takes next to nothing; then integer programmes for single cells. The
solver's dual bound is a proof also where it gave up.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from tabprotect.engine.arrays import Ints
from tabprotect.engine.bounds.propagation import propagated
from tabprotect.engine.errors import InfeasibleError, SolverError
from tabprotect.engine.progress import SILENT, Progress
from tabprotect.engine.release.likelihood import UNBOUNDED, open_ends
from tabprotect.engine.release.published_numbers import PublishedNumbers
from tabprotect.engine.solver import NEAR, Entries, Limit, Sense, TableProgramme
from tabprotect.languages.messages import message

SENSES: tuple[Sense, ...] = ("min", "max")

NODES = 200
"""Branch-and-bound nodes of one programme: its bound then still holds."""

PROGRAMMED = 200 * 4_096 * 64
"""What integer programmes may take together: each as the number of its entries to the power 3/2."""


def affordable(numbers: PublishedNumbers, asked: int) -> int:
    """Return for how many cells integer programmes are solved, of those asked for; none in large tables.

    The two of a cell of 4,096 entries (64 cells with all their sums) take a tenth of a second, of 65,536
    entries up to five.
    """
    entries = len(numbers.cells)
    return min(asked, PROGRAMMED // max(entries * math.isqrt(entries), 1))


def proved(numbers: PublishedNumbers) -> tuple[Ints, Ints]:
    """Bounds of all cells and then of all sums, int64 (cells + sums,); ``UNBOUNDED`` for no upper.

    Raises
    ------
    InputError
        When no table fits the numbers.
    """
    low, high = numbers.support()
    own = np.flatnonzero(numbers.believed >= 0)
    alone_low, alone_high = (
        np.array([law[end] for law in numbers.laws], dtype=np.int64)[numbers.believed[own]] for end in (0, 1)
    )
    # What is believed of a cell bounds it as a sum of its own would.
    sums = (
        np.concatenate([numbers.starts, numbers.starts[-1] + 1 + np.arange(len(own))]),
        np.concatenate([numbers.cells, own]),
    )
    ends = np.concatenate([low, alone_low]), np.concatenate([high, alone_high])
    size = numbers.domain.size
    lower, upper = propagated(sums, ends, (np.zeros(size, np.int64), np.full(size, UNBOUNDED)))
    upper[np.bincount(numbers.cells, minlength=size) == 0] = UNBOUNDED
    if numbers.domain.structural:
        upper[numbers.domain.structural_cells()] = 0
    of = numbers.of_entry
    beneath = np.bincount(of, lower[numbers.cells], numbers.numbers)
    above = np.bincount(of, upper[numbers.cells], numbers.numbers)
    least, most = np.maximum(beneath, low).astype(np.int64), np.minimum(above, high).astype(np.int64)
    return np.concatenate([lower, least]), np.concatenate([upper, most])


def narrowed(
    numbers: PublishedNumbers, ends: tuple[Ints, Ints], cells: Iterable[int], progress: Progress = SILENT
) -> tuple[Ints, Ints]:
    """The same bounds, narrower for the given cells by integer programmes."""
    lower, upper = ends[0].copy(), ends[1].copy()
    size = numbers.domain.size
    asked = [int(cell) for cell in cells if lower[cell] < upper[cell]]
    low, high = numbers.support()
    used = numbers.law >= 0
    of = numbers.of_entry
    kept = used[of]
    programme = TableProgramme(
        Entries.at((np.cumsum(used) - 1)[of[kept]], numbers.cells[kept], 1.0, size),
        sums=(low[used], open_ends(high[used])),
        cells=(lower[:size], open_ends(upper[:size])),
        integral=True,
    )
    for number, cell in enumerate(asked):
        progress.report(message("proving"), number / len(asked))
        for sense in SENSES:
            try:
                bound = programme.optimise(np.array([cell]), sense, limit=Limit(NODES)).bound
            except (InfeasibleError, SolverError):
                continue
            if not math.isfinite(bound):
                continue
            if sense == "max":
                upper[cell] = min(upper[cell], math.floor(bound + NEAR))
            else:
                lower[cell] = max(lower[cell], math.ceil(bound - NEAR))
        ends_of_cell = open_ends(np.array([lower[cell], upper[cell]]))
        programme.limit_many("columns", np.array([cell]), (ends_of_cell[:1], ends_of_cell[1:]))
    return lower, upper


@dataclass(frozen=True, eq=False)
class Proof:
    """A published sum that leaves an inner cell one count.

    Attributes
    ----------
    number
        The sum, by its place among the numbers.
    sums : (int, int)
        The least and the most that it can truly be.
    cells : int64 (cells,)
        The inner cells that it adds up; the proved one comes first.
    low, high : int64 (cells,)
        What each can be by the published numbers that hold it, one by one.
    """

    number: int
    sums: tuple[int, int]
    cells: Ints
    low: Ints
    high: Ints

    def other_counts(self, count: int) -> tuple[int, tuple[int, ...]]:
        """Return how many other counts the proved cell could have by itself, and those of them that let
        the sum add up: none, where the proof holds."""
        others = [int(sum(ends[1:].tolist())) for ends in (self.low, self.high)]
        highest = min(int(self.high[0]), self.sums[1])
        tried = [c for c in range(int(self.low[0]), highest + 1) if c != count]
        least, most = self.sums
        return len(tried), tuple(c for c in tried if c + others[0] <= most and c + others[1] >= least)


def proof_of(numbers: PublishedNumbers, cell: int, count: int) -> Proof | None:
    """The smallest published sum that shows, by adding up, that a cell has one count.

    ``None`` where it takes more than one sum.
    """
    low, high = numbers.support()
    of = numbers.of_entry
    size = numbers.domain.size
    least, most = np.zeros(size, dtype=np.int64), np.full(size, UNBOUNDED, dtype=np.int64)
    np.minimum.at(most, numbers.cells, high[of])
    alone = np.diff(numbers.starts)[of] == 1
    np.maximum.at(least, numbers.cells[alone], low[of[alone]])
    if numbers.domain.structural:
        most[numbers.domain.structural_cells()] = 0
    holding = of[(numbers.cells == cell) & (numbers.law[of] >= 0)]
    for number in sorted(holding.tolist(), key=lambda n: int(numbers.starts[n + 1] - numbers.starts[n])):
        inside = numbers.cells[numbers.starts[number] : numbers.starts[number + 1]]
        others = inside[inside != cell]
        lower = max(int(least[cell]), int(low[number]) - sum(most[others].tolist()))
        upper = min(int(most[cell]), int(high[number]) - sum(least[others].tolist()))
        if lower == upper == count:
            cells = np.concatenate([[cell], others]).astype(np.int64)
            ends = int(low[number]), int(high[number])
            return Proof(number, ends, cells, least[cells], most[cells])
    return None
