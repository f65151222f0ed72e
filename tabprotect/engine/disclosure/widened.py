"""Whether limits could be broken by what is bounded of what happened before a release."""

from __future__ import annotations

import numpy as np

from tabprotect.engine.arrays import Floats
from tabprotect.engine.disclosure.cell_beliefs import TableBelief
from tabprotect.engine.posterior.widening import Widening
from tabprotect.engine.release.limits import ROUNDING, Limits
from tabprotect.engine.release.mechanism import Gate


def may_fail(beliefs: Floats, widening: Widening, limits: Limits) -> bool:
    """Return True if what is known, or the mean belief, could be beyond its limit.

    Parameters
    ----------
    beliefs : float64 (statements, cells)
        The beliefs in statements of each cell that exclude each other.
    """
    together, _ = widening.ends(beliefs.sum(axis=0))
    _, highest = widening.ends(beliefs.max(axis=0, initial=0.0))
    return bool(
        int((highest > limits.belief_limit).sum()) > limits.share * float(together.sum())
        or widening.mean_belief(beliefs) > limits.mean_belief_limit + ROUNDING
    )


def cells_may_fail(belief: TableBelief, widening: Widening, limits: Gate) -> bool:
    """Return True if a limit of small counts of one table could be broken."""
    if belief.rows is None:
        return False
    rule, (_, first, chances) = limits.at_risk, belief.rows
    cells = belief.among((first <= rule.high) & (first + chances.shape[1] > rule.low))
    if not len(cells):
        return False
    high = min(rule.high, int(first[cells].max()) + chances.shape[1] - 1)
    values = range(max(rule.low, int(first[cells].min())), high + 1)
    beliefs = np.stack([belief.probability(value, cells) for value in values])
    if may_fail(beliefs, widening, limits):
        return True
    if limits.small_share == 1:
        return False
    low, high_ends = widening.ends(beliefs.sum(axis=0))
    small = int((high_ends > limits.belief_limit).sum())
    return small > limits.small_share * float(low.sum()) + ROUNDING
