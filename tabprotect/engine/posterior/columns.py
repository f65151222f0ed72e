"""A posterior in long form: one row for each cell and each count it can have.

As JSON, the compiled form writes number by number into one piece of memory. In Python cells with
equal posteriors are formatted once: the work grows with the number of different distributions and
the characters written, with no object per cell.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import cache

import numpy as np
import numpy.typing as npt

from tabprotect.engine.arrays import Floats, Ints
from tabprotect.engine.budgets import COLUMNS_ROWS
from tabprotect.engine.equal_rows import equal_rows
from tabprotect.engine.errors import TooLargeError
from tabprotect.engine.posterior.posterior import Posterior
from tabprotect.engine.tables.domain import Domain
from tabprotect.languages.messages import message

try:
    from tabprotect.engine.posterior import cell_texts
except ImportError:
    cell_texts = None  # type: ignore[assignment]

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
        place = np.repeat(begin[groups] - (np.cumsum(length) - length), length) + np.arange(rows)
        first = np.repeat(posterior.first[cells], length)
        return cls(np.repeat(cells, length), first + column[place], chance[place])


def cells_json(posterior: Posterior, cells: Ints) -> Iterator[str]:
    """Yield JSON text of the objects of the given flat cells, with commas between the objects.

    Each has ``index``, ``labels``, ``published``, ``mean``, ``mode`` and ``distribution``.
    """
    shared = _Shared(posterior.domain)
    write = _in_python(posterior) if cell_texts is None else _compiled(posterior)
    for begin in range(0, len(cells), AT_ONCE):
        span = cells[begin : begin + AT_ONCE]
        for text in write(span, *shared.of(span)):
            yield text if begin else text.removeprefix(", ")
            begin += 1


class _Shared:
    """What many objects have in common: everything before ``published``."""

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


def _compiled(posterior: Posterior) -> Writer:
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


def _in_python(posterior: Posterior) -> Writer:
    """The ends of objects that are alike, each written once."""
    alike = _alike(posterior.chances)

    def write(cells: Ints, texts: list[str], pieces: Ints) -> Iterator[str]:
        ends, end = _ends(posterior, cells, alike)
        whole = np.column_stack([_objects(texts)[pieces], ends[end]])
        yield "".join(whole.reshape(-1).tolist())

    return write


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
