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
from tabprotect.engine.foreign.looks_numeric import looks_numeric
from tabprotect.engine.foreign.reader import RefusedFileError, asked
from tabprotect.engine.foreign.sheet_places import Places, Span
from tabprotect.engine.foreign.workbook_names import FAILED, LIST_SHEET
from tabprotect.engine.formats.layouts.count_marks import USUAL
from tabprotect.engine.formats.reading_options import Reading
from tabprotect.engine.formats.text.rows import SheetRows
from tabprotect.engine.progress import SILENT, Progress
from tabprotect.languages.messages import joined, message, plural, some_of

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
    """A sheet: its name, the number of sheets shown, the hidden ones, values, their first row and column.

    ``places`` are those that :mod:`.sheet_places` finds; ``None`` in a kind of workbook that tells none.
    """

    name: str
    sheets: int
    hidden: Sequence[str]
    values: Sequence[list[object]]
    first: int
    left: int
    places: Places | None


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
        if refused.reason == "hidden":
            gone = texts(refused.said, path)
            raise InputError(
                message("the sheets that are shown have no data"),
                file=path,
                hint=message("hidden are {names}; name the one to be read: --sheet NAME", joined(gone, ", ")),
            ) from None
        why, hint = _REASONS.get(refused.reason, _DAMAGED)
        detail = str(refused.said) if why == _DAMAGED[0] else ""
        raise InputError(why, file=path, hint=hint, detail=detail) from None
    name, names, first, left, values, hidden, said = rows_of([found], 1, 7, path)[0]
    unseen = texts(hidden, path)
    return _Loaded(
        text(name, path), len(set(texts(names, path)) - set(unseen)), unseen, rows_of(values, 0, None, path),
        number(first, path), number(left, path), None if said is None else _places(said, path),
    )  # fmt: skip


def _places(said: object, path: Path) -> Places:
    merged, rows, columns, failed, comments = rows_of([said], 1, 5, path)[0]
    return Places(
        [Span(*(number(at, path) for at in span)) for span in rows_of(merged, 0, 4, path)],
        {number(row, path) for row in rows_of([rows], 1, None, path)[0]},
        [(number(first, path), number(last, path)) for first, last in rows_of(columns, 0, 2, path)],
        [
            (number(row, path), number(column, path), text(shown, path))
            for row, column, shown in rows_of(failed, 0, 3, path)
        ],
        number(comments, path),
    )


