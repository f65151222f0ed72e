"""The two forms of a table file: a list of cells (long form) and a rectangular grid."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

import numpy as np

from tabprotect.engine.errors import InputError
from tabprotect.engine.progress import SILENT, Progress
from tabprotect.engine.tables.cell_list import CellList
from tabprotect.engine.tables.numerals import NotACountError, looks_numeric, parse_counts
from tabprotect.engine.tables.records import Records

SURE_NAMES = frozenset({"count", "counts", "freq", "frequency", "frequencies"})
COUNT_NAMES = SURE_NAMES | {"n"}
CHUNK_FIELDS = 400_000
MAX_CATEGORIES = 1_000_000
SAMPLE_ROWS = 200


@dataclass(frozen=True)
class Form:
    """How a file is to be read.

    Attributes
    ----------
    count_column
        In long form, where the counts are.
    first_variable
        In long form, the first column that is a variable (row numbers come before it).
    note
        Says it in words where there was a choice.
    """

    kind: Literal["long", "grid", "matrix"]
    count_column: int = -1
    first_variable: int = 0
    note: str = ""


def recognise(records: Records, *, count: str | None = None) -> Form:
    """Long form, grid with labels, or bare matrix, judged by the first rows.

    Parameters
    ----------
    count
        The name of the column of counts; settles that the form is long.

    Raises
    ------
    InputError
        When it cannot be told, or there is nothing to read.
    """
    sample = list(itertools.islice(records.rows(), SAMPLE_ROWS))
    if not sample:
        raise InputError("the file has no rows", file=records.name, hint="export the table again")
    header, body = sample[0], [row for row in sample[1:] if len(row) == len(sample[0])]
    words = [name.strip().casefold() for name in header]
    if count is not None:
        if count not in header:
            raise InputError(
                f"there is no column {count!r}",
                file=records.name,
                line=records.line(0),
                hint=f"the columns are {', '.join(header)}",
            )
        return Form("long", header.index(count))
    if len(header) == 1 and not looks_numeric(header[0]):
        raise InputError(
            "there is only one column",
            file=records.name,
            line=records.line(0),
            hint="a table has one column per variable and a column count; "
            "separate columns by comma, semicolon or tab",
        )
    if all(looks_numeric(field) for field in header):
        return Form("matrix", note="read as counts without headers")
    if not body:
        if len(sample) > 1:
            return Form("long")
        raise _nothing_but_header(records)
    return _by_content(records, header, words, body)


def _nothing_but_header(records: Records) -> InputError:
    return InputError(
        "there is a header but no row of counts",
        file=records.name,
        line=records.line(0),
        hint="export the table again",
    )


def _by_content(
    records: Records, header: list[str], words: list[str], body: list[list[str]]
) -> Form:
    fields = [field for row in body for field in row[1:]]
    numeric = sum(map(looks_numeric, fields)) > len(fields) / 2
    distinct = len({row[0] for row in body}) == len(body)
    if not words[0] and words[-1] in COUNT_NAMES and len(header) > 2:
        numbers = {row[0]: str(number) for number, row in enumerate(body, 1)}
        if all(text == number for text, number in numbers.items()):
            return Form("long", first_variable=1, note="the first column numbers the rows")
    if words[-1] in SURE_NAMES:
        return Form("long")
    if "\\" in header[0] or not words[0]:
        return Form("grid")
    named = [i for i, word in enumerate(words) if word in SURE_NAMES]
    if len(named) == 1:
        return Form("long", named[0])
    looks_like_grid = numeric and distinct and len(header) > 2 and len(body) > 1
    if words[-1] in COUNT_NAMES and not looks_like_grid:
        return Form("long")
    if looks_like_grid:
        return Form("grid", note=f"read as a grid of {header[0]!r} by the other columns")
    columns = [sum(looks_numeric(row[c]) for row in body) > len(body) / 2
               for c in range(len(header))]  # fmt: skip
    if columns[-1] and sum(columns) == 1 and not looks_numeric(header[-1]):
        return Form("long", note=f"the column {header[-1]!r} was taken as the count")
    raise InputError(
        "it cannot be told which column holds the counts",
        file=records.name,
        line=records.line(0),
        hint="name it count, or say which it is; in a grid write the names of the variables "
        "into the first cell as rows\\columns",
    )


def _chunks(records: Records, width: int) -> Iterator[tuple[int, list[list[str]]]]:
    """(number of the first row, rows) for the rows after the header, all of the same width."""
    rows = records.rows()
    next(rows)
    at = 1
    while chunk := list(itertools.islice(rows, max(CHUNK_FIELDS // width, 1))):
        if set(map(len, chunk)) != {width}:
            row = next(i for i, r in enumerate(chunk) if len(r) != width)
            raise _ragged(records, at + row, len(chunk[row]), width)
        yield at, chunk
        at += len(chunk)


def _ragged(records: Records, row: int, length: int, width: int) -> InputError:
    return InputError(
        f"the row has {length} fields, the first row has {width}",
        file=records.name,
        line=records.line(row),
        hint="a label or number with a separator in it must stand in quotation marks",
    )


def read_long(
    records: Records, form: Form, *, decimal: str | None = None, progress: Progress = SILENT
) -> tuple[CellList, list[str]]:
    """One row per cell: its categories and its count.

    Codes are taken as they stand (leading zeros, dots and blanks are part of them).

    Raises
    ------
    InputError
        With the line of the first fault.
    """
    header = next(records.rows())
    width = len(header)
    at_count = form.count_column % width
    axes = [c for c in range(form.first_variable, width) if c != at_count]
    for c in axes:
        if not header[c].strip():
            raise InputError(
                f"column {c + 1} has no name",
                file=records.name,
                line=records.line(0),
                hint="give every variable a name in the first row",
            )
    seen: list[dict[str, int]] = [{} for _ in axes]
    codes: list[list[np.ndarray]] = [[] for _ in axes]
    counts: list[np.ndarray] = []
    decimals = rows = 0
    for at, chunk in _chunks(records, width):
        progress.report("reading the table", records.fraction)
        columns = list(zip(*chunk, strict=True))
        try:
            values, written = parse_counts(columns[at_count], decimal=decimal)
        except NotACountError as error:
            row = error.at
            labels = ", ".join(columns[c][row] for c in axes)
            raise InputError(
                str(error),
                file=records.name,
                line=records.line(at + row),
                cell=f"({labels})",
                hint=error.hint,
            ) from None
        counts.append(values)
        decimals += written
        rows += len(chunk)
        possible = 1
        for place, c in enumerate(axes):
            known = seen[place]
            for label in dict.fromkeys(columns[c]):
                known.setdefault(label, len(known))
            codes[place].append(
                np.fromiter(map(known.__getitem__, columns[c]), np.int32, len(chunk))
            )
            possible *= len(known)
            if len(known) > MAX_CATEGORIES:
                raise InputError(
                    f"variable {header[c]!r} has more than {MAX_CATEGORIES:,} categories",
                    file=records.name,
                    hint="leave out identifiers; group fine categories",
                )
        if rows > possible:
            # More rows than cells: one occurs twice, and the rest need not be read.
            break
    if not rows:
        raise _nothing_but_header(records)
    notes = [form.note] if form.note else []
    if decimals:
        notes.append(f"{decimals} counts were written with decimals, all of them zeros")
    cells = CellList(
        tuple(header[c] for c in axes),
        tuple(tuple(known) for known in seen),
        tuple(np.concatenate(parts) for parts in codes),
        np.concatenate(counts),
        lambda entry: records.line(entry + 1),
    )
    return cells, notes


def read_grid(
    records: Records, form: Form, *, decimal: str | None = None, progress: Progress = SILENT
) -> tuple[CellList, list[str]]:
    """Row labels in the first column and column labels in the first row, or neither.

    The first cell may name the variables as ``rows\\columns``; else they are ``row`` (or what
    stands there) and ``column``. A bare matrix gets the categories ``row1``, ``column1``, ...

    Raises
    ------
    InputError
        With the line and the cell of the first fault.
    """
    bare = form.kind == "matrix"
    first = next(records.rows())
    width = len(first)
    edge = 0 if bare else 1
    row_labels: list[str] = []
    column_labels = [f"column{c + 1}" for c in range(width)] if bare else first[1:]
    parts: list[np.ndarray] = []
    decimals = 0
    chunks = _chunks(records, width)
    if bare:
        chunks = itertools.chain([(0, [first])], chunks)
    for at, chunk in chunks:
        progress.report("reading the table", records.fraction)
        labels = [f"row{at + i + 1}" for i in range(len(chunk))] if bare else [r[0] for r in chunk]
        fields = list(itertools.chain.from_iterable(row[edge:] for row in chunk))
        try:
            values, written = parse_counts(fields, decimal=decimal)
        except NotACountError as error:
            row, column = divmod(error.at, width - edge)
            raise InputError(
                str(error),
                file=records.name,
                line=records.line(at + row),
                cell=f"({labels[row]}, {column_labels[column]})",
                hint=error.hint,
            ) from None
        parts.append(values)
        decimals += written
        row_labels += labels
    names = _grid_names("" if bare else first[0])
    for name, labels, down in ((names[0], row_labels, True), (names[1], column_labels, False)):
        if len(set(labels)) < len(labels):
            again = next(i for i, label in enumerate(labels) if label in labels[:i])
            raise InputError(
                f"variable {name!r} has the category {labels[again]!r} twice",
                file=records.name,
                line=records.line(again + 1 if down else 0),
                hint="rename or merge it",
            )
    shape = (len(row_labels), len(column_labels))
    notes = [form.note] if form.note else []
    if decimals:
        notes.append(f"{decimals} counts were written with decimals, all of them zeros")
    cells = CellList(
        names,
        (tuple(row_labels), tuple(column_labels)),
        None,
        np.concatenate(parts),
        lambda entry: records.line(entry // shape[1] + (1 - bare)),
    )
    return cells, notes


def _grid_names(corner: str) -> tuple[str, str]:
    rows, _, columns = corner.partition("\\")
    return rows.strip() or "row", columns.strip() or "column"
