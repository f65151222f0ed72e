"""Blocks of counts on the clipboard: reading what a spreadsheet gives."""

from __future__ import annotations

import re
from collections.abc import Sequence

from tabprotect.engine.errors import InputError

_NUMBER = re.compile(r"[+\-\u2212]?\d[\d\u2009\u202f\u00a0 ']*")


def read_block(text: str, *, headers: Sequence[str] = ()) -> list[list[int]]:
    """Whole numbers out of tab-separated text; a header row and column are dropped.

    A first row or column is taken for headers when none of it is a number, or when all its
    labels are among ``headers`` (categories may be numbers).

    Raises
    ------
    InputError
        For ragged lines and anything that is not a whole number, naming the place in the block.
    """
    lines = [line.split("\t") for line in text.replace("\r\n", "\n").rstrip("\n").split("\n")]
    if not text.strip():
        raise InputError("the clipboard holds no text", hint="copy a block of numbers first")
    if len({len(line) for line in lines}) > 1:
        wide = len(lines[0])
        bad = next(i for i, line in enumerate(lines) if len(line) != wide)
        raise InputError(
            f"the lines of the block differ in length: {wide} cells in the first, "
            f"{len(lines[bad])} in line {bad + 1}",
            hint="copy one rectangle",
        )
    known = set(headers)

    def is_header(labels: Sequence[str]) -> bool:
        named = [label.strip() for label in labels if label.strip()]
        return not named or all(label in known or not _NUMBER.fullmatch(label) for label in named)

    if len(lines) > 1 and is_header(lines[0]):
        lines = lines[1:]
    if len(lines[0]) > 1 and is_header([line[0] for line in lines]):
        lines = [line[1:] for line in lines]
    return [
        [_whole(cell, row + 1, column + 1) for column, cell in enumerate(line)]
        for row, line in enumerate(lines)
    ]


def whole_number(text: str) -> int:
    """A count as people write it: ``1 234``, ``1\u2009234``.

    Raises
    ------
    InputError
        With the reason and a remedy.
    """
    bare = text.strip()
    if not bare:
        raise InputError("a count is missing", hint="type 0 for nobody")
    if not _NUMBER.fullmatch(bare):
        hint = "type a whole number of at least 0"
        if re.fullmatch(r"[\d ]*[.,]\d+", bare):
            hint = "counts have no decimals, and no point or comma between thousands"
        raise InputError(f"{bare!r} is not a whole number", hint=hint)
    return int(re.sub(r"[^\d\-]", "", bare.replace("\u2212", "-")))


def _whole(text: str, row: int, column: int) -> int:
    try:
        return whole_number(text)
    except InputError as error:
        raise InputError(
            error.message, cell=f"row {row}, column {column} of the block", hint=error.hint
        ) from None
