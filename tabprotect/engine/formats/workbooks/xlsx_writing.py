"""Excel workbooks by XlsxWriter: the same bytes for the same table, without a time and without a name."""

from __future__ import annotations

import io
from collections.abc import Mapping
from datetime import datetime

from tabprotect.engine.formats.workbooks.sheet_writing import Sheet, Style

_FORMATS: Mapping[Style, Mapping[str, object]] = {
    "": {"valign": "top"},
    "text": {"text_wrap": True, "valign": "top"},
    "head": {"bold": True, "valign": "top"},
    "across": {"bold": True, "align": "right", "text_wrap": True, "bottom": 1},
    "title": {"bold": True, "font_size": 13},
    "note": {"italic": True},
    "number": {"num_format": "#,##0"},
    "total": {"num_format": "#,##0", "bold": True},
    "whole": {"num_format": "#,##0"},
    "whole_total": {"num_format": "#,##0", "bold": True},
    "hidden": {"align": "right"},
}
"""Thousands are apart as the reader's locale has it."""

A4 = 9

WRAPPED = 100
"""Characters of a line of the notes."""


def xlsx_bytes(sheets: Mapping[str, Sheet], title: str, decimals: int = 0) -> bytes:
    """The bytes of the workbook; the first sheet is shown first.

    Parameters
    ----------
    decimals
        Of its numbers.
    """
    # A seventh of what a short command loads; few commands write a workbook.
    from xlsxwriter import Workbook

    out = io.BytesIO()
    # Rows are written in order and not kept; texts stand where they are shown.
    with Workbook(
        out, {"constant_memory": True, "strings_to_formulas": False, "strings_to_urls": False}
    ) as book:
        book.set_properties({"title": title, "created": datetime(2000, 1, 1)})
        exact = {"num_format": "#,##0" + ("." + "0" * decimals if decimals else "")}
        formats = {
            style: book.add_format({**look, **(exact if style in ("number", "total") else {})})
            for style, look in _FORMATS.items()
        }
        for name, sheet in sheets.items():
            page = book.add_worksheet(name)
            for column, width in enumerate(sheet.widths):
                page.set_column(column, column, width)
            last = 0
            for number, row in enumerate(sheet.rows):
                last = number
                # Programs that open a workbook do not all make room for what is wrapped.
                lines = max((-(-len(str(cell.value)) // WRAPPED) for cell in row[1:2]), default=1)
                if lines > 1 and not sheet.heads:
                    page.set_row(number, 15 * lines)
                for column, cell in enumerate(row):
                    if cell.value != "":
                        page.write(number, column, cell.value, formats[cell.style])
            page.freeze_panes(sheet.heads, sheet.labels)
            page.set_landscape()
            page.set_paper(A4)
            page.fit_to_pages(1, 0)
            page.set_footer(f"&L{title[:150].replace('&', '&&')}&R&P / &N")
            if sheet.heads:
                page.repeat_rows(sheet.repeated, sheet.heads - 1)
            if sheet.labels and sheet.heads:
                page.repeat_columns(0, sheet.labels - 1)
            if sheet.filtered:
                page.autofilter(0, 0, last, len(sheet.widths) - 1)
    return out.getvalue()
