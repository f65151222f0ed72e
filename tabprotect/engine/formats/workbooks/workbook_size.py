"""The size of an Excel workbook in memory, checked before it is read.

A sheet is laid out from its first to its last cell: two cells in opposite corners of a file of a
few kilobytes would need hundreds of gigabytes. (OpenDocument sheets are bounded by their reader.)
"""

from __future__ import annotations

import re
import zipfile
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import IO

from tabprotect.engine.budgets import WORKBOOK_SIZE_BYTES, WORKBOOK_SIZE_CELLS
from tabprotect.engine.errors import InputError

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
            "the workbook is too large to be laid out in memory",
            file=path,
            hint="delete stray cells far from the table, or save it as CSV",
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
