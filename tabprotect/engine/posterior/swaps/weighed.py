"""The posterior from originals that were drawn under one belief and are weighed by another."""

from __future__ import annotations

import numpy as np

from tabprotect.engine.arrays import Floats, Ints
from tabprotect.engine.errors import InfeasibleError
from tabprotect.engine.posterior.margins import laws_of, standard_errors
from tabprotect.engine.posterior.posterior import Posterior
from tabprotect.engine.posterior.prior import Prior
from tabprotect.engine.progress import Progress
from tabprotect.engine.tables.table import Table
from tabprotect.languages.messages import message

MOST_HELD = 2**25
"""Counts of all originals that are drawn to be weighed."""


def held(number: int, cells: int) -> int:
    """So many of the draws that are asked for are weighed."""
    return max(min(number, MOST_HELD // cells), 1)


def weighed(published: Table, prior: Prior, tables: Ints, logs: Floats, reason: str) -> Posterior:
    """The posterior from drawn originals.

    Parameters
    ----------
    tables : int64 (number, cells)
    logs : float64 (number,)
        The logarithms of their weights, up to a constant.

    Raises
    ------
    InfeasibleError
        Where no draw is possible by the prior.
    """
    peak = logs.max()
    if peak == -np.inf:
        raise InfeasibleError(
            message("the prior excludes every original that was drawn"), hint=message("choose a wider prior")
        )
    weights = np.exp(logs - peak)
    weights /= weights.sum()
    effective = 1.0 / float((weights**2).sum())
    first, chances = laws_of(tables, weights)
    errors = standard_errors(chances, effective)

    def again(number: int, generator: np.random.Generator, progress: Progress) -> Ints:
        return np.asarray(tables[generator.choice(len(tables), number, p=weights)])

    return Posterior(
        published=published,
        prior=prior,
        way="monte_carlo",
        reason=reason,
        group_of_cell=np.arange(tables.shape[1]),
        first=first,
        chances=chances,
        draw_originals=again,
        count_originals=lambda: None,
        standard_errors=errors,
        error=float(errors.max(initial=0.0)),
        effective_sample_size=effective,
        draws=len(tables),
    )
