"""Sheets of Excel and OpenDocument workbooks, by calamine, and the size of a workbook in memory.

A sheet is laid out from its first to its last cell: two cells in opposite corners of a file of a
few kilobytes would need hundreds of gigabytes. (OpenDocument sheets are bounded by their reader.)
"""

from __future__ import annotations

import re
import struct
import zipfile
import zlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import IO
from xml.etree.ElementTree import ParseError

import python_calamine

from tabprotect.engine.budgets import WORKBOOK_SIZE_BYTES, WORKBOOK_SIZE_CELLS
from tabprotect.engine.foreign.binary_places import COMPOUND, places_of_xls, places_of_xlsb, varying
from tabprotect.engine.foreign.looks_numeric import looks_numeric
from tabprotect.engine.foreign.sheet_places import Places, Span, places_of_ods, places_of_xlsx
from tabprotect.engine.foreign.wire import Buffer
from tabprotect.engine.foreign.workbook_names import LIST_SHEET
from tabprotect.engine.foreign.worker import Answer, Refused

MOST_RATIO = 400
"""The largest ratio of unpacked to packed size of a part above `SOUND_BYTES`; beyond it is a zip bomb."""

SOUND_BYTES = 2**26

NARROW = 26
"""The columns with one letter: with these alone no sheet has too many cells."""

ROWS = 2**20
"""The most rows of a sheet."""

_BLOCK = 1 << 20
_TAG = 128
"""Bytes by which two consecutive pieces of the text overlap."""

# Readers accept places beyond those of a spreadsheet program, and rows whose cells name none.
_WIDE = re.compile(rb"""\br\s*=\s*["'](?:[A-Za-z]{2}|[A-Za-z]?[0-9]{8})""")
_CELL = re.compile(rb"""\br\s*=\s*["']([A-Za-z]{0,40})([0-9]{1,40})""")

_DAMAGED = (python_calamine.CalamineError, OSError, ValueError, zipfile.BadZipFile, zlib.error, ParseError)


def sheet(of: Mapping[str, object], buffers: Sequence[Buffer], tell: Callable[[float], None]) -> Answer:
    """Name, first row and column, values and places of the sheet that is wanted; names of all, and of hidden ones.

    Places as in :mod:`.sheet_places`, nothing where the kind of workbook tells none.
    """
    path = str(of["path"])
    _check_size(path)
    try:
        with python_calamine.load_workbook(path) as book:
            hidden = _hidden(book)
            name, values = _of_counts(book, _wanted(book.sheet_names, of["sheet"], hidden))
            if name is None:
                raise Refused("hidden" if hidden and of["sheet"] is None else "no data", hidden)
            found = book.get_sheet_by_name(name)
            top, left = found.start or (0, 0)
            places = _places_of(path, name)
            if places is not None and found.merged_cell_ranges is not None:
                places.merged = [Span(*first, *last) for first, last in found.merged_cell_ranges]
            said = None if places is None else places.told()
            return [name, book.sheet_names, top, left, values, hidden, said], ()
    except python_calamine.PasswordError:
        raise Refused("password") from None
    except _DAMAGED as error:
        raise Refused("damaged", str(error)) from None


def _places_of(path: str, sheet: str) -> Places | None:
    """The places of a sheet; ``None`` where they cannot be found."""
    try:
        if zipfile.is_zipfile(path):
            with zipfile.ZipFile(path) as book:
                parts = set(book.namelist())
                if "xl/workbook.bin" in parts:
                    return places_of_xlsb(book, sheet)
            if "content.xml" in parts:
                return places_of_ods(path, sheet)
            return places_of_xlsx(path, sheet) if "xl/workbook.xml" in parts else None
        with open(path, "rb") as file:
            data = file.read()
        return places_of_xls(data, sheet) if data.startswith(COMPOUND) else None
    except (struct.error, IndexError, KeyError):
        return None


def _hidden(book: python_calamine.CalamineWorkbook) -> list[str]:
    """The sheets that are not shown."""
    shown = python_calamine.SheetVisibleEnum.Visible
    return [one.name for one in book.sheets_metadata if one.visible != shown]


def outline(of: Mapping[str, object], buffers: Sequence[Buffer], tell: Callable[[float], None]) -> Answer:
    """The names of all sheets, and the corners of the one that would be read, if there are any."""
    path = str(of["path"])
    try:
        _check_size(path)
        with python_calamine.load_workbook(path) as book:
            names = list(book.sheet_names)
            try:
                name, _ = _of_counts(book, _wanted(names, of["sheet"], _hidden(book)))
            except Refused:
                name = None
            found = None if name is None else book.get_sheet_by_name(name)
            if found is None or found.start is None or found.end is None:
                return [names, None], ()
            return [names, [*found.start, *found.end]], ()
    except (*_DAMAGED, python_calamine.PasswordError, Refused):
        return [[], None], ()


def _of_counts(
    book: python_calamine.CalamineWorkbook, wanted: Sequence[str]
) -> tuple[str | None, Sequence[Sequence[object]]]:
    """The first sheet with rows of numbers, else the first that is not empty, and its values."""
    first: tuple[str | None, Sequence[Sequence[object]]] = (None, ())
    for name in wanted:
        values = book.get_sheet_by_name(name).to_python(skip_empty_area=True)
        if any(field != "" for row in values for field in row):
            if _holds_counts(values):
                return name, values
            first = first if first[0] is not None else (name, values)
    return first


def _holds_counts(values: Sequence[Sequence[object]]) -> bool:
    """Return True if a row has a number beside something else, as no sheet of remarks does."""
    return any(
        sum(field != "" for field in row) > 1
        and any(looks_numeric(str(field)) for field in row if field != "")
        for row in values
    )


def _wanted(names: Sequence[str], sheet: object, hidden: Sequence[str]) -> Sequence[str]:
    if sheet is None:
        shown = [name for name in names if name not in hidden]
        # What this program wrote for people stands before what it reads back.
        return sorted(shown, key=lambda name: name != LIST_SHEET)
    if sheet in names:
        return [str(sheet)]
    number = str(sheet)
    if number.isdecimal() and len(number) < 10 and 1 <= int(number) <= len(names):
        return [names[int(number) - 1]]
    raise Refused("no sheet", list(names))


def _check_size(path: str) -> None:
    """Refuse a packed workbook (xlsx, xlsm, xlsb) whose sheets would not fit into memory.

    A damaged one is left to the reader, which reports what is wrong.
    """
    try:
        with zipfile.ZipFile(path) as book:
            parts = book.infolist()
            fits = sum(part.file_size for part in parts) <= WORKBOOK_SIZE_BYTES
            fits = fits and not any(map(_bomb, parts))
            for name in book.namelist() if fits else ():
                if name.startswith("xl/worksheets/") and name.endswith((".xml", ".bin")):
                    count = cells_of_text if name.endswith(".xml") else cells_of_records
                    with book.open(name) as part:
                        fits = fits and count(part) <= WORKBOOK_SIZE_CELLS
    except (zipfile.BadZipFile, zlib.error, EOFError, OSError, ValueError, RuntimeError):
        return
    if not fits:
        raise Refused("too large")


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
        kind, at = varying(data, at, 2)
        size, at = varying(data, at, 4)
        # A row begins with kind 0 and its number, a cell with kinds 1 to 11 or 62 and its column.
        first = int.from_bytes(data[at : at + 4], "little")
        if kind == 0:
            rows = max(rows, first + 1)
        elif kind <= 11 or kind == 62:
            columns = max(columns, first + 1)
        at += size
    return rows * columns
