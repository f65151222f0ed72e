"""Hidden cells worked out from the totals of their file, where these tell them.

A total with one hidden part tells that part. The lines of the table are gone through until nothing
more follows; a cell that then is still hidden has no count that could be protected.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from tabprotect.engine.arrays import Bools, Ints
from tabprotect.engine.errors import InputError
from tabprotect.engine.formats.layouts.blank_labels import refuse_blanks
from tabprotect.engine.formats.layouts.cell_list import SMALL, CellList
from tabprotect.engine.formats.reading_options import Reading
from tabprotect.engine.formats.totals.settled_totals import stated_or_found
from tabprotect.engine.formats.totals.total_rows import Totals
from tabprotect.languages.messages import joined, message, plural

_REMEDY = message("take the table as it was before it was protected: a suppressed count cannot be protected")


def worked_out(cells: CellList, reading: Reading) -> tuple[CellList, list[str]]:
    """The cells with those hidden ones that follow from the totals, and a note.

    Raises
    ------
    InputError
        Where inner cells stay hidden, or one would be negative.
    """
    shape = tuple(len(known) for known in cells.categories)
    size = int(np.prod(shape, dtype=float))
    if cells.codes is None or len(cells.counts) == size:
        return cells, []
    totals = stated_or_found(cells, reading)
    if size > SMALL:
        raise InputError(message("the table is too large for hidden cells to be worked out"), hint=_REMEDY)
    values, known = np.zeros(size, dtype=np.int64), np.zeros(size, dtype=np.bool_)
    keys = cells.keys()
    values[keys], known[keys] = cells.counts, True
    values, known = values.reshape(shape), known.reshape(shape)
    before = known.copy()
    while _step(values, known, totals):
        pass
    inner = np.ones(shape, dtype=np.bool_)
    for axis, codes in totals.items():
        np.moveaxis(inner, axis, 0)[list(codes)] = False
    left = np.argwhere(inner & ~known)
    if len(left):
        if reading.blank is None and not totals:
            refuse_blanks(cells)
        first = [known_[code] for known_, code in zip(cells.categories, left[0], strict=True)]
        raise InputError(
            plural(
                len(left),
                "{n:,} cell has no count, and the totals do not tell it",
                "{n:,} cells have no count, and the totals do not tell them",
                len(left),
            ),
            cell=f"({', '.join(first)})",
            hint=_REMEDY,
        )
    found = np.argwhere(inner & ~before)
    counts = values[tuple(found.T)]
    if len(counts) and counts.min() < 0:
        raise InputError(message("a hidden cell would be negative: the totals do not fit"), hint=_REMEDY)
    whole_codes = [
        np.concatenate([cells.code(axis), found[:, axis]]).astype(np.int32) for axis in range(len(shape))
    ]
    whole = replace(
        cells, codes=tuple(whole_codes), counts=np.concatenate([cells.counts, counts]),
        line=lambda entry: cells.line(entry) if entry < len(keys) else None,
        nobody=None if cells.nobody is None
        else np.concatenate([cells.nobody, np.zeros(len(counts), dtype=np.bool_)]),
    )  # fmt: skip
    if not len(counts):
        return whole, []
    where = joined((known_[code] for known_, code in zip(cells.categories, found[0], strict=True)), ", ")
    return whole, [
        plural(
            len(counts),
            "{n:,} hidden cell was worked out from the totals: ({cell}) = {count:,}",
            "{n:,} hidden cells were worked out from the totals, as ({cell}) = {count:,}",
            len(counts),
            where,
            int(counts[0]),
        )
    ]


def _step(values: Ints, known: Bools, totals: Totals) -> bool:
    """Fill what follows from single lines; False if nothing did."""
    some = False
    for axis, codes in totals.items():
        value, there = np.moveaxis(values, axis, 0), np.moveaxis(known, axis, 0)
        for code, cover in codes.items():
            parts = [c for c in range(len(value)) if c not in codes] if cover is None else list(cover)
            hidden = ~there[parts]
            open_parts = hidden.sum(axis=0)
            part = there[code] & (open_parts == 1)
            sums = np.where(hidden, 0, value[parts]).sum(axis=0)
            whole = ~there[code] & (open_parts == 0)
            value[code] = np.where(whole, sums, value[code])
            there[code] |= whole
            for place, one in enumerate(parts):
                here = part & hidden[place]
                value[one] = np.where(here, value[code] - sums, value[one])
                there[one] |= here
            some = some or bool(part.any() or whole.any())
    return some
