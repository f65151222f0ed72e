"""The preview of a file before it is opened: first lines, recognised parts, resulting table."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from types import MappingProxyType
from typing import Literal

from tabprotect.engine.budgets import LAID_OUT_BYTES
from tabprotect.engine.errors import InputError, RecordsError
from tabprotect.engine.foreign.looks_numeric import looks_numeric
from tabprotect.engine.formats.format import Format, RowFormat
from tabprotect.engine.formats.layouts.cell_list import CellList
from tabprotect.engine.formats.layouts.count_marks import DASHES, CountMarks
from tabprotect.engine.formats.layouts.laid_out import lay_out
from tabprotect.engine.formats.layouts.laid_out_columns import LaidOut, LaidOutPart, LaidOutRow
from tabprotect.engine.formats.layouts.marked_cells import hidden_in, signs_in
from tabprotect.engine.formats.layouts.table_forms import count_columns
from tabprotect.engine.formats.reading_options import Reading
from tabprotect.engine.formats.registered import format_of
from tabprotect.engine.formats.table_reading import read_table
from tabprotect.engine.formats.text.rows import DELIMITERS, TextRows
from tabprotect.engine.formats.totals.hidden_cells import worked_out
from tabprotect.engine.formats.totals.settled_totals import NONE
from tabprotect.engine.formats.totals.total_rows import Totals, check_totals, names_of
from tabprotect.engine.formats.totals.totals_by_arithmetic import find_totals
from tabprotect.engine.formats.workbooks.sheets import Outline, outline
from tabprotect.engine.progress import SILENT, Progress
from tabprotect.engine.tables.table import Table
from tabprotect.languages.messages import joined, message

SHOWN = 50
"""The number of lines shown."""

HEAD = 2**18
"""The number of bytes they are taken from."""

CALLED = frozenset(
    {
        *("anzahl", "zahl", "personen", "menschen", "f\u00e4lle", "bestand", "bev\u00f6lkerung", "insgesamt"),
        *("number", "persons", "people", "cases", "records", "population", "total", "obs_value"),
        *("effectif", "effectifs", "nombre", "population", "antal", "antall", "aantal", "numero"),
    }
)
"""Usual names of columns of counts: enough to suggest one, not to take it unseen."""

_DECIMALS = re.compile(r"[.,]\d{1,2}$")

SIGN = " \u2502 "
"""The separator of fields in a sheet's row."""

Role = Literal["", "title", "header", "body", "total", "note", "remark"]


@dataclass(frozen=True)
class PreviewLine:
    """A line of the file, with what it was recognised as, and its fields if it has some."""

    number: int
    text: str
    role: Role
    fields: tuple[str, ...] = ()


@dataclass(frozen=True)
class HiddenCell:
    """An inner cell that has a sign in place of its count, and the count that the totals leave for it."""

    sign: str
    cell: tuple[str, ...]
    count: int


@dataclass(frozen=True, eq=False)
class FilePreview:
    """The result of reading a file in a trial.

    Attributes
    ----------
    kind
    lines
        The first lines.
    parts
        The recognised parts: option, value, reason.
    table, notes
        The resulting table and notes; ``None`` if it cannot be read so.
    sums
        The number of cells, the sum and the totals, in a sentence.
    error
        Why it cannot be read so.
    records
        True if it holds records.
    sheets, columns, ranges
        The choices; the ranges are the cells in use, and those without title and notes.
    suggested
        Options that would answer the open question.
    signs
        Sign in place of a count -> the number of cells that have it.
    counted
        The column that was taken as the count; empty if it is not known.
    hidden
        The cells that were worked out from the totals, where that was asked.
    """

    kind: Format
    lines: tuple[PreviewLine, ...]
    parts: tuple[LaidOutPart, ...] = ()
    table: Table | None = None
    notes: tuple[str, ...] = ()
    sums: str = ""
    error: InputError | None = None
    records: bool = False
    sheets: tuple[str, ...] = ()
    columns: tuple[str, ...] = ()
    ranges: tuple[str, ...] = ()
    suggested: Mapping[str, object] = field(default_factory=lambda: MappingProxyType({}))
    signs: Mapping[str, int] = field(default_factory=lambda: MappingProxyType({}))
    counted: str = ""
    hidden: tuple[HiddenCell, ...] = ()


