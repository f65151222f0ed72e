"""Places of a sheet beside its values: merged cells, hidden rows and columns, failed formulas.

calamine gives a failed formula as an empty cell and no hidden rows; both stand in the sheet's own XML
(ECMA-376 18.3.1, OpenDocument 1.3 part 3, section 9).
"""

from __future__ import annotations

import re
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass, field
from html import unescape
from typing import NamedTuple
from xml.etree import ElementTree

from tabprotect.engine.foreign.workbook_names import FAILED, NO_RESULT


class Span(NamedTuple):
    """First and last row and column of a merged cell, from 0."""

    top: int
    left: int
    bottom: int
    right: int


@dataclass
class Places:
    """What a sheet says of places: merged cells, hidden rows and columns, texts of failed formulas."""

    merged: list[Span] = field(default_factory=list)
    rows: set[int] = field(default_factory=set)
    columns: list[tuple[int, int]] = field(default_factory=list)
    """First and last of each run of hidden columns."""
    failed: list[tuple[int, int, str]] = field(default_factory=list)
    comments: int = 0
    """Comments on cells of the sheet."""

    def told(self) -> list[object]:
        """As lists, for the answer of a reader."""
        return [
            [list(span) for span in self.merged],
            sorted(self.rows),
            [list(run) for run in self.columns],
            [list(one) for one in self.failed],
            self.comments,
        ]


_ROW = re.compile(rb"<(?:\w+:)?row\b[^>]*\bhidden\s*=\s*[\"'](?:1|true)[\"'][^>]*>")
_COLUMN = re.compile(rb"<(?:\w+:)?col\b[^>]*\bhidden\s*=\s*[\"'](?:1|true)[\"'][^>]*>")
_FAILED = re.compile(
    rb"<(?:\w+:)?c\b([^>]*\bt\s*=\s*[\"']e[\"'][^>]*)>(?:(?!</(?:\w+:)?c>).)*?<(?:\w+:)?v>([^<]*)<", re.DOTALL
)
_EMPTY = re.compile(
    rb"<(?:\w+:)?c\b([^>]*[^>/])>\s*<(?:\w+:)?f\b[^>]*(?:/>|>[^<]*</(?:\w+:)?f>)\s*"
    rb"(?:<(?:\w+:)?v\s*/>|<(?:\w+:)?v>\s*</(?:\w+:)?v>)?\s*</(?:\w+:)?c>"
)
_PLACE = re.compile(rb"\br\s*=\s*[\"']([A-Z]{1,3})([0-9]{1,7})[\"']")
_NUMBERED = re.compile(rb"\b(r|min|max)\s*=\s*[\"']([0-9]{1,7})[\"']")


def places_of_xlsx(path: str, sheet: str) -> Places:
    """The places of a sheet of an Excel workbook; empty where its XML cannot be found.

    Merged cells are calamine's to tell.
    """
    found = Places()
    with zipfile.ZipFile(path) as book:
        part = _part_of(book, sheet)
        data = b"" if part is None else book.read(part)
        found.comments = 0 if part is None else _comments(book, part)
    for row in _ROW.findall(data):
        at = _numbers(row).get("r")
        if at is not None:
            found.rows.add(at - 1)
    for column in _COLUMN.findall(data):
        ends = _numbers(column)
        if "min" in ends and "max" in ends:
            found.columns.append((ends["min"] - 1, ends["max"] - 1))
    failed = ((cell, text.decode("utf-8", "replace")) for cell, text in _FAILED.findall(data))
    empty = ((cell, NO_RESULT) for cell in _EMPTY.findall(data)) if b"f" in data else ()
    for cell, text in (*failed, *empty):
        if (place := _PLACE.search(cell)) is not None:
            found.failed.append((int(place[2]) - 1, column_number(place[1].decode()), unescape(text)))
    return found


def _numbers(element: bytes) -> dict[str, int]:
    return {name.decode(): int(text) for name, text in _NUMBERED.findall(element)}


def column_number(letters: str) -> int:
    """The number of a column, from 0, by its letters."""
    number = 0
    for letter in letters:
        number = number * 26 + ord(letter) - ord("A") + 1
    return number - 1


