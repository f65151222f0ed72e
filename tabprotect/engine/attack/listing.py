"""The joint posterior of few tables: all that fit are listed, and each is weighed."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tabprotect.engine.arrays import Bools, Codes, Floats, Ints
from tabprotect.engine.equal_rows import runs
from tabprotect.engine.release.likelihood import log_weight
from tabprotect.engine.release.published_numbers import PublishedNumbers

MOST_LISTED = 2**16
"""Most tables at any time, and in the end."""

MOST_WORK = 2**25
"""Most counts and sums that are looked at, of all tables: some tenths of a second."""

COMPARED = 16
"""Counts that take as long as sorting one sum among those of its table."""

WIDEST = 2**30
"""Sums beyond this are not listed."""

TRIED = 8
"""Tables that the next cell is chosen by."""


@dataclass(frozen=True, eq=False)
class Listed:
    """All tables that the numbers leave open.

    Attributes
    ----------
    tables : int64 (tables, cells)
    chances : float64 (tables,)
    sums : int64 (tables, cells + sums)
        The counts of each, and then its sums.
    """

    tables: Ints
    chances: Floats
    sums: Ints

    def shares(self, first: Ints, starts: Ints) -> Floats:
        """The chance of each value of each count, from its first one on."""
        out = np.zeros(int(starts[-1]))
        for column in range(self.sums.shape[1]):
            at = starts[column] + self.sums[:, column] - first[column]
            out += np.bincount(at, self.chances, minlength=len(out))
        return out


def listed(numbers: PublishedNumbers, ends: tuple[Ints, Ints]) -> Listed | None:
    """Every table within the supports, with its chance; ``None`` where they are too many.

    Parameters
    ----------
    ends : int64 (cells + sums,), (cells + sums,)
        Proved bounds of each cell and each sum.
    """
    size = numbers.domain.size
    with_law = np.flatnonzero(numbers.law >= 0)
    if size * numbers.numbers > MOST_WORK:
        return None
    member = np.zeros((numbers.numbers, size), dtype=np.bool_)
    member[numbers.of_entry, numbers.cells] = True
    tables = _all(member, ends)
    if tables is None or len(tables) * len(with_law) * COMPARED > MOST_WORK:
        return None
    sums = tables @ member.T.astype(np.int64)
    logs = _logs(numbers, member, tables, sums)
    possible = logs > -np.inf
    if not possible.any():
        return None
    chances = np.exp(logs[possible] - logs.max())
    tables, sums = tables[possible], sums[possible]
    return Listed(tables, chances / chances.sum(), np.concatenate([tables, sums], axis=1))


def _all(member: Bools, ends: tuple[Ints, Ints]) -> Ints | None:
    """All tables within the bounds of their cells and sums, in order of their counts."""
    size, work = member.shape[1], 0
    low, high = (one[:size] for one in ends)
    open_ = low < high
    wide = np.where(open_, high - low, 0)
    if int(wide.sum()) >= WIDEST:
        return None
    # What each sum asks of its cells beyond their least counts, and what it has room for.
    asks, room = ends[0][size:] - member @ low, ends[1][size:] - member @ low
    some = member[:, open_].any(axis=1)
    if (asks[~some] > 0).any() or (room[~some] < 0).any():
        return np.zeros((0, size), dtype=np.int64)
    member = member[some]
    # The same of the next cell alone, when those after it have their most, and their least.
    asks = np.maximum(asks[some] - member @ wide, -WIDEST).astype(np.int32)[:, None]
    room = np.minimum(room[some], WIDEST).astype(np.int32)[:, None]
    tables = low[None, :]
    while open_.any():
        chosen = _fewest(member, np.flatnonzero(open_), wide, (asks, room))
        open_[chosen] = False
        of = np.flatnonzero(member[:, chosen])
        first = np.maximum((asks[of] + wide[chosen]).max(axis=0, initial=0), 0)
        last = np.minimum(room[of].min(axis=0, initial=WIDEST), wide[chosen])
        values = np.maximum(last - first + 1, 0)
        number = int(values.sum())
        left = member[:, open_].any(axis=1)
        work += 2 * (len(of) * len(tables) + int(left.sum()) * number)
        if number > MOST_LISTED or work > MOST_WORK:
            return None
        row, value = runs(first, values)
        tables = tables[row]
        tables[:, chosen] += value
        member, asks, room = member[left], asks[left][:, row], room[left][:, row]
        of = np.flatnonzero(member[:, chosen])
        asks[of] += (wide[chosen] - value).astype(np.int32)
        room[of] -= value.astype(np.int32)
    return tables[np.lexsort(tables.T[::-1])]


def _fewest(member: Bools, cells: Ints, wide: Ints, left: tuple[Codes, Codes]) -> int:
    """The cell that leaves the fewest values in some of the tables."""
    step = max(left[0].shape[1] // TRIED, 1)
    asks, room = (one[:, ::step][:, :TRIED] for one in left)
    number, of = np.nonzero(member[:, cells].T)
    starts = np.flatnonzero(np.diff(number, prepend=-1))
    values = np.broadcast_to(wide[cells, None], (len(cells), asks.shape[1])).copy()
    inside = number[starts]
    first = np.maximum(np.maximum.reduceat(asks[of], starts) + wide[cells[inside], None], 0)
    last = np.minimum(np.minimum.reduceat(room[of], starts), wide[cells[inside], None])
    values[inside] = np.maximum(last - first + 1, 0)
    return int(cells[int(np.argmin(values.sum(axis=1)))])


def _logs(numbers: PublishedNumbers, member: Bools, tables: Ints, sums: Ints) -> Floats:
    """Log likelihoods: equal sets of records with one noise are one observation."""
    out = np.zeros(len(tables))
    for cell, law in enumerate(numbers.believed.tolist()):
        if law >= 0:
            out += log_weight(tables[:, cell], *numbers.laws[law])
    # Each set of records has a word of its own.
    words = np.random.Generator(np.random.PCG64(0)).integers(1, 2**62, tables.shape[1])
    filled = np.where(tables > 0, words, 0)
    with_law = np.flatnonzero(numbers.law >= 0)
    for source in np.unique(numbers.noise[with_law]).tolist():
        alike = with_law[numbers.noise[with_law] == source]
        kinds = numbers.law[alike]
        weights = np.stack(
            [log_weight(sums[:, k], *numbers.laws[law]) for k, law in zip(alike, kinds, strict=True)], 1
        )
        if source >= 0:
            records = np.stack([np.bitwise_xor.reduce(filled[:, member[k]], axis=1) for k in alike], 1)
            order = np.argsort(records, axis=1, kind="stable")
            records = np.take_along_axis(records, order, axis=1)
            same = (records[:, 1:] == records[:, :-1]) & (records[:, 1:] != 0)
            differ = (same & (kinds[order][:, 1:] != kinds[order][:, :-1])).any(axis=1)
            again = np.zeros(weights.shape, dtype=np.bool_)
            np.put_along_axis(again[:, :], order[:, 1:], same, axis=1)
            weights[again] = 0.0
            out[differ] = -np.inf
        out += weights.sum(axis=1)
    return out