def preview(path: Path, reading: Reading, progress: Progress = SILENT) -> FilePreview:
    """Read a file in a trial.

    Raises
    ------
    InputError
        If there is no file, or its format is unknown.
    """
    kind = format_of(path, reading.metadata)
    reading = kind.described(path, reading)
    parts = [LaidOutPart("format", kind.name, kind.label)]
    layout: LaidOut | None = None
    rows: list[LaidOutRow] = []
    if isinstance(kind, RowFormat):
        try:
            rows = kind.whole(path, _apart(kind, path, reading, parts))
            layout = lay_out(rows, reading, CountMarks.parse(reading.marks), str(path))
        except InputError:
            pass
    signs, counted = _signs(layout, reading), _counted(layout)
    if layout is not None:
        parts += [*_separator(kind, path, reading, layout), *layout.parts]
    elif rows:
        layout = _in_columns(rows, reading)
        parts += _separator(kind, path, reading, layout)
    book = outline(path, reading.sheet) if "range" in kind.options else _parts(kind, path)
    columns = tuple(f.strip() for f in layout.header[-1].fields) if layout and layout.header else ()
    table, records = None, False
    notes: tuple[str, ...] = ()
    error: InputError | None = None
    try:
        found = read_table(path, reading, progress=progress)
        table, notes = found.table, found.notes
    except RecordsError as said:
        error, records = said, True
    except InputError as said:
        error = said
    sums, marked = _sums(kind, path, reading, table, parts)
    lines = _lines(path, reading, rows, layout, marked)
    return FilePreview(
        kind, lines, tuple(parts), table, notes, sums, error, records, book.sheets, columns,
        _ranges(book.used, reading, layout), MappingProxyType(_suggested(error, layout)),
        MappingProxyType(signs), counted, tuple(_hidden(layout, reading, table)),
    )  # fmt: skip


def title_in(path: Path, reading: Reading) -> str:
    """The title that a file states, or its first line above the header; empty where it has none."""
    try:
        kind = format_of(path)
        if (stated := kind.about(path, reading).title) or not isinstance(kind, RowFormat):
            return stated
        if path.stat().st_size > LAID_OUT_BYTES:
            return ""
        layout = lay_out(kind.whole(path, reading), reading, CountMarks.parse(reading.marks), str(path))
    except (InputError, OSError):
        return ""
    lines = (" ".join(filter(None, map(str.strip, row.fields))) for row in layout.title)
    return next((line for line in lines if any(map(str.isalpha, line))), "")


def _parts(kind: Format, path: Path) -> Outline:
    try:
        return Outline(kind.parts(path))
    except InputError:
        return Outline()


def _counted(layout: LaidOut | None) -> str:
    known = layout is not None and layout.count >= 0 and bool(layout.header)
    return layout.header[-1].fields[layout.count].strip() if layout and known else ""


def _signs(layout: LaidOut | None, reading: Reading) -> dict[str, int]:
    try:
        return {} if layout is None else signs_in(layout, CountMarks.parse(reading.marks))
    except InputError:
        return {}


def _hidden(layout: LaidOut | None, reading: Reading, table: Table | None) -> Iterator[HiddenCell]:
    if layout is None or table is None or reading.missing != "suppressed":
        return
    variables = table.domain.variables
    for sign, labels in hidden_in(layout, CountMarks.parse(reading.marks)):
        cell = tuple(labels.get(variable.name, "") for variable in variables)
        # A total of which only the sign is there is no cell of the table.
        if all(label in v.categories for label, v in zip(cell, variables, strict=True)):
            yield HiddenCell(sign, cell, table[table.domain.index(cell)])


def _in_columns(rows: list[LaidOutRow], reading: Reading) -> LaidOut | None:
    """The layout of a file of which nobody knows the column of counts: its columns have names."""
    try:
        return lay_out(rows, replace(reading, form="long"), CountMarks(), "")
    except InputError:
        return None


