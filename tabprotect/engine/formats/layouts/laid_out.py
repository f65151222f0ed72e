"""Tables laid out by offices: title lines, several header rows, merged cells, notes below.

Rows are examined as a whole: the body is the block of rows with numbers, the rows of the same width
above it are the header, and all others are title lines and notes. Nothing in between is skipped: a
row of the body that does not fit is a fault.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from tabprotect.engine.errors import InputError
from tabprotect.engine.formats.layouts.count_marks import CountMarks
from tabprotect.engine.formats.layouts.footnotes import explained, without
from tabprotect.engine.formats.layouts.table_forms import SURE_NAMES, recognise, status_columns
from tabprotect.engine.formats.reading_options import Reading
from tabprotect.engine.formats.text.numerals import looks_numeric
from tabprotect.engine.formats.text.rows import SheetRows
from tabprotect.languages.said import plural, say

MOST_HEADERS = 4
_LINES = re.compile(r"([0-9]+)(?:-([0-9]+))?")
_DATE = re.compile(r"[0-9]{1,2}\.[0-9]{1,2}\.[0-9]{4}")
_THOUSANDS = re.compile(r"[0-9]{1,3}([ .,'\u2019\u00a0\u202f\u2009][0-9]{3})+")
_YEARS = re.compile(r"(19|20)[0-9]{2}")


@dataclass(frozen=True)
class LaidOutPart:
    """A recognised part: a reading option, its value, and the reason.

    Attributes
    ----------
    sure
        True if nothing else could be meant.
    """

    option: str
    value: str
    reason: str
    sure: bool = True


@dataclass(frozen=True)
class LaidOutRow:
    """A row that is not blank, with its line (1-based)."""

    line: int
    fields: list[str]

    @property
    def filled(self) -> int:
        """The number of fields that are not blank."""
        return sum(bool(field.strip()) for field in self.fields)


@dataclass(frozen=True)
class LaidOut:
    """The layout of a table in its rows.

    Attributes
    ----------
    title, header, body, notes
        The rows of each part; the header is empty if there is none.
    labels
        In a grid, the number of leading columns with the categories of rows.
    count
        In long form, the column of counts; else -1.
    names
        The names of the variables: those of the rows, then those of the columns.
    columns
        In a grid, the categories of each further column, one for each header row.
    parts
        The recognised parts, with the reasons.
    left_out
        In long form, the columns that are no variables.
    """

    title: list[LaidOutRow]
    header: list[LaidOutRow]
    body: list[LaidOutRow]
    notes: list[LaidOutRow]
    labels: int
    count: int
    names: tuple[str, ...]
    columns: tuple[tuple[str, ...], ...]
    parts: tuple[LaidOutPart, ...]
    left_out: frozenset[int] = frozenset()


@dataclass(frozen=True)
class _Blocks:
    """The rows split into parts, before the contents of columns are known."""

    name: str
    title: list[LaidOutRow]
    header: list[LaidOutRow]
    body: list[LaidOutRow]
    notes: list[LaidOutRow]
    parts: list[LaidOutPart]

    @property
    def lowest(self) -> list[str]:
        """The fields of the lowest header row."""
        return self.header[-1].fields if self.header else []

    def laid_out(
        self,
        parts: Sequence[LaidOutPart],
        *,
        names: tuple[str, ...],
        labels: int = 0,
        count: int = -1,
        columns: tuple[tuple[str, ...], ...] = (),
        left_out: frozenset[int] = frozenset(),
    ) -> LaidOut:
        """Add the contents of the columns and the further recognised parts to the rows."""
        return LaidOut(
            self.title, self.header, self.body, self.notes, labels, count, names, columns,
            (*self.parts, *parts), left_out,
        )  # fmt: skip


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
            say("there is a header but no row of counts"),
            file=name,
            line=kept[-1].line,
            hint=say("say which row is the header: --header-row LINE"),
        )
    _refuse_widths(header, body, width, name)
    title = [row for row in kept[:first] if row not in header]
    notes = kept[last + 1 :]
    header, body = _without_footnotes(header, body, notes, parts)
    if title:
        parts.append(
            LaidOutPart("header-row", _span(header), say("{title} above it", _said(title)))
        )
    elif len(header) > 1:
        parts.append(
            LaidOutPart(
                "header-row",
                _span(header),
                say("{header} rows before the numbers", len(header)),
            )
        )
    if notes:
        parts.append(
            LaidOutPart("footer", str(len(notes)), say("{notes} below the numbers", _said(notes)))
        )
    return _columns(_Blocks(name, title, header, body, notes, parts), reading, marks)


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
                    comments,
                    "{comments} line begins with it",
                    "{comments} lines begin with it",
                    comments,
                ),
            )
        )
    if reading.footer:
        kept = kept[: -reading.footer]
    if not kept:
        raise InputError(say("the file has no rows"), file=name, hint=say("export the table again"))
    return kept


def _refuse_widths(
    header: Sequence[LaidOutRow], body: Sequence[LaidOutRow], width: int, name: str
) -> None:
    """Refuse rows that do not form one block."""
    for row in body:
        if len(row.fields) != width or row.filled < 2:
            raise InputError(
                say(
                    "the row has {filled} filled fields of {fields}, the rows around it "
                    "have {width}",
                    row.filled,
                    len(row.fields),
                    width,
                ),
                file=name,
                line=row.line,
                hint=say(
                    "a table has one block of rows; say where its header is: --header-row LINE, "
                    "and how many lines are notes below it: --footer N"
                ),
            )
    if any(len(row.fields) != width for row in header):
        raise InputError(
            say(
                "the header has {fields} fields, the rows below it {width}",
                len(header[-1].fields),
                width,
            ),
            file=name,
            line=header[-1].line,
            hint=say("say which row is the header: --header-row LINE"),
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
        LaidOutPart("columns", say("{width} left out", width - len(used)), say("they are blank"))
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
    marks = explained([row.fields for row in notes])
    seen: Counter[str] = Counter()
    columns = [
        [t for t in texts if t.strip()] for texts in zip(*(r.fields for r in body), strict=True)
    ]
    numbers = {n for n, t in enumerate(columns) if 2 * sum(map(looks_numeric, t)) > len(t)}
    plain = [
        [LaidOutRow(row.line, without(row.fields, marks, seen, of)) for row in rows]
        for rows, of in ((header, ()), (body, numbers))
    ]
    if seen:
        some = seen.total()
        parts.append(
            LaidOutPart(
                "footnotes", ", ".join(seen), say("{some} labels and counts carry them", some)
            )
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
        say("{rows} lines of text", len(rows))
        if len(rows) > 1
        else say("{rows} line of text", len(rows))
    )


def _span(header: Sequence[LaidOutRow]) -> str:
    if not header:
        return "0"
    first, last = header[0].line, header[-1].line
    return str(first) if first == last else f"{first}-{last}"


def _counts(row: LaidOutRow, marks: CountMarks) -> int:
    return sum(
        (looks_numeric(f) and not _DATE.fullmatch(f.strip()))
        or (bool(f.strip()) and marks.known(f))
        for f in row.fields[1:]
    )


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
                say("line {high} is not there, or blank", high),
                file=name,
                hint=say("say which row is the header: --header-row LINE"),
            )
        after = next((n for n, row in enumerate(rows) if row.line > high), len(rows) - 1)
        return header, after
    fits = [len(row.fields) == width and row.filled > 1 for row in rows]
    first = next((n for n, row in enumerate(rows) if fits[n] and _counts(row, marks)), None)
    if first is None:
        raise InputError(
            say("no row holds a number"),
            file=name,
            hint=say("is it the right sheet, the right separator?"),
        )
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


def _columns(blocks: _Blocks, reading: Reading, marks: CountMarks) -> LaidOut:
    """The contents of each column."""
    corner = next(
        (n for n, field in enumerate(blocks.lowest) if all(field.partition("\\")[::2])), None
    )
    count = _count_column(blocks, reading, corner)
    return _grid(blocks, reading, marks, corner) if count is None else _long(blocks, count)


def _count_column(blocks: _Blocks, reading: Reading, corner: int | None) -> int | None:
    """The column of the counts in long form; ``None`` for a grid."""
    if reading.form == "long" or reading.count is not None:
        return _named_count(blocks, reading.count)
    if len(blocks.header) != 1 or reading.form is not None or corner is not None:
        return None
    rows = [*blocks.header, *blocks.body]
    try:
        form = recognise(
            SheetRows(blocks.name, [row.fields for row in rows], [row.line for row in rows])
        )
    except InputError:
        if _columns_of_thousands(blocks.body) < 2:
            raise
        return None
    return form.count_column % len(blocks.lowest) if form.kind == "long" else None


def _long(blocks: _Blocks, count: int) -> LaidOut:
    words = tuple(field.strip() for field in blocks.lowest)
    said = LaidOutPart(
        "form", "long", say("the counts stand in the column {words}", repr(words[count]))
    )
    aside = status_columns(words) - {count}
    rest = tuple(w for n, w in enumerate(words) if n != count and n not in aside)
    return blocks.laid_out([said], count=count, names=rest, left_out=aside)


def _grid(blocks: _Blocks, reading: Reading, marks: CountMarks, corner: int | None) -> LaidOut:
    header, lowest = blocks.header, blocks.lowest
    labels = corner + 1 if corner is not None else _label_columns(header, blocks.body, marks)
    names_row = (
        len(header) > 1
        and all(not field.strip() for field in lowest[labels:])
        and any(field.strip() for field in lowest[:labels])
    )
    upper = header[:-1] if names_row else header
    rows, columns = _names(header, upper, labels, names_row, corner)
    parts = []
    if reading.columns is not None:
        columns = [part.strip() for part in reading.columns.split(",")]
        if len(columns) != len(upper):
            raise InputError(
                say("{columns} names for {upper} header rows", len(columns), len(upper)),
                file=blocks.name,
                hint=say(
                    "name the variable of each header row, apart by commas: --columns sex,age"
                ),
            )
    else:
        unsure = [n for n in columns if re.fullmatch("column( [0-9]+)?", n)]
        parts = [
            LaidOutPart("columns", n, say("the columns' variable has no name"), False)
            for n in unsure
        ]
    said = plural(
        labels,
        "{labels} column of labels, {rows}",
        "{labels} columns of labels, {rows}",
        labels,
        plural(len(upper), "{n} header row", "{n} header rows", len(upper)),
    )
    tops = [_filled(row.fields[labels:], last=row is upper[-1]) for row in upper]
    return blocks.laid_out(
        [*parts, LaidOutPart("form", "grid", said)],
        labels=labels,
        names=(*rows, *columns),
        columns=tuple(zip(*tops, strict=True)),
    )


def _columns_of_thousands(body: Sequence[LaidOutRow]) -> int:
    """Columns with thousands signs: they hold counts, because no category is written like that."""
    columns = zip(*(row.fields for row in body), strict=True)
    return sum(any(_THOUSANDS.fullmatch(text.strip()) for text in texts) for texts in columns)


def _named_count(blocks: _Blocks, wanted: str | None) -> int:
    words = [field.strip() for field in blocks.lowest]
    if wanted is not None:
        if wanted.strip() not in words:
            raise InputError(
                say("there is no column {wanted}", repr(wanted)),
                file=blocks.name,
                line=blocks.header[-1].line if blocks.header else None,
                hint=say("the columns are {words}", ", ".join(words)),
            )
        return words.index(wanted.strip())
    named = [n for n, word in enumerate(words) if word.casefold() in SURE_NAMES]
    return named[0] if len(named) == 1 else len(words) - 1


def _label_columns(
    header: Sequence[LaidOutRow], body: Sequence[LaidOutRow], marks: CountMarks
) -> int:
    """The number of leading columns that hold no counts."""
    lowest = header[-1].fields if header else []
    if len(header) > 1 and not any(field.strip() for field in lowest[-1:]):
        return max(sum(1 for _ in filter(str.strip, lowest)), 1)
    width = len(body[0].fields)
    labels = 1
    while labels < width - 1 and any(
        not (looks_numeric(row.fields[labels]) or marks.known(row.fields[labels]))
        and row.fields[labels].strip()
        for row in body
    ):
        labels += 1
    return labels


def _filled(fields: Sequence[str], *, last: bool) -> list[str]:
    """A header row with the blanks of merged cells filled from the left; the lowest row stays as it is."""
    out: list[str] = []
    for field in fields:
        text = field.strip()
        out.append(text if text or last or not out else out[-1])
    return out


def _names(
    header: Sequence[LaidOutRow],
    upper: Sequence[LaidOutRow],
    labels: int,
    names_row: bool,
    corner: int | None,
) -> tuple[list[str], list[str]]:
    """The names of the variables of rows and of columns."""
    rows = [""] * labels
    columns = [""] * len(upper)
    if names_row:
        rows = [field.strip() for field in header[-1].fields[:labels]]
        # pandas puts the names over the first column, others over the last.
        columns = [next(filter(None, map(str.strip, row.fields[:labels])), "") for row in upper]
    elif corner is not None:
        rows = [field.strip() for field in header[-1].fields[:labels]]
        rows[-1], _, columns[-1] = (part.strip() for part in rows[-1].partition("\\"))
    else:
        for row in reversed(header):
            found = [field.strip() for field in row.fields[:labels]]
            if any(rows) and any(found):
                columns[upper.index(row)] = next(filter(None, reversed(found)))
            elif any(found):
                rows = found
    some = len([n for n in columns if not n])
    rows = [n or ("row" if labels == 1 else say("row {k}", k)) for k, n in enumerate(rows, 1)]
    columns = [
        n or ("column" if some == 1 else say("column {k}", k)) for k, n in enumerate(columns, 1)
    ]
    return rows, columns
