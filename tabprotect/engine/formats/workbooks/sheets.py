"""Sheets of Excel and OpenDocument workbooks as rows of text."""

from __future__ import annotations

import datetime
from pathlib import Path

import python_calamine

from tabprotect.engine.budgets import EXACT_FLOAT
from tabprotect.engine.errors import InputError
from tabprotect.engine.formats.text.rows import SheetRows
from tabprotect.engine.formats.workbooks.workbook_size import check_workbook


def _text(value: object, path: Path, line: int) -> str:
    if isinstance(value, bool):
        return "TRUE" if value else "FALSE"
    if isinstance(value, float):
        if abs(value) >= EXACT_FLOAT:
            raise InputError(
                f"the number {value:g} is too large to be exact in a spreadsheet",
                file=path,
                line=line,
                hint="save the table as CSV from the program that made it",
            )
        return str(int(value)) if value == int(value) else repr(value)
    if isinstance(value, (datetime.date, datetime.time)):
        return value.isoformat()
    return str(value)


def read_sheet(path: Path) -> tuple[SheetRows, list[str]]:
    """The first sheet that is not empty, with a note when there are several.

    Raises
    ------
    InputError
        For a file that is damaged, protected by a password, or has no data.
    """
    check_workbook(path)
    try:
        with python_calamine.load_workbook(str(path)) as book:
            for name in book.sheet_names:
                sheet = book.get_sheet_by_name(name)
                values = sheet.to_python(skip_empty_area=True)
                if any(field != "" for row in values for field in row):
                    break
            else:
                raise InputError(
                    "the workbook has no data", file=path, hint="export the table again"
                )
            sheets = len(book.sheet_names)
            first = (sheet.start or (0, 0))[0]
    except python_calamine.PasswordError:
        raise InputError(
            "the workbook is protected by a password", file=path, hint="save it without one"
        ) from None
    except (python_calamine.CalamineError, OSError, ValueError) as error:
        raise InputError(
            "the workbook cannot be read: it is damaged or of another kind",
            file=path,
            hint="open it in a spreadsheet program and save it again, or save it as CSV",
            detail=str(error),
        ) from None
    rows, lines = [], []
    for offset, row in enumerate(values):
        line = first + offset + 1
        fields = [_text(value, path, line) for value in row]
        if any(fields):
            rows.append(fields)
            lines.append(line)
    width = max(max(i for i, field in enumerate(row) if field) for row in rows) + 1
    rows = [row[:width] for row in rows]
    notes = [f"read from the sheet {name!r}, the first of {sheets} with data"] if sheets > 1 else []
    return SheetRows(str(path), rows, lines), notes
