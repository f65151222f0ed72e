"""What a reader answers, checked like a foreign file: its shape, its texts, its numbers."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from tabprotect.engine.arrays import Codes
from tabprotect.engine.foreign.reader import stopped
from tabprotect.engine.foreign.wire import Buffer


def text(value: object, path: Path) -> str:
    """A text that is one.

    Raises
    ------
    InputError
    """
    if type(value) is not str or not _whole(value):
        raise stopped(path)
    return value


def _whole(value: str) -> bool:
    return value.isascii() or not any("\ud800" <= sign <= "\udfff" for sign in value)


def texts(value: object, path: Path) -> list[str]:
    """A list of texts.

    Raises
    ------
    InputError
    """
    if type(value) is not list or not all(type(one) is str for one in value):
        raise stopped(path)
    if not all(map(_whole, value)):
        raise stopped(path)
    return value


def number(value: object, path: Path) -> int:
    """A whole number that is not negative.

    Raises
    ------
    InputError
    """
    if type(value) is not int or value < 0:
        raise stopped(path)
    return value


def rows_of(value: object, least: int, width: int | None, path: Path) -> list[list[object]]:
    """Read at least so many rows, each a list of ``width`` values, or of any number.

    Raises
    ------
    InputError
    """
    if type(value) is not list or len(value) < least:
        raise stopped(path)
    if not all(type(row) is list and (width is None or len(row) == width) for row in value):
        raise stopped(path)
    return value


def codes(buffer: Buffer, categories: int, path: Path) -> Codes:
    """Numbers of categories (rows,), -1 for none.

    Raises
    ------
    InputError
    """
    found = np.frombuffer(buffer.data, np.int32) if buffer.kind == "i4" else None
    if found is None or (len(found) and not -1 <= found.min() <= found.max() < categories):
        raise stopped(path)
    return found


def columns_of(value: object, buffers: Sequence[Buffer], width: int, path: Path) -> list[list[object]]:
    """Columns as rows of ``width`` values, with a buffer of the same length for each.

    Raises
    ------
    InputError
    """
    found = rows_of(value, 0, width, path)
    if len(found) != len(buffers) or len({len(one) for one in buffers}) > 1:
        raise stopped(path)
    return found
