"""How far chains and populations of draws agree: what all engines that draw have in common.

What moves the chains is not. Rings drawn whole (``together``) weigh three neighbours at once, which are no
sums. Noise that equal sets of records share (``attack``) is no factor of one sum, either, and steps there
are in whole numbers, so that a release is judged alike on every machine. Noise by itself both could take:
with all margins of 4 x 4, 4 x 4 x 4 and 6 x 6 x 6 cells, tempered levels take .25, .21 and .44 CPU s, and
bounds and circuits (``factors``) .39, 1.6 and 5.0, most of it for a basis of their moves (2^8: over 50),
though on 10 x 10 a second of these is worth 8,400 draws, not 2,900. Of 10,000 cells with both margins tempered
levels have not settled in 30 CPU s (R-hat 1.1 by cell keys, 2.0 by Laplace noise); chains over loose sums
have in 4 to 20. Where margins are exact only circuits leave one table for another.
"""

from __future__ import annotations

import math
from collections.abc import Iterable

import numpy as np

from tabprotect.engine.arrays import Bools, Floats, Ints

SETTLED = 1.1
"""Largest R-hat (potential scale reduction) of chains that are judged by."""


def r_hat(within: Floats, between: Floats, share: float = 1.0, still: float = 0.0) -> float:
    """The largest potential scale reduction of several means: 1 when the chains agree.

    Infinite when chains stand still in different places. Gelman & Rubin 1992.

    Parameters
    ----------
    within, between : float64 (means,)
        The variance inside the chains, and that of their means.
    share
        (records - 1) / records.
    still
        Up to this variance a chain stands still.
    """
    moves = within > still
    if (between[~moves] > still).any():
        return math.inf
    return float(np.sqrt(share + between[moves] / within[moves]).max()) if moves.any() else 1.0


def mixing(drawn: Ints, counted: Bools) -> tuple[float, Floats]:
    """R-hat, the largest of all numbers, and the worth of a draw beside an independent one.

    Parameters
    ----------
    drawn : (records, numbers, chains)
    counted : bool (records, chains)
        Which records count.

    Returns
    -------
    r_hat : float
        Infinite where the records that count are of fewer than two chains.
    worth : float64 (numbers,)
        At most 1, which is also that of a number that never changes.
    """
    used = counted.any(axis=0)
    if used.sum() < 2:
        return math.inf, np.zeros(drawn.shape[1])
    if not used.all():
        drawn, counted = drawn[..., used], counted[:, used]
    # In whole numbers, from the first record on: small and exact.
    moved = drawn - drawn[0]
    if not counted.all():
        moved *= counted[:, None]
    records = counted.sum(axis=0)
    total = moved.sum(axis=0, dtype=np.int64)
    squares = np.einsum("rcn,rcn->cn", moved, moved, dtype=np.float64)
    within = ((squares - total * (total / records)) / np.maximum(records - 1, 1)).mean(axis=1)
    between = (drawn[0] + total / records).var(axis=1, ddof=1)
    each = float(records.mean())
    alone = np.divide(within, each * between, out=np.ones(len(within)), where=between > 0)
    return r_hat(within, between, (each - 1) / each), np.minimum(alone, 1.0)


def worth(shares: Floats, variance: Floats, draws: int, alike: int | None = None) -> float:
    """The independent draws that would have the same error, at most as many as were taken.

    Parameters
    ----------
    alike
        What they are worth where there is no spread between them; by default all.
    """
    spread, noise = float((shares * (1 - shares)).sum()), float(variance.sum())
    return min(spread / noise, float(draws)) if noise else float(draws if alike is None else alike)


def averaged(runs: Iterable[Floats]) -> tuple[Floats, Floats, int]:
    """The mean over runs, the sum of squares around it, and the number of runs."""
    mean = square = np.zeros(())
    number = 0
    for number, one in enumerate(runs, start=1):
        if number == 1:
            mean, square = np.zeros_like(one), np.zeros_like(one)
        difference = one - mean
        part = difference / number
        mean += part
        np.subtract(one, mean, out=part)
        part *= difference
        square += part
    return mean, square, number
