"""The columns of a table laid out by hand: labels, counts, and what each header row names.

The rows are apart already (:mod:`.laid_out`): title, header, body and notes.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from tabprotect.engine.errors import InputError
from tabprotect.engine.foreign.looks_numeric import looks_numeric, mostly_numeric
from tabprotect.engine.formats.layouts.count_marks import CountMarks, is_bound
from tabprotect.engine.formats.layouts.table_forms import (
    SURE_NAMES,
    no_column,
    percentages,
    recognise,
    status_columns,
)
from tabprotect.engine.formats.reading_options import Reading
from tabprotect.engine.formats.text.rows import SheetRows
from tabprotect.languages.messages import joined, message, plural

_THOUSANDS = re.compile(r"[0-9]{1,3}([ .,'\u2019\u00a0\u202f\u2009][0-9]{3})+")


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
class Blocks:
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


def columns_of(blocks: Blocks, reading: Reading, marks: CountMarks) -> LaidOut:
    """The contents of each column."""
    corner = next((n for n, field in enumerate(blocks.lowest) if all(field.partition("\\")[::2])), None)
    count = _count_column(blocks, reading, corner)
    if count is not None and reading.columns is not None:
        raise InputError(
            message("columns: goes with a grid, and this table has a line for each cell"), file=blocks.name
        )
    return _grid(blocks, reading, marks, corner) if count is None else _long(blocks, count, reading)


def _count_column(blocks: Blocks, reading: Reading, corner: int | None) -> int | None:
    """The column of the counts in long form; ``None`` for a grid."""
    if reading.form == "long" or reading.count is not None:
        return _named_count(blocks, reading.count)
    if len(blocks.header) != 1 or reading.form is not None or corner is not None:
        return None
    rows = [*blocks.header, *blocks.body]
    try:
        form = recognise(
            SheetRows(blocks.name, [row.fields for row in rows], [row.line for row in rows]),
            variable=reading.variable or (),
        )
    except InputError:
        if _columns_of_thousands(blocks.body) < 2:
            raise
        return None
    return form.count_column % len(blocks.lowest) if form.kind == "long" else None


def _long(blocks: Blocks, count: int, reading: Reading) -> LaidOut:
    words = tuple(field.strip() for field in blocks.lowest)
    parts = [
        LaidOutPart("form", "long", message("the counts stand in the column {words}", repr(words[count])))
    ]
    stated = {words[count], *(reading.variable or ())}
    shares = percentages(words, [row.fields for row in blocks.body], stated)
    if shares:
        names = joined((words[n] for n in sorted(shares)), ", ")
        parts.append(LaidOutPart("drop", names, message("left out, as it holds percentages")))
    aside = (status_columns(words) | shares) - {count}
    rest = tuple(w for n, w in enumerate(words) if n != count and n not in aside)
    return blocks.laid_out(parts, count=count, names=rest, left_out=aside)


def _grid(blocks: Blocks, reading: Reading, marks: CountMarks, corner: int | None) -> LaidOut:
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
                message("{columns} names for {upper} header rows", len(columns), len(upper)),
                file=blocks.name,
                hint=message("name the variable of each header row, apart by commas: --columns sex,age"),
            )
    else:
        unsure = [n for n in columns if re.fullmatch("column( [0-9]+)?", n)]
        parts = [
            LaidOutPart("columns", n, message("the columns' variable has no name"), False) for n in unsure
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


def _named_count(blocks: Blocks, wanted: str | None) -> int:
    words = [field.strip() for field in blocks.lowest]
    if wanted is not None:
        if wanted.strip() not in words:
            line = blocks.header[-1].line if blocks.header else None
            raise no_column(wanted, words, file=blocks.name, line=line)
        return words.index(wanted.strip())
    named = [n for n, word in enumerate(words) if word.casefold() in SURE_NAMES]
    return named[0] if len(named) == 1 else len(words) - 1


def _label_columns(header: Sequence[LaidOutRow], body: Sequence[LaidOutRow], marks: CountMarks) -> int:
    """The number of leading columns that hold no counts."""
    lowest = header[-1].fields if header else []
    if len(header) > 1 and not any(field.strip() for field in lowest[-1:]):
        return max(sum(1 for _ in filter(str.strip, lowest)), 1)
    width = len(body[0].fields)
    labels = 1
    while labels < width - 1 and not _counted([row.fields[labels] for row in body], marks):
        labels += 1
    return labels


def _counted(texts: Sequence[str], marks: CountMarks) -> bool:
    """Return True if a column holds numbers and marks: bounds alone, unless they are the same, are labels.

    So are ranges, unless most others are numbers.
    """
    filled = [text for text in texts if text.strip()]
    if not all(looks_numeric(text) or marks.in_count(text) for text in filled):
        return False
    if not all(looks_numeric(text) or marks.stands(text) for text in filled):
        return mostly_numeric(filled)
    return not filled or len(set(filled)) == 1 or not all(map(is_bound, filled))


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
    rows = [n or ("row" if labels == 1 else message("row {k}", k)) for k, n in enumerate(rows, 1)]
    columns = [n or ("column" if some == 1 else message("column {k}", k)) for k, n in enumerate(columns, 1)]
    return rows, columns
