"""Inner cells that published counts settle at once, and what is left to fit."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tabprotect.engine.arrays import Bools, Floats, Ints
from tabprotect.engine.tables.publication import Publication


@dataclass(frozen=True, eq=False)
class Reduced:
    """A fit without the cells that are settled.

    Attributes
    ----------
    settled : float64 (inner,)
        The values of the settled cells; 0 elsewhere.
    open : int64 (open,)
        The other inner cells.
    margins
        For each margin: its cell that each open cell adds into, int64 (open,); what is left of its
        published counts, float64 (cells of the margin,); and which of these are published at all,
        ``None`` where all are.
    """

    settled: Floats
    open: Ints
    margins: tuple[tuple[Ints, Floats, Bools | None], ...]


def reduce(
    publication: Publication, margins: list[int], targets: Floats, stated: Bools, close: float
) -> Reduced:
    """Settle cells under a published 0, and cells alone under a published count, until none is left.

    Parameters
    ----------
    targets : (published,)
    stated : bool (published,)
        Which counts are published.
    close
        Counts up to this are 0.
    """
    begin, end = publication.starts[:-1], publication.starts[1:]
    keys = [publication.keys(m) for m in margins]
    left = [np.maximum(targets[begin[m] : end[m]], 0.0) for m in margins]
    fixed = [stated[begin[m] : end[m]] for m in margins]
    settled = np.zeros(publication.domain.size)
    cells = np.arange(publication.domain.size, dtype=np.int64)
    while len(cells):
        gone = np.zeros(len(cells), dtype=np.bool_)
        alone: list[Ints] = []
        for key, rest, known in zip(keys, left, fixed, strict=True):
            zero = known & (rest <= close)
            if zero.any():
                gone |= zero[key]
        if not gone.any():
            for key, rest, known in zip(keys, left, fixed, strict=True):
                single = known & (np.bincount(key, minlength=len(rest)) == 1)
                if single.any():
                    places = np.flatnonzero(single[key] & ~gone)
                    settled[cells[places]] = rest[key[places]]
                    gone[places] = True
                    alone.append(places)
        if not gone.any():
            break
        for places in alone:
            values = settled[cells[places]]
            for key, rest in zip(keys, left, strict=True):
                rest -= np.bincount(key[places], values, minlength=len(rest))
        for rest in left:
            np.maximum(rest, 0.0, out=rest)
        cells = cells[~gone]
        keys = [key[~gone] for key in keys]
    return Reduced(
        settled,
        cells,
        tuple(
            (key, rest, None if known.all() else known)
            for key, rest, known in zip(keys, left, fixed, strict=True)
        ),
    )
