"""Columns that name the same categories twice: codes and their names are one variable."""

from __future__ import annotations

from dataclasses import replace
from itertools import combinations

import numpy as np

from tabprotect.engine.formats.layouts.cell_list import CellList

FEWEST = 3
"""Categories from which on it is no accident that each goes with one of the other column."""


def without_names(cells: CellList) -> tuple[CellList, list[str]]:
    """The cells with every pair of columns that are one to one as one variable with labels.

    The shorter texts are the categories. Each must occur twice at least: of a list with one row for
    each category nothing is known.
    """
    notes: list[str] = []
    if cells.codes is None:
        return cells, notes
    dropped: set[int] = set()
    labels = dict(cells.labels)
    for a, b in combinations(range(len(cells.names)), 2):
        if dropped & {a, b} or not _same(cells, a, b):
            continue
        code, name = sorted((a, b), key=lambda axis: sum(map(len, cells.categories[axis])))
        pairs = dict(zip(cells.code(code).tolist(), cells.code(name).tolist(), strict=True))
        known, texts = cells.categories[code], cells.categories[name]
        labels[cells.names[code]] = {known[one]: texts[other] for one, other in pairs.items()}
        notes.append(
            f"the column {cells.names[name]!r} names the categories of {cells.names[code]!r}"
        )
        dropped.add(name)
    if not dropped:
        return cells, notes
    kept = [axis for axis in range(len(cells.names)) if axis not in dropped]
    found = replace(
        cells,
        names=tuple(cells.names[axis] for axis in kept),
        categories=tuple(cells.categories[axis] for axis in kept),
        codes=tuple(cells.code(axis) for axis in kept),
        labels=labels,
    )
    return found, notes


def _same(cells: CellList, a: int, b: int) -> bool:
    size = len(cells.categories[a])
    if size != len(cells.categories[b]) or size < FEWEST or len(cells.counts) < 2 * size:
        return False
    if len(cells.names) < 3:
        return False
    pairs = cells.code(a).astype(np.int64) * size + cells.code(b)
    return len(np.unique(pairs)) == size
