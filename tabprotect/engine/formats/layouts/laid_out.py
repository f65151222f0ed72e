"""Tables laid out by offices: title lines, several header rows, merged cells, notes below.

Rows are examined as a whole: the body is the block of rows with numbers, the rows of the same width
above it are the header, and all others are title lines and notes. Nothing in between is skipped: a
row of the body that does not fit is a fault. Footnote marks on labels and counts (``1 234 1)``,
``65+ *``, ``17\u00b2``, ``12 p``) are taken off.
"""

from __future__ import annotations

import csv
import io
import re
from collections import Counter
from collections.abc import Collection, Iterable, Sequence

from tabprotect.engine.errors import InputError
from tabprotect.engine.foreign.looks_numeric import looks_numeric, mostly_numeric
from tabprotect.engine.formats.layouts.count_marks import CountMarks, hides, mark_of
from tabprotect.engine.formats.layouts.laid_out_columns import (
    Blocks,
    LaidOut,
    LaidOutPart,
    LaidOutRow,
    columns_of,
)
from tabprotect.engine.formats.layouts.table_forms import dropped_columns
from tabprotect.engine.formats.reading_options import Reading
from tabprotect.engine.formats.text.rows import DELIMITERS, TextRows, without_quoted
from tabprotect.languages.messages import message, plural

MOST_HEADERS = 4
_LINES = re.compile(r"([0-9]+)(?:-([0-9]+))?")
_DATE = re.compile(r"[0-9]{1,2}\.[0-9]{1,2}\.[0-9]{4}")
_YEARS = re.compile(r"(19|20)[0-9]{2}")
_BEGINS = re.compile(
    r"\s*(\*{1,4}|[\u00b9\u00b2\u00b3\u2070-\u2079\u2020\u2021]+|\(?[0-9a-z]{1,2}\)|\[[0-9a-z]{1,2}\])"
)
"""The beginning of a note's line that explains a mark."""

_PLAIN = re.compile(r"(?<=[0-9])\s*([*\u00b9\u00b2\u00b3\u2070-\u2079\u2020\u2021]+|(?<=\s)[a-z])\s*$")
"""Marks that are no part of a number, explained or not; letters as statistical offices flag counts."""


def text_rows(source: TextRows, delimiter: str | None) -> list[LaidOutRow]:
    """The rows of a text, split by the delimiter that gives most lines the same width.

    Raises
    ------
    InputError
        If the quotation marks are wrong for every delimiter.
    """
    text = source.text()
    plain = without_quoted(text)
    best: list[LaidOutRow] = []
    rank = (-1, -1)
    fault: csv.Error | None = None
    for sign in [delimiter] if delimiter else DELIMITERS:
        try:
            split, rows = _split(plain, sign), _split(text, sign)
        except csv.Error as error:
            fault = error
            continue
        sizes = Counter(len(row.fields) for row in split if len(row.fields) > 1)
        width, number = max(sizes.items(), key=lambda item: (item[1], item[0]), default=(1, 0))
        if (number, width) > rank:
            rank, best = (number, width), rows
    if not best and fault is not None:
        raise InputError(message("the quotation marks are wrong: {fault}", fault), file=source.name)
    return best


def _split(text: str, sign: str) -> list[LaidOutRow]:
    rows = []
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=sign, strict=True)
    before = 0
    for fields in reader:
        if any(field.strip() for field in fields):
            rows.append(LaidOutRow(before + 1, fields))
        before = reader.line_num
    return rows


