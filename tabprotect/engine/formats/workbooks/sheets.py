"""Sheets of Excel and OpenDocument workbooks as rows of text.

The size of an Excel workbook in memory, checked before it is read.

A sheet is laid out from its first to its last cell: two cells in opposite corners of a file of a
few kilobytes would need hundreds of gigabytes. (OpenDocument sheets are bounded by their reader.)
"""

from __future__ import annotations

import datetime
import math
import re
import zipfile
import zlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO

import python_calamine

from tabprotect.engine.arrays import EXACT_FLOAT
from tabprotect.engine.budgets import WORKBOOK_SIZE_BYTES, WORKBOOK_SIZE_CELLS
from tabprotect.engine.errors import InputError
from tabprotect.engine.formats.text.numerals import looks_numeric
from tabprotect.engine.formats.text.rows import SheetRows
from tabprotect.languages.said import say

MOST_RATIO = 400
"""The largest ratio of unpacked to packed size of a part above `SOUND_BYTES`; beyond it is a zip bomb."""


SOUND_BYTES = 2**26

NARROW = 26
"""The columns with one letter: with these alone no sheet has too many cells."""

ROWS = 2**20
"""The most rows of a sheet."""

_BLOCK = 1 << 20
_TAG = 64
"""Bytes by which two consecutive pieces of the text overlap."""

# Readers accept places beyond those of a spreadsheet program, and rows whose cells name none.
_WIDE = re.compile(rb"""\br\s*=\s*["'](?:[A-Za-z]{2}|[A-Za-z]?[0-9]{8})""")
_CELL = re.compile(rb"""\br\s*=\s*["']([A-Za-z]{0,20})([0-9]{1,20})["']""")


def check_workbook(path: Path) -> None:
    """Refuse a packed workbook (xlsx, xlsm, xlsb) whose sheets would not fit into memory.

    Raises
    ------
    InputError
        Naming the file. A damaged one is left to the reader, which reports what is wrong.
    """
    try:
        with zipfile.ZipFile(path) as book:
            parts = book.infolist()
            fits = sum(part.file_size for part in parts) <= WORKBOOK_SIZE_BYTES
            fits = fits and not any(map(_bomb, parts))
            for name in book.namelist() if fits else ():
                if name.startswith("xl/worksheets/") and name.endswith((".xml", ".bin")):
                    count = cells_of_text if name.endswith(".xml") else cells_of_records
                    with book.open(name) as sheet:
                        fits = fits and count(sheet) <= WORKBOOK_SIZE_CELLS
    except (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, RuntimeError):
        return
    if not fits:
        raise InputError(
            say("the workbook is too large to be laid out in memory"),
            file=path,
            hint=say("delete stray cells far from the table, or save it as CSV"),
        )


def _bomb(part: zipfile.ZipInfo) -> bool:
    return part.file_size > SOUND_BYTES and part.file_size > MOST_RATIO * part.compress_size


def _pieces(sheet: IO[bytes]) -> Iterator[bytes]:
    kept = b""
    while block := sheet.read(_BLOCK):
        yield kept + block
        kept = block[-_TAG:]


def cells_of_text(sheet: IO[bytes]) -> int:
    """The cells from the first to the last of a sheet in XML; an upper bound for a narrow one."""
    if not any(_WIDE.search(text) for text in _pieces(sheet)):
        return NARROW * ROWS
    sheet.seek(0)
    rows = columns = 1
    for text in _pieces(sheet):
        for letters, row in set(_CELL.findall(text)):
            columns, rows = max(columns, _number(letters)), max(rows, int(row))
    return rows * columns


def _number(letters: bytes) -> int:
    number = 0
    for letter in letters.upper():
        number = number * 26 + letter - ord("A") + 1
    return number


def cells_of_records(sheet: IO[bytes]) -> int:
    """The cells from the first to the last of a sheet in binary records (MS-XLSB 2.1.4)."""
    data = sheet.read()
    rows = columns = at = 0
    while at < len(data):
        kind, at = _varying(data, at, 2)
        size, at = _varying(data, at, 4)
        # A row begins with kind 0 and its number, a cell with kinds 1 to 11 or 62 and its column.
        first = int.from_bytes(data[at : at + 4], "little")
        if kind == 0:
            rows = max(rows, first + 1)
        elif kind <= 11 or kind == 62:
            columns = max(columns, first + 1)
        at += size
    return rows * columns


def _varying(data: bytes, at: int, most: int) -> tuple[int, int]:
    """A number with seven bits per byte, and the position after it."""
    number = 0
    for place, byte in enumerate(data[at : at + most]):
        number |= (byte & 0x7F) << (7 * place)
        if byte < 0x80:
            return number, at + place + 1
    return number, at + most


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


@dataclass(frozen=True)
class _Loaded:
    """A sheet: its name, the number of sheets, its values, and their first row and column."""

    name: str
    sheets: int
    values: Sequence[Sequence[object]]
    first: int
    left: int


def _loaded(path: Path, sheet: str | None) -> _Loaded:
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
            return _Loaded(name, len(book.sheet_names), values, *(found.start or (0, 0)))
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
    loaded = _loaded(path, sheet)
    values, first = loaded.values, loaded.first
    if cells is not None:
        top, low, begin, end = _corners(cells)
        left = loaded.left
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
    notes = []
    if loaded.sheets > 1 and sheet is None and loaded.name != TABLE_SHEET:
        notes.append(
            say(
                "read from the sheet {name}, the first of {sheets} with numbers",
                repr(loaded.name),
                loaded.sheets,
            )
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
