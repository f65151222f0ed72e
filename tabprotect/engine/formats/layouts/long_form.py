"""Long form: a table as a list of cells, one row each, with its categories and its count."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from tabprotect.engine.arrays import Codes, Ints
from tabprotect.engine.errors import InputError
from tabprotect.engine.formats.layouts.blank_labels import fill_down
from tabprotect.engine.formats.layouts.cell_list import CellList, check_categories
from tabprotect.engine.formats.layouts.count_marks import CountMarks, count_in
from tabprotect.engine.formats.layouts.table_forms import Form, nothing_but_header
from tabprotect.engine.formats.reading_options import Reading
from tabprotect.engine.formats.statuses import withheld
from tabprotect.engine.formats.text.fields import Fields, LabelCodes
from tabprotect.engine.formats.text.numerals import NotACountError, parse_counts
from tabprotect.engine.formats.text.rows import RowSource, check_width
from tabprotect.engine.progress import SILENT, Progress
from tabprotect.languages.messages import message

T = TypeVar("T", bound=np.generic)

NO_MARKS = CountMarks()

MANY = 100_000
"""The number of rows from which on they are checked to be cells of one table at all."""


@dataclass(frozen=True)
class _Part:
    """A part of the rows: their counts, the number written with decimals, the codes of all by axis.

    ``rows`` are the row numbers of the counts, if rows have none.
    """

    counts: Ints
    decimals: int
    codes: list[Codes]
    size: int
    rows: Ints | None = None


@dataclass(frozen=True)
class _Columns:
    """The columns of counts and labels, with the labels seen so far."""

    source: RowSource
    width: int
    count: int
    axes: list[int]
    labels: list[LabelCodes]
    statuses: Mapping[str, int]
    reading: Reading
    marks: CountMarks
    where: Mapping[int, str]

    def at_once(self, fields: Fields) -> _Part | None:
        """Read rows by whole arrays; ``None`` if they are not clear-cut."""
        if self.reading.scale not in (None, 1):
            return None
        numbers = fields.whole_numbers(self.count, point=self.reading.decimal != ",")
        if numbers is None:
            return None
        codes = []
        for column, labels in zip(self.axes, self.labels, strict=True):
            found = labels.of_column(fields, column)
            if found is None:
                return None
            codes.append(found)
        return _Part(*numbers, codes, len(numbers[0]))

    def row_by_row(self, rows: list[list[str]], *, at: int) -> _Part:
        """Read any rows, with the line and the cell of a fault; ``at`` is the number of the first."""
        sound = next((i for i, row in enumerate(rows) if len(row) != self.width), len(rows))
        columns = list(zip(*rows[:sound], strict=True)) or [()] * self.width
        kept: list[int] | None = None
        try:
            counts, decimals = parse_counts(
                columns[self.count], decimal=self.reading.decimal, scale=self.reading.scale
            )
        except NotACountError:
            kept, counts, decimals = self._marked(rows[:sound], at=at)
        # Checked after the counts before it, so that the first fault of the file is reported.
        check_width(self.source, rows[sound:], at=at + sound, width=self.width)
        codes = [labels.of_texts(columns[c]) for c, labels in zip(self.axes, self.labels, strict=True)]
        places: Ints | None = None
        if kept is not None:
            # Categories stay, even if none of their cells has a count.
            places = np.array(kept, dtype=np.int64) + at
        return _Part(counts, decimals, codes, sound, places)

    def _marked(self, rows: list[list[str]], *, at: int) -> tuple[list[int], Ints, int]:
        """The rows that have a count, and their counts, if others hold a mark."""
        kept, counts, decimals = [], [], 0
        for number, row in enumerate(rows):
            # A blank may be the label above it.
            if any(row[column] not in (value, "") for column, value in self.where.items()):
                continue
            text = row[self.count]
            try:
                count = count_in(
                    text,
                    self.marks,
                    partial(self._in_place, row),
                    decimal=self.reading.decimal,
                    missing_are=self.reading.without_count,
                    scale=self.reading.scale,
                )
                decimals += not self.marks.known(text) and ("." in text or "," in text)
            except NotACountError as error:
                raise InputError(
                    error.why,
                    file=self.source.name,
                    line=self.source.line(at + number),
                    cell=f"({', '.join(row[c] for c in self.axes)})",
                    hint=error.hint,
                ) from None
            if count is not None:
                kept.append(number)
                counts.append(count)
        return kept, np.array(counts, dtype=np.int64), decimals

    def _in_place(self, row: list[str], text: str) -> tuple[str, str]:
        return text, withheld({name: row[column] for name, column in self.statuses.items()})

    def parts(self, progress: Progress) -> Iterator[_Part]:
        at = 1
        for block in self.source.blocks(self.width):
            progress.report(message("reading the table"), self.source.fraction)
            part = None if block.fields is None else self.at_once(block.fields)
            if part is None:
                rows = block.rows()
                if not rows:
                    continue
                part = self.row_by_row(rows, at=at)
            yield part
            at += part.size


def read_long(
    source: RowSource,
    form: Form,
    reading: Reading,
    *,
    marks: CountMarks = NO_MARKS,
    progress: Progress = SILENT,
) -> tuple[CellList, list[str]]:
    """Read one row per cell: its categories and its count.

    Codes are taken literally (leading zeros, dots and blanks are part of them).

    Parameters
    ----------
    marks
        The marks in place of counts.

    Raises
    ------
    InputError
        With the line of the first fault.
    """
    header = next(source.rows())
    width = len(header)
    at_count = form.count_column % width
    axes = _variables(source, header, form)
    known = [LabelCodes() for _ in axes]
    statuses = {header[c].strip(): c for c in form.left_out}
    where = {c: value for name, value in (reading.where or {}).items() for c in axes if header[c] == name}
    columns = _Columns(source, width, at_count, axes, known, statuses, reading, marks, where)
    counts: list[Ints] = []
    codes: list[list[Codes]] = [[] for _ in axes]
    places: list[Ints] = []
    rows = decimals = 0
    for part in columns.parts(progress):
        counts.append(part.counts)
        for listed, found in zip(codes, part.codes, strict=True):
            listed.append(found)
        places.append(np.arange(rows + 1, rows + part.size + 1) if part.rows is None else part.rows)
        decimals += part.decimals
        rows += part.size
        for c, labels in zip(axes, known, strict=True):
            check_categories(header[c], len(labels.numbers))
        if rows > max(MANY, math.prod(len(labels.numbers) for labels in known)):
            # With more rows than cells one occurs twice, and the rest need not be read.
            break
    if not rows:
        raise nothing_but_header(source)
    whole = sum(map(len, counts)) == rows
    at = np.empty(0, dtype=np.int64) if whole else np.concatenate(places)
    names = tuple(header[c] for c in axes)
    categories, every, filled = fill_down(
        names, tuple(tuple(labels.numbers) for labels in known), tuple(map(_joined, codes)), reading
    )
    assert every is not None
    cells = CellList(
        names,
        categories,
        every if whole else tuple(code[at - 1] for code in every),
        _joined(counts),
        lambda entry: source.line(entry + 1 if whole else int(at[entry])),
        gaps=not whole,
        counted=header[at_count],
    )
    return cells, [*form.notes(decimals), *filled]


def _variables(source: RowSource, header: list[str], form: Form) -> list[int]:
    """The columns of variables, each with a name."""
    width = len(header)
    aside = {form.count_column % width, *form.left_out}
    axes = [c for c in range(form.first_variable, width) if c not in aside]
    for c in axes:
        if not header[c].strip():
            raise InputError(
                message("column {c} has no name", c + 1),
                file=source.name,
                line=source.line(0),
                hint=message("give every variable a name in the first row"),
            )
    return axes


def _joined(parts: list[NDArray[T]]) -> NDArray[T]:
    """The parts as one array; they are dropped on the way, so that not everything is held twice."""
    whole = np.concatenate(parts)
    parts.clear()
    return whole