def _part_of(book: zipfile.ZipFile, sheet: str) -> str | None:
    """The part of a workbook that holds a sheet's XML."""
    parts = set(book.namelist())
    if "xl/_rels/workbook.xml.rels" not in parts:
        return None
    link = None
    for element in ElementTree.fromstring(book.read("xl/workbook.xml")).iter():
        if element.tag.endswith("}sheet") and element.get("name") == sheet:
            link = next((v for name, v in element.attrib.items() if name.endswith("}id")), None)
    for element in ElementTree.fromstring(book.read("xl/_rels/workbook.xml.rels")):
        if link is not None and element.get("Id") == link:
            target = element.get("Target", "")
            part = target.lstrip("/") if target.startswith("/") else f"xl/{target}"
            return part if part in parts else None
    return None


def _comments(book: zipfile.ZipFile, part: str) -> int:
    """The comments on a sheet's cells."""
    folder, _, name = part.rpartition("/")
    links = f"{folder}/_rels/{name}.rels"
    if links not in book.namelist():
        return 0
    number = 0
    for element in ElementTree.fromstring(book.read(links)):
        target = element.get("Target", "")
        at = target.lstrip("/") if target.startswith("/") else f"xl/{target.removeprefix('../')}"
        if element.get("Type", "").endswith("/comments") and at in book.namelist():
            number += sum(
                one.tag.endswith("}comment") for one in ElementTree.fromstring(book.read(at)).iter()
            )
    return number


_TABLE = "{urn:oasis:names:tc:opendocument:xmlns:table:1.0}"
_OFFICE = "{urn:oasis:names:tc:opendocument:xmlns:office:1.0}"
_HIDES = ("collapse", "filter")


def places_of_ods(path: str, sheet: str) -> Places:
    """The places of a sheet of an OpenDocument workbook."""
    with zipfile.ZipFile(path) as book, book.open("content.xml") as content:
        inside, row, column = False, 0, 0
        found = Places()
        for event, element in ElementTree.iterparse(content, ("start", "end")):
            if element.tag == f"{_TABLE}table":
                if event == "end" and inside:
                    return found
                inside = element.get(f"{_TABLE}name") == sheet if event == "start" else inside
            elif event == "end" and inside and element.tag == f"{_TABLE}table-column":
                times = _times(element, "columns-repeated")
                if element.get(f"{_TABLE}visibility") in _HIDES:
                    found.columns.append((column, column + times - 1))
                column += times
            elif event == "end" and inside and element.tag == f"{_TABLE}table-row":
                times = _times(element, "rows-repeated")
                if element.get(f"{_TABLE}visibility") in _HIDES and times < _MOST:
                    found.rows |= set(range(row, row + times))
                for place, cell in _cells(element):
                    _look_at(cell, row, place, found)
                row += times
                element.clear()
    return found


_MOST = 2**20


def _times(element: ElementTree.Element, name: str) -> int:
    text = element.get(f"{_TABLE}number-{name}", "1")
    return min(int(text), _MOST) if text.isdecimal() and len(text) < 10 else 1


def _cells(row: ElementTree.Element) -> Iterator[tuple[int, ElementTree.Element]]:
    """The cells of a row that are more than blanks, with their columns."""
    column = 0
    for cell in row:
        if len(cell) or cell.attrib:
            yield column, cell
        column += _times(cell, "columns-repeated")


def _look_at(cell: ElementTree.Element, row: int, column: int, found: Places) -> None:
    down, across = _times(cell, "rows-spanned"), _times(cell, "columns-spanned")
    if (down > 1 or across > 1) and cell.tag == f"{_TABLE}table-cell":
        found.merged.append(Span(row, column, row + down - 1, column + across - 1))
    remarks = cell.findall(f"{_OFFICE}annotation")
    found.comments += len(remarks)
    for remark in remarks:
        cell.remove(remark)
    shown = "".join("".join(part.itertext()) for part in cell)
    if FAILED.fullmatch(shown.strip()):
        for n in range(min(_times(cell, "columns-repeated"), 1000)):
            found.failed.append((row, column + n, shown.strip()))
    elif cell.get(f"{_TABLE}formula") and cell.get(f"{_OFFICE}value-type") is None and not shown:
        found.failed.append((row, column, NO_RESULT))
