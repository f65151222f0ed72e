"""A table in long form as an Excel workbook, the same bytes for the same table."""

from __future__ import annotations

import datetime
import io
import re

import numpy as np

from tabprotect.engine.arrays import Bools
from tabprotect.engine.budgets import EXACT_FLOAT
from tabprotect.engine.budgets import SHEET_WRITING_ROWS as MOST_ROWS
from tabprotect.engine.errors import InputError
from tabprotect.engine.formats.format import COUNT
from tabprotect.engine.formats.statuses import CONF_STATUS, CONFIDENTIAL, FREE, SHOWN
from tabprotect.engine.tables.table import Table

_UNWRITABLE = re.compile(r"[\x00-\x08\x0b-\x1f\ufffe\uffff]|_x[0-9A-Fa-f]{4}_")
"""What spreadsheet programs escape or drop."""
_LONGEST = 32_000


def write_sheet(table: Table, hidden: Bools | None, title: str) -> bytes:
    """The table in long form, one sheet; suppressed counts (``hidden``) have their mark.

    Raises
    ------
    InputError
        For a table that is too long, or a text that does not come back as it was; and where the
        library that writes workbooks is not installed.
    """
    try:
        # Late: an extra, and nothing else needs it.
        import xlsxwriter
    except ImportError:
        raise InputError(
            "Excel workbooks are written with xlsxwriter, which is not installed",
            hint="install it with: pip install 'tabprotect[io]'",
        ) from None
    domain = table.domain
    if domain.size > MOST_ROWS:
        raise InputError(
            f"a sheet holds {MOST_ROWS:,} rows, the table has {domain.size:,} cells",
            hint="write CSV or Parquet",
        )
    taken = {COUNT, CONF_STATUS} & set(domain.names)
    if taken:
        raise InputError(f"a variable is named {taken.pop()!r}", hint="rename it before writing")
    for text in (t for v in domain.variables for t in (v.name, *v.categories)):
        if _UNWRITABLE.search(text) or len(text) > _LONGEST:
            raise InputError(
                f"a sheet cannot hold the text {text[:40]!r}", hint="rename it, or write CSV"
            )
    out = io.BytesIO()
    book = xlsxwriter.Workbook(out, {"in_memory": True})
    # Without the time and without a name: the same bytes for the same table.
    book.set_properties({"title": title, "created": datetime.datetime(2000, 1, 1)})
    sheet = book.add_worksheet("table")
    header = [*domain.names, COUNT, *([CONF_STATUS] if hidden is not None else [])]
    bold = book.add_format({"bold": True})
    for column, name in enumerate(header):
        sheet.write_string(0, column, name, bold)
    sheet.freeze_panes(1, 0)
    counts = table.counts.reshape(-1).tolist()
    without = set() if hidden is None else set(np.flatnonzero(hidden).tolist())
    at = domain.ndim
    for cell, labels in enumerate(np.ndindex(*domain.shape)):
        for column, label in enumerate(domain.labels(labels)):
            sheet.write_string(cell + 1, column, label)
        if cell in without:
            sheet.write_string(cell + 1, at, SHOWN)
        elif counts[cell] < EXACT_FLOAT:
            sheet.write_number(cell + 1, at, counts[cell])
        else:
            sheet.write_string(cell + 1, at, str(counts[cell]))
        if hidden is not None:
            sheet.write_string(cell + 1, at + 1, CONFIDENTIAL if cell in without else FREE)
    book.close()
    return out.getvalue()