def read_sheet(path: Path, reading: Reading, progress: Progress = SILENT) -> tuple[SheetRows, list[str]]:
    """Read the first sheet that is shown with rows of numbers, else the first that is not empty.

    With a note if there are several. A label merged over rows stands in each of them; a failed formula
    is the text that the spreadsheet shows.

    Raises
    ------
    InputError
        For a file that is damaged, protected by a password, or has no data; for hidden rows or columns
        with data, unless it is said what they are.
    """
    loaded = _loaded(path, reading.sheet, progress)
    values, first, left = loaded.values, loaded.first, loaded.left
    notes = _notes(loaded, reading)
    if loaded.places is not None:
        if loaded.places.comments:
            notes.append(
                plural(
                    loaded.places.comments,
                    "{n} comment on a cell was left out",
                    "{n} comments on cells were left out",
                    loaded.places.comments,
                )
            )
        _show_failed(loaded, loaded.places)
        _fill_merged(loaded, loaded.places)
        values = _without_hidden(loaded, loaded.places, reading, path, notes)
    elif reading.hidden is None:
        notes.append(message("this kind of workbook does not tell hidden rows and columns: all are read"))
    if reading.range is not None:
        top, low, begin, end = _corners(reading.range)
        values = [row[max(begin - left, 0) : max(end - left, 0)] for row in values]
        values = values[max(top - first, 0) : max(low - first, 0)]
        first = max(first, top)
        if not any(field != "" for row in values for field in row):
            raise InputError(
                message("the cells {cells} are empty", reading.range),
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
    width = max((max(i for i, field in enumerate(row) if field) for row in rows), default=-1) + 1
    if not width:
        why, hint = _REASONS["no data"]
        raise InputError(why, file=path, hint=hint)
    rows = [row[:width] for row in rows]
    return SheetRows(str(path), rows, lines), notes


def _notes(loaded: _Loaded, reading: Reading) -> list[str]:
    """What is to be said of the other sheets."""
    notes = []
    if reading.sheet is None and loaded.name != LIST_SHEET:
        if loaded.sheets > 1:
            notes.append(
                message(
                    "read from the sheet {name}, the first of {sheets} with numbers",
                    repr(loaded.name),
                    loaded.sheets,
                )
            )
        if loaded.hidden:
            notes.append(
                message("hidden sheets are not read unless named: {names}", joined(loaded.hidden, ", "))
            )
    elif loaded.name in loaded.hidden:
        notes.append(message("the sheet {name} is hidden", repr(loaded.name)))
    return notes


def _show_failed(loaded: _Loaded, places: Places) -> None:
    """Put what a spreadsheet shows where a formula failed."""
    for row, column, shown in places.failed:
        y, x = row - loaded.first, column - loaded.left
        if 0 <= y < len(loaded.values) and 0 <= x < len(loaded.values[y]):
            loaded.values[y][x] = shown


WITH_MORE = re.compile(r"\d[\d.,\s]*(?:\(.*\)|/\s*\d.*)")
"""A count with what stands beside it: ``3 (1.7%)``, ``3/180``."""


def _fill_merged(loaded: _Loaded, places: Places) -> None:
    """Put a label that is merged over rows with numbers into each of them.

    A merged number may be a count, which stands for its rows together.
    """
    for top, left, bottom, _ in places.merged:
        x, span = left - loaded.left, loaded.values[max(top - loaded.first, 0) : bottom - loaded.first + 1]
        if len(span) < 2 or not 0 <= x < len(span[0]) or not isinstance(label := span[0][x], str):
            continue
        if label.strip() and all(_has_count(row, x) for row in span):
            for row in span[1:]:
                row[x] = label


def _has_count(row: Sequence[object], but: int) -> bool:
    """Return True if a row has a number, or what stands in place of one, beside a column."""
    texts = [str(value).strip() for n, value in enumerate(row) if n != but and value != ""]
    return any(
        looks_numeric(text) or text in USUAL or FAILED.fullmatch(text) or WITH_MORE.fullmatch(text)
        for text in texts
    )


def _without_hidden(
    loaded: _Loaded, places: Places, reading: Reading, path: Path, notes: list[str]
) -> Sequence[list[object]]:
    """The values, with hidden rows and columns as it is said; it is asked where they hold something."""
    values, first, left = loaded.values, loaded.first, loaded.left
    top, low, begin, end = (first, first + len(values), left, left + max(map(len, values), default=0))
    if reading.range is not None:
        top, low, begin, end = _corners(reading.range)
    rows = [row - first for row in sorted(places.rows) if max(top, first) <= row < low]
    rows = [row for row in rows if row < len(values) and any(value != "" for value in values[row])]
    inside = range(max(begin - left, 0), max(end - left, 0))
    columns = [n for n in inside if any(low <= n + left <= high for low, high in places.columns)]
    columns = [n for n in columns if any(row[n : n + 1] not in ([], [""]) for row in values)]
    if not rows and not columns:
        return values
    said = joined(
        [
            *([message("rows {lines}", some_of([str(row + first + 1) for row in rows]))] if rows else []),
            *(
                [message("columns {letters}", some_of([_letters(n + left) for n in columns]))]
                if columns
                else []
            ),
        ],
        ", ",
    )
    if reading.hidden is None:
        raise InputError(
            message("the sheet {name} hides {said}, which hold data", repr(loaded.name), said),
            file=path,
            hint=message(
                "say whether they belong to the table: --hidden read, or --hidden leave-out; or show them"
            ),
        )
    if reading.hidden == "read":
        notes.append(message("hidden {said} were read", said))
        return values
    notes.append(message("hidden {said} were left out", said))
    gone_rows, gone = set(rows), set(columns)
    return [
        [""] * len(row) if y in gone_rows else ["" if x in gone else value for x, value in enumerate(row)]
        for y, row in enumerate(values)
    ]


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
