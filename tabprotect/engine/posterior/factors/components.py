"""Cells connected by sums: bounds narrowed, and components that can be solved separately."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from tabprotect.engine.arrays import Bools, Floats, Ints
from tabprotect.engine.bounds.propagation import propagated
from tabprotect.engine.cycles import graphs
from tabprotect.engine.equal_rows import by_number, equal_rows
from tabprotect.engine.errors import InfeasibleError, TooLargeError
from tabprotect.engine.posterior.factors.cell_laws import CellLaws, kind_logs
from tabprotect.engine.release.likelihood import UNBOUNDED
from tabprotect.languages.messages import message

MOST_WEIGHTS = 2**25
"""Most log weights held, of all counts of all cells: 256 MiB."""


@dataclass(frozen=True, eq=False)
class CellSum:
    """A factor on one sum of local cells: the values that the sum of the free cells may take.

    Attributes
    ----------
    cells : int64 (cells,)
        Local numbers.
    low, high
        Closed.
    logs : float64 (high - low + 1,) or None
        Log weights; ``None`` if all are equal.
    """

    cells: Ints
    low: int
    high: int
    logs: Floats | None


@dataclass(frozen=True, eq=False)
class FactorComponent:
    """Cells joined by sums.

    Attributes
    ----------
    cells : int64 (cells,)
        Flat cells.
    low, high : int64 (cells,)
        Possible counts.
    logs
        Log weights of each cell's counts low..high, one array per cell.
    sums
        The factors.
    """

    cells: Ints
    low: Ints
    high: Ints
    logs: tuple[Floats, ...]
    sums: tuple[CellSum, ...]

    def __len__(self) -> int:
        return len(self.cells)


def by_cell(sums: Sequence[CellSum], cells: int) -> list[list[int]]:
    """The sums that each cell is part of."""
    found: list[list[int]] = [[] for _ in range(cells)]
    for number, one in enumerate(sums):
        for cell in one.cells.tolist():
            found[cell].append(number)
    return found


@dataclass(frozen=True, eq=False)
class Split:
    """The original split into independent parts.

    Attributes
    ----------
    alone : int64
        Flat cells that no sum constrains.
    known : int64
        Flat cells with one possible count, and that count.
    components
        The rest.
    """

    alone: Ints
    known: tuple[Ints, Ints]
    components: tuple[FactorComponent, ...]


@dataclass(frozen=True, eq=False)
class _Sums:
    """The factors over more than one cell, flattened."""

    starts: Ints
    cells: Ints
    low: Ints
    high: Ints
    kind: Ints

    @property
    def of_entry(self) -> Ints:
        return np.repeat(np.arange(len(self.kind)), np.diff(self.starts))

    def added(self, figures: Ints) -> Ints:
        """The sum over each factor's cells of a figure; no factor may be empty."""
        return np.add.reduceat(figures[self.cells], self.starts[:-1])

    def taken(self, chosen: Bools) -> _Sums:
        entry = chosen[self.of_entry]
        lengths = np.diff(self.starts)[chosen]
        starts = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
        return _Sums(starts, self.cells[entry], self.low[chosen], self.high[chosen], self.kind[chosen])


def split_components(laws: CellLaws) -> Split:
    """Narrow the bounds of the cells by all sums and separate the components.

    Raises
    ------
    InfeasibleError
        If a cell or a sum has no possible count left, or nothing bounds a cell.
    """
    lk = laws.likelihood
    stated = laws.low[laws.law_of_cell], laws.high[laws.law_of_cell]
    lengths = np.diff(lk.starts)
    if (lk.low[lk.kind[lengths == 0]] > 0).any():
        raise InfeasibleError(
            message("a published sum of no cells is not 0"),
            hint=message("check that tables and mechanism belong together"),
        )
    every = _Sums(lk.starts, lk.cells, *lk.ends, lk.kind)
    sums = every.taken(lengths > 1)
    if not len(sums.kind):
        return Split(np.arange(lk.domain.size), (np.zeros(0, np.int64),) * 2, ())
    low, high = propagated((sums.starts, sums.cells), (sums.low, sums.high), stated, laws.impossible)
    in_sum = np.zeros(lk.domain.size, dtype=np.bool_)
    in_sum[sums.cells] = True
    # A sum that allows every total its cells can have, all with equal weight, is redundant.
    flat = np.diff(lk.log_starts)[sums.kind] == 0
    unbounded = sums.added((high >= UNBOUNDED).astype(np.int64)) > 0
    most = sums.added(np.where(high >= UNBOUNDED, 0, high))
    idle = flat & (sums.low <= sums.added(low))
    idle &= np.where(unbounded, sums.high >= UNBOUNDED, most <= sums.high)
    # So is one whose cells are all fixed.
    fixed = low == high
    idle |= sums.added((~fixed).astype(np.int64)) == 0
    known = np.flatnonzero(fixed & in_sum)
    sums = sums.taken(~idle)
    joined = np.zeros(lk.domain.size, dtype=np.bool_)
    joined[sums.cells] = True
    joined &= ~fixed
    # Cells narrowed by sums that no longer connect them keep their bounds, as single components.
    narrowed = in_sum & ~fixed & ~joined
    narrowed &= (low > stated[0]) | (high < stated[1])
    free = np.flatnonzero(joined | narrowed)
    endless = free[high[free] >= UNBOUNDED]
    if len(endless):
        _limit(laws, endless, high)
    rest = np.ones(lk.domain.size, dtype=np.bool_)
    rest[free], rest[known] = False, False
    parts = _components(laws, sums, free, (low, high))
    return Split(np.flatnonzero(rest), (known, low[known]), parts)


