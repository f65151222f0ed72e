"""What insiders learn: those who are alone in a cell, and so know its count.

A reader of the bundle cannot tell who they are. All cells that the user believes to hold one person
with at least even odds therefore have an insider; a cell counts as known if one of them knows it.
Insiders are reported, not judged: the release owes them their own cell only.
"""

from __future__ import annotations

import numpy as np

from tabprotect.engine.arrays import Floats, Ints
from tabprotect.engine.posterior.posterior import Posterior
from tabprotect.engine.progress import SILENT, Progress
from tabprotect.engine.release.stated_gate import Gate
from tabprotect.engine.release.verdict_figures import TableVerdict

INSIDERS_WORK = 200_000_000
"""The most cells of all originals for each insider: about a second."""


ALONE = 0.5
"""The probability of holding one person from which on a cell has an insider."""

ROUNDING = 1e-12
"""The tolerance for sums of probabilities, so that even odds count as even."""


def insider_verdict(
    user: Posterior, limits: Gate, certain: float, progress: Progress = SILENT
) -> TableVerdict | None:
    """The figures of insiders over the inner cells.

    Parameters
    ----------
    user
        Belief about the inner cells of a reader who knows none of them.
    certain
        The belief from which on a count is certain.

    Returns
    -------
    TableVerdict or None
        ``None`` if nobody is likely to be alone, or the originals cannot be listed.
    """
    found = user.list_originals() if user.way == "exact" else None
    if found is None:
        return None
    tables, weights = found
    open_ = np.flatnonzero(tables.min(axis=0) < tables.max(axis=0))
    insiders = np.flatnonzero(weights @ (tables == 1) >= ALONE - ROUNDING)
    if not len(insiders) or len(insiders) * tables[:, open_].size > INSIDERS_WORK:
        return None
    values = range(limits.at_risk.low, limits.at_risk.high + 1)
    # What everybody knows, insiders know too, apart from their own cells.
    highest, expected = np.zeros(tables.shape[1]), np.zeros(tables.shape[1])
    for number, cell in enumerate(insiders):
        progress.report("judging insiders", number / len(insiders))
        among = tables[:, cell] == 1
        top, inside = _beliefs(tables[among], weights[among] / weights[among].sum(), values)
        top[cell] = inside[cell] = 0.0
        np.maximum(highest, top, out=highest)
        np.maximum(expected, inside, out=expected)
    return TableVerdict(
        who="insider",
        names=user.domain.names,
        inner=True,
        cells=tables.shape[1],
        at_risk=float(expected.sum()),
        known=int((highest > limits.belief_limit).sum()),
        certain=int((highest > certain).sum()),
        way="exact",
        note=user.note,
    )


def _beliefs(tables: Ints, weights: Floats, values: range) -> tuple[Floats, Floats]:
    """The highest belief in one at-risk count, and in any, of every cell (cells,)."""
    top, inside = np.zeros(tables.shape[1]), np.zeros(tables.shape[1])
    for value in values:
        chance = weights @ (tables == value)
        np.maximum(top, chance, out=top)
        inside += chance
    return top, inside
