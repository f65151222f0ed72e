"""Labels left blank: the rest of a merged cell, a category without a name, or a total.

Offices write a label once and leave it blank in the rows below it. Blanks are filled from above only where
they can mean nothing else: a blank stands beside blanks on its left, no label is repeated below itself, and
every cell is there once. What else a blank means is for a person to say.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise

import numpy as np

from tabprotect.engine.arrays import Bools, Codes
from tabprotect.engine.errors import InputError
from tabprotect.engine.formats.layouts.cell_list import CellList
from tabprotect.engine.formats.reading_options import Reading
from tabprotect.engine.tables.variable import MISSING
from tabprotect.languages.messages import joined, message

Categories = tuple[tuple[str, ...], ...]


def fill_down(
    names: Sequence[str], categories: Categories, codes: tuple[Codes, ...] | None, reading: Reading
) -> tuple[Categories, tuple[Codes, ...] | None, list[str]]:
    """The categories and codes of all rows in the order of the file, with labels in place of blanks; and notes.

    Only where ``blank`` is not said, or said to be ``above``.
    """
    if codes is None or reading.blank == "missing" or not any(map(_unnamed, categories)):
        return categories, codes, []
    blank = [np.isin(code, sorted(_unnamed(known))) for known, code in zip(categories, codes, strict=True)]
    axes = [axis for axis, here in enumerate(blank) if here.any()]
    if not axes or any(blank[axis][0] for axis in axes):
        return categories, codes, []
    full = list(codes)
    for axis in axes:
        rows = np.where(blank[axis], 0, np.arange(len(codes[axis])))
        full[axis] = codes[axis][np.maximum.accumulate(rows)]
    if reading.blank is None and not _merged(blank, full, categories):
        return categories, codes, []
    kept = list(categories)
    for axis in axes:
        gone = _unnamed(categories[axis])
        kept[axis] = tuple(text for text in categories[axis] if text.strip())
        number = np.cumsum([n not in gone for n in range(len(categories[axis]))], dtype=np.int32) - 1
        full[axis] = number[full[axis]].astype(np.int32)
    some = int(np.logical_or.reduce([blank[axis] for axis in axes]).sum())
    told = message(
        "blank labels of {names} are those above them, in {some:,} rows",
        joined((repr(names[axis]) for axis in axes), ", "),
        some,
    )
    return tuple(kept), tuple(full), [told]


def _unnamed(known: Sequence[str]) -> set[int]:
    return {n for n, text in enumerate(known) if not text.strip()}


def _merged(blank: Sequence[Bools], full: Sequence[Codes], categories: Categories) -> bool:
    """Return True if blanks can be nothing but labels written once."""
    if blank[-1].any() or any((here & ~left).any() for left, here in pairwise(blank)):
        return False
    same = np.ones(len(full[0]) - 1, dtype=np.bool_)
    for here, code in zip(blank, full, strict=True):
        same &= code[1:] == code[:-1]
        if here.any() and (same & ~here[1:]).any():
            return False
    keys = np.zeros(len(full[0]), dtype=np.int64)
    for known, code in zip(categories, full, strict=True):
        keys = keys * len(known) + code
    return len(np.unique(keys)) == len(keys)


def name_blanks(cells: CellList, reading: Reading) -> CellList:
    """The cells with the category of their own that blanks are said to be."""
    if reading.blank != "missing":
        return cells
    named = tuple(
        tuple(text if text.strip() or MISSING in known else MISSING for text in known)
        for known in cells.categories
    )
    return replace(cells, categories=named)


def refuse_blanks(cells: CellList) -> None:
    """Ask what a category without a name is.

    Raises
    ------
    InputError
        With the first line of one.
    """
    axes = [axis for axis, known in enumerate(cells.categories) if _unnamed(known)]
    every = ",".join(f"{cells.names[axis]}=" for axis in axes)
    for axis in axes:
        rows = np.flatnonzero(np.isin(cells.code(axis), sorted(_unnamed(cells.categories[axis]))))
        if len(rows):
            raise InputError(
                message("variable {names} has a category without a name", repr(cells.names[axis])),
                line=cells.line(int(rows[0])),
                cell=cells.text(int(rows[0])),
                hint=message(
                    "say what it is; the label above it: --blank above; a category of its own: --blank "
                    "missing; a total: --totals {every}",
                    every,
                ),
            )
