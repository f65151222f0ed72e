"""A posterior in long form: one row for each cell and each count it can have.

As JSON it is written compiled, number by number into one piece of memory.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache

import numpy as np
import numpy.typing as npt

from tabprotect.engine.arrays import Floats, Ints
from tabprotect.engine.budgets import COLUMNS_ROWS
from tabprotect.engine.equal_rows import spread
from tabprotect.engine.errors import TooLargeError
from tabprotect.engine.posterior import cell_texts
from tabprotect.engine.posterior.posterior import Posterior
from tabprotect.engine.tables.domain import Domain
from tabprotect.languages.messages import message

AT_ONCE = 1 << 16
"""Cells whose text is built together."""

BUFFER = 1 << 23
"""Characters of a piece of text, unless a single cell has more."""

NOTHING = int(np.iinfo(np.int64).min)
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
                message("{rows:,} rows, one for each cell and possible count, are too many", rows),
                hint=message("ask for some of the cells"),
            )
        # The possible columns of all groups, concatenated.
        column, chance = np.nonzero(possible)[1], chances[possible]
        begin = np.cumsum(each) - each
        length = each[groups]
        place = spread(begin[groups], length)
        first = np.repeat(posterior.first[cells], length)
        return cls(np.repeat(cells, length), first + column[place], chance[place])


def cells_json(posterior: Posterior, cells: Ints) -> Iterator[str]:
    """Yield JSON text of the objects of the given flat cells, with commas between the objects.

    Each has ``index``, ``labels``, ``published``, ``mean``, ``mode`` and ``distribution``.
    """
    shared = _Shared(posterior.domain)
    write = _writer(posterior)
    for begin in range(0, len(cells), AT_ONCE):
        span = cells[begin : begin + AT_ONCE]
        for text in write(span, *shared.of(span)):
            yield text if begin else text.removeprefix(", ")
            begin += 1


class _Shared:
    """The part that many objects have in common: everything before ``published``."""

    def __init__(self, domain: Domain) -> None:
        self._shape = domain.shape or (1,)
        self._labels = [[json.dumps(c) for c in v.categories] for v in domain.variables] or [[""]]
        numbers = (str(code) if domain.ndim else "" for code in range(self._shape[-1]))
        self._last = [*numbers, *self._labels[-1]]

    def of(self, cells: Ints) -> tuple[list[str], Ints]:
        """Texts, and of each cell the four that it begins with, int64 (cells, 4).

        In an object, everything but the last axis' number and label is shared by many cells.
        """
        length = self._shape[-1]
        rows, row = np.unique(cells // length, return_inverse=True)
        index, label = [], []
        for codes in zip(*np.unravel_index(rows, (1, *self._shape[:-1])), strict=True):
            before = "".join(f"{code}, " for code in codes[1:])
            index.append(f', {{"index": [{before}')
            said = zip(self._labels[:-1], codes[1:], strict=True)
            before = "".join(f"{texts[code]}, " for texts, code in said)
            label.append(message('], "labels": [{before}', before))
        code = cells % length + 2 * len(rows)
        pieces = np.stack([row, code, row + len(rows), code + length], axis=1)
        return [*index, *label, *self._last], pieces


Writer = Callable[[Ints, list[str], Ints], Iterator[str]]
"""``(cells, texts, pieces)``: their objects, each with a comma before it."""


def _writer(posterior: Posterior) -> Writer:
    """Number by number, into a buffer that is written again and again."""
    powers = _powers_of_ten()
    counts, shown = posterior.published.counts.reshape(-1), posterior.is_published.reshape(-1)
    means, modes = posterior.mean.reshape(-1), posterior.mode.reshape(-1)
    chances = np.ascontiguousarray(posterior.chances)
    room = np.empty(BUFFER, dtype=np.uint8)

    def write(cells: Ints, texts: list[str], pieces: Ints) -> Iterator[str]:
        nonlocal room
        bounds = np.cumsum([0, *map(len, texts)])
        joined = "".join(texts).encode("ascii")
        figures = (
            np.where(shown[cells], counts[cells], NOTHING),
            means[cells],
            modes[cells],
            posterior.first[cells],
            posterior.group_of_cell[cells],
        )
        done = 0
        while done < len(cells):
            done, length = cell_texts.written(
                *(len(cells), done, posterior.width, NOTHING, joined, bounds, pieces),
                *(*figures, chances, powers, room),
            )
            if length:
                yield str(room[:length].data, "ascii")
            else:
                room = np.empty(2 * len(room), dtype=np.uint8)

    return write


@cache
def _powers_of_ten() -> npt.NDArray[np.uint64]:
    """The powers -292 to 324, uint64 (617, 2): their first 128 bits, rounded up, the upper half first."""
    halves = []
    for power in range(-292, 325):
        scaled, by = 10 ** max(power, 0), 10 ** max(-power, 0)
        bits = 128 - scaled.bit_length() + by.bit_length()
        found = -((-scaled << max(bits, 0)) // (by << max(-bits, 0)))
        if found >> 128:
            found = -(-found >> 1)
        halves.append((found >> 64, found & (2**64 - 1)))
    return np.array(halves, dtype=np.uint64)