def _ranges(used: str, reading: Reading, layout: LaidOut | None) -> tuple[str, ...]:
    """The ranges that may be read from a sheet with these cells in use."""
    if not used or layout is None or reading.range is not None:
        return (used,) if used else ()
    lines = [row.line for row in (*layout.header, *layout.body)]
    left, right = (corner.rstrip("0123456789") for corner in used.split(":"))
    inner = f"{left}{min(lines)}:{right}{max(lines)}" if lines else used
    return tuple(dict.fromkeys((used, inner)))


def _apart(kind: Format, path: Path, reading: Reading, parts: list[LaidOutPart]) -> Reading:
    """The reading; the encoding found for a text is added to ``parts``."""
    if "delimiter" in kind.options:
        text = TextRows(path, encoding=reading.encoding, delimiter=reading.delimiter)
        said = message("as its bytes show") if reading.encoding is None else message("as was said")
        parts.append(LaidOutPart("encoding", text.encoding.removesuffix("-sig"), said))
    return reading


def _separator(kind: Format, path: Path, reading: Reading, layout: LaidOut | None) -> list[LaidOutPart]:
    """The separator of a text's fields: the one that splits the header in this way, or most lines."""
    if "delimiter" not in kind.options or reading.delimiter:
        return []
    names = {"\t": "tab"}
    text = TextRows(path, encoding=reading.encoding)
    if layout is not None and layout.header:
        row = layout.header[-1]
        head = text.text().splitlines()
        line = head[row.line - 1] if row.line <= len(head) else ""
        for sign in DELIMITERS:
            if line.count(sign) == len(row.fields) - 1 > 0:
                return [LaidOutPart("delimiter", names.get(sign, sign), message("as it splits the header"))]
    sign = text.delimiter
    return [LaidOutPart("delimiter", names.get(sign, sign), message("as it splits most lines"))]


def _sums(
    kind: Format, path: Path, reading: Reading, table: Table | None, parts: list[LaidOutPart]
) -> tuple[str, frozenset[int]]:
    """The number of cells, the sum and the totals in a sentence; and the lines of totals."""
    try:
        cells, _ = kind.cells(path, reading)
        cells.refuse_negative()
        if reading.missing == "suppressed" and table is not None:
            # The totals are those of the cells as they are opened.
            cells, _ = worked_out(cells, reading)
        none = reading.totals == NONE or not len(cells.counts)
        totals: Totals = {} if none else find_totals(cells)[0]
    except InputError:
        return "", frozenset()
    opened = (
        ""
        if table is None
        else message(
            "{shape}: {size:,} cells, sum {total:,}",
            joined((f"{len(v.categories):,} {v.name}" for v in table.domain.variables), " x "),
            table.domain.size,
            table.total,
        )
    )
    if not totals:
        return opened, frozenset()
    is_total, wrong = check_totals(cells, totals)
    parts.append(LaidOutPart("totals", names_of(cells, totals), _add_up(len(wrong)), not wrong))
    inner = message(
        "{sum:,} inner cells, sum {sum2:,}", int((~is_total).sum()), int(cells.counts[~is_total].sum())
    )
    whole = message("{value}; {sum:,} totals in the file", opened or inner, int(is_total.sum()))
    outcome = (
        message("equal to the file's own totals") if not wrong else message("{wrong} do not hold", len(wrong))
    )
    inner_lines = _lines_of(cells, (~is_total).nonzero()[0].tolist()[: SHOWN**2])
    lines = _lines_of(cells, is_total.nonzero()[0].tolist()[: SHOWN**2])
    return message("{whole}: {told}", whole, outcome), lines - inner_lines


def _add_up(wrong: int) -> str:
    return message("they add up") if not wrong else message("{wrong} of them do not add up", wrong)


def _lines_of(cells: CellList, entries: list[int]) -> frozenset[int]:
    return frozenset(line for entry in entries if (line := cells.line(entry)) is not None)


