"""The whole table fitted to the released margins alone: iterative proportional fitting."""

from __future__ import annotations

import numpy as np

from tabprotect.engine.arrays import Floats
from tabprotect.engine.errors import InputError
from tabprotect.engine.fitting.expected import fit
from tabprotect.engine.progress import SILENT, Progress
from tabprotect.engine.query_space.frontier import Frontier
from tabprotect.engine.tables.publication import Publication
from tabprotect.engine.tables.table import Table
from tabprotect.languages.messages import message

FITTED_TABLE_CELLS = 2**22
"""Most cells of a table that is fitted in full to released margins."""

FITTED_TABLE_SWEEPS = 200
"""Most sweeps of that fit."""


CLOSE = 1e-6
"""Distance from the margins at which the fit stops."""


def fitted(table: Table, released: Frontier, progress: Progress = SILENT) -> Floats:
    """The table of largest entropy with the released margins (shape of the table).

    Exact after one sweep for decomposable releases, else up to ``CLOSE``.

    Raises
    ------
    InputError
        If the table is too large to be laid out.
    """
    if table.domain.size > FITTED_TABLE_CELLS:
        raise InputError(
            message("a table of {size:,} cells is too large to be fitted in full", table.domain.size),
            hint=message("take a margin of at most {FITTED_TABLE_CELLS:,} cells", FITTED_TABLE_CELLS),
        )
    margins = released.lattice.margins(released.members)
    publication = Publication.of(table.domain, margins or [()])
    counts = publication.added_up(table)
    return fit(publication, counts, tolerance=CLOSE, sweeps=FITTED_TABLE_SWEEPS, progress=progress).cells


def misplaced(table: Table, fit: Floats) -> float:
    """Share of the records that a fitted table puts into wrong cells, in 0..1."""
    total = table.total
    return float(np.abs(fit - table.counts).sum()) / (2 * total) if total else 0.0