def lay_out(rows: Sequence[LaidOutRow], reading: Reading, marks: CountMarks, name: str) -> LaidOut:
    """Find the body, the header and the contents of each column.

    Raises
    ------
    InputError
        If no body can be found, with the line.
    """
    parts: list[LaidOutPart] = []
    kept = _without_remarks(rows, reading, name, parts)
    kept, width = _without_blank_columns(kept, _width(kept, marks), parts)
    header, first = _header(kept, width, reading, marks, name)
    last = len(kept) - 1
    while last > first and _is_note(kept, last, width, marks):
        last -= 1
    body = _without_repeats(kept[first : last + 1], header, parts)
    if not body:
        raise InputError(
            message("there is a header but no row of counts"),
            file=name,
            line=kept[-1].line,
            hint=message("say which row is the header: --header-row LINE"),
        )
    _refuse_widths(header, body, width, name)
    if reading.drop:
        header, body = _without_dropped(header, body, reading.drop)
    lines = {row.line for row in header}
    title = [row for row in kept[:first] if row.line not in lines]
    notes = kept[last + 1 :]
    header, body = _without_footnotes(header, body, notes, parts)
    if title:
        parts.append(LaidOutPart("header-row", _span(header), message("{title} above it", _said(title))))
    elif len(header) > 1:
        parts.append(
            LaidOutPart("header-row", _span(header), message("{header} rows before the numbers", len(header)))
        )
    if notes:
        parts.append(
            LaidOutPart("footer", str(len(notes)), message("{notes} below the numbers", _said(notes)))
        )
    return columns_of(Blocks(name, title, header, body, notes, parts), reading, marks)


def _without_dropped(
    header: list[LaidOutRow], body: list[LaidOutRow], drop: Collection[str]
) -> tuple[list[LaidOutRow], list[LaidOutRow]]:
    """The rows without the columns to be left out."""
    gone = dropped_columns(header[-1].fields if header else [], drop)

    def rest(rows: list[LaidOutRow]) -> list[LaidOutRow]:
        return [LaidOutRow(row.line, [f for n, f in enumerate(row.fields) if n not in gone]) for row in rows]

    return rest(header), rest(body)


def _without_remarks(
    rows: Sequence[LaidOutRow], reading: Reading, name: str, parts: list[LaidOutPart]
) -> list[LaidOutRow]:
    """The rows that are not blank, without remarks and the lines given as notes."""
    filled = [row for row in rows if row.filled]
    kept = [row for row in filled if not _is_comment(row, reading)]
    comments = len(filled) - len(kept)
    if comments:
        parts.append(
            LaidOutPart(
                "comment",
                str(reading.comment),
                plural(
                    comments, "{comments} line begins with it", "{comments} lines begin with it", comments
                ),
            )
        )
    if reading.footer:
        kept = kept[: -reading.footer]
    if not kept:
        raise InputError(message("the file has no rows"), file=name, hint=message("export the table again"))
    return kept


def _refuse_widths(header: Sequence[LaidOutRow], body: Sequence[LaidOutRow], width: int, name: str) -> None:
    """Refuse rows that do not form one block."""
    for row in body:
        # The row of all, whose labels are blank, has its count alone.
        few = row.filled < 2 and not looks_numeric(row.fields[-1])
        if len(row.fields) != width or few:
            raise InputError(
                message(
                    "the row has {filled} filled fields of {fields}, the rows around it have {width}",
                    row.filled,
                    len(row.fields),
                    width,
                ),
                file=name,
                line=row.line,
                hint=message(
                    "a table has one block of rows; say where its header is: --header-row LINE, "
                    "and how many lines are notes below it: --footer N"
                ),
            )
    if any(len(row.fields) != width for row in header):
        raise InputError(
            message(
                "the header has {fields} fields, the rows below it {width}", len(header[-1].fields), width
            ),
            file=name,
            line=header[-1].line,
            hint=message("say which row is the header: --header-row LINE"),
        )


def _without_blank_columns(
    rows: list[LaidOutRow], width: int, parts: list[LaidOutPart]
) -> tuple[list[LaidOutRow], int]:
    """The rows without columns that are blank both in the header and below it."""
    wide = [row for row in rows if len(row.fields) == width]
    used = [n for n in range(width) if any(row.fields[n].strip() for row in wide)]
    if len(used) == width or len(used) < 2:
        return rows, width
    parts.append(
        LaidOutPart("columns", message("{width} left out", width - len(used)), message("they are blank"))
    )
    kept = [
        LaidOutRow(row.line, [row.fields[n] for n in used]) if len(row.fields) == width else row
        for row in rows
    ]
    return kept, len(used)


