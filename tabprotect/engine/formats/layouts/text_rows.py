"""All rows of a text, for tables laid out by hand."""

from __future__ import annotations

import csv
import io
from collections import Counter

from tabprotect.engine.errors import InputError
from tabprotect.engine.formats.layouts.laid_out import LaidOutRow
from tabprotect.engine.formats.text.rows import DELIMITERS, TextRows
from tabprotect.languages.said import say


def text_rows(source: TextRows, delimiter: str | None) -> list[LaidOutRow]:
    """The rows of a text, split by the delimiter that gives most lines the same width.

    Raises
    ------
    InputError
        If the quotation marks are wrong for every delimiter.
    """
    text = source.text()
    best: list[LaidOutRow] = []
    rank = (-1, -1)
    fault: csv.Error | None = None
    for sign in [delimiter] if delimiter else DELIMITERS:
        try:
            rows = _split(text, sign)
        except csv.Error as error:
            fault = error
            continue
        sizes = Counter(len(row.fields) for row in rows if len(row.fields) > 1)
        width, number = max(sizes.items(), key=lambda item: (item[1], item[0]), default=(1, 0))
        if (number, width) > rank:
            rank, best = (number, width), rows
    if not best and fault is not None:
        raise InputError(say("the quotation marks are wrong: {fault}", fault), file=source.name)
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
