"""Whole originals from drawn changes of groups of cells."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import numpy.typing as npt

from tabprotect.engine.arrays import Ints, Signs
from tabprotect.engine.posterior.posterior import NARROW_COUNTS
from tabprotect.engine.progress import Progress

DrawChanges = Callable[[int, np.random.Generator, Progress], npt.NDArray[np.int64] | npt.NDArray[np.int16]]
DrawTables = Callable[[int, np.random.Generator, Progress], Ints]
DrawNarrow = Callable[[int, np.random.Generator, Progress], Signs]


def of_tables(draw: DrawChanges, group_of_cell: Ints, published: Ints) -> DrawTables:
    """Whole originals from the changes of the groups."""

    def drawn(number: int, generator: np.random.Generator, progress: Progress) -> Ints:
        changes = _by_cell(draw(number, generator, progress), group_of_cell)
        return (changes + published[:, None]).T

    return drawn


NARROW = 20
"""Largest change for which counts are drawn in eight bits."""


def narrow_tables(draw: DrawChanges, group_of_cell: Ints, published: Ints, span: int) -> DrawNarrow | None:
    """Originals in eight bits: counts beyond ``NARROW_COUNTS`` are some count beyond it."""
    if span > NARROW:
        return None
    most = NARROW_COUNTS + NARROW
    cut = np.clip(published, -most, most).astype(np.int8)

    def drawn(number: int, generator: np.random.Generator, progress: Progress) -> Signs:
        changes = draw(number, generator, progress).astype(np.int8)
        found = _by_cell(changes, group_of_cell)
        found += cut[:, None]
        return found.T

    return drawn


def _by_cell(changes: npt.NDArray[np.signedinteger], group_of_cell: Ints) -> npt.NDArray[np.signedinteger]:
    """(cells, draws) from (draws, groups); cells of a last group never change."""
    groups, number = changes.shape[1], len(changes)
    out = np.zeros((len(group_of_cell), number), dtype=changes.dtype)
    moving = np.flatnonzero(group_of_cell < groups)
    if len(moving) == len(out):
        np.take(changes.T, group_of_cell, axis=0, out=out)
    else:
        out[moving] = changes.T[group_of_cell[moving]]
    return out
