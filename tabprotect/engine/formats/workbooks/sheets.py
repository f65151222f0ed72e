"""Sheets of Excel and OpenDocument workbooks as rows of text."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from tabprotect.engine.arrays import EXACT_FLOAT
from tabprotect.engine.errors import InputError
from tabprotect.engine.foreign.answers import number, rows_of, text, texts
from tabprotect.engine.foreign.reader import RefusedFileError, asked
from tabprotect.engine.foreign.workbook_names import LIST_SHEET
from tabprotect.engine.formats.text.rows import SheetRows
from tabprotect.engine.progress import SILENT, Progress
from tabprotect.languages.messages import message

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
                message("the number {value:g} is too large to be exact in a spreadsheet", value),
                file=path,
                line=line,
                hint=message("save the table as CSV from the program that made it"),
            )
        return str(int(value)) if value == int(value) else repr(value)
    return text(str(value) if type(value) is int else value, path)


@dataclass(frozen=True)
class _Loaded:
    """A sheet: its name, the number of sheets, its values, and their first row and column."""

    name: str
    sheets: int
    values: Sequence[Sequence[object]]
    first: int
    left: int


_DAMAGED = (
    message("the workbook cannot be read: it is damaged or of another kind"),
    message("open it in a spreadsheet program and save it again, or save it as CSV"),
)
_REASONS = {
    "too large": (
        message("the workbook is too large to be laid out in memory"),
        message("delete stray cells far from the table, or save it as CSV"),
    ),
    "no data": (message("the workbook has no data"), message("export the table again")),
    "password": (message("the workbook is protected by a password"), message("save it without one")),
}


def _loaded(path: Path, sheet: str | None, progress: Progress) -> _Loaded:
    try:
        found, _ = asked(
            "workbook", {"sheet": sheet}, path=path, progress=progress, stage=message("reading the table")
        )
    except RefusedFileError as refused:
        if refused.reason == "no sheet":
            raise InputError(
                message("there is no sheet {sheet}", repr(sheet)),
                hint=message("there are {names}", ", ".join(texts(refused.said, path))),
            ) from None
        why, hint = _REASONS.get(refused.reason, _DAMAGED)
        detail = str(refused.said) if why == _DAMAGED[0] else ""
        raise InputError(why, file=path, hint=hint, detail=detail) from None
    name, names, first, left, values = rows_of([found], 1, 5, path)[0]
    return _Loaded(
        text(name, path), len(texts(names, path)), rows_of(values, 0, None, path),
        number(first, path), number(left, path),
    )  # fmt: skip


def read_sheet(
    path: Path, *, sheet: str | None = None, cells: str | None = None, progress: Progress = SILENT
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
    loaded = _loaded(path, sheet, progress)
    values, first = loaded.values, loaded.first
    if cells is not None:
        top, low, begin, end = _corners(cells)
        left = loaded.left
        values = [row[max(begin - left, 0) : max(end - left, 0)] for row in values]
        values = values[max(top - first, 0) : max(low - first, 0)]
        first = max(first, top)
        if not any(field != "" for row in values for field in row):
            raise InputError(
                message("the cells {cells} are empty", cells),
                file=path,
                hint=message("say which cells to read: --range"),
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
    notes = []
    if loaded.sheets > 1 and sheet is None and loaded.name != LIST_SHEET:
        notes.append(
            message(
                "read from the sheet {name}, the first of {sheets} with numbers",
                repr(loaded.name),
                loaded.sheets,
            )
        )
    return SheetRows(str(path), rows, lines), notes


@dataclass(frozen=True)
class Outline:
    """The outline of a workbook: the names of all sheets, and the cells in use, such as ``A1:F20``.

    ``sheets`` and ``used`` are empty if it cannot be read, or the sheet has no cells.
    """

    sheets: tuple[str, ...] = ()
    used: str = ""


def outline(path: Path, sheet: str | None = None) -> Outline:
    """The sheets of a workbook, and the cells in use of the one to be read."""
    try:
        found, _ = asked("outline", {"sheet": sheet}, path=path)
        names, corners = rows_of([found], 1, 2, path)[0]
        if corners is None:
            return Outline(tuple(texts(names, path)))
        top, left, bottom, right = (number(at, path) for at in rows_of([corners], 1, 4, path)[0])
    except (InputError, RefusedFileError):
        return Outline()
    ends = (f"{_letters(column)}{row + 1}" for row, column in ((top, left), (bottom, right)))
    return Outline(tuple(texts(names, path)), ":".join(ends))


def _letters(column: int) -> str:
    """The letters of a column numbered from 0."""
    text = ""
    while column >= 0:
        column, last = divmod(column, 26)
        text, column = chr(ord("A") + last) + text, column - 1
    return text


def _corners(cells: str) -> tuple[int, int, int, int]:
    """Top, bottom, left and right of ``B3:F20``, from 0, ends excluded."""
    found = _RANGE.fullmatch(cells.strip().upper())
    if found is None:
        raise InputError(
            message("{cells} is no range of cells", repr(cells)), hint=message("for example B3:F20")
        )
    columns = []
    for letters in (found[1], found[3]):
        number = 0
        for letter in letters:
            number = number * 26 + ord(letter) - ord("A") + 1
        columns.append(number)
    return int(found[2]) - 1, int(found[4]), columns[0] - 1, columns[1]
