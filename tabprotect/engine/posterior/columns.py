"""A posterior in long form: one row for each cell and each count that it can have.

Cells that are believed alike are written once: the work goes with the different distributions
and the characters of the result, never with an object for each cell.
"""

from __future__ import annotations

import json
import operator
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import repeat

import numpy as np

from tabprotect.engine.arrays import Floats, Ints
from tabprotect.engine.budgets import COLUMNS_ROWS as MOST_ROWS
from tabprotect.engine.errors import TooLargeError
from tabprotect.engine.posterior.posterior import Posterior

AT_ONCE = 1 << 16
"""Cells whose text is made together."""


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
    domain, groups = posterior.domain, posterior.group_of_cell
    alike = _alike(posterior.chances)[groups[cells]]
    firsts, first = np.unique(posterior.first[cells], return_inverse=True)
    _, kind, number = np.unique(alike * len(firsts) + first, return_index=True, return_inverse=True)
    rows = PosteriorColumns.of(posterior, cells[kind])
    means = posterior.mean.reshape(-1)[cells[kind]].tolist()
    said = _texts(rows, cells[kind])
    middles = [f', "mean": {mean!r}, "mode": ' for mean in means]
    published = posterior.published.counts.reshape(-1)
    shown, modes = posterior.is_published.reshape(-1), posterior.mode.reshape(-1)
    labels = [[json.dumps(c) for c in v.categories] for v in domain.variables]
    for begin in range(0, len(cells), AT_ONCE):
        span = cells[begin : begin + AT_ONCE]
        codes = [
            axis.tolist() for axis in (np.unravel_index(span, domain.shape) if domain.ndim else ())
        ]
        indices = _side_by_side([map(str, axis) for axis in codes])
        named = _side_by_side(
            [map(texts.__getitem__, axis) for texts, axis in zip(labels, codes, strict=True)]
        )
        counts = (
            count if there else "null"
            for count, there in zip(published[span].tolist(), shown[span].tolist(), strict=True)
        )
        yield ", " * (begin > 0) + ", ".join(
            [
                f'{{"index": [{index}], "labels": [{label}], "published": {count}'
                f'{middles[of]}{mode}, "distribution": {{{said[of]}}}}}'
                for count, mode, of, index, label in zip(
                    counts,
                    modes[span].tolist(),
                    number[begin : begin + AT_ONCE].tolist(),
                    indices,
                    named,
                    strict=False,
                )
            ]
        )


def _side_by_side(columns: list[Iterator[str]]) -> Iterator[str]:
    """``0, 1`` of each row; of no columns nothing, as often as is asked."""
    return map(", ".join, zip(*columns, strict=True)) if columns else repeat("")


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
