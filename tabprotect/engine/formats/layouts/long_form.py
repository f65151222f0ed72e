"""A table as a list of cells: a row for each, its categories and its count."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from tabprotect.engine.arrays import Codes
from tabprotect.engine.errors import InputError
from tabprotect.engine.formats.layouts.cell_list import CellList, check_categories
from tabprotect.engine.formats.layouts.forms import Form, nothing_but_header
from tabprotect.engine.formats.text.fields import Fields
from tabprotect.engine.formats.text.label_codes import LabelCodes
from tabprotect.engine.formats.text.numerals import NotACountError, parse_counts
from tabprotect.engine.formats.text.rows import RowSource, check_width
from tabprotect.engine.progress import SILENT, Progress
from tabprotect.engine.tables.table import Counts

T = TypeVar("T", bound=np.generic)

MANY = 100_000
"""Rows from which on it is looked whether they can be cells of one table at all."""


@dataclass(frozen=True)
class _Part:
    """Some entries: their counts, how many were written with decimals, their codes by axis."""

    counts: Counts
    decimals: int
    codes: list[Codes]


@dataclass(frozen=True)
class _Columns:
    """Where the counts and the labels stand, and the labels seen so far."""

    source: RowSource
    width: int
    count: int
    axes: list[int]
    labels: list[LabelCodes]
    decimal: str | None

    def at_once(self, fields: Fields) -> _Part | None:
        """Rows by whole arrays; ``None`` where they leave a doubt."""
        numbers = fields.whole_numbers(self.count, point=self.decimal != ",")
        if numbers is None:
            return None
        codes = []
        for column, labels in zip(self.axes, self.labels, strict=True):
            found = labels.of_column(fields, column)
            if found is None:
                return None
            codes.append(found)
        return _Part(*numbers, codes)

    def row_by_row(self, rows: list[list[str]], *, at: int) -> _Part:
        """Any rows, with the line and the cell of a fault; ``at`` numbers the first."""
        sound = next((i for i, row in enumerate(rows) if len(row) != self.width), len(rows))
        columns = list(zip(*rows[:sound], strict=True)) or [()] * self.width
        try:
            counts, decimals = parse_counts(columns[self.count], decimal=self.decimal)
        except NotACountError as error:
            labels = ", ".join(columns[c][error.at] for c in self.axes)
            raise InputError(
                str(error),
                file=self.source.name,
                line=self.source.line(at + error.at),
                cell=f"({labels})",
                hint=error.hint,
            ) from None
        # After the counts before it, so that the first fault of the file is the one that is told.
        check_width(self.source, rows[sound:], at=at + sound, width=self.width)
        codes = [
            labels.of_texts(columns[c]) for c, labels in zip(self.axes, self.labels, strict=True)
        ]
        return _Part(counts, decimals, codes)

    def parts(self, progress: Progress) -> Iterator[_Part]:
        at = 1
        for block in self.source.blocks(self.width):
            progress.report("reading the table", self.source.fraction)
            part = None if block.fields is None else self.at_once(block.fields)
            if part is None:
                rows = block.rows()
                if not rows:
                    continue
                part = self.row_by_row(rows, at=at)
            yield part
            at += len(part.counts)


def read_long(
    source: RowSource, form: Form, *, decimal: str | None = None, progress: Progress = SILENT
) -> tuple[CellList, list[str]]:
    """One row per cell: its categories and its count.

    Codes are taken as they stand (leading zeros, dots and blanks are part of them).

    Raises
    ------
    InputError
        With the line of the first fault.
    """
    header = next(source.rows())
    width = len(header)
    at_count = form.count_column % width
    axes = [
        c for c in range(form.first_variable, width) if c != at_count and c not in form.left_out
    ]
    for c in axes:
        if not header[c].strip():
            raise InputError(
                f"column {c + 1} has no name",
                file=source.name,
                line=source.line(0),
                hint="give every variable a name in the first row",
            )
    known = [LabelCodes() for _ in axes]
    columns = _Columns(source, width, at_count, axes, known, decimal)
    counts: list[Counts] = []
    codes: list[list[Codes]] = [[] for _ in axes]
    rows = decimals = 0
    for part in columns.parts(progress):
        counts.append(part.counts)
        for listed, found in zip(codes, part.codes, strict=True):
            listed.append(found)
        decimals += part.decimals
        rows += len(part.counts)
        sizes = [len(labels.numbers) for labels in known]
        for c, size in zip(axes, sizes, strict=True):
            check_categories(header[c], size)
        if rows > max(MANY, math.prod(sizes)):
            # More rows than cells: one occurs twice, and the rest need not be read.
            break
    if not rows:
        raise nothing_but_header(source)
    notes = [form.note] if form.note else []
    if decimals:
        notes.append(f"{decimals} counts were written with decimals, all of them zeros")
    cells = CellList(
        tuple(header[c] for c in axes),
        tuple(tuple(labels.numbers) for labels in known),
        tuple(map(_joined, codes)),
        _joined(counts),
        lambda entry: source.line(entry + 1),
    )
    return cells, notes


def _joined(parts: list[NDArray[T]]) -> NDArray[T]:
    """The parts as one array; they are given up, so that not all is held twice."""
    whole = np.concatenate(parts)
    parts.clear()
    return whole