def _without_repeats(
    body: list[LaidOutRow], header: Sequence[LaidOutRow], parts: list[LaidOutPart]
) -> list[LaidOutRow]:
    """The body without the header repeated on every page."""
    again = [[field.strip() for field in row.fields] for row in header]
    kept = [row for row in body if [field.strip() for field in row.fields] not in again]
    if len(kept) < len(body):
        some = len(body) - len(kept)
        parts.append(
            LaidOutPart(
                "header-row",
                "repeated",
                plural(
                    some,
                    "{some} further line is the header again",
                    "{some} further lines are the header again",
                    some,
                ),
            )
        )
    return kept


def _without_footnotes(
    header: Sequence[LaidOutRow],
    body: Sequence[LaidOutRow],
    notes: Sequence[LaidOutRow],
    parts: list[LaidOutPart],
) -> tuple[list[LaidOutRow], list[LaidOutRow]]:
    marks = _explained([row.fields for row in notes])
    seen: Counter[str] = Counter()
    columns = [[t for t in texts if t.strip()] for texts in zip(*(r.fields for r in body), strict=True)]
    numbers = {n for n, t in enumerate(columns) if mostly_numeric(t)}
    plain = [
        [LaidOutRow(row.line, _unmarked(row.fields, marks, seen, of)) for row in rows]
        for rows, of in ((header, ()), (body, numbers))
    ]
    if seen:
        some = seen.total()
        parts.append(
            LaidOutPart("footnotes", ", ".join(seen), message("{some} labels and counts carry them", some))
        )
    return plain[0], plain[1]


def _is_note(rows: Sequence[LaidOutRow], at: int, width: int, marks: CountMarks) -> bool:
    """Return True if a row at the end is a note, rather than a truncated row of the table."""
    row = rows[at]
    if row.filled > 1 and (len(row.fields) == width or _counts(row, marks)):
        return False
    apart = rows[at - 1].line + 1 < row.line
    # Words, or a line drawn under the table.
    text = re.search(r"\s|:|^[\W_]+$", row.fields[0].strip())
    return apart or (row.filled == 1 and text is not None)


def _is_comment(row: LaidOutRow, reading: Reading) -> bool:
    return reading.comment is not None and row.fields[0].lstrip().startswith(reading.comment)


def _said(rows: Sequence[LaidOutRow]) -> str:
    return (
        message("{rows} lines of text", len(rows))
        if len(rows) > 1
        else message("{rows} line of text", len(rows))
    )


def _span(header: Sequence[LaidOutRow]) -> str:
    if not header:
        return "0"
    first, last = header[0].line, header[-1].line
    return str(first) if first == last else f"{first}-{last}"


def _counts(row: LaidOutRow, marks: CountMarks) -> int:
    return sum(
        (looks_numeric(f) and not _DATE.fullmatch(f.strip())) or (bool(f.strip()) and marks.known(f))
        for f in row.fields[1:]
    )


def _hides_counts(row: LaidOutRow, below: LaidOutRow, marks: CountMarks) -> bool:
    """Return True if a labelled row has one and the same bound, and else numbers, where the next has counts."""
    at = [n for n, f in enumerate(below.fields[1:], 1) if looks_numeric(f)]
    over = [row.fields[n] for n in at] if len(row.fields) == len(below.fields) else []
    bounds = {mark_of(text) for text in over if hides(text)}
    return len(bounds) == 1 and bool(row.fields[0].strip()) and all(
        looks_numeric(text) or marks.in_count(text) for text in over
    )  # fmt: skip


