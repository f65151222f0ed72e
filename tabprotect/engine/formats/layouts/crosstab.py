"""A table as rows by columns: the categories of the last variable side by side."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tabprotect.engine.arrays import Bools
from tabprotect.engine.errors import InputError
from tabprotect.engine.formats.layouts.observations import counts_shown
from tabprotect.engine.formats.text.csv_rows import csv_rows
from tabprotect.engine.tables.domain import Domain
from tabprotect.engine.tables.table import Table
from tabprotect.languages.messages import message


@dataclass(frozen=True)
class Crosstab:
    """The layout of a table's cells.

    Attributes
    ----------
    header
        Names of the rows' variables, the last as ``rows\\columns``, then the columns' categories.
    labels
        The categories at the beginning of each row.
    width
        The number of count columns.
    """

    header: tuple[str, ...]
    labels: tuple[tuple[str, ...], ...]
    width: int

    @classmethod
    def of(cls, domain: Domain) -> Crosstab:
        """Lay out a domain. With one variable the rows are its categories, and the only column is ``count``.

        Without variables there is one row, the total.

        Raises
        ------
        InputError
            For a name that could not be read back.
        """
        if not domain.ndim:
            return cls(("", "count"), (("Total",),), 1)
        if any("\\" in name or name != name.strip() for name in domain.names):
            raise InputError(message("a variable's name holds a backslash"), hint=message("rename it first"))
        if domain.ndim == 1:
            ((name, categories),) = [(v.name, v.categories) for v in domain.variables]
            return cls((name, "count"), tuple((c,) for c in categories), 1)
        front, last = domain.names[:-1], domain.variables[-1]
        header = (*front[:-1], f"{front[-1]}\\{last.name}", *last.categories)
        rows = np.ndindex(*domain.shape[:-1])
        inner = Domain(domain.variables[:-1])
        return cls(header, tuple(inner.labels(index) for index in rows), len(last.categories))


HIDDEN = "x"
"""The mark in place of a suppressed count."""


def crosstab_csv(table: Table, hidden: Bools | None = None) -> bytes:
    """The table as rows by columns, in CSV; ``hidden`` (shape of the table) marks suppressed cells."""
    layout = Crosstab.of(table.domain)
    shown = [HIDDEN if count is None else count for count in counts_shown(table, hidden)]
    wide = layout.width
    counts = [shown[at : at + wide] for at in range(0, len(shown), wide)]
    rows = ([*front, *row] for front, row in zip(layout.labels, counts, strict=True))
    return csv_rows(layout.header, rows).encode("utf-8")
