"""Layers of disjoint cycles: the steps of a pass that may be done at once.

Steps whose cells are disjoint commute. Each step belongs right after the last earlier step that
shares a cell with it; running the layers in order (or, for the posterior, in reverse) is the
sequential mechanism.
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass

import numpy as np

from tabprotect.engine.arrays import Ints
from tabprotect.engine.tables.moves import MoveSet

LONG = 256
"""Cycles of at least this many cells on average gain nothing from sharing a layer."""


@dataclass(frozen=True)
class Layer:
    """Disjoint cycles of one pass.

    ``cells``, ``signs`` and ``rows`` list all entries (rows count within the layer); cycle j of
    the layer begins at ``starts[j]`` and is number ``cycles[j]`` of the set.
    """

    cycles: Ints
    starts: Ints
    cells: Ints
    signs: Ints
    rows: Ints


def layer_numbers(moves: MoveSet) -> Ints:
    """The layer of each cycle, (cycles,): one more than the highest earlier overlapping one.

    Level by level over the predecessor graph; O(entries + layers).
    """
    order = np.lexsort((moves.rows, moves.cells))
    cell, row = moves.cells[order], moves.rows[order]
    follows = np.diff(cell) == 0
    before, after = row[:-1][follows], row[1:][follows]
    pairs = np.unique(before * len(moves) + after)
    before, after = pairs // len(moves), pairs % len(moves)
    waiting = np.bincount(after, minlength=len(moves))
    begin = np.searchsorted(before, np.arange(len(moves) + 1))
    layer = np.zeros(len(moves), dtype=np.int64)
    ready = np.flatnonzero(waiting == 0)
    level = 0
    while len(ready):
        layer[ready] = level
        spans = begin[ready + 1] - begin[ready]
        offsets = np.arange(spans.sum()) - np.repeat(np.cumsum(spans) - spans, spans)
        reached = after[np.repeat(begin[ready], spans) + offsets]
        np.subtract.at(waiting, reached, 1)
        candidates = np.unique(reached)
        ready = candidates[waiting[candidates] == 0]
        level += 1
    return layer


def layers(moves: MoveSet) -> list[Layer]:
    """The layers of one pass, in order."""
    if not len(moves):
        return []
    alone = len(moves.cells) >= LONG * len(moves)
    number = np.arange(len(moves)) if alone else layer_numbers(moves)
    by_layer = np.argsort(number, kind="stable")
    bounds = np.flatnonzero(np.r_[True, np.diff(number[by_layer]) != 0, True])
    length = np.diff(moves.starts)
    out = []
    for a, b in itertools.pairwise(bounds):
        cycles = by_layer[a:b]
        spans = length[cycles]
        starts = np.cumsum(spans) - spans
        rows = np.repeat(np.arange(len(cycles)), spans)
        take = np.repeat(moves.starts[cycles] - starts, spans) + np.arange(spans.sum())
        out.append(
            Layer(cycles, starts, moves.cells[take], moves.signs[take].astype(np.int64), rows)
        )
    return out
