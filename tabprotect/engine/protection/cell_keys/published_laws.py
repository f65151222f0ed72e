"""The likelihood of the count of records behind a published count or a published estimate.

An estimate is the perturbed count j of a cell times the mean design weight m of its records,
rounded. A reader knows the range of weights, not m; m is taken as evenly spread over the range.
"""

from __future__ import annotations

import math
from functools import lru_cache

import numpy as np

from tabprotect.engine.arrays import Floats, Ints
from tabprotect.engine.errors import InfeasibleError, InputError
from tabprotect.engine.protection.cell_keys.perturbation_table import PerturbationTable
from tabprotect.engine.tables.design_weights import SCALE
from tabprotect.languages.messages import message

MOST_POSSIBLE = 2**25
"""Most possible true counts, over all different estimates together: 256 MiB of weights."""

LAWS = 2**14
"""Laws of published counts that are kept: writing and checking a bundle asks for each several times."""

HALF = 0.5
"""Weights are known to a millionth: the range is wider by half of one at either end, so that a
cell whose weights all lie on its end stays possible where rounding half to even needs it."""


def _reach(published: int, *, low: int, high: int) -> tuple[int, int]:
    """The smallest and the largest perturbed count that may give an estimate."""
    least = math.ceil((published - 0.5) * SCALE / (high + HALF)) - 1
    return max(least, 0), math.floor((published + 0.5) * SCALE / (low - HALF)) + 1


def _chances(table: PerturbationTable, published: int, *, low: int, high: int) -> tuple[int, Floats]:
    """P(estimate | count of records) for all counts that the estimate leaves possible, and some more.

    Parameters
    ----------
    low, high
        The range of the design weights, in millionths, from 1 up.

    Returns
    -------
    int, float64 (counts,)
        The first count, and the chances from there on.
    """
    first, last = _reach(published, low=low, high=high)
    # Chance of the estimate for each perturbed count: how much of the range of m leads to it.
    perturbed = np.arange(first, last + 1)
    of = np.maximum(perturbed, 1)
    begin = np.maximum((published - 0.5) * SCALE / of, low - HALF)
    end = np.minimum((published + 0.5) * SCALE / of, high + HALF)
    share = np.clip(end - begin, 0, None) / (high - low + 2 * HALF)
    share = np.where(perturbed > 0, share, float(published == 0))
    most = table.largest
    start = max(first - most, 0)
    counts = np.arange(start, last + most + 1)
    rows = table.row_of(counts)
    padded = np.zeros(len(counts) + 2 * most + 1)
    # padded[k] belongs to the perturbed count start - most + k.
    at = first - start + most
    padded[at : at + len(share)] = share
    out = np.zeros(len(counts))
    for k in range(2 * most + 1):
        out += table.chances[rows, k] * padded[k : k + len(counts)]
    return start, out


@lru_cache(maxsize=LAWS)
def of_count(table: PerturbationTable, published: int) -> tuple[int, int, Floats]:
    """Lowest and highest true count behind a published count, and the log chances between."""
    low = max(published - table.largest, 0)
    counts = np.arange(low, published + table.largest + 1)
    return _possible(published, low, table.chances[table.row_of(counts), published - counts + table.largest])


def of_estimate(table: PerturbationTable, published: int, *, low: int, high: int) -> tuple[int, int, Floats]:
    """The same for an estimate, with weights from ``low`` to ``high`` millionths."""
    return _possible(published, *_chances(table, published, low=low, high=high))


def _possible(published: int, low: int, chances: Floats) -> tuple[int, int, Floats]:
    """Log chances of the counts from ``low`` on, without the impossible ones at either end."""
    possible = np.flatnonzero(chances)
    if not len(possible):
        raise InputError(
            message("a published count of {published} cannot come from this perturbation table", published),
            hint=message("take the mechanism that came with the table"),
        )
    first, last = int(possible[0]), int(possible[-1])
    with np.errstate(divide="ignore"):
        logs = np.log(chances[first : last + 1])
    logs.flags.writeable = False
    return low + first, low + last, logs


def check_possible(estimates: Ints, table: PerturbationTable, *, low: int, high: int) -> None:
    """Refuse estimates that leave too many counts possible to weigh each."""
    possible = 0
    for published in np.unique(estimates).tolist():
        first, last = _reach(published, low=low, high=high)
        possible += last - first + 2 * table.largest
    if possible > MOST_POSSIBLE:
        raise InfeasibleError(
            message(
                "the estimates leave {possible:,} true counts possible, more than can be weighed", possible
            ),
            hint=message("the wider the stated range of weights, the more counts are possible"),
        )
