"""Layers of disjoint cycles: the steps of a pass that may be done at once.

Steps whose cells are disjoint commute. Each step belongs right after the last earlier step that
shares a cell with it; running the layers in order (or, for the posterior, in reverse) is the
sequential mechanism.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import dataclass, replace
from weakref import WeakKeyDictionary

import numpy as np

from tabprotect.engine.arrays import Ints, Signs
from tabprotect.engine.cycles import cycle_steps
from tabprotect.engine.tables.moves import MoveSet

LONG = 256
"""Cycles of at least this many cells on average gain nothing from sharing a layer."""


FEW = 64
"""Number of runs of cycles after which their average length is judged."""

SHORT = 32
"""Runs of fewer cycles on average are given up for layers that reach further."""


@dataclass(frozen=True, eq=False)
class Layer:
    """Disjoint cycles of one pass.

    ``cells`` and ``signs`` list all entries; cycle j of the layer begins at ``starts[j]`` and is
    number ``cycles[j]`` of the set.
    """

    cycles: Ints
    starts: Ints
    cells: Ints
    signs: Signs

    @property
    def rows(self) -> Ints:
        """The cycle of each entry, counted within the layer."""
        lengths = np.diff(self.starts, append=len(self.cells))
        return np.repeat(np.arange(len(self.cycles)), lengths)


def layer_numbers(moves: MoveSet) -> Ints:
    """The layer of each cycle, (cycles,): one more than the highest earlier overlapping one."""
    out = np.zeros(len(moves), dtype=np.int64)
    last = np.zeros(moves.domain.size, dtype=np.int64)
    cycle_steps.layer_numbers(len(moves), moves.starts, moves.cells, last, out)
    return out


def runs(moves: MoveSet) -> Ints | None:
    """The starts of runs of consecutive disjoint cycles in the list, and the end of the last.

    Such runs are layers as they stand, views into the list. Two passes over the entries. ``None``
    if they are short.
    """
    last = np.full(moves.domain.size, -1, dtype=np.int64)
    bounds = [0]
    begin, chunk = 0, FEW
    while begin < len(moves):
        end = min(begin + chunk, len(moves))
        span = slice(int(moves.starts[begin]), int(moves.starts[end]))
        cells = moves.cells[span]
        row = np.repeat(np.arange(begin, end), np.diff(moves.starts[begin : end + 1]))
        before = last[cells]
        # Backwards, so that each cell names the first of these cycles that touches it.
        last[cells[::-1]] = row[::-1]
        taken = (last[cells] != row) | ((before >= bounds[-1]) & (before < begin))
        if not taken.any():
            begin, chunk = end, 2 * chunk
            continue
        begin = int(row[taken.argmax()])
        # The next run is most often as long as this one.
        chunk = begin - bounds[-1] + 1
        bounds.append(begin)
        if len(bounds) > FEW and begin < SHORT * len(bounds):
            return None
    return None if len(moves) < SHORT * len(bounds) else np.array([*bounds, len(moves)], dtype=np.int64)


_LAYERS: WeakKeyDictionary[MoveSet, tuple[Layer, ...]] = WeakKeyDictionary()
"""Of the sets in use: finding the layers takes longer than a draw, and a set has many draws."""


def layers(moves: MoveSet) -> tuple[Layer, ...]:
    """The layers of one pass, in order; found once for each set."""
    if moves not in _LAYERS:
        _LAYERS[moves] = tuple(_found(moves))
    return _LAYERS[moves]


def _found(moves: MoveSet) -> Iterator[Layer]:
    if not len(moves):
        return
    alone = len(moves.cells) >= LONG * len(moves)
    found = np.arange(len(moves) + 1) if alone else runs(moves)
    if found is not None:
        yield from (_run(moves, a, b) for a, b in itertools.pairwise(found.tolist()))
        return
    number = layer_numbers(moves)
    by_layer = np.argsort(number, kind="stable")
    bounds = np.flatnonzero(np.r_[True, np.diff(number[by_layer]) != 0, True])
    sorted_moves = moves.take(by_layer)
    for a, b in itertools.pairwise(bounds.tolist()):
        yield replace(_run(sorted_moves, a, b), cycles=by_layer[a:b])


def _run(moves: MoveSet, first: int, end: int) -> Layer:
    begin = int(moves.starts[first])
    span = slice(begin, int(moves.starts[end]))
    starts = moves.starts[first:end] - begin
    return Layer(np.arange(first, end), starts, moves.cells[span], moves.signs[span])
