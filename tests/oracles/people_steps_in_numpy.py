"""Steps of chains over people, in numpy: number for number those of ``people_steps.c``.

Takes the place of the compiled module. The arrays of the law: the numbers (sums, chains, steps); the kind of
each sum; low and high of the kinds, where their log weights begin, and these; the penalty.
"""

from __future__ import annotations

from typing import Any

import numpy as np


def _law(arrays: tuple[Any, ...], factors: Any, sums: Any) -> Any:
    kind, low, high, log_starts, logs, penalty = arrays[1:7]
    of = kind[factors]
    inside = np.clip(sums, low[of, None], high[of, None])
    weighed = (np.diff(log_starts)[of] > 0)[:, None]
    out = np.zeros(sums.shape)
    if weighed.any():
        out = np.where(
            weighed, logs[np.where(weighed, log_starts[of, None] + inside - low[of, None], 0)], 0.0
        )
    return out - penalty * np.abs(sums - inside)


def gains(arrays: tuple[Any, ...]) -> None:
    """Add up what all sums gain; behind the law: sums before and after, and the gains, (chains,)."""
    before, after, gain = arrays[7:]
    every = slice(None)
    gain += (_law(arrays, every, after) - _law(arrays, every, before)).sum(axis=0)


def steps(arrays: tuple[Any, ...]) -> None:
    """Take steps; behind the law: their cells, changes and chances, the sums of cells, people, and sums."""
    starts, flat, each, by, chance, of_starts, of, people, sums = arrays[7:16]
    block, penalty = people.reshape(-1, people.shape[-1]), arrays[6]
    for step in range(int(arrays[0][2])):
        some = slice(starts[step], starts[step + 1])
        cells, signs = flat[some], each[some]
        changed = np.zeros(len(sums), dtype=np.int64)
        for cell, sign in zip(cells, signs, strict=True):
            changed[of[of_starts[cell] : of_starts[cell + 1]]] += sign
        factors = np.flatnonzero(changed)
        before = sums[factors]
        after = before + changed[factors, None] * by[step]
        gain = (_law(arrays, factors, after) - _law(arrays, factors, before)).sum(axis=0)
        old = block[cells]
        new = old + signs[:, None] * by[step]
        gain += (penalty * np.maximum(-old, 0) - penalty * np.maximum(-new, 0)).sum(axis=0)
        taken = (chance[step] < gain) * by[step]
        block[cells] = old + signs[:, None] * taken
        sums[factors] = before + changed[factors, None] * taken
