"""Letters of sums: the class of size of each finest sum, drawn by a public law that excludes nothing.

Classes are powers of a ratio. The letter is the sum's own class, or one that is d classes off with a
chance that falls as a power of d: whatever the letter, every sum stays possible, and only its weight changes.
"""

from __future__ import annotations

import numpy as np

from tabprotect.engine.arrays import Bools, Floats, Ints
from tabprotect.engine.errors import InputError
from tabprotect.languages.messages import message

RATIO = 1.4
"""Of two neighbouring classes."""

FALLS = 0.3
"""Chance of a class as a share of that of the next nearer one."""

NO_LETTER = np.iinfo(np.int64).min
"""Stands where a cell has none."""

LETTERS = "letters"
"""Disclosed: the letters of the hidden finest sums, in the order of the cells."""


def classes(values: Floats | Ints) -> Ints:
    """The class of each size; what is below 1 counts as 1."""
    return np.asarray(np.floor(np.log(np.maximum(values, 1)) / np.log(RATIO) + 1e-12).astype(np.int64))


def drawn_classes(values: Floats | Ints, uniforms: Floats) -> Ints:
    """The letter of each size, from a number in [0, 1) each."""
    own, far = (1 - FALLS) / (1 + FALLS), np.abs(2 * uniforms - 1)
    with np.errstate(divide="ignore"):
        steps = np.ceil(np.log((1 - far) / (1 - own)) / np.log(FALLS))
    # A number so near the end that no double says how far is as far as doubles go.
    off = np.where(far > own, np.clip(steps, 1, 64), 0).astype(np.int64)
    return classes(values) + np.where(uniforms < 0.5, -off, off)


def middles(letters: Ints) -> Floats:
    """The size that each letter is planned as, at least 1."""
    return np.asarray(np.maximum(1.0, RATIO ** (letters + 0.5)))


def log_chances(letters: Ints, values: Floats) -> Floats:
    """log P(letter | size), for sizes (..., cells) and letters (cells,)."""
    own = np.log((1 - FALLS) / (1 + FALLS))
    return np.asarray(own + np.log(FALLS) * np.abs(letters - classes(values)))


def finest(shape: tuple[int, ...], categories: tuple[int, ...], key: Ints) -> Bools:
    """Mask of the cells that are of categories alone: neither groups nor totals."""
    nodes = np.unravel_index(key, shape)
    # The categories of a variable are the first of its nodes.
    return np.asarray(np.all([at < number for at, number in zip(nodes, categories, strict=True)], axis=0))


def as_text(letters: Ints) -> str:
    """Letters as they are published."""
    return " ".join(map(str, letters.tolist()))


def from_text(text: object, number: int) -> Ints:
    """The published letters of so many hidden sums.

    Raises
    ------
    InputError
        If they are not of that form.
    """
    parts = text.split() if isinstance(text, str) else []
    whole = all(part.removeprefix("-").isdecimal() and len(part) < 6 for part in parts)
    if not isinstance(text, str) or len(parts) != number or not whole:
        raise InputError(
            message("the mechanism does not state a letter for each hidden sum"),
            hint=message("take the mechanism that came with the table"),
        )
    return np.array([int(part) for part in parts], dtype=np.int64)