def _width(rows: Sequence[LaidOutRow], marks: CountMarks) -> int:
    """The width of most rows with numbers."""
    sizes = Counter(len(row.fields) for row in rows if _counts(row, marks) and row.filled > 1)
    if not sizes:
        sizes = Counter(len(row.fields) for row in rows)
    return max(sizes, key=lambda size: (sizes[size], size))


def _header(
    rows: Sequence[LaidOutRow], width: int, reading: Reading, marks: CountMarks, name: str
) -> tuple[list[LaidOutRow], int]:
    """The header rows, and the number of the first row after them."""
    if reading.header_row is not None:
        found = _LINES.fullmatch(reading.header_row)
        assert found is not None
        low, high = int(found[1]), int(found[2] or found[1])
        header = [row for row in rows if low <= row.line <= high]
        if not header and high:
            raise InputError(
                message("line {high} is not there, or blank", high),
                file=name,
                hint=message("say which row is the header: --header-row LINE"),
            )
        after = next((n for n, row in enumerate(rows) if row.line > high), len(rows) - 1)
        return header, after
    fits = [len(row.fields) == width and row.filled > 1 for row in rows]
    first = next((n for n, row in enumerate(rows) if fits[n] and _counts(row, marks)), None)
    if first is None:
        raise InputError(
            message("no row holds a number"),
            file=name,
            hint=message("is it the right sheet, the right separator?"),
        )
    while first > 1 and _hides_counts(rows[first - 1], rows[first], marks):
        first -= 1
    above = first
    while (
        above
        and first - above < MOST_HEADERS
        and (above == first or rows[above - 1].line + 1 == rows[above].line)
        and (fits[above - 1] or _names_rows(rows, above, first, width))
    ):
        above -= 1
    if _years(rows[first]) and first + 1 < len(rows):
        first += 1
        # More of the header may follow below years; its corner is blank.
        while (
            first + 1 < len(rows)
            and not _counts(rows[first], marks)
            and (fits[first] and not rows[first].fields[0].strip())
        ):
            first += 1
    if above == first:
        # The header consists of numbers: a grid by years, or the like.
        first += 1
    return list(rows[above:first]), first


def _names_rows(rows: Sequence[LaidOutRow], above: int, first: int, width: int) -> bool:
    """Return True if the row above names only the variables of the rows, as pandas writes them."""
    row = rows[above - 1]
    wide = above > 1 and len(rows[above - 2].fields) == width and rows[above - 2].filled > 2
    return above == first and len(row.fields) == width and bool(row.fields[0].strip()) and wide


def _years(row: LaidOutRow) -> bool:
    rest = [field.strip() for field in row.fields[1:] if field.strip()]
    return len(rest) > 1 and all(_YEARS.fullmatch(field) for field in rest) and (
        len(set(rest)) < len(rest) or rest == sorted(rest)
    )  # fmt: skip


def _explained(notes: Iterable[Sequence[str]]) -> tuple[str, ...]:
    """The marks explained in the lines below a table, the longest first."""
    found = {m[1] for fields in notes if (m := _BEGINS.match(next(filter(str.strip, fields), "")))}
    return tuple(sorted(found, key=len, reverse=True))


def _unmarked(
    fields: Sequence[str], marks: Sequence[str], seen: Counter[str], numbers: Collection[int] = ()
) -> list[str]:
    """Strip the marks at the ends of fields; ``seen`` counts them.

    An unexplained letter counts as a mark only in columns of ``numbers``: a label may end in one.
    """
    out = []
    for column, field in enumerate(fields):
        text = field.rstrip()
        mark = next((m for m in marks if text.endswith(m) and text != m), "")
        if mark:
            seen[mark] += 1
            text = text.removesuffix(mark).rstrip()
        elif (found := _PLAIN.search(text)) and (column in numbers or not found[1].isalpha()):
            seen[found[1]] += 1
            text = text[: found.start()]
        else:
            text = field
        out.append(text)
    return out
