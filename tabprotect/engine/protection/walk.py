"""Running the moves over a table: the forward mechanism, vectorised.

A layer of disjoint cycles is one gather, one minimum per cycle and one scatter, over any number
of independent copies of the table at once.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from tabprotect.engine.cycles.layers import Layer
from tabprotect.engine.progress import SILENT, Progress
from tabprotect.engine.release.likelihood import BlockingRule

IntArray = npt.NDArray[np.int64]
Coins = npt.NDArray[np.int8]


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
