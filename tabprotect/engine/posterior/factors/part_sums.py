"""The exact law of a sum of cells of an original that was solved part by part.

Parts are independent: the law of a sum is the convolution of the laws of what each part
contributes: the law of one cell, that of the part's total, or one read off its listed originals.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from tabprotect.engine.arrays import Floats, Ints
from tabprotect.engine.posterior.factors.solved_parts import SolvedPart
from tabprotect.engine.progress import SILENT, Progress

PART_SUMS_COUNTED = 1_000_000
"""Most entries (row, count) of a part times its cells for which its originals are counted.
"""

PART_SUMS_LISTED = 2**22
"""Most counts in all originals of a part that are listed for the law of a sum."""


FOLD = 1000
"""Overhead of one convolution call, in entries."""


@dataclass(frozen=True, eq=False)
class PartSums:
    """Laws of sums of cells; an :class:`ExactSums`.

    Attributes
    ----------
    group, first : int64 (cells,)
        As in ``Posterior``.
    rows : float64 (groups, width)
    parts
        Cells that were solved together; all others are independent.
    part_of_cell : int64 (cells,)
        The number of each cell's part; -1 for the others.
    """

    group: Ints
    first: Ints
    rows: Floats
    parts: Sequence[SolvedPart]
    part_of_cell: Ints
    _known: dict[object, tuple[int, Floats]] = field(default_factory=dict)
    _counts: dict[int, int | None] = field(default_factory=dict)

    @classmethod
    def of(cls, group: Ints, first: Ints, rows: Floats, parts: Sequence[SolvedPart]) -> PartSums:
        """Build it from the fields of a posterior and its parts."""
        part_of_cell = np.full(len(group), -1, dtype=np.int64)
        for number, part in enumerate(parts):
            part_of_cell[part.cells] = number
        return cls(group, first, rows, parts, part_of_cell)

    def work(self, cells: Ints) -> int | None:
        """Entries that the law of the sum of these flat cells costs; ``None`` if it is too wide."""
        alone, together = self._split(cells)
        widths = (self.rows[self.group[alone]] > 0).sum(axis=1)
        wide, work = int(widths.sum()), FOLD * len(alone)
        for part, places in together:
            cost = self._cost(part, places)
            if cost is None:
                return None
            work += FOLD + cost
            wide += sum(len(part.rows[place]) for place in places)
        return work + wide * (len(alone) + 1)

    def law(self, cells: Ints, progress: Progress = SILENT) -> tuple[int, Floats]:
        """The first possible sum, and the chances from it on."""
        alone, together = self._split(cells)
        laws = [(int(self.first[cell]), self.rows[self.group[cell]]) for cell in alone]
        laws += [self._law(part, places) for part, places in together]
        first, chances = 0, np.ones(1)
        for start, row in laws:
            possible = np.flatnonzero(row > 0)
            first += start + int(possible[0])
            chances = np.convolve(chances, row[possible[0] : possible[-1] + 1])
        return first, chances

    def _split(self, cells: Ints) -> tuple[Ints, list[tuple[SolvedPart, Ints]]]:
        """The independent cells, and for each part its cells' places that are in the sum."""
        of = self.part_of_cell[cells]
        together = []
        for number in np.unique(of[of >= 0]).tolist():
            part = self.parts[number]
            together.append((part, np.flatnonzero(np.isin(part.cells, cells[of == number]))))
        return cells[of < 0], together

    def _cost(self, part: SolvedPart, places: Ints) -> int | None:
        if part.errors is not None:
            return None
        if len(places) == 1:
            return 0
        if len(places) == len(part.cells) and part.total is not None:
            return 0
        if (id(part.rows), places.tobytes()) in self._known:
            return 0
        # Counting takes time: do not count originals that cannot be listed anyway.
        entries = sum(map(len, part.rows)) * len(part.cells)
        if part.listed is None or entries > PART_SUMS_COUNTED:
            return None
        if id(part.rows) not in self._counts:
            self._counts[id(part.rows)] = part.count()
        number = self._counts[id(part.rows)]
        if number is None or number * len(part.cells) > PART_SUMS_LISTED:
            return None
        return number * len(part.cells)

    def _law(self, part: SolvedPart, places: Ints) -> tuple[int, Floats]:
        if len(places) == 1:
            return int(part.first[places[0]]), part.rows[places[0]]
        # Identical parts share their rows.
        key = id(part.rows), places.tobytes()
        if key not in self._known:
            if len(places) == len(part.cells) and part.total is not None:
                self._known[key] = part.total()
            else:
                assert part.listed is not None
                tables, chances = part.listed()
                sums = tables[:, places].sum(axis=1)
                first = int(sums.min())
                self._known[key] = (
                    first,
                    np.bincount(sums - first, weights=chances).astype(np.float64),
                )
        return self._known[key]