def _lines(
    path: Path, reading: Reading, rows: list[LaidOutRow], layout: LaidOut | None, totals: frozenset[int]
) -> tuple[PreviewLine, ...]:
    """The first lines, as text or as the cells of a sheet."""
    roles: dict[int, Role] = {}
    if layout is not None:
        named: tuple[tuple[Role, list[LaidOutRow]], ...] = (
            ("title", layout.title), ("header", layout.header), ("body", layout.body),
            ("note", layout.notes),
        )  # fmt: skip
        for role, some in named:
            roles.update((row.line, role) for row in some)
        roles.update((line, "total") for line in totals if roles.get(line) == "body")
        if reading.comment is not None:
            remarks = [row.line for row in rows if row.line not in roles]
            roles.update((line, "remark") for line in remarks)
    with path.open("rb") as file:
        head = file.read(HEAD)
    if not is_text(head, path):
        sheet = [
            PreviewLine(r.line, SIGN.join(r.fields), roles.get(r.line, ""), tuple(r.fields)) for r in rows
        ]
        return tuple(sheet[:SHOWN])
    try:
        text = head.decode(reading.encoding or "utf-8-sig", "replace")
    except LookupError:
        text = head.decode("utf-8", "replace")
    lines = text.splitlines()[:SHOWN]
    fields = {row.line: tuple(row.fields) for row in rows[:SHOWN]}
    return tuple(PreviewLine(n, line, roles.get(n, ""), fields.get(n, ())) for n, line in enumerate(lines, 1))


def is_text(head: bytes, path: Path) -> bool:
    """Return True if the first bytes of a file can be shown as text."""
    return not (b"\x00" in head or head.startswith(b"PK") or path.suffix.lower() == ".gz")


def _suggested(error: InputError | None, layout: LaidOut | None) -> dict[str, object]:
    """Options that answer the question an error asks, if one answer is likely."""
    if error is None:
        return {}
    hint = f"{error.hint} {error.message}"
    if "--count COLUMN" in hint:
        return _likely_count(layout)
    if "--totals auto" in hint:
        return {"totals": "auto"}
    if "not UTF-8" in hint:
        return {"encoding": "cp1252"}
    if '--marks "' in hint:
        mark = hint.partition('--marks "')[2].partition("=")[0]
        # A dash is a zero everywhere; whether other marks are 0 is for a person to say.
        return {"marks": f"{mark}={'zero' if mark in DASHES else 'missing'}"}
    if "--thousands" in hint:
        return {"thousands": hint.partition("--thousands ")[2].strip('"')[:1]}
    if "--cells " in hint:
        return {"cells": hint.partition('--cells "')[2].partition('"')[0]}
    if "--form grid" in hint:
        return {"form": "grid"}
    return {"missing": "zero"} if "--missing zero" in hint else {}


def _likely_count(layout: LaidOut | None) -> dict[str, object]:
    """The column of counts, where one alone is called so or holds whole numbers; shares are left out."""
    if layout is None or not layout.header or not layout.body:
        return {}
    names = [name.strip() for name in layout.header[-1].fields]
    held = [[row.fields[n].strip() for row in layout.body if n < len(row.fields)] for n in range(len(names))]
    # A blank or a sign in place of a count is no word.
    words = [[text for text in of if any(map(str.isalnum, text))] for of in held]
    numeric = [n for n, of in enumerate(words) if of and all(map(looks_numeric, of))]
    shares = [n for n in numeric if any(_DECIMALS.search(text) for text in held[n])]
    known = count_columns(names)
    called = [n for n, name in enumerate(names) if name in known or name.casefold() in CALLED]
    whole = [n for n in numeric if n not in shares]
    likely = next((found for found in (called, whole) if len(found) == 1), [])
    if not likely or looks_numeric(names[likely[0]]) or not names[likely[0]]:
        return {}
    out: dict[str, object] = {"count": names[likely[0]]}
    if drop := [names[n] for n in shares if n != likely[0] and names[n]]:
        out["drop"] = drop
    return out
