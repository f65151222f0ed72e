"""Markov chains over the feasible originals, side by side: for components with too many states.

A step picks a direction that keeps every fixed sum (a circuit, or a random combination from a
short lattice basis, so that every original can be reached from every other), and each chain moves
along it within its bounds: to a uniformly chosen point or to a neighbour, accepted by Metropolis'
rule. Directions are shared by all chains and do not depend on their states; given the directions
the chains are independent, so the spread between them is the error. They start in corners far
apart and run until they agree.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from tabprotect.engine.arrays import Bools, Floats, Ints
from tabprotect.engine.budgets import CHAIN_WORK
from tabprotect.engine.cycles.kernel_basis import Vector, kernel, shortened
from tabprotect.engine.errors import InfeasibleError, TooLargeError
from tabprotect.engine.posterior.factors.chains.chain_starts import chain_starts
from tabprotect.engine.posterior.factors.chains.swap_sweeps import SwapSweeps
from tabprotect.engine.posterior.factors.chains.two_way import counting
from tabprotect.engine.posterior.factors.components import FactorComponent
from tabprotect.engine.posterior.factors.solved_parts import SolvedPart
from tabprotect.engine.posterior.factors.sum_circuits import SumCircuits
from tabprotect.engine.progress import SILENT, Progress
from tabprotect.languages.said import say

MOST_HELD = 2**25
"""Most counts held in all: 256 MiB, and figures of them take a few times that."""

MOST_ENTRIES = 3 * 2**23
"""Most entries (cell, count) of the distributions; adding them up takes several of their size."""

MOST_CELLS = 20_000
"""Most connected cells that lie in two sums each (a two-way table): some ten seconds."""

MOST_TANGLED = 2_000
"""Most connected cells that lie in more sums: finding first originals takes integer programmes."""

MOST_UPDATES = 3 * 10**8
"""Most cell updates by sweeps over the table in one run."""


CHAINS = 64
CORNERS = 8
"""Different starting tables."""

RECORDS = 100
"""Tables recorded from each chain."""


DIRECTIONS = 12_000
"""Directions of the shortest run; at least four for each move of the basis."""


SWEEPS = 1500

ROUNDS = 3
"""Most runs, each twice as long as the one before, until the chains agree."""

AGREED = 1.05
"""Largest R-hat at which chains agree."""

DIRECTION_COST, SWEEP_COST, START_COST = 150.0, 0.015, 0.4
"""Microseconds on an ordinary core, roughly: of a direction, of a sweep per count, and of the start
per pair of cells."""

HOLE = -40.0
"""Log weight of an excluded count between possible ones: passed through, never recorded."""


@dataclass(frozen=True, eq=False)
class _Direction:
    """A move: its cells and coefficients, and its changes of the loose sums."""

    cells: Ints
    signs: Ints
    sums: Ints
    changes: Ints


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
        self._at = at
        self._flat = np.empty(size)
        done, self.flat = 0, True
        for run in arrays:
            mine = self._flat[done : done + len(run)]
            np.maximum(run, HOLE + run.max(), out=mine)
            self.flat &= bool(np.ptp(mine) == 0)
            done += len(run)

    def __call__(self, which: Ints, values: Ints) -> Floats:
        """Log weights at the values (which..., chains)."""
        return np.asarray(self._flat[self._at[which][..., None] + values], dtype=np.float64)


class Chains:
    """The chains of one component."""

    def __init__(
        self,
        component: FactorComponent,
        shape: Sequence[int],
        generator: np.random.Generator,
        *,
        chains: int = CHAINS,
        progress: Progress = SILENT,
    ) -> None:
        self._component, self._generator = component, generator
        self._loose = [s for s in component.sums if s.low != s.high]
        self._of_cell: list[list[int]] = [[] for _ in range(len(component))]
        for f, one in enumerate(self._loose):
            for cell in one.cells.tolist():
                self._of_cell[cell].append(f)
        self._low, self._high = component.low[:, None], component.high[:, None]
        self._sum_low = np.array([s.low for s in self._loose], dtype=np.int64)
        self._sum_high = np.array([s.high for s in self._loose], dtype=np.int64)
        self._cell_logs = _Looked(list(component.logs), component.low, component.high)
        self._sum_logs = _Looked([s.logs for s in self._loose], self._sum_low, self._sum_high)
        self._circuits = SumCircuits.of(component)
        if len(component) > MOST_TANGLED and (self._circuits is None or self._circuits.rest):
            raise _too_large(len(component), MOST_TANGLED)
        self.sweeps = SwapSweeps.of(component, shape)
        self._holes = self._holed()
        self._basis = self._bases(progress)
        self._next = self._neighbours()
        corners = chain_starts(component, min(CORNERS, chains), generator, progress)
        self.tables = corners[np.arange(chains) % len(corners)].T.copy()
        self._sums = np.array(
            [self.tables[s.cells].sum(axis=0) for s in self._loose], dtype=np.int64
        ).reshape(len(self._loose), chains)

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
        """For each move of the basis, the moves that share a cell with it."""
        touching: dict[int, list[int]] = {}
        for k, move in enumerate(self._basis):
            for cell in move:
                touching.setdefault(cell, []).append(k)
        return [sorted({j for cell in move for j in touching[cell]}) for move in self._basis]

    @property
    def moves(self) -> int:
        """Number of directions to choose from, roughly."""
        return len(self._basis) or len(self._component)

    def _direction(self) -> _Direction | None:
        generator = self._generator
        if self._circuits is not None and (not self._basis or generator.random() < 0.5):
            found = self._circuits.draw(generator)
            if found is None:
                return None
            return self._of(dict(zip(*found, strict=True)))
        if not self._basis:
            return None
        at = int(generator.integers(len(self._basis)))
        vector = dict(self._basis[at])
        # One move, or the sum of a few: mostly neighbours, sometimes any.
        while generator.random() < 0.4:
            near = self._next[at] if generator.random() < 0.8 else range(len(self._basis))
            at = near[int(generator.integers(len(near)))]
            sign = 1 if generator.random() < 0.5 else -1
            for cell, value in self._basis[at].items():
                vector[cell] = vector.get(cell, 0) + sign * value
        return self._of({cell: value for cell, value in vector.items() if value})

    def _of(self, vector: Vector) -> _Direction | None:
        if not vector:
            return None
        changes: dict[int, int] = {}
        for cell, value in vector.items():
            for f in self._of_cell[cell]:
                changes[f] = changes.get(f, 0) + value
        kept = {f: change for f, change in changes.items() if change}
        return _Direction(
            np.array(list(vector), dtype=np.int64),
            np.array(list(vector.values()), dtype=np.int64),
            np.array(list(kept), dtype=np.int64),
            np.array(list(kept.values()), dtype=np.int64),
        )

    def step(self) -> None:
        """Move all chains along one direction."""
        way = self._direction()
        if way is None:
            return
        signs = way.signs[:, None]
        here = self.tables[way.cells]
        least, most = _room(here, signs, (self._low[way.cells], self._high[way.cells]))
        if len(way.sums):
            changes, held = way.changes[:, None], self._sums[way.sums]
            ends = (self._sum_low[way.sums][:, None], self._sum_high[way.sums][:, None])
            a, b = _room(held, changes, ends)
            least, most = np.maximum(least, a), np.minimum(most, b)
        times = self._proposed(least, most)
        then = here + signs * times
        gain = np.zeros(len(times))
        if not self._cell_logs.flat:
            gain += self._gain(self._cell_logs, way.cells, here, then)
        if len(way.sums):
            after = held + changes * times
            if not self._sum_logs.flat:
                gain += self._gain(self._sum_logs, way.sums, held, after)
        if not (self._cell_logs.flat and self._sum_logs.flat):
            times = np.where(np.log(self._generator.random(len(times))) < gain, times, 0)
        self.tables[way.cells] = here + signs * times
        if len(way.sums):
            self._sums[way.sums] = held + changes * times

    @staticmethod
    def _gain(logs: _Looked, which: Ints, now: Ints, then: Ints) -> Floats:
        return np.asarray((logs(which, then) - logs(which, now)).sum(axis=0), dtype=np.float64)

    def _proposed(self, least: Ints, most: Ints) -> Ints:
        """Proposed steps along a direction: to any point with equal chances, or to a neighbour.

        Both proposals are symmetric.
        """
        u = self._generator.random((2, *least.shape))
        far = least + np.floor(u[1] * (most - least + 1)).astype(np.int64)
        if self._cell_logs.flat and self._sum_logs.flat:
            return np.asarray(np.minimum(far, most), dtype=np.int64)
        near = np.where(u[1] < 0.5, -1, 1)
        near = np.where((near < least) | (near > most), 0, near)
        return np.asarray(np.where(u[0] < 0.5, np.minimum(far, most), near), dtype=np.int64)

    def sweep(self) -> None:
        """Apply swaps all over the table at once, in all chains."""
        assert self.sweeps is not None
        corners, signs = self.sweeps.draw(self._generator)
        here = [self.tables[c] for c in corners]
        least = np.full(here[0].shape, -(2**62))
        most = np.full(here[0].shape, 2**62)
        for cells, value, sign in zip(corners, here, signs, strict=True):
            down, up = value - self._low[cells], self._high[cells] - value
            np.maximum(least, -(down if sign > 0 else up), out=least)
            np.minimum(most, up if sign > 0 else down, out=most)
        times = self._proposed(least, most)
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
        for mine, logs in zip(
            found, (self._component.logs, [s.logs for s in self._loose]), strict=True
        ):
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
        """The recorded tables, int64 (records, cells, chains), and which of them count.

        Parameters
        ----------
        between
            Directions and sweeps between two records.
        """
        out = np.empty((records, *self.tables.shape), dtype=np.int64)
        counts = np.empty((records, self.tables.shape[1]), dtype=np.bool_)
        for record in range(records):
            for step in range(between[0]):
                if step % 64 == 0:
                    progress.report(stage, record / records)
                self.step()
            for _ in range(between[1]):
                progress.report(stage, record / records)
                self.sweep()
            out[record], counts[record] = self.tables, self.possible()
        return out, counts


def _room(values: Ints, signs: Ints, bounds: tuple[Ints, Ints]) -> tuple[Ints, Ints]:
    """How far each chain can go along a direction, (chains,) each; 0 always lies between."""
    size = np.abs(signs)
    down, up = (values - bounds[0]) // size, (bounds[1] - values) // size
    forward, backward = np.where(signs > 0, up, down), np.where(signs > 0, down, up)
    return -backward.min(axis=0), forward.min(axis=0)


def by_chain(
    component: FactorComponent,
    shape: Sequence[int],
    *,
    draws: int | None = None,
    limited: bool = False,
    generator: np.random.Generator,
    progress: Progress = SILENT,
) -> SolvedPart:
    """The posterior of a component by simulation.

    Parameters
    ----------
    shape
        Shape of the original.
    draws
        Tables recorded in all; 6,400 by default, fewer for large tables.
    limited
        Whether to stop at a work of ``CHAIN_WORK``, counted and never timed, and after a run in
        which chains stand still in different places.

    Raises
    ------
    InfeasibleError
        If no feasible original is found.
    TooLargeError
        If so many cells are connected that it would take minutes or gigabytes.
    """
    cells = len(component)
    if cells > MOST_CELLS:
        raise _too_large(cells, MOST_CELLS)
    chains = int(np.clip(MOST_HELD // (cells * RECORDS), 8, CHAINS))
    records = RECORDS if draws is None else max(8, -(-draws // chains))
    records = int(np.clip(MOST_HELD // (cells * chains), 8, records))
    spent = START_COST * cells**2 + DIRECTION_COST * DIRECTIONS
    if limited and spent > CHAIN_WORK:
        raise TooLargeError(
            say(
                "{cells:,} unpublished counts hang together by published sums: drawing them would take "
                "longer than is given to it here",
                cells,
            ),
            hint=say("take `infer`, which has no such limit"),
        )
    found = Chains(component, shape, generator, chains=chains, progress=progress)
    directions = max(DIRECTIONS, 4 * found.moves)
    sweeps = 0
    if found.sweeps is not None:
        sweeps = int(np.clip(MOST_UPDATES // (cells * chains), 2 * RECORDS, SWEEPS))
        # The swaps do most of the work; single directions reach what swaps cannot.
        directions = DIRECTIONS // 4
    between = (-(-directions // records), -(-sweeps // records))
    found.run(max(records // 4, 2), between, progress, say("warming up"))
    for attempt in range(ROUNDS):
        stage = say("drawing originals, run {attempt}", attempt + 1)
        tables, counts = found.run(records, between, progress, stage)
        agreement = r_hat(tables)
        # Plus the cost of the next run.
        spent += (
            2 * records * (DIRECTION_COST * between[0] + SWEEP_COST * between[1] * cells * chains)
        )
        lost = agreement == math.inf or spent > CHAIN_WORK
        if agreement <= AGREED or (limited and lost):
            break
        between = (2 * between[0], 2 * between[1])
    return _part(component, tables, counts, agreement, generator)


def _too_large(cells: int, most: int) -> TooLargeError:
    return TooLargeError(
        say(
            "{cells:,} unpublished counts hang together by published sums: a posterior of more than "
            "{most:,} of these is beyond what this program takes on",
            cells,
            most,
        ),
        hint=say(
            "ask for bounds instead (tabprotect bounds), or for the posterior of a part: a table "
            "of fewer variables or categories"
        ),
    )


def _held(tables: Ints) -> int:
    """Width of the widest row of the distributions of these tables (records, cells, chains).

    Raises
    ------
    TooLargeError
        If the distributions would be too large.
    """
    width = int((tables.max(axis=(0, 2)) - tables.min(axis=(0, 2))).max()) + 1
    if width * tables.shape[1] > MOST_ENTRIES:
        raise TooLargeError(
            say(
                "the distributions of {shape:,} cells over {width:,} counts are too large",
                tables.shape[1],
                width,
            ),
            hint=say(
                "take a prior that knows more about the counts, or ask for bounds instead "
                "(tabprotect bounds)"
            ),
        )
    return width


def r_hat(tables: Ints) -> float:
    """The largest R-hat over the cells of tables (records, cells, chains): 1 when the chains agree.

    Gelman & Rubin 1992. Infinite when chains stand still in different places.
    """
    records = len(tables)
    within = tables.var(axis=0, ddof=1).mean(axis=1)
    between = tables.mean(axis=0).var(axis=1, ddof=1)
    moved = within > 0
    if (between[~moved] > 0).any():
        return math.inf
    if not moved.any():
        return 1.0
    ratio = between[moved] / within[moved]
    return float(np.sqrt((records - 1) / records + ratio).max())


def _part(
    component: FactorComponent,
    tables: Ints,
    counts: Bools,
    agreement: float,
    generator: np.random.Generator,
) -> SolvedPart:
    used = np.flatnonzero(counts.any(axis=0))
    if len(used) < 2:
        raise InfeasibleError(
            say("no original was found that fits the published sums and the prior"),
            hint=say("choose a wider prior"),
        )
    first = tables.min(axis=(0, 2))
    width = _held(tables)
    base = np.arange(len(component)) * width - first
    mean = np.zeros(len(component) * width)
    square = np.zeros_like(mean)
    for number, chain in enumerate(used.tolist()):
        kept = tables[counts[:, chain], :, chain] + base
        share = np.bincount(kept.reshape(-1), minlength=len(mean)) / len(kept)
        difference = share - mean
        mean += difference / (number + 1)
        square += difference * (share - mean)
    chances = mean.reshape(-1, width)
    variance = square.reshape(-1, width) / (len(used) * (len(used) - 1))
    taken = int(counts.sum())
    spread, noise = float((chances * (1 - chances)).sum()), float(variance.sum())
    count, estimate = counting(component)
    kept_record, kept_chain = np.nonzero(counts)

    def draw(number: int, generator: np.random.Generator, progress: Progress) -> Ints:
        progress.report(say("drawing tables"), 0.0)
        at = generator.choice(taken, number, replace=number > taken)
        return tables[kept_record[at], :, kept_chain[at]]

    return SolvedPart(
        component.cells,
        first,
        list(chances),
        draw,
        count,
        errors=list(np.sqrt(variance)),
        effective_sample_size=min(spread / noise, float(taken)) if noise else float(taken),
        draws=taken,
        r_hat=agreement,
        estimate=estimate,
    )
