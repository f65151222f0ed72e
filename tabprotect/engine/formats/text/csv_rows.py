"""Rows of figures as CSV, as written by commands and pages besides tables."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Sequence


def csv_rows(header: Sequence[object], rows: Iterable[Sequence[object]], *, delimiter: str = ",") -> str:
    """A header and its rows as text: lines end with ``\\n``, fields are quoted if necessary.

    Parameters
    ----------
    rows
        ``None`` is an empty field; floats are written so that they are read back exactly. The rows
        may be a generator, which can report its progress.
    delimiter
        A tab for the clipboard, which spreadsheets paste as cells.
    """
    out = io.StringIO()
    writer = csv.writer(out, delimiter=delimiter, lineterminator="\n")
    writer.writerow(header)
    writer.writerows(rows)
    return out.getvalue()
