"""Sheets as an Excel workbook, the same bytes for the same sheets."""

from __future__ import annotations

import datetime
import io
from collections.abc import Mapping

from tabprotect.engine.formats.workbooks.sheet_writing import SheetData


def xlsx_bytes(sheets: Mapping[str, SheetData], title: str) -> bytes:
    """The bytes of the workbook; the last sheet is the one shown first."""
    # Imported late: nothing else needs it.
    import xlsxwriter

    out = io.BytesIO()
    book = xlsxwriter.Workbook(out, {"in_memory": True})
    # Without the time and without a name: the same bytes for the same table.
    book.set_properties({"title": title, "created": datetime.datetime(2000, 1, 1)})
    styles = {
        "": None,
        "head": book.add_format({"bold": True}),
        "title": book.add_format({"bold": True, "font_size": 13}),
        "note": book.add_format({"italic": True}),
    }
    for name, rows in sheets.items():
        sheet = book.add_worksheet(name)
        for number, row in enumerate(rows):
            for column, cell in enumerate(row):
                if isinstance(cell.value, int):
                    sheet.write_number(number, column, cell.value, styles[cell.style])
                elif cell.value or name == "table":
                    sheet.write_string(number, column, cell.value, styles[cell.style])
        if name == "table":
            sheet.freeze_panes(1, 0)
        else:
            sheet.activate()
    book.close()
    return out.getvalue()
