"""Steps of chains along random directions, in numpy: number for number those of ``chain_steps.c``.

Takes the place of the compiled module: both take all that is random from one run of numbers.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from tabprotect.engine.arrays import Floats, Ints
from tabprotect.engine.posterior.factors.chains import LONGEST, MOST_ADDED, MOST_TRIES, SQUARES, proposed

Vector = dict[int, int]
"""How often each cell moves."""


class _Whole(NamedTuple):
    """Whole numbers, int64, in the order in which the compiled form takes them.

    Attributes
    ----------
    numbers
        Cells, chains, sums that may vary, nodes, moves, whether the logs of cells and of sums are
        flat, then the limits above.
    edge_starts, edge, edge_to, edge_sign, starts
        The graph of the sums: see :class:`SumCircuits`.
    move_starts, move_cells, move_values
        A basis of moves.
    near_starts, near
        For each of them, the moves that share a cell with it.
    loose_starts, loose
        For each cell, the sums that may vary and that it is part of.
    low, high : (cells,)
    sum_low, sum_high : (sums,)
    cell_at, sum_at
        Where the log weight of a count 0 would stand among the logs.
    """

    numbers: Ints
    edge_starts: Ints
    edge: Ints
    edge_to: Ints
    edge_sign: Ints
    starts: Ints
    move_starts: Ints
    move_cells: Ints
    move_values: Ints
    near_starts: Ints
    near: Ints
    loose_starts: Ints
    loose: Ints
    low: Ints
    high: Ints
    sum_low: Ints
    sum_high: Ints
    cell_at: Ints
    sum_at: Ints


class Steps:
    """What the steps work on.

    Parameters
    ----------
    whole
        The arrays of :class:`_Whole`.
    logs : float64
        Log weights of the counts of cells, then of sums.
    tables : int64 (cells, chains)
        Changed in place.
    sums : int64 (sums, chains)
        Changed in place.
    """

    def __init__(self, whole: tuple[Ints, ...], logs: Floats, tables: Ints, sums: Ints) -> None:
        self.whole, self.logs, self.tables, self.sums = _Whole(*whole), logs, tables, sums


def steps(arrays: tuple[Ints | Floats, ...], number: int) -> int:
    """Take so many steps, or as many as the random numbers are enough for; returns how many."""
    *whole, logs, tables, sums, random, log_random = arrays
    return _Chains(Steps(tuple(whole), logs, tables, sums), random, log_random).run(number)


def swept(
    swaps: int,
    number: int,
    chains: int,
    corners: Ints,
    signs: Ints,
    low: Ints,
    high: Ints,
    far: Floats,
    tables: Ints,
) -> None:
    """Apply disjoint swaps in all chains, each to a uniformly chosen point."""
    by = signs[:, None, None]
    here = tables[corners]
    down, up = here - low[corners], high[corners] - here
    least = (-np.where(by > 0, down, up)).max(axis=0)
    most = np.where(by > 0, up, down).min(axis=0)
    tables[corners] = here + by * proposed(least, most, np.stack([far, far]), anywhere=True)


class _Chains:
    def __init__(self, given: Steps, random: Floats, log_random: Floats) -> None:
        self._given, self._values = given.whole, given
        self._random, self._log_random = random, log_random
        self._used = 0
        whole = given.whole
        cells, chains, _, nodes, moves, *flat, _, _, _, _ = whole.numbers.tolist()
        self._cells, self._chains, self._nodes, self._moves = cells, chains, nodes, moves
        self._flat_cells, self._flat_sums = flat
        self._edges = [
            list(
                zip(
                    *(part[begin:end].tolist() for part in (whole.edge, whole.edge_to, whole.edge_sign)),
                    strict=True,
                )
            )
            for begin, end in zip(whole.edge_starts[:-1], whole.edge_starts[1:], strict=True)
        ]

    def run(self, number: int) -> int:
        """See :func:`steps`."""
        most = LONGEST + 4 * MOST_ADDED + 8 + 3 * self._chains
        for done in range(number):
            if self._used + most > len(self._random):
                return done
            self._step()
        return number

    def _next(self) -> float:
        self._used += 1
        return float(self._random[self._used - 1])

    def _one_of(self, number: int) -> int:
        return int(self._next() * number)

    def _direction(self) -> Vector:
        """How often each cell moves; empty where no way was found."""
        if self._nodes and (not self._moves or self._next() < 0.5):
            return self._circuit()
        return self._combined() if self._moves else {}

    def _circuit(self) -> Vector:
        """A random circuit of the graph of the sums."""
        starts, begin = self._given.starts, self._used
        if not len(starts):
            return {}
        if self._next() < 0.875 and (square := self._square()):
            return square
        for _ in range(MOST_TRIES):
            if self._used - begin >= LONGEST:
                return {}
            ring = dict(self._walk(int(starts[self._one_of(len(starts))]), begin))
            if ring:
                return ring
        return {}

    def _square(self) -> Vector:
        """A ring of four nodes: two edges from one, one from the end of the first, and what closes it."""
        starts = self._given.starts
        for _ in range(SQUARES):
            at = int(starts[self._one_of(len(starts))])
            first, last = (self._edges[at][self._one_of(len(self._edges[at]))] for _ in range(2))
            second = self._edges[first[1]][self._one_of(len(self._edges[first[1]]))]
            if first[1] == last[1] or second[1] == at:
                continue
            closing = next((edge for edge in self._edges[last[1]] if edge[1] == second[1]), None)
            if closing is None:
                continue
            ring = ((first, 1), (second, 1), (closing, -1), (last, -1))
            return {edge[0]: sign * edge[2] for edge, sign in ring if edge[0] < self._cells}
        return {}

    def _walk(self, at: int, begin: int) -> Iterator[tuple[int, int]]:
        """Walk at random until a node repeats: the cells of the ring since its first visit."""
        seen = {at: 0}
        path: list[tuple[int, int, int]] = []
        while True:
            edges = self._edges[at]
            if self._used - begin >= LONGEST or not edges:
                return
            edge = edges[self._one_of(len(edges))]
            if path and edge[0] == path[-1][0]:
                if len(edges) == 1:
                    return
                continue
            path.append(edge)
            at = edge[1]
            if at in seen:
                yield from ((cell, sign) for cell, _, sign in path[seen[at] :] if cell < self._cells)
                return
            seen[at] = len(path)

    def _combined(self) -> Vector:
        """One move of the basis, or the sum of a few: mostly neighbours, sometimes any."""
        given, vector = self._given, Vector()
        at = self._one_of(self._moves)
        self._add(vector, at, 1)
        for _ in range(MOST_ADDED):
            if self._next() >= 0.4:
                break
            begin, end = int(given.near_starts[at]), int(given.near_starts[at + 1])
            if self._next() < 0.8:
                at = int(given.near[begin + self._one_of(end - begin)])
            else:
                at = self._one_of(self._moves)
            self._add(vector, at, 1 if self._next() < 0.5 else -1)
        return {cell: value for cell, value in vector.items() if value}

    def _add(self, vector: Vector, move: int, sign: int) -> None:
        mine = slice(int(self._given.move_starts[move]), int(self._given.move_starts[move + 1]))
        cells, values = self._given.move_cells[mine], self._given.move_values[mine]
        for cell, value in zip(cells.tolist(), values.tolist(), strict=True):
            vector[cell] = vector.get(cell, 0) + sign * value

    def _changes(self, vector: Vector) -> Vector:
        """How the sums that may vary change."""
        given, changes = self._given, Vector()
        for cell, value in vector.items():
            for f in given.loose[given.loose_starts[cell] : given.loose_starts[cell + 1]].tolist():
                changes[f] = changes.get(f, 0) + value
        return {f: change for f, change in changes.items() if change}

    def _step(self) -> None:
        """Move all chains along one direction."""
        vector = self._direction()
        if not vector:
            return
        given, values = self._given, self._values
        moved = _Moved.of(vector, values.tables, (given.low, given.high))
        changed = _Moved.of(self._changes(vector), values.sums, (given.sum_low, given.sum_high))
        least, most = moved.room
        if len(changed.which):
            a, b = changed.room
            least, most = np.maximum(least, a), np.minimum(most, b)
        flat = self._flat_cells and self._flat_sums
        u = self._random[self._used : self._used + 2 * self._chains].reshape(2, -1)
        accepted = self._log_random[self._used + 2 * self._chains :][: self._chains]
        self._used += (2 if flat else 3) * self._chains
        times = proposed(least, most, u, anywhere=bool(flat))
        gain = np.zeros(self._chains)
        if not self._flat_cells:
            gain += moved.gain(times, given.cell_at, values.logs)
        if not self._flat_sums and len(changed.which):
            gain += changed.gain(times, given.sum_at, values.logs)
        if not flat:
            times = np.where(accepted < gain, times, 0)
        values.tables[moved.which] += moved.by * times
        values.sums[changed.which] += changed.by * times


@dataclass(frozen=True, eq=False)
class _Moved:
    """Cells or sums that a direction moves: which (moved,), by (moved, 1), now (moved, chains)."""

    which: Ints
    by: Ints
    now: Ints
    low: Ints
    high: Ints

    @classmethod
    def of(cls, vector: Vector, values: Ints, bounds: tuple[Ints, Ints]) -> _Moved:
        which = np.array(list(vector), dtype=np.int64)
        by = np.array(list(vector.values()), dtype=np.int64)[:, None]
        return cls(which, by, values[which], *(bound[which][:, None] for bound in bounds))

    @property
    def room(self) -> tuple[Ints, Ints]:
        """How far each chain can go along the direction, (chains,) each; 0 lies between."""
        size = np.abs(self.by)
        down, up = (self.now - self.low) // size, (self.high - self.now) // size
        forward, backward = np.where(self.by > 0, up, down), np.where(self.by > 0, down, up)
        return -backward.min(axis=0), forward.min(axis=0)

    def gain(self, times: Ints, at: Ints, logs: Floats) -> Floats:
        """The gain in log weight, (chains,)."""
        place = at[self.which][:, None] + self.now
        return np.asarray((logs[place + self.by * times] - logs[place]).sum(axis=0))
