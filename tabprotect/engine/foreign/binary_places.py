"""Places of a sheet in the binary workbooks of Excel, as :mod:`.sheet_places` finds them in others.

Hidden rows and columns, merged cells and failed formulas stand in records: of .xlsb in a zip (MS-XLSB), of
.xls in a stream of a compound file (MS-XLS, MS-CFB).
"""

from __future__ import annotations

import struct
import zipfile
from collections.abc import Iterator
from xml.etree import ElementTree

from tabprotect.engine.foreign.sheet_places import Places, Span

ERRORS = {
    0x00: "#NULL!",
    0x07: "#DIV/0!",
    0x0F: "#VALUE!",
    0x17: "#REF!",
    0x1D: "#NAME?",
    0x24: "#NUM!",
    0x2A: "#N/A",
}
"""What a spreadsheet shows for each code of an error."""

COMPOUND = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"
"""The first bytes of a compound file."""

_END = 0xFFFFFFFA
"""From here on numbers of sectors mean no sector."""

_WORKBOOK_BIN = "xl/workbook.bin"
_HIDDEN_ROW_XLSB, _HIDDEN_ROW_XLS = 0x10, 0x20


def places_of_xlsb(book: zipfile.ZipFile, sheet: str) -> Places | None:
    """The places of a sheet of an .xlsb; ``None`` where it cannot be found."""
    links = {
        one.get("Id"): one.get("Target", "")
        for one in ElementTree.fromstring(book.read("xl/_rels/workbook.bin.rels"))
    }
    part = None
    for kind, data in _records_of_xlsb(book.read(_WORKBOOK_BIN)):
        if kind == 156:
            link, at = _wide_text(data, 8)
            if _wide_text(data, at)[0] == sheet:
                target = links.get(link, "")
                part = target.lstrip("/") if target.startswith("/") else f"xl/{target}"
    if part is None or part not in book.namelist():
        return None
    found, row = Places(), 0
    for kind, data in _records_of_xlsb(book.read(part)):
        if kind == 0:
            row = struct.unpack_from("<I", data)[0]
            if data[11] & _HIDDEN_ROW_XLSB:
                found.rows.add(row)
        elif kind == 60:
            first, last = struct.unpack_from("<II", data)
            if data[16] & 1:
                found.columns.append((first, last))
        elif kind == 176:
            top, bottom, left, right = struct.unpack_from("<IIII", data)
            found.merged.append(Span(top, left, bottom, right))
        elif kind in (3, 11):
            found.failed.append((row, struct.unpack_from("<I", data)[0], ERRORS.get(data[8], "#N/A")))
    return found


def _records_of_xlsb(data: bytes) -> Iterator[tuple[int, bytes]]:
    at = 0
    while at < len(data):
        kind, at = varying(data, at, 2)
        size, at = varying(data, at, 4)
        yield kind, data[at : at + size]
        at += size


def varying(data: bytes, at: int, most: int) -> tuple[int, int]:
    """A number with seven bits per byte, and the position after it."""
    number = 0
    for place, byte in enumerate(data[at : at + most]):
        number |= (byte & 0x7F) << (7 * place)
        if byte < 0x80:
            return number, at + place + 1
    return number, at + most


def _wide_text(data: bytes, at: int) -> tuple[str, int]:
    size = struct.unpack_from("<I", data, at)[0]
    end = at + 4 + 2 * size
    return data[at + 4 : end].decode("utf-16-le"), end


def places_of_xls(data: bytes, sheet: str) -> Places | None:
    """The places of a sheet of an .xls; ``None`` where it cannot be found."""
    stream = _workbook_stream(data)
    begins = None
    for kind, record in _records_of_xls(stream, 0):
        if kind == 0x85 and _sheet_name(record) == sheet:
            begins = struct.unpack_from("<I", record)[0]
    if begins is None:
        return None
    found = Places()
    for kind, record in _records_of_xls(stream, begins):
        if kind == 0x208 and struct.unpack_from("<H", record, 12)[0] & _HIDDEN_ROW_XLS:
            found.rows.add(struct.unpack_from("<H", record)[0])
        elif kind == 0x7D and struct.unpack_from("<H", record, 8)[0] & 1:
            found.columns.append(struct.unpack_from("<HH", record))
        elif kind == 0xE5:
            for n in range(struct.unpack_from("<H", record)[0]):
                top, bottom, left, right = struct.unpack_from("<HHHH", record, 2 + 8 * n)
                found.merged.append(Span(top, left, bottom, right))
        elif (kind == 0x205 and record[7]) or (
            kind == 0x06 and record[12:14] == b"\xff\xff" and record[6] == 2
        ):
            row, column = struct.unpack_from("<HH", record)
            found.failed.append((row, column, ERRORS.get(record[6 if kind == 0x205 else 8], "#N/A")))
    return found


def _records_of_xls(stream: bytes, at: int) -> Iterator[tuple[int, bytes]]:
    """The records of a substream, up to its end."""
    while at + 4 <= len(stream):
        kind, size = struct.unpack_from("<HH", stream, at)
        if kind == 0x0A:
            return
        yield kind, stream[at + 4 : at + 4 + size]
        at += 4 + size


def _sheet_name(record: bytes) -> str:
    size, wide = record[6], record[7] & 1
    return record[8 : 8 + size * (1 + wide)].decode("utf-16-le" if wide else "latin-1")


def _workbook_stream(data: bytes) -> bytes:
    """The stream of a compound file that holds the workbook; empty where there is none."""
    sector = 1 << struct.unpack_from("<H", data, 30)[0]
    small = 1 << struct.unpack_from("<H", data, 32)[0]
    directory, cutoff, first_small, _, more, _ = struct.unpack_from("<I4xIIIII", data, 48)
    tables = list(struct.unpack_from("<109I", data, 76))
    while more < _END:
        further = struct.unpack_from(f"<{sector // 4}I", data, sector * (more + 1))
        tables += further[:-1]
        more = further[-1] if len(tables) * sector < len(data) else _END
    fat = [
        n
        for table in tables
        if table < _END
        for n in struct.unpack_from(f"<{sector // 4}I", data, sector * (table + 1))
    ]
    entries = _chain(data, directory, fat, sector, sector)
    streams = {}
    for at in range(0, len(entries), 128):
        size = struct.unpack_from("<H", entries, at + 64)[0]
        name = entries[at : at + max(size - 2, 0)].decode("utf-16-le", "replace")
        streams[name] = struct.unpack_from("<II", entries, at + 116)
    start, length = streams.get("Workbook", streams.get("Book", (_END, 0)))
    if length >= cutoff:
        return _chain(data, start, fat, sector, sector)[:length]
    root, _ = streams.get("Root Entry", (_END, 0))
    within = _chain(data, root, fat, sector, sector)
    small_fat = struct.unpack(
        f"<{len(listed := _chain(data, first_small, fat, sector, sector)) // 4}I", listed
    )
    return _chain(within, start, small_fat, small, 0)[:length]


def _chain(data: bytes, first: int, fat: list[int] | tuple[int, ...], size: int, before: int) -> bytes:
    """The sectors of a chain, one behind the other; ``before`` are the bytes before the first sector."""
    parts, seen = [], set[int]()
    while first < min(len(fat), _END) and first not in seen:
        seen.add(first)
        at = before + first * size
        parts.append(data[at : at + size])
        first = fat[first]
    return b"".join(parts)
