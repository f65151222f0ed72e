"""Sheets of Excel and OpenDocument workbooks as rows of text."""

from __future__ import annotations

import datetime
import math
import re
from collections.abc import Sequence
from pathlib import Path

import python_calamine

from tabprotect.engine.arrays import EXACT_FLOAT
from tabprotect.engine.errors import InputError
from tabprotect.engine.formats.text.numerals import looks_numeric
from tabprotect.engine.formats.text.rows import SheetRows
from tabprotect.engine.formats.workbooks.workbook_size import check_workbook
from tabprotect.languages.said import say

TABLE_SHEET = "table"
_RANGE = re.compile(r"([A-Z]{1,3})([0-9]{1,7}):([A-Z]{1,3})([0-9]{1,7})")


def _text(value: object, path: Path, line: int) -> str:
    if isinstance(value, bool):
        return "TRUE" if value else "FALSE"
    if isinstance(value, float):
        if math.isnan(value):
            # Kept as it is: the reader of counts reports what is wrong, and where.
            return "NaN"
        if abs(value) >= EXACT_FLOAT:
            raise InputError(
                say("the number {value:g} is too large to be exact in a spreadsheet", value),
                file=path,
                line=line,
                hint=say("save the table as CSV from the program that made it"),
            )
        return str(int(value)) if value == int(value) else repr(value)
    if isinstance(value, (datetime.date, datetime.time)):
        return value.isoformat()
    return str(value)


def read_sheet(
    path: Path, *, sheet: str | None = None, cells: str | None = None
) -> tuple[SheetRows, list[str]]:
    """Read the first sheet with rows of numbers, else the first that is not empty; with a note if there are several.

    Parameters
    ----------
    sheet
        The name of a sheet, or its number from 1.
    cells
        A range of its cells, such as ``B3:F20``.

    Raises
    ------
    InputError
        For a file that is damaged, protected by a password, or has no data.
    """
    check_workbook(path)
    try:
        with python_calamine.load_workbook(str(path)) as book:
            name = _first_of_counts(book, sheet)
            if name is None:
                raise InputError(
                    say("the workbook has no data"), file=path, hint=say("export the table again")
                )
            found = book.get_sheet_by_name(name)
            values = found.to_python(skip_empty_area=True)
            sheets = len(book.sheet_names)
            first, left = found.start or (0, 0)
    except python_calamine.PasswordError:
        raise InputError(
            say("the workbook is protected by a password"),
            file=path,
            hint=say("save it without one"),
        ) from None
    except (python_calamine.CalamineError, OSError, ValueError) as error:
        raise InputError(
            say("the workbook cannot be read: it is damaged or of another kind"),
            file=path,
            hint=say("open it in a spreadsheet program and save it again, or save it as CSV"),
            detail=str(error),
        ) from None
    if cells is not None:
        top, low, begin, end = _corners(cells)
        values = [row[max(begin - left, 0) : max(end - left, 0)] for row in values]
        values = values[max(top - first, 0) : max(low - first, 0)]
        first = max(first, top)
        if not any(field != "" for row in values for field in row):
            raise InputError(
                say("the cells {cells} are empty", cells),
                file=path,
                hint=say("say which cells to read: --range"),
            )
    rows, lines = [], []
    for offset, row in enumerate(values):
        line = first + offset + 1
        fields = [_text(value, path, line) for value in row]
        if any(fields):
            rows.append(fields)
            lines.append(line)
    width = max(max(i for i, field in enumerate(row) if field) for row in rows) + 1
    rows = [row[:width] for row in rows]
    # This program writes a laid-out copy of the table beside a sheet of this name.
    several = sheets > 1 and sheet is None and name != TABLE_SHEET
    notes = (
        [say("read from the sheet {name}, the first of {sheets} with numbers", repr(name), sheets)]
        if several
        else []
    )
    return SheetRows(str(path), rows, lines), notes


def sheet_names(path: Path) -> list[str]:
    """The names of all sheets; empty if the workbook cannot be read."""
    try:
        with python_calamine.load_workbook(str(path)) as book:
            return list(book.sheet_names)
    except (python_calamine.CalamineError, python_calamine.PasswordError, OSError, ValueError):
        return []


def used_range(path: Path, sheet: str | None = None) -> str:
    """The cells in use of the sheet to be read, such as ``A1:F20``; empty if there are none."""
    try:
        with python_calamine.load_workbook(str(path)) as book:
            name = _first_of_counts(book, sheet)
            found = None if name is None else book.get_sheet_by_name(name)
            if found is None or found.start is None or found.end is None:
                return ""
            corners = (found.start, found.end)
    except (InputError, python_calamine.CalamineError, python_calamine.PasswordError):
        return ""
    except (OSError, ValueError):
        return ""
    return ":".join(f"{_letters(column)}{row + 1}" for row, column in corners)


def _letters(column: int) -> str:
    """The letters of a column numbered from 0."""
    text = ""
    while column >= 0:
        column, last = divmod(column, 26)
        text, column = chr(ord("A") + last) + text, column - 1
    return text


def _first_of_counts(book: python_calamine.CalamineWorkbook, sheet: str | None) -> str | None:
    """The first sheet with rows of numbers, else the first that is not empty."""
    filled = []
    for name in _wanted(book.sheet_names, sheet):
        values = book.get_sheet_by_name(name).to_python(skip_empty_area=True)
        if any(field != "" for row in values for field in row):
            filled.append(name)
            if _holds_counts(values):
                return name
    return filled[0] if filled else None


def _holds_counts(values: Sequence[Sequence[object]]) -> bool:
    """Return True if a row has a number beside something else, as no sheet of remarks does."""
    return any(
        sum(field != "" for field in row) > 1
        and any(looks_numeric(str(field)) for field in row if field != "")
        for row in values
    )


def _wanted(names: Sequence[str], sheet: str | None) -> Sequence[str]:
    if sheet is None or sheet in names:
        return names if sheet is None else [sheet]
    if sheet.isdecimal() and 1 <= int(sheet) <= len(names):
        return [names[int(sheet) - 1]]
    raise InputError(
        say("there is no sheet {sheet}", repr(sheet)),
        hint=say("there are {names}", ", ".join(names)),
    )


def _corners(cells: str) -> tuple[int, int, int, int]:
    """Top, bottom, left and right of ``B3:F20``, from 0, ends excluded."""
    found = _RANGE.fullmatch(cells.strip().upper())
    if found is None:
        raise InputError(
            say("{cells} is no range of cells", repr(cells)), hint=say("for example B3:F20")
        )
    columns = []
    for letters in (found[1], found[3]):
        number = 0
        for letter in letters:
            number = number * 26 + ord(letter) - ord("A") + 1
        columns.append(number)
    return int(found[2]) - 1, int(found[4]), columns[0] - 1, columns[1]
