"""Checking that record keys are random numbers: otherwise the noise could be told.

Keys that number the records, take few values, or crowd into a part of their range give biased sums,
and noise that can be removed. The checks reject what uniform keys hardly ever show.
"""

from __future__ import annotations

import numpy as np

from tabprotect.engine.arrays import Ints
from tabprotect.engine.errors import InputError
from tabprotect.engine.randomness import KEY_MODULUS
from tabprotect.languages.said import joined, say

BINS = 16
"""The number of equal parts of the range."""

ENOUGH = 100
"""The least number of records for which keys are checked."""

CHI_SQUARE = 90.0
"""The critical value for 16 parts: uniform keys exceed it once in 10^12 times."""

FEW = 100
"""A number of different keys that is too few, whatever the range."""

RANGES = (100, 128, 256, 512, 1000, 1024, 4096, 10_000, 65_536, 10**5, 10**6, 10**7, KEY_MODULUS)
"""Usual upper ends of whole keys: the first above the largest key is taken as their range."""

BAR = 40


def key_range(most: int) -> int:
    """The assumed range of whole keys with this largest key."""
    return next(end for end in RANGES if end > most)


def examine(column: str, records: int, distinct: int, ends: tuple[int, int], parts: Ints) -> None:
    """Check the keys of many records.

    Parameters
    ----------
    distinct
        The number of different keys, within a few per cent.
    ends
        Smallest and largest key, as whole numbers.
    parts : int64 (BINS,)
        Keys in each of the equal parts of the range.

    Raises
    ------
    InputError
        When they are not random numbers, with a picture of them.
    """
    if records < ENOUGH:
        return
    span = ends[1] - ends[0] + 1
    expected = records / BINS
    crowded = float(((parts - expected) ** 2).sum()) / expected > CHI_SQUARE
    if span <= 2 * records and distinct >= 0.9 * records:
        why = say("the record keys look like a running number")
    elif distinct < min(FEW, records / 2):
        why = say("there are only a few different record keys")
    elif crowded:
        why = say("the record keys crowd into a part of their range")
    else:
        return
    raise InputError(
        say(
            "{column}: {why}, not like random numbers: the noise could be taken off again",
            column,
            why,
        ),
        hint=say("let the program give every record a key: record-keys FILE --out KEYED"),
        detail=picture(parts),
    )


def picture(parts: Ints) -> str:
    """The parts of the range as bars."""
    longest = max(int(parts.max(initial=0)), 1)
    bars = np.ceil(parts / longest * BAR).astype(int)
    return joined(
        (f"{k / BINS:5.3f} {'#' * int(bar)}".rstrip() for k, bar in enumerate(bars.tolist())), "\n"
    )
