"""Markov chains over counts all of whose sums are loose: rounded, drawn or noisy totals.

Where no sum is known exactly, a single count may change by itself. A step changes the counts at the
corners of a box, with alternating signs: one count, two in a line, four in a rectangle, eight in a
block; so that sums of lines move, or stay while counts move below them. Each proposal is as likely
as its reverse. The chains start far apart, at counts drawn from what is said of each by itself, and
get into the ranges of the sums by steps that cost less the nearer they come.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from tabprotect.engine.arrays import Bools, Floats, Ints
from tabprotect.engine.posterior.factors import loose_steps
from tabprotect.engine.posterior.factors.components import FactorComponent, by_cell
from tabprotect.engine.progress import SILENT, Progress
from tabprotect.languages.messages import message

MOST_ORDER = 3
"""Axes of the largest boxes."""

MOST_GRID = 2**24
"""Places of the smallest grid that holds all cells."""

REACH, DEVIATIONS = 12, 1.5
"""Largest change of a count in one step: so many standard deviations of what is said of a count by itself."""

MOST_SUMS = 16
"""Sums that one cell lies in, at most."""

COMING, STAYING = 2.0, 1e12
"""Log weight that a sum loses for each count it is out of its range: on the way in, and then."""

WAY_IN, PATIENCE = 20, 10
"""Steps for each cell after which it is looked whether all sums are in their ranges, and how often."""

COLD, COOLER, COOLINGS = 4.0, 1.01, 120
"""The penalty at which the way into exact sums begins, how it grows, and how often."""

AT_ONCE = 500_000
"""Steps of a chain after which it is asked whether to go on."""


@dataclass(frozen=True, eq=False)
class LooseChains:
    """The chains of one component.

    Attributes
    ----------
    component
    tables : int64 (chains, cells)
    sums : int64 (chains, sums)
    """

    component: FactorComponent
    tables: Ints
    sums: Ints
    _model: tuple[npt.NDArray[np.generic], ...]
    _states: npt.NDArray[np.uint64]

    @classmethod
    def of(
        cls,
        component: FactorComponent,
        shape: Sequence[int],
        generator: np.random.Generator,
        *,
        chains: int,
        progress: Progress = SILENT,
    ) -> LooseChains | None:
        """Start chains; ``None`` where they do not suit, or do not get into the ranges of the sums.

        Parameters
        ----------
        shape
            Shape of the table that the flat cells of the component belong to.
        """
        if any(one.low == one.high for one in component.sums):
            return None
        found = cls._outside(component, shape, generator, chains)
        return found if found is not None and found._enter(progress) else None

    @classmethod
    def _outside(
        cls, component: FactorComponent, shape: Sequence[int], generator: np.random.Generator, chains: int
    ) -> LooseChains | None:
        """Chains whose sums may be anywhere yet; ``None`` where they do not suit."""
        of_cell = by_cell(component.sums, len(component))
        logs = [*component.logs, *(one.logs for one in component.sums if one.logs is not None)]
        if max(map(len, of_cell), default=0) > MOST_SUMS or any(
            np.isneginf(log).any() for log in {id(log): log for log in logs}.values()
        ):
            return None
        model = _model(component, shape, of_cell)
        if model is None:
            return None
        tables = np.array(_drawn(component, chains, generator).T, order="C")
        sums = np.stack([tables[:, one.cells].sum(axis=1) for one in component.sums], axis=1)
        states = generator.integers(0, 2**63, chains, dtype=np.uint64)
        return cls(component, tables, np.ascontiguousarray(sums), model, states)

    @classmethod
    def starts(
        cls,
        component: FactorComponent,
        shape: Sequence[int],
        number: int,
        generator: np.random.Generator,
        progress: Progress = SILENT,
    ) -> Ints | None:
        """Tables that fit exact sums as well, int64 (found, cells); ``None`` where none is found.

        The way in is cooled slowly: what is left over of a sum moves from line to line until it meets its
        opposite.
        """
        found = cls._outside(component, shape, generator, number)
        if found is None:
            return None
        for turn in range(COOLINGS):
            progress.report(message("finding originals to start from"), turn / COOLINGS)
            found.steps(WAY_IN * len(component), penalty=COLD * COOLER**turn)
            if found._fits.all():
                break
        fits = found._fits
        return np.ascontiguousarray(found.tables[fits]) if fits.any() else None

    def _enter(self, progress: Progress) -> bool:
        for turn in range(PATIENCE):
            progress.report(message("finding originals to start from"), turn / PATIENCE)
            self.steps(WAY_IN * len(self.component), penalty=COMING * (turn + 1))
            if self.inside:
                return True
        return False

    @property
    def inside(self) -> bool:
        """Whether all sums of all chains are in their ranges."""
        return bool(self._fits.all())

    @property
    def _fits(self) -> Bools:
        """The chains all of whose sums are in their ranges, (chains,)."""
        low = np.array([one.low for one in self.component.sums])
        high = np.array([one.high for one in self.component.sums])
        return np.asarray(((self.sums >= low) & (self.sums <= high)).all(axis=1), dtype=np.bool_)

    def steps(self, number: int, penalty: float = STAYING) -> None:
        """Take so many steps in each chain."""
        numbers, *rest = self._model
        counts = np.array([*numbers.tolist(), len(self.tables), number, penalty < STAYING], dtype=np.int64)
        ends = np.array([penalty])
        loose_steps.steps((counts, *rest[:9], ends, *rest[9:], self.tables, self.sums, self._states))

    def run(
        self, records: int, sweeps: int, progress: Progress = SILENT, stage: str = ""
    ) -> tuple[Ints, Bools]:
        """The recorded tables, int32 or int64 (records, cells, chains), and which count: all.

        Parameters
        ----------
        sweeps
            Steps for each cell between two records.
        """
        chains, cells = self.tables.shape
        small = int(self.component.high.max(initial=0)) < 2**31
        out = np.empty((records, cells, chains), dtype=np.int32 if small else np.int64)
        for record in range(records):
            left = sweeps * cells
            while left:
                progress.report(stage, record / records)
                self.steps(min(left, AT_ONCE))
                left -= min(left, AT_ONCE)
            out[record] = self.tables.T
        return out, np.ones((records, chains), dtype=np.bool_)


def _drawn(component: FactorComponent, number: int, generator: np.random.Generator) -> Ints:
    """Counts of each cell by its own law alone, int64 (cells, number)."""
    laws: dict[int, Floats] = {}
    out = np.empty((len(component), number), dtype=np.int64)
    u = generator.random(out.shape)
    for cell, log in enumerate(component.logs):
        if id(log) not in laws:
            laws[id(log)] = np.cumsum(np.exp(log - log.max()))
        ends = laws[id(log)]
        out[cell] = component.low[cell] + np.searchsorted(ends, u[cell] * ends[-1], side="right")
    return np.minimum(out, component.high[:, None])


def _model(
    component: FactorComponent, shape: Sequence[int], of_cell: list[list[int]]
) -> tuple[npt.NDArray[np.generic], ...] | None:
    """The arrays that the compiled steps read; ``None`` where the grid would be too large."""
    cells, sums = len(component), component.sums
    places = np.array(np.unravel_index(component.cells, shape))
    used = [np.unique(row) for row in places]
    axes = [a for a, values in enumerate(used) if len(values) > 1]
    size = [len(used[a]) for a in axes]
    if math.prod(size) > MOST_GRID or not axes:
        return None
    at = np.array([np.searchsorted(used[a], places[a]) for a in axes])
    strides = np.array([math.prod(size[k + 1 :]) for k in range(len(axes))], dtype=np.int64)
    flat = strides @ at
    grid = np.full(math.prod(size), -1, dtype=np.int64)
    grid[flat] = np.arange(cells)
    line, begin, members = np.empty((len(axes), cells), dtype=np.int64), 0, []
    starts = [np.zeros(1, dtype=np.int64)]
    for k in range(len(axes)):
        which = np.unique(flat - at[k] * strides[k], return_inverse=True)[1].reshape(-1)
        line[k] = which + begin
        members.append(np.argsort(which, kind="stable"))
        starts.append(k * cells + np.cumsum(np.bincount(which)))
        begin += int(which.max()) + 1
    logs, cell_at, sum_at = _logs(component)
    numbers = [cells, len(sums), len(axes), min(len(axes), MOST_ORDER) + 1]
    reach = int(np.clip(DEVIATIONS * _deviation(component), 1, REACH))
    of = np.fromiter(itertools.chain.from_iterable(of_cell), np.int64)
    ends = np.array([[one.low, one.high] for one in sums], dtype=np.int64).reshape(-1, 2)
    return (
        np.array([*numbers, reach], dtype=np.int64),
        *(np.ascontiguousarray(component.low), np.ascontiguousarray(component.high), cell_at),
        np.concatenate([[0], np.cumsum([len(mine) for mine in of_cell])]).astype(np.int64),
        *(of, np.ascontiguousarray(ends[:, 0]), np.ascontiguousarray(ends[:, 1]), sum_at),
        *(logs, line, np.concatenate(starts).astype(np.int64), np.concatenate(members).astype(np.int64)),
        np.vstack([at, flat]).astype(np.int64),
        np.concatenate([[0], np.cumsum([len(one.cells) for one in sums])]).astype(np.int64),
        *(np.concatenate([one.cells for one in sums]), np.concatenate([strides, grid])),
    )


def _deviation(component: FactorComponent) -> float:
    """The standard deviation of what is said of a count by itself, in the median."""
    known: dict[int, float] = {}
    for log in component.logs:
        if id(log) not in known:
            chances, values = np.exp(log - log.max()), np.arange(len(log))
            mean = float(chances @ values) / float(chances.sum())
            known[id(log)] = float(chances @ (values - mean) ** 2) / float(chances.sum())
    return float(np.sqrt(np.median([known[id(log)] for log in component.logs])))


def _logs(component: FactorComponent) -> tuple[Floats, Ints, Ints]:
    """All log weights one after the other, and where those of count 0 of each cell and sum would be."""
    known: dict[object, int] = {}
    parts: list[Floats] = []
    done = 0

    def place(log: Floats | None, low: int, high: int) -> int:
        nonlocal done
        key = ("flat", high - low) if log is None else id(log)
        if key not in known:
            known[key] = done
            parts.append(np.zeros(high - low + 1) if log is None else log)
            done += high - low + 1
        return known[key] - low

    ends = zip(component.logs, component.low.tolist(), component.high.tolist(), strict=True)
    cells = np.array([place(*one) for one in ends], dtype=np.int64)
    sums = np.array([place(one.logs, one.low, one.high) for one in component.sums], dtype=np.int64)
    return np.concatenate(parts), cells, sums
