"""A posterior, and originals drawn from it, as rows of figures that formats write."""

from __future__ import annotations

import numpy as np

from tabprotect.engine.arrays import Ints
from tabprotect.engine.errors import InputError
from tabprotect.engine.formats.rows.figures import FigureRows
from tabprotect.engine.posterior.columns import PosteriorColumns
from tabprotect.engine.posterior.posterior import Posterior
from tabprotect.engine.tables.domain import Domain
from tabprotect.languages.messages import message

FIGURES = ("published", "mean", "mode", "count", "probability")
"""Columns after those of the variables; ``published`` is empty where no count is published."""

DRAWN = ("draw", "count")
"""Columns of drawn originals, beside those of the variables."""


def posterior_figures(posterior: Posterior, cells: Ints) -> FigureRows:
    """Rows for the given cells, one for each count that a cell can have.

    Parameters
    ----------
    cells : int64
        Flat cells, in the order they are written.

    Raises
    ------
    InputError
        If a variable has the name of one of the ``FIGURES``.
    TooLargeError
        If there are too many rows.
    """
    _check_names(posterior.domain, FIGURES)
    rows = PosteriorColumns.of(posterior, cells)
    columns = (
        posterior.published.counts.reshape(-1)[rows.cells],
        posterior.mean.reshape(-1)[rows.cells],
        posterior.mode.reshape(-1)[rows.cells],
        rows.counts,
        rows.chances,
    )
    shown = posterior.is_published.reshape(-1)[rows.cells]
    return FigureRows(
        posterior.domain, rows.cells, dict(zip(FIGURES, columns, strict=True)), shown={"published": shown}
    )


def drawn_figures(domain: Domain, tables: Ints) -> FigureRows:
    """A row for each drawn original and cell.

    Parameters
    ----------
    tables : int64 (draws, cells)

    Raises
    ------
    InputError
        If a variable is called ``draw`` or ``count``.
    """
    _check_names(domain, DRAWN)
    number, cells = tables.shape
    return FigureRows(
        domain,
        np.tile(np.arange(cells), number),
        {"count": tables.reshape(-1)},
        before={"draw": np.repeat(np.arange(1, number + 1), cells)},
    )


def _check_names(domain: Domain, taken: tuple[str, ...]) -> None:
    for name in taken:
        # SQL names are case-insensitive.
        if name in map(str.lower, domain.names):
            raise InputError(
                message("a variable is called {name}, like a column of the file", repr(name)),
                hint=message("rename the variable; or take another form: --json"),
            )
