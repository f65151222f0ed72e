"""Whether a column of record keys is one of random numbers: else the noise could be told.

Keys that count the records, that are few, or that crowd into a part of their range give sums that
lean, and noise that is taken off again. The look is at what uniform keys hardly ever do.
"""

from __future__ import annotations

import numpy as np

from tabprotect.engine.arrays import Ints
from tabprotect.engine.errors import InputError
from tabprotect.engine.randomness import KEY_MODULUS
from tabprotect.languages.said import joined, say

BINS = 16
"""Equal parts of the range."""

ENOUGH = 100
"""Records from which on keys are looked at."""

CHI_SQUARE = 90.0
"""Of 16 parts: uniform keys exceed it once in 10^12 times."""

FEW = 100
"""Different keys that are too few, whatever the range."""

RANGES = (100, 128, 256, 512, 1000, 1024, 4096, 10_000, 65_536, 10**5, 10**6, 10**7, KEY_MODULUS)
"""Where whole keys usually end: the first above the largest is taken for theirs."""

BAR = 40


def key_range(most: int) -> int:
    """The range that whole keys with such a largest one are taken to have."""
    return next(end for end in RANGES if end > most)


def examine(column: str, records: int, distinct: int, ends: tuple[int, int], parts: Ints) -> None:
    """Look at the keys of many records.

    Parameters
    ----------
    distinct
        Different keys, within a few per cent.
    ends
        Smallest and largest key, as whole numbers.
    parts : int64 (BINS,)
        Keys in each of the equal parts of the range.

    Raises
    ------
    InputError
        When they are no random numbers, with their picture.
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
            column=column,
            why=why,
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
