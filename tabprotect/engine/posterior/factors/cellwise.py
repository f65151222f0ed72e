"""The posterior of cells that are independent of each other: one row per law."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from tabprotect.engine.arrays import Bools, Floats, Ints
from tabprotect.engine.equal_rows import equal_rows, members
from tabprotect.engine.errors import InfeasibleError
from tabprotect.engine.posterior.factors.cell_laws import CellLaws, kind_logs
from tabprotect.engine.progress import SILENT, Progress
from tabprotect.engine.release.likelihood import UNBOUNDED
from tabprotect.languages.messages import message

MOST_ENTRIES = 2**25
"""Most entries (row, count) of a table of distributions: 256 MiB, and figures take several."""


NARROW = 64
"""Rows up to this width are drawn column by column, all cells at once."""


@dataclass(frozen=True, eq=False)
class Cellwise:
    """Independent cells.

    Attributes
    ----------
    cells : int64 (cells,)
        Flat cells.
    row_of_cell : int64 (cells,)
    first : int64 (rows,)
        The count of a row's column 0.
    chances : float64 (rows, width)
    infinite : bool (rows,)
        Rows whose tail was cut off: infinitely many counts are possible.
    """

    cells: Ints
    row_of_cell: Ints
    first: Ints
    chances: Floats
    infinite: Bools

    def draw(self, number: int, generator: np.random.Generator, progress: Progress = SILENT) -> Ints:
        """Independent draws, int64 (number, cells)."""
        u = generator.random((number, len(self.cells)))
        out = np.zeros(u.shape, dtype=np.int64)
        cumulative = np.cumsum(self.chances, axis=1)
        # 1 from a row's last possible count on, even where rounding left the sum below 1.
        cumulative[cumulative >= cumulative[:, -1:]] = 1.0
        if self.chances.shape[1] <= NARROW:
            for column in range(self.chances.shape[1] - 1):
                progress.report(message("drawing tables"), column / NARROW)
                out += u >= cumulative[self.row_of_cell, column]
            return out + self.first[self.row_of_cell]
        of_row = members(self.row_of_cell, len(self.chances))
        for k, (row, mine) in enumerate(zip(cumulative, of_row, strict=True)):
            progress.report(message("drawing tables"), k / len(cumulative))
            out[:, mine] = np.searchsorted(row, u[:, mine], side="right") + self.first[k]
        return out

    @cached_property
    def _possible(self) -> tuple[Ints, Ints]:
        """Number of possible counts of each row, and number of cells with that row."""
        times = np.bincount(self.row_of_cell, minlength=len(self.chances))
        return (self.chances > 0).sum(axis=1), times

    @property
    def log_count(self) -> float:
        """Natural logarithm of the number of originals; infinite if a tail was cut off."""
        if self.infinite.any():
            return math.inf
        counts, times = self._possible
        return float(times @ np.log(counts)) if len(counts) else 0.0

    def count(self) -> int:
        """The number of possible originals; ask only while :attr:`log_count` is moderate."""
        counts, times = self._possible
        return math.prod(a**n for a, n in zip(counts.tolist(), times.tolist(), strict=True))


def normalised(logs: Floats) -> Floats:
    """Probabilities from each row of log weights; a row without any weight stays 0."""
    peak = logs.max(axis=-1, keepdims=True)
    peak[peak == -np.inf] = 0.0
    weight = np.exp(logs - peak)
    total = weight.sum(axis=-1, keepdims=True)
    return np.asarray(weight / np.where(total > 0, total, 1.0), dtype=np.float64)


def _rows_of(laws: CellLaws, used: Sequence[int], progress: Progress) -> list[_Rows]:
    """The rows of the laws; laws under the same factor kinds are evaluated together."""
    alike: dict[tuple[int, ...], list[int]] = {}
    for number, law in enumerate(used):
        alike.setdefault(laws.kinds[law], []).append(number)
    out: list[_Rows] = []
    for done, (kinds, numbers) in enumerate(alike.items()):
        progress.report(message("weighing each cell"), done / len(alike))
        chosen = np.array([used[number] for number in numbers])
        low, high = int(laws.low[chosen].min()), int(laws.high[chosen].max())
        at = np.array(numbers)
        if high < UNBOUNDED and (high - low + 1) * len(at) <= MOST_ENTRIES:
            values = np.arange(low, high + 1, dtype=np.int64)
            logs = laws.prior.log_weight(laws.cell[chosen][:, None], values)
            for kind in kinds:
                logs = logs + kind_logs(laws.likelihood, kind, values)
            chances = normalised(logs)
            empty = np.flatnonzero(~(chances > 0).any(axis=1))
            if len(empty):
                raise laws.impossible(int(laws.cell[chosen[empty[0]]]))
            out.append(_Rows(at, low, chances, False))
            continue
        for number in numbers:
            first, logs, cut = laws.settled(used[number])
            out.append(_Rows(np.array([number]), first, normalised(logs)[None], cut))
    return out


@dataclass(frozen=True, eq=False)
class _Rows:
    """Rows that start at the same count."""

    numbers: Ints
    first: int
    chances: Floats
    infinite: bool


def cellwise(laws: CellLaws, cells: Ints, progress: Progress = SILENT) -> Cellwise:
    """Treat the cells as independent, each under its own law.

    Raises
    ------
    InfeasibleError
        If some cell has no possible count, or nothing bounds its count.
    """
    law = laws.law_of_cell[cells]
    at, row_of_cell = equal_rows([law])
    used = law[at]
    parts = _rows_of(laws, used.tolist(), progress)
    width = max((part.chances.shape[1] for part in parts), default=1)
    if width * len(used) > MOST_ENTRIES:
        raise InfeasibleError(
            message("the distributions of so many cells over so many counts are too large"),
            hint=message("take a prior that knows more, or fewer cells"),
        )
    first = np.zeros(len(used), dtype=np.int64)
    infinite = np.zeros(len(used), dtype=np.bool_)
    chances = np.zeros((len(used), width))
    for part in parts:
        first[part.numbers], infinite[part.numbers] = part.first, part.infinite
        chances[part.numbers, : part.chances.shape[1]] = part.chances
    return Cellwise(cells, row_of_cell, first, chances, infinite)
