"""What a cell can show besides its count: shares of row and column, residuals."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from tabprotect.gui.look.theme import Written, count_text, number_text, per_cent
from tabprotect.languages.messages import message

if TYPE_CHECKING:
    from tabprotect.engine.arrays import Arrays, Bools

FIGURES = {
    "counts": message("Counts"),
    message("row %"): message("Row %"),
    message("column %"): message("Column %"),
    "residuals": message("Residuals"),
}
"""Key to words. Residuals are Pearson's under independence of rows and columns in the layer."""


@dataclass(frozen=True)
class Shown:
    """Cells, row margin, column margin, grand margin, and how to write them."""

    cells: Arrays
    rows: Arrays
    columns: Arrays
    grand: float
    text: Written
    margin_text: Written


def figure(name: str, counts: Arrays, whole: tuple[Bools, Bools] | None = None) -> Shown:
    """One of ``FIGURES`` for a layer of counts, (rows, columns).

    Parameters
    ----------
    whole : bool (rows,), bool (columns,)
        The lines that add up to the whole layer, where others are sums of some of them.
    """
    over = (slice(None), slice(None)) if whole is None else whole
    rows, columns = counts[:, over[1]].sum(axis=1), counts[over[0]].sum(axis=0)
    grand = columns[over[1]].sum()
    if name == "counts":
        return Shown(counts, rows, columns, grand, count_text, count_text)
    with np.errstate(divide="ignore", invalid="ignore"):
        if name == "row %":
            return Shown(
                100.0 * counts / rows[:, None],
                100.0 * rows / rows,
                100.0 * columns / grand,
                100.0 * grand / grand,
                percent_text,
                percent_text,
            )
        if name == "column %":
            return Shown(
                100.0 * counts / columns,
                100.0 * rows / grand,
                100.0 * columns / columns,
                100.0 * grand / grand,
                percent_text,
                percent_text,
            )
        expected = rows[:, None] * (columns / grand)
        residuals = (counts - expected) / np.sqrt(expected)
    return Shown(residuals, rows, columns, grand, residual_text, count_text)


def percent_text(value: float) -> str:
    """A percentage; a dash where the whole is zero."""
    return per_cent(number_text(value, digits=1)) if np.isfinite(value) else "\u2013"


def residual_text(value: float) -> str:
    """A residual; a dash where nothing is expected."""
    return number_text(value, digits=2) if np.isfinite(value) else "\u2013"
