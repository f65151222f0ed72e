"""A posterior in long form: one row for each cell and each count that it can have.

Cells that are believed alike are written once: the work goes with the different distributions
and the characters of the result, never with an object for each cell.
"""

from __future__ import annotations

import json
import operator
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from tabprotect.engine.arrays import Floats, Ints
from tabprotect.engine.budgets import COLUMNS_ROWS as MOST_ROWS
from tabprotect.engine.errors import TooLargeError
from tabprotect.engine.posterior.posterior import Posterior

AT_ONCE = 1 << 16
"""Cells whose text is made together."""

NOTHING = np.iinfo(np.int64).min
"""Stands for the published count of a cell that has none."""


@dataclass(frozen=True, eq=False)
class PosteriorColumns:
    """Rows ordered by cell as asked, then by count.

    Attributes
    ----------
    cells : int64 (rows,)
        Flat cell of each row.
    counts : int64 (rows,)
        A true count that the cell can have.
    chances : float64 (rows,)
        Its probability.
    """

    cells: Ints
    counts: Ints
    chances: Floats

    @classmethod
    def of(cls, posterior: Posterior, cells: Ints) -> PosteriorColumns:
        """The rows of some flat cells, int64 (cells,).

        Raises
        ------
        TooLargeError
            Beyond ``MOST_ROWS``, before any row is made.
        """
        possible = posterior.chances > 0
        each = possible.sum(axis=1)
        groups = posterior.group_of_cell[cells]
        rows = int(each[groups].sum())
        if rows > MOST_ROWS:
            raise TooLargeError(
                f"{rows:,} rows, one for each cell and possible count, are too many",
                hint="ask for some of the cells",
            )
        # The possible columns of all groups one after the other.
        column, chance = np.nonzero(possible)[1], posterior.chances[possible]
        begin = np.cumsum(each) - each
        length = each[groups]
        place = np.repeat(begin[groups] - (np.cumsum(length) - length), length) + np.arange(rows)
        first = np.repeat(posterior.first[cells], length)
        return cls(np.repeat(cells, length), first + column[place], chance[place])


def cells_json(posterior: Posterior, cells: Ints) -> Iterator[str]:
    """The objects of some flat cells as JSON text in pieces, commas between the objects included.

    Each has ``index``, ``labels``, ``published``, ``mean``, ``mode`` and ``distribution``.
    """
    domain = posterior.domain
    shape = domain.shape or (1,)
    labels = [[json.dumps(c) for c in v.categories] for v in domain.variables] or [[""]]
    # Of an object all but the last axis' number and label is the same for many cells.
    numbers = [str(code) if domain.ndim else "" for code in range(shape[-1])]
    ends, end = _ends(posterior, cells)
    for begin in range(0, len(cells), AT_ONCE):
        span = cells[begin : begin + AT_ONCE]
        rows, row = np.unique(span // shape[-1], return_inverse=True)
        index, label = [], []
        for codes in zip(*np.unravel_index(rows, (1, *shape[:-1])), strict=True):
            index.append("".join(f"{code}, " for code in codes[1:]))
            said = zip(labels[:-1], codes[1:], strict=True)
            label.append("".join(f"{texts[code]}, " for texts, code in said))
        last = labels[-1]
        yield ", " * (begin > 0) + ", ".join(
            [
                f'{{"index": [{index[i]}{numbers[j]}], "labels": [{label[i]}{last[j]}{ends[k]}'
                for i, j, k in zip(
                    row.tolist(),
                    (span % shape[-1]).tolist(),
                    end[begin : begin + AT_ONCE].tolist(),
                    strict=True,
                )
            ]
        )


def _ends(posterior: Posterior, cells: Ints) -> tuple[list[str], Ints]:
    """Different ends of the objects, from ``published`` on, and which one each cell has."""
    shown = posterior.is_published.reshape(-1)[cells]
    published = np.where(shown, posterior.published.counts.reshape(-1)[cells], NOTHING)
    number = _alike(posterior.chances)[posterior.group_of_cell[cells]]
    kind = np.zeros(len(cells), dtype=np.int64)
    for values in (posterior.first[cells], published):
        found, place = np.unique(values, return_inverse=True)
        _, kind, number = np.unique(
            number * len(found) + place, return_index=True, return_inverse=True
        )
    kinds = cells[kind]
    ends = [
        f'], "published": {"null" if count == NOTHING else count}, "mean": {mean!r}, "mode": {mode}, '
        f'"distribution": {{{said}}}}}'
        for count, mean, mode, said in zip(
            published[kind].tolist(),
            posterior.mean.reshape(-1)[kinds].tolist(),
            posterior.mode.reshape(-1)[kinds].tolist(),
            _texts(PosteriorColumns.of(posterior, kinds), kinds),
            strict=True,
        )
    ]
    return ends, number.astype(np.int64)


def _alike(chances: Floats) -> Ints:
    """A number for each row, int64 (groups,): equal rows have equal ones."""
    bits = np.ascontiguousarray(chances).view(np.uint64)
    # Odd multipliers; different rows with one sum, if ever there are any, stay apart below.
    odd = np.random.Generator(np.random.PCG64(0)).integers(2**63, size=bits.shape[1]) * 2 + 1
    sums = (bits * odd.astype(np.uint64)).sum(axis=1, dtype=np.uint64)
    _, first, number = np.unique(sums, return_index=True, return_inverse=True)
    if not np.array_equal(bits[first[number]], bits):
        return np.arange(len(chances), dtype=np.int64)
    return number.astype(np.int64)


def _texts(rows: PosteriorColumns, cells: Ints) -> list[str]:
    """``"4": 0.25, "5": 0.75`` of each cell, the rows of one cell being next to each other."""
    counts, count = np.unique(rows.counts, return_inverse=True)
    chances, chance = np.unique(rows.chances, return_inverse=True)
    keys = [f'"{found}": ' for found in counts.tolist()]
    values = list(map(repr, chances.tolist()))
    pairs = list(
        map(
            operator.add,
            map(keys.__getitem__, count.tolist()),
            map(values.__getitem__, chance.tolist()),
        )
    )
    ends = np.flatnonzero(np.r_[np.diff(rows.cells) != 0, True]) + 1
    bounds = zip(np.r_[0, ends[:-1]].tolist(), ends.tolist(), strict=True)
    return [", ".join(pairs[a:b]) for a, b in bounds]
