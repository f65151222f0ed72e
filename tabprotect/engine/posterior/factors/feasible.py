"""Check that some original fits what was published, before a posterior is computed."""

from __future__ import annotations

import numpy as np

from tabprotect.engine.arrays import Ints
from tabprotect.engine.equal_rows import runs
from tabprotect.engine.errors import InfeasibleError, SolverError
from tabprotect.engine.posterior.factors.cell_laws import cell_laws
from tabprotect.engine.posterior.factors.components import split_components
from tabprotect.engine.posterior.factors.loose_chains import LooseChains
from tabprotect.engine.posterior.prior import Uniform
from tabprotect.engine.progress import SILENT, Progress
from tabprotect.engine.release.likelihood import UNBOUNDED, CellFactors, open_ends
from tabprotect.engine.solver import Entries, Limit, whole_table
from tabprotect.languages.messages import message

MOST_ENTRIES = 2_000_000
"""Most cells, over all sums together, for which a programme is solved."""

FEASIBLE_NODES = 1_000
"""Branch-and-bound nodes to find an original in whole numbers."""


COOLED, TOGETHER = 5_000, 2
"""Cells beyond which counts are cooled first, as a programme takes minutes, and how many tables at once."""


def original_found(likelihood: CellFactors, progress: Progress = SILENT) -> bool:
    """Look for a table of whole counts that every factor allows.

    Returns
    -------
    bool
        True if one was found; False if the search ended without an answer. What a method would
        choose on it (``rerun``) is not checked.

    Raises
    ------
    InfeasibleError
        If there is none.
    """
    low, high = _counts_of_factors(likelihood)
    lengths = np.diff(likelihood.starts)
    empty = lengths == 0
    if (low[empty] > 0).any():
        raise _none(message("a published sum of no cells is not 0"))
    least = np.zeros(likelihood.domain.size, dtype=np.int64)
    most = np.full(likelihood.domain.size, UNBOUNDED, dtype=np.int64)
    alone = np.flatnonzero(lengths == 1)
    cells = likelihood.cells[likelihood.starts[:-1][alone]]
    np.maximum.at(least, cells, low[alone])
    np.minimum.at(most, cells, high[alone])
    if (least > most).any():
        cell = likelihood.domain.unflat(int(np.argmax(least > most)))
        raise _none(message("nothing fits cell {cell}", likelihood.domain.cell_text(cell)))
    sums = np.flatnonzero(lengths > 1)
    if not len(sums):
        return True
    if likelihood.domain.size > COOLED and _cooled(likelihood, progress):
        return True
    if int(lengths[sums].sum()) > MOST_ENTRIES:
        return False
    return _solved(likelihood, sums, (least, most), (low[sums], high[sums]), progress)


def _cooled(likelihood: CellFactors, progress: Progress) -> bool:
    """Whether counts cooled into the ranges of the sums fit every part of the table; no answer where not."""
    parts = split_components(cell_laws(likelihood, Uniform())).components
    shape, coins = likelihood.domain.shape, np.random.default_rng(0)
    return all(LooseChains.starts(part, shape, TOGETHER, coins, progress) is not None for part in parts)


def _counts_of_factors(likelihood: CellFactors) -> tuple[Ints, Ints]:
    """The lowest and highest sum of each factor that has positive weight."""
    low, high = likelihood.low.copy(), likelihood.high.copy()
    for kind in np.flatnonzero(np.diff(likelihood.log_starts) > 0):
        run = likelihood.logs[likelihood.log_starts[kind] : likelihood.log_starts[kind + 1]]
        weighs = np.flatnonzero(run > -np.inf)
        if not len(weighs):
            raise _none(message("a published count has no true one"))
        low[kind], high[kind] = low[kind] + weighs[0], likelihood.low[kind] + weighs[-1]
    return low[likelihood.kind], high[likelihood.kind]


def _solved(
    likelihood: CellFactors,
    sums: Ints,
    cells: tuple[Ints, Ints],
    limits: tuple[Ints, Ints],
    progress: Progress,
) -> bool:
    starts, lengths = likelihood.starts[sums], np.diff(likelihood.starts)[sums]
    row, place = runs(starts, lengths)
    entries = Entries.at(row, likelihood.cells[place], 1.0, likelihood.domain.size)
    try:
        found = whole_table(
            entries,
            sums=(limits[0], open_ends(limits[1])),
            cells=(cells[0], open_ends(cells[1])),
            limit=Limit(FEASIBLE_NODES),
            progress=progress,
            stage=message("looking for an original that fits"),
        )
    except InfeasibleError:
        raise _none(message("the published counts contradict each other")) from None
    except SolverError:
        return False
    return found is not None


def _none(why: str) -> InfeasibleError:
    return InfeasibleError(message("no original table fits: {why}", why))
