"""Rectangular grids: rows by columns, with or without labels."""

from __future__ import annotations

import itertools

import numpy as np

from tabprotect.engine.errors import InputError
from tabprotect.engine.formats.layouts.cell_list import CellList
from tabprotect.engine.formats.layouts.table_forms import Form
from tabprotect.engine.formats.text.numerals import NotACountError, parse_counts
from tabprotect.engine.formats.text.rows import RowSource, check_width
from tabprotect.engine.progress import SILENT, Progress
from tabprotect.languages.said import plural, say


def read_grid(
    source: RowSource, form: Form, *, decimal: str | None = None, progress: Progress = SILENT
) -> tuple[CellList, list[str]]:
    """Read a grid with row labels in the first column and column labels in the first row, or neither.

    The first cell may name the variables as ``rows\\columns``; else they are ``row`` (or the text
    there) and ``column``. A bare matrix gets the categories ``row1``, ``column1``, ...

    Raises
    ------
    InputError
        With the line and the cell of the first fault.
    """
    bare = form.kind == "matrix"
    first = next(source.rows())
    width = len(first)
    edge = 0 if bare else 1
    row_labels: list[str] = []
    column_labels = [f"column{c + 1}" for c in range(width)] if bare else first[1:]
    parts: list[np.ndarray] = []
    decimals = 0
    at = 1 - bare
    chunks = (block.rows() for block in source.blocks(width))
    for chunk in itertools.chain([[first]] if bare else [], chunks):
        progress.report(say("reading the table"), source.fraction)
        check_width(source, chunk, at=at, width=width)
        labels = [f"row{at + i + 1}" for i in range(len(chunk))] if bare else [r[0] for r in chunk]
        fields = list(itertools.chain.from_iterable(row[edge:] for row in chunk))
        try:
            values, written = parse_counts(fields, decimal=decimal)
        except NotACountError as error:
            row, column = divmod(error.at, width - edge)
            raise InputError(
                str(error),
                file=source.name,
                line=source.line(at + row),
                cell=f"({labels[row]}, {column_labels[column]})",
                hint=error.hint,
            ) from None
        parts.append(values)
        decimals += written
        row_labels += labels
        at += len(chunk)
    names = _grid_names("" if bare else first[0])
    for name, labels, down in ((names[0], row_labels, True), (names[1], column_labels, False)):
        if len(set(labels)) < len(labels):
            again = next(i for i, label in enumerate(labels) if label in labels[:i])
            raise InputError(
                say(
                    "variable {name} has the category {labels} twice",
                    repr(name),
                    repr(labels[again]),
                ),
                file=source.name,
                line=source.line(again + 1 if down else 0),
                hint=say("rename or merge it"),
            )
    shape = (len(row_labels), len(column_labels))
    notes = [form.note] if form.note else []
    if decimals:
        notes.append(
            plural(
                decimals,
                "{decimals} count was written with decimals, all of them zeros",
                "{decimals} counts were written with decimals, all of them zeros",
                decimals,
            )
        )
    cells = CellList(
        names,
        (tuple(row_labels), tuple(column_labels)),
        None,
        np.concatenate(parts),
        lambda entry: source.line(entry // shape[1] + (1 - bare)),
    )
    return cells, notes


def _grid_names(corner: str) -> tuple[str, str]:
    rows, _, columns = corner.partition("\\")
    return rows.strip() or "row", columns.strip() or "column"
