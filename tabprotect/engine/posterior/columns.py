"""A posterior in long form: one row for each cell and each count it can have.

Cells with equal posteriors are formatted once: the work grows with the number of different
distributions and the characters written, with no object per cell.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from tabprotect.engine.arrays import Floats, Ints
from tabprotect.engine.budgets import COLUMNS_ROWS
from tabprotect.engine.equal_rows import equal_rows
from tabprotect.engine.errors import TooLargeError
from tabprotect.engine.posterior.posterior import Posterior
from tabprotect.languages.said import say

AT_ONCE = 1 << 16
"""Cells whose text is built together."""

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
        """The rows of the given flat cells, int64 (cells,).

        Raises
        ------
        TooLargeError
            Beyond ``MOST_ROWS``, before any row is made.
        """
        taken, groups = np.unique(posterior.group_of_cell[cells], return_inverse=True)
        chances = posterior.chances[taken]
        possible = chances > 0
        each = possible.sum(axis=1)
        rows = int(each[groups].sum())
        if rows > COLUMNS_ROWS:
            raise TooLargeError(
                say("{rows:,} rows, one for each cell and possible count, are too many", rows),
                hint=say("ask for some of the cells"),
            )
        # The possible columns of all groups, concatenated.
        column, chance = np.nonzero(possible)[1], chances[possible]
        begin = np.cumsum(each) - each
        length = each[groups]
        place = np.repeat(begin[groups] - (np.cumsum(length) - length), length) + np.arange(rows)
        first = np.repeat(posterior.first[cells], length)
        return cls(np.repeat(cells, length), first + column[place], chance[place])


def cells_json(posterior: Posterior, cells: Ints) -> Iterator[str]:
    """Yield JSON text of the objects of the given flat cells, with commas between the objects.

    Each has ``index``, ``labels``, ``published``, ``mean``, ``mode`` and ``distribution``.
    """
    domain = posterior.domain
    shape = domain.shape or (1,)
    labels = [[json.dumps(c) for c in v.categories] for v in domain.variables] or [[""]]
    # In an object, everything but the last axis' number and label is shared by many cells.
    numbers = _objects(str(code) if domain.ndim else "" for code in range(shape[-1]))
    last = _objects(labels[-1])
    alike = _alike(posterior.chances)
    for begin in range(0, len(cells), AT_ONCE):
        span = cells[begin : begin + AT_ONCE]
        ends, end = _ends(posterior, span, alike)
        rows, row = np.unique(span // shape[-1], return_inverse=True)
        index, label = [], []
        for codes in zip(*np.unravel_index(rows, (1, *shape[:-1])), strict=True):
            before = "".join(f"{code}, " for code in codes[1:])
            index.append(f', {{"index": [{before}')
            said = zip(labels[:-1], codes[1:], strict=True)
            before = "".join(f"{texts[code]}, " for texts, code in said)
            label.append(say('], "labels": [{before}', before))
        code = span % shape[-1]
        pieces = np.empty((len(span), 5), dtype=np.object_)
        pieces[:, 0], pieces[:, 1] = _objects(index)[row], numbers[code]
        pieces[:, 2], pieces[:, 3] = _objects(label)[row], last[code]
        pieces[:, 4] = ends[end]
        text = "".join(pieces.reshape(-1).tolist())
        yield text if begin else text.removeprefix(", ")


def _objects(texts: Iterable[str]) -> npt.NDArray[np.object_]:
    """An array of texts to index: a text stays one object however often it is taken."""
    return np.array(list(texts), dtype=np.object_)


def _ends(posterior: Posterior, cells: Ints, alike: Ints) -> tuple[npt.NDArray[np.object_], Ints]:
    """The different ends of the objects, from ``published`` on, and each cell's end by number."""
    shown = posterior.is_published.reshape(-1)[cells]
    published = np.where(shown, posterior.published.counts.reshape(-1)[cells], NOTHING)
    same = alike[posterior.group_of_cell[cells]]
    kind, number = equal_rows([same, posterior.first[cells], published])
    kinds = cells[kind]
    ends = _objects(
        f'], "published": {"null" if count == NOTHING else count}, "mean": {mean!r}, "mode": {mode}, '
        f'"distribution": {{{said}}}}}'
        for count, mean, mode, said in zip(
            published[kind].tolist(),
            posterior.mean.reshape(-1)[kinds].tolist(),
            posterior.mode.reshape(-1)[kinds].tolist(),
            _texts(PosteriorColumns.of(posterior, kinds)),
            strict=True,
        )
    )
    return ends, number


def _alike(chances: Floats) -> Ints:
    """A number for each row, int64 (groups,); equal rows have equal numbers."""
    bits = np.ascontiguousarray(chances).view(np.uint64)
    # Odd multipliers; if different rows ever share a sum, all rows are kept apart below.
    odd = np.random.Generator(np.random.PCG64(0)).integers(2**63, size=bits.shape[1]) * 2 + 1
    sums = (bits * odd.astype(np.uint64)).sum(axis=1, dtype=np.uint64)
    _, first, number = np.unique(sums, return_index=True, return_inverse=True)
    if not np.array_equal(bits[first[number]], bits):
        return np.arange(len(chances), dtype=np.int64)
    return number.astype(np.int64)


def _texts(rows: PosteriorColumns) -> list[str]:
    """``"4": 0.25, "5": 0.75`` for each cell; the rows of one cell must be adjacent."""
    counts, count = np.unique(rows.counts, return_inverse=True)
    chances, chance = np.unique(rows.chances, return_inverse=True)
    keys = _objects(f'"{found}": ' for found in counts.tolist())
    pairs = (keys[count] + _objects(map(repr, chances.tolist()))[chance]).tolist()
    ends = np.flatnonzero(np.r_[np.diff(rows.cells) != 0, True]) + 1
    bounds = zip(np.r_[0, ends[:-1]].tolist(), ends.tolist(), strict=True)
    return [", ".join(pairs[a:b]) for a, b in bounds]
