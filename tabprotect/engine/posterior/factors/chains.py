"""Markov chains over the feasible originals, side by side: for components with too many states.

A step picks a direction that keeps every fixed sum (a circuit, or a random combination from a
short lattice basis, so that every original can be reached from every other), and each chain moves
along it within its bounds: to a uniformly chosen point or to a neighbour, accepted by Metropolis'
rule. Directions are shared by all chains and do not depend on their states; given the directions
the chains are independent, so the spread between them is the error. They start in corners far
apart and run until they agree.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence

import numpy as np

from tabprotect.engine.arrays import Bools, Floats, Ints
from tabprotect.engine.cycles.kernel_basis import Vector, kernel, shortened
from tabprotect.engine.errors import InfeasibleError, TooLargeError
from tabprotect.engine.posterior.factors import chain_steps
from tabprotect.engine.posterior.factors.components import FactorComponent, by_cell
from tabprotect.engine.posterior.factors.hidden_boxes import BOXES, SIGNS, beside, drawn_boxes, unreached
from tabprotect.engine.posterior.factors.loose_chains import LooseChains
from tabprotect.engine.posterior.factors.solved_parts import no_original
from tabprotect.engine.posterior.factors.sum_circuits import SumCircuits
from tabprotect.engine.progress import SILENT, Progress
from tabprotect.engine.solver import Entries, Limit, TableProgramme
from tabprotect.engine.tables.moves import alternating
from tabprotect.languages.messages import message

MOST_TRIES = 200
"""Random walks before the search for a circuit is given up."""

SQUARES = 8
"""Tries for a ring of four sums, which most steps take: it moves few cells, and is accepted more often."""

LONGEST = 4096
"""Random numbers of one search."""

MOST_ADDED = 64
"""Moves that are added to one at most; hardly ever more than a few."""

WORDS = 2**16
"""Random numbers taken at a time."""

MOST_AT_ONCE = 2_000
"""Steps after which it is asked whether to go on."""

MOST_TANGLED = 2_000
"""Most connected cells that lie in more sums: finding first originals takes integer programmes. More are
taken on only where boxes of hidden cells move them."""

CORNERS, FEW_CORNERS = 8, 4
"""Different starting tables, and those of many cells in three ways."""

HOLE = -40.0
"""Log weight of an excluded count between possible ones: passed through, never recorded."""

NODES = 10
"""Branch-and-bound nodes for one corner in whole numbers: any good one will do."""

STARTS = message("finding originals to start from")

PATIENT = 100_000
"""Nodes for a first original when no corner gave one."""

WHOLE = 3
"""Corners sought in whole numbers, which cost more than corners of linear programmes."""


class _Looked:
    """Log weights of many variables, each over its own range, looked up together."""

    def __init__(self, logs: list[Floats | None], low: Ints, high: Ints) -> None:
        known: dict[int, int] = {}
        arrays: list[Floats] = []
        at, size = np.zeros(len(logs), dtype=np.int64), 0
        for k, log in enumerate(logs):
            run = np.zeros(int(high[k] - low[k]) + 1) if log is None else log
            key = -1 - len(run) if log is None else id(log)
            if key not in known:
                known[key] = size
                arrays.append(run)
                size += len(run)
            at[k] = known[key] - low[k]
        self.at = at
        self.logs = np.empty(size)
        done, self.flat = 0, True
        for run in arrays:
            mine = self.logs[done : done + len(run)]
            np.maximum(run, HOLE + run.max(), out=mine)
            self.flat &= bool(np.ptp(mine) == 0)
            done += len(run)

    def __call__(self, which: Ints, values: Ints) -> Floats:
        """Log weights at the values (which..., chains)."""
        return np.asarray(self.logs[self.at[which][..., None] + values], dtype=np.float64)


class SwapSweeps:
    """The swaps of a component that keep all its sums; built by :meth:`of`.

    A swap takes two categories of each axis of a set S and alternates the signs over the 2^|S| corners
    (2 x 2 in two-way tables). It keeps a sum over a box of cells when the box is full along an axis of
    S. Pairing the categories of each axis at random gives disjoint swaps in the whole table.
    """

    def __init__(self, grid: Ints, axes: list[tuple[int, ...]]) -> None:
        self._grid, self._axes = grid, axes
        self._cells = np.ascontiguousarray(grid).reshape(-1)
        self._whole = bool((grid >= 0).all())
        self._strides = [math.prod(grid.shape[a + 1 :]) for a in range(grid.ndim)]
        self._signs = {one: alternating(2 ** len(one)) for one in axes}

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

    def draw(self, generator: np.random.Generator) -> tuple[Ints, Ints]:
        """Draw disjoint swaps: the local cells of each corner, int64 (corners, swaps), and its sign."""
        axes = self._axes[int(generator.integers(len(self._axes)))]
        number = self._grid.ndim
        places = np.zeros((1,) * (2 * number), dtype=np.int64)
        for axis, (size, stride) in enumerate(zip(self._grid.shape, self._strides, strict=True)):
            if axis in axes:
                mine = generator.permutation(size)[: size // 2 * 2].reshape(2, -1)
            else:
                mine = np.arange(size)[None]
            # The half of the axis first, for all axes, then which of the pairs.
            wide = [1] * (2 * number)
            wide[axis], wide[number + axis] = mine.shape
            places = places + (mine * stride).reshape(wide)
        signs = self._signs[axes]
        corners = self._cells.take(places.reshape(len(signs), -1))
        if self._whole:
            return corners, signs
        # A corner without a local number is a known cell: such a swap is dropped.
        return corners[:, (corners >= 0).all(axis=0)], signs


class Chains:
    """The chains of one component."""

    def __init__(
        self,
        component: FactorComponent,
        shape: Sequence[int],
        generator: np.random.Generator,
        *,
        chains: int,
        progress: Progress = SILENT,
    ) -> None:
        self._component, self._generator = component, generator
        self._loose = [s for s in component.sums if s.low != s.high]
        self._of_cell = by_cell(self._loose, len(component))
        self._low, self._high = component.low[:, None], component.high[:, None]
        self._sum_low = np.array([s.low for s in self._loose], dtype=np.int64)
        self._sum_high = np.array([s.high for s in self._loose], dtype=np.int64)
        self._cell_logs = _Looked(list(component.logs), component.low, component.high)
        self._sum_logs = _Looked([s.logs for s in self._loose], self._sum_low, self._sum_high)
        self._circuits = SumCircuits.of(component)
        self.sweeps = SwapSweeps.of(component, shape)
        self._holes = self._holed()
        if is_tangled(component, self._circuits):
            corners = self._by_boxes(shape, progress)
        else:
            self._basis = self._bases(progress)
            self._next = self._neighbours()
            corners = chain_starts(component, min(CORNERS, chains), generator, progress)
        self.tables = corners[np.arange(chains) % len(corners)].T.copy()
        self._sums = np.array(
            [self.tables[s.cells].sum(axis=0) for s in self._loose], dtype=np.int64
        ).reshape(len(self._loose), chains)
        self._work = self._arrays()

    def _by_boxes(self, shape: Sequence[int], progress: Progress) -> Ints:
        """Take boxes as moves, and say where to start from.

        Raises
        ------
        TooLargeError
            If there are none, or no original is soon found.
        """
        cells = len(self._component)
        boxes = drawn_boxes(self._component, shape, self._generator)
        corners = None
        if boxes is not None and not self._loose:
            corners = LooseChains.starts(self._component, shape, FEW_CORNERS, self._generator, progress)
        if boxes is None or corners is None:
            raise too_large(cells, MOST_TANGLED)
        # What is reached by one move alone is to be moved as often as a cell by its boxes.
        further = unreached(self._component, boxes, progress) * BOXES
        self._basis = [dict(zip(one, SIGNS, strict=True)) for one in boxes.tolist()] + further
        self._next = beside(boxes, further, cells, self._generator)
        return corners

    def _bases(self, progress: Progress) -> list[Vector]:
        """Moves that keep the fixed sums, and those that keep the loose sums as well."""
        cells = len(self._component)
        fixed = [s.cells for s in self._component.sums if s.low == s.high]
        if self._circuits is not None and not self._circuits.rest:
            return []
        basis = shortened(kernel(fixed, cells, progress), cells)
        if self._loose:
            every = [s.cells for s in self._component.sums]
            basis = basis + shortened(kernel(every, cells, progress), cells)
        return basis

    def _neighbours(self) -> list[list[int]]:
        """Return for each move of the basis, the moves that share a cell with it."""
        touching: dict[int, list[int]] = {}
        for k, move in enumerate(self._basis):
            for cell in move:
                touching.setdefault(cell, []).append(k)
        return [sorted({j for cell in move for j in touching[cell]}) for move in self._basis]

    @property
    def moves(self) -> int:
        """Number of directions to choose from, roughly."""
        return len(self._basis) or len(self._component)

    def _arrays(self) -> tuple[Ints | Floats, ...]:
        """Return what the compiled steps work on, in the order that ``chain_steps.c`` names."""
        nothing = np.zeros(0, dtype=np.int64)
        graph = (nothing,) * 5 if self._circuits is None else self._circuits.graph
        cells, sums = self._cell_logs, self._sum_logs
        cell_count, chains = self.tables.shape
        numbers = [cell_count, chains, len(self._loose), max(len(graph[0]) - 1, 0)]
        numbers += [len(self._basis), cells.flat, sums.flat, MOST_TRIES, LONGEST, MOST_ADDED, SQUARES]
        moves = [list(move) for move in self._basis]
        values = [list(move.values()) for move in self._basis]
        loose_logs = sums.at + len(cells.logs)
        bounds = (np.ascontiguousarray(end[:, 0]) for end in (self._low, self._high))
        counts = np.array(numbers, dtype=np.int64)
        rows = *_in_rows(moves), _in_rows(values)[1], *_in_rows(self._next)
        sums_of = *_in_rows(self._of_cell), *bounds, self._sum_low, self._sum_high
        logs = np.concatenate([cells.logs, sums.logs])
        return counts, *graph, *rows, *sums_of, cells.at, loose_logs, logs, self.tables, self._sums

    def steps(self, number: int) -> int:
        """Move all chains along so many directions, or fewer; returns how many."""
        chains = self.tables.shape[1]
        one = LONGEST + 4 * MOST_ADDED + 8 + 3 * chains
        random = self._generator.random(min(WORDS, one + number * (3 * chains + 40)))
        flat = self._cell_logs.flat and self._sum_logs.flat
        return chain_steps.steps((*self._work, random, random if flat else np.log(random)), number)

    def sweep(self) -> None:
        """Apply swaps all over the table at once, in all chains."""
        assert self.sweeps is not None
        corners, signs = self.sweeps.draw(self._generator)
        flat = self._cell_logs.flat and self._sum_logs.flat
        if flat:
            (number, swaps), chains = corners.shape, self.tables.shape[1]
            _, far = self._generator.random((2, swaps, chains))
            chain_steps.swept(
                *(swaps, number, chains, np.ascontiguousarray(corners), signs),
                *(self._low, self._high, far, self.tables),
            )
            return
        here = [self.tables[c] for c in corners]
        least = np.full(here[0].shape, -(2**62))
        most = np.full(here[0].shape, 2**62)
        for cells, value, sign in zip(corners, here, signs, strict=True):
            down, up = value - self._low[cells], self._high[cells] - value
            np.maximum(least, -(down if sign > 0 else up), out=least)
            np.minimum(most, up if sign > 0 else down, out=most)
        times = proposed(least, most, self._generator.random((2, *least.shape)), anywhere=flat)
        if not self._cell_logs.flat:
            gain = np.zeros(times.shape)
            for cells, value, sign in zip(corners, here, signs, strict=True):
                gain += self._cell_logs(cells, value + sign * times)
                gain -= self._cell_logs(cells, value)
            times = np.where(np.log(self._generator.random(times.shape)) < gain, times, 0)
        for cells, value, sign in zip(corners, here, signs, strict=True):
            self.tables[cells] = value + sign * times

    def _holed(self) -> tuple[list[int], list[int]]:
        """The cells and the loose sums with impossible counts between possible ones."""
        holes: dict[int, bool] = {}
        found: tuple[list[int], list[int]] = ([], [])
        for mine, logs in zip(found, (self._component.logs, [s.logs for s in self._loose]), strict=True):
            for k, log in enumerate(logs):
                if log is not None:
                    if id(log) not in holes:
                        holes[id(log)] = bool(np.isneginf(log).any())
                    if holes[id(log)]:
                        mine.append(k)
        return found

    def possible(self) -> Bools:
        """Chains whose table has positive weight now, (chains,)."""
        out = np.ones(self.tables.shape[1], dtype=np.bool_)
        for cell in self._holes[0]:
            log = self._component.logs[cell]
            out &= log[self.tables[cell] - self._component.low[cell]] > -np.inf
        for f in self._holes[1]:
            weights = self._loose[f].logs
            assert weights is not None
            out &= weights[self._sums[f] - self._loose[f].low] > -np.inf
        return out

    def run(
        self, records: int, between: tuple[int, int], progress: Progress, stage: str
    ) -> tuple[Ints, Bools]:
        """The recorded tables, int32 or int64 (records, cells, chains), and which of them count.

        Parameters
        ----------
        between
            Directions and sweeps between two records.
        """
        # Half the memory, where counts allow: what is held is read many times.
        small = int(self._high.max(initial=0)) < 2**31
        out = np.empty((records, *self.tables.shape), dtype=np.int32 if small else np.int64)
        counts = np.empty((records, self.tables.shape[1]), dtype=np.bool_)
        for record in range(records):
            left = between[0]
            while left:
                progress.report(stage, record / records)
                left -= self.steps(min(left, MOST_AT_ONCE))
            for _ in range(between[1]):
                progress.report(stage, record / records)
                self.sweep()
            out[record], counts[record] = self.tables, self.possible()
        return out, counts


def is_tangled(component: FactorComponent, circuits: SumCircuits | None) -> bool:
    """Return True for many cells that lie in more than two sums."""
    return len(component) > MOST_TANGLED and (circuits is None or bool(circuits.rest))


def proposed(least: Ints, most: Ints, u: Floats, *, anywhere: bool) -> Ints:
    """Proposed steps along a direction: to any point with equal chances, or to a neighbour.

    Both proposals are symmetric.

    Parameters
    ----------
    u : (2, ...)
        Random numbers.
    anywhere
        Only to any point.
    """
    far = least + np.floor(u[1] * (most - least + 1)).astype(np.int64)
    if anywhere:
        return np.asarray(np.minimum(far, most), dtype=np.int64)
    near = np.where(u[1] < 0.5, -1, 1)
    near = np.where((near < least) | (near > most), 0, near)
    return np.asarray(np.where(u[0] < 0.5, np.minimum(far, most), near), dtype=np.int64)


def _in_rows(rows: Sequence[Sequence[int]]) -> tuple[Ints, Ints]:
    """Return where each row begins, and the numbers of all."""
    starts = np.cumsum([0, *map(len, rows)]).astype(np.int64)
    return starts, np.fromiter(itertools.chain.from_iterable(rows), np.int64, int(starts[-1]))


def chain_starts(
    component: FactorComponent, number: int, generator: np.random.Generator, progress: Progress = SILENT
) -> Ints:
    """Feasible tables, int64 (number, cells), each optimal for random weights of the cells.

    Raises
    ------
    InfeasibleError
        If no table fits the sums, or none is found.
    """
    cells = len(component)
    entries = Entries.at(
        np.repeat(np.arange(len(component.sums)), [len(one.cells) for one in component.sums]),
        np.concatenate([np.zeros(0, dtype=np.int64), *(one.cells for one in component.sums)]),
        1.0,
        cells,
    )
    sums = np.array([s.low for s in component.sums]), np.array([s.high for s in component.sums])
    ends = component.low, component.high
    model = TableProgramme(entries, sums=sums, cells=ends)
    whole = TableProgramme(entries, sums=sums, cells=ends, integral=True)
    out = []
    integral = 0
    try:
        for k in range(number):
            progress.report(STARTS, k / number)
            cost = generator.integers(-8, 9, cells).astype(np.float64)
            point = _whole(model.weighted(cost, progress=progress, stage=STARTS).point)
            if not within_bounds(component, point) and integral < WHOLE:
                integral += 1
                found = whole.weighted(cost, limit=Limit(NODES), progress=progress, stage=STARTS)
                point = _whole(found.point)
            if within_bounds(component, point):
                out.append(point)
        if not out:
            nothing = np.zeros(cells)
            found = whole.weighted(nothing, limit=Limit(PATIENT), progress=progress, stage=STARTS)
            out = [p for p in [_whole(found.point)] if within_bounds(component, p)]
    except InfeasibleError:
        raise no_original() from None
    if not out:
        raise InfeasibleError(
            message("no original was found that fits the published sums"),
            hint=message("take a prior that knows more"),
        )
    return np.array([out[k % len(out)] for k in range(number)])


def _whole(point: Floats) -> Ints:
    return np.rint(point).astype(np.int64)


def within_bounds(component: FactorComponent, point: Ints) -> bool:
    """Return True if a table keeps all bounds."""
    if not len(point) or (point < component.low).any() or (point > component.high).any():
        return False
    return all(one.low <= int(point[one.cells].sum()) <= one.high for one in component.sums)


def too_large(cells: int, most: int) -> TooLargeError:
    """The error for more connected cells than chains take on."""
    return TooLargeError(
        message(
            "{cells:,} unpublished counts hang together by published sums: a posterior of more than "
            "{most:,} of these is beyond what this program takes on",
            cells,
            most,
        ),
        hint=message(
            "ask for bounds instead (tabprotect bounds), or for the posterior of a part: a table "
            "of fewer variables or categories"
        ),
    )
