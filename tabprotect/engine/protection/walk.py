"""Running the moves over a table: the forward mechanism, vectorised.

Steps whose cells are disjoint commute. The steps of a pass are grouped into layers: each step
comes right after the last earlier step that shares a cell with it. A layer is one gather, one
minimum per cycle and one scatter, over any number of independent copies of the table at once.
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from tabprotect.engine.progress import SILENT, Progress
from tabprotect.engine.release.likelihood import BlockingRule
from tabprotect.engine.tables.moves import MoveSet

IntArray = npt.NDArray[np.int64]
Coins = npt.NDArray[np.int8]


@dataclass(frozen=True)
class Layer:
    """Disjoint cycles of one pass.

    ``cells``, ``signs`` and ``rows`` list all entries (rows count within the layer); cycle j of
    the layer begins at ``starts[j]`` and is number ``cycles[j]`` of the set.
    """

    cycles: IntArray
    starts: IntArray
    cells: IntArray
    signs: IntArray
    rows: IntArray


def layer_numbers(moves: MoveSet) -> IntArray:
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
    number = layer_numbers(moves)
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


def flip(
    generator: np.random.Generator, shape: tuple[int, ...], *, alpha: float, beta: float
) -> Coins:
    """Three-sided coins: u < alpha adds, alpha <= u < alpha + beta subtracts, else leave."""
    u = generator.random(shape)
    coins = np.zeros(shape, dtype=np.int8)
    coins[u < alpha] = 1
    coins[(u >= alpha) & (u < alpha + beta)] = -1
    return coins


def walk(
    state: IntArray,
    plan: list[Layer],
    coins: Coins,
    rule: BlockingRule,
    progress: Progress = SILENT,
) -> tuple[Coins, npt.NDArray[np.bool_]]:
    """Apply the coins to ``state`` in place.

    Parameters
    ----------
    state : int64 (cells,) or (cells, copies)
        Running counts, changed in place; several independent copies side by side.
    coins : int8 (passes, cycles) or (passes, cycles, copies)

    Returns
    -------
    effective, blocked
        Of the coins' shape. Blocked under ``any_zero``: the cycle touched a zero; under
        ``negative``: the coin's direction would have made a cell negative.
    """
    effective = np.zeros_like(coins)
    blocked = np.zeros(coins.shape, dtype=np.bool_)
    passes, steps = len(coins), max(len(plan), 1)
    for p in range(passes):
        for number, layer in enumerate(plan):
            if number % 64 == 0:
                progress.report("applying the cycles", (p + number / steps) / passes)
            coin = coins[p, layer.cycles]
            if rule == "none":
                take = coin
            elif rule == "any_zero":
                stuck = np.minimum.reduceat(state[layer.cells], layer.starts, axis=0) < 1
                blocked[p, layer.cycles] = stuck
                take = np.where(stuck, 0, coin).astype(np.int8)
            else:
                signs = layer.signs if state.ndim == 1 else layer.signs[:, None]
                after = state[layer.cells] + signs * coin[layer.rows]
                stuck = np.minimum.reduceat(after, layer.starts, axis=0) < 0
                blocked[p, layer.cycles] = stuck
                take = np.where(stuck, 0, coin).astype(np.int8)
            effective[p, layer.cycles] = take
            moving = np.flatnonzero(take if take.ndim == 1 else take.any(axis=1))
            if not len(moving):
                continue
            signs = layer.signs if state.ndim == 1 else layer.signs[:, None]
            state[layer.cells] += signs * take[layer.rows]
    return effective, blocked
