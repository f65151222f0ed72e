"""Rows of figures as CSV: what commands and pages write beside tables."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Sequence


def csv_rows(
    header: Sequence[object], rows: Iterable[Sequence[object]], *, delimiter: str = ","
) -> str:
    """A header and its rows as text: lines end with ``\\n``, fields are quoted where they must be.

    Parameters
    ----------
    rows
        ``None`` is an empty field, floats are written so that they come back exactly. They may be
        generated: a generator can report its progress.
    delimiter
        A tab for the clipboard, which spreadsheets paste as cells.
    """
    out = io.StringIO()
    writer = csv.writer(out, delimiter=delimiter, lineterminator="\n")
    writer.writerow(header)
    writer.writerows(rows)
    return out.getvalue()