def _limit(laws: CellLaws, cells: Ints, high: Ints) -> None:
    """Cut the tails of cells that only their prior limits."""
    ends: dict[int, int] = {}
    for cell, law in zip(cells.tolist(), laws.law_of_cell[cells].tolist(), strict=True):
        if law not in ends:
            first, logs, _ = laws.settled(law)
            ends[law] = first + len(logs) - 1
        high[cell] = ends[law]


def _components(
    laws: CellLaws, sums: _Sums, free: Ints, bounds: tuple[Ints, Ints]
) -> tuple[FactorComponent, ...]:
    low, high = bounds
    if not len(free):
        return ()
    number = np.full(laws.likelihood.domain.size, -1, dtype=np.int64)
    number[free] = np.arange(len(free))
    base = sums.added(np.where(number < 0, low, 0)) if len(sums.kind) else sums.low
    entry = number[sums.cells] >= 0
    left, right = sums.of_entry[entry], number[sums.cells[entry]]
    label = graphs.components(left + len(free), right, len(free) + len(sums.kind))
    # Numbered by their first nodes, and each has a free cell.
    order, starts = by_number(label[: len(free)], int(label.max()) + 1)
    local = np.empty(len(free), dtype=np.int64)
    local[order] = np.arange(len(free)) - starts[label[order]]
    mine: list[list[CellSum]] = [[] for _ in starts[1:]]
    bounds_of = np.searchsorted(left, np.arange(len(sums.kind) + 1))
    for f in range(len(sums.kind)):
        members = right[bounds_of[f] : bounds_of[f + 1]]
        one = _sum(laws, sums, f, int(base[f]), (low[free[members]], high[free[members]]))
        mine[int(label[len(free) + f])].append(CellSum(local[members], one.low, one.high, one.logs))
    used, which = equal_rows([laws.law_of_cell[free], low[free], high[free]])
    if int((high[free[used]] - low[free[used]] + 1).sum()) > MOST_WEIGHTS:
        raise TooLargeError(
            message(
                "the {free:,} unpublished counts can each be so many that weighing them is "
                "beyond what this program takes on",
                len(free),
            ),
            hint=message(
                "take a prior that knows no single cells (uniform, positive), or ask for bounds "
                "instead (tabprotect bounds)"
            ),
        )
    weights = [
        laws.log_weights(int(laws.law_of_cell[cell]), int(low[cell]), int(high[cell])) for cell in free[used]
    ]
    out = []
    for k, (a, b) in enumerate(pairwise(starts.tolist())):
        cells = free[order[a:b]]
        logs = tuple(weights[law] for law in which[order[a:b]].tolist())
        out.append(FactorComponent(cells, low[cells], high[cells], logs, tuple(mine[k])))
    return tuple(out)


def _sum(laws: CellLaws, sums: _Sums, f: int, base: int, bounds: tuple[Ints, Ints]) -> CellSum:
    """Factor ``f`` over its free cells alone, its range cut to totals they can reach."""
    least, most = int(bounds[0].sum()), int(bounds[1].sum())
    low = max(int(sums.low[f]) - base, least)
    high = min(int(sums.high[f]) - base, most)
    if low > high:
        raise InfeasibleError(
            message("no original fits the published sums and the prior"),
            hint=message("check that tables and mechanism belong together, or choose a wider prior"),
        )
    kind, lk = int(sums.kind[f]), laws.likelihood
    if lk.log_starts[kind] == lk.log_starts[kind + 1]:
        return CellSum(bounds[0], low, high, None)
    values = np.arange(low, high + 1, dtype=np.int64) + base
    return CellSum(bounds[0], low, high, kind_logs(lk, kind, values))
