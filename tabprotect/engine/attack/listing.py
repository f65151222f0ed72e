"""The joint posterior of few tables: all that fit are listed, and each is weighed."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tabprotect.engine.arrays import Floats, Ints
from tabprotect.engine.release.published_numbers import PublishedNumbers

MOST_LISTED = 2**16
"""Most tables at any time, and in the end."""

MOST_WORK = 2**27
"""Most counts, sums and pairs of sums that are looked at: about a second."""


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
    told = np.flatnonzero(numbers.law >= 0)
    if size * len(told) ** 2 > MOST_WORK:
        return None
    member = np.zeros((numbers.numbers, size), dtype=np.bool_)
    member[np.repeat(np.arange(numbers.numbers), np.diff(numbers.starts)), numbers.cells] = True
    tables = _all(member, ends)
    if tables is None or len(tables) * len(told) ** 2 > MOST_WORK:
        return None
    sums = tables @ member.T.astype(np.int64)
    logs = _logs(numbers, member, tables, sums)
    possible = logs > -np.inf
    if not possible.any():
        return None
    chances = np.exp(logs[possible] - logs.max())
    tables, sums = tables[possible], sums[possible]
    return Listed(tables, chances / chances.sum(), np.concatenate([tables, sums], axis=1))


def _all(member: np.typing.NDArray[np.bool_], ends: tuple[Ints, Ints]) -> Ints | None:
    """All tables within the bounds of their cells and sums, cell by cell."""
    size = member.shape[1]
    (low, high), work = ends, 0
    before = np.cumsum(member[:, ::-1] * low[:size][::-1], axis=1)[:, ::-1]
    after = np.cumsum(member[:, ::-1] * high[:size][::-1], axis=1)[:, ::-1]
    nothing = np.zeros((len(member), 1), dtype=np.int64)
    # What the cells still to come add at least, and at most.
    least, most = (np.concatenate([one, nothing], axis=1)[:, 1:] for one in (before, after))
    tables = np.zeros((1, 0), dtype=np.int64)
    sums = np.zeros((1, len(member)), dtype=np.int64)
    for cell in range(size):
        values = np.arange(low[cell], high[cell] + 1)
        work += len(tables) * len(values) * len(member)
        if work > MOST_WORK or len(tables) * len(values) > 16 * MOST_LISTED:
            return None
        value = np.tile(values, len(tables))
        row = np.repeat(np.arange(len(tables)), len(values))
        now = sums[row] + value[:, None] * member[:, cell]
        fits = (now + least[:, cell] <= high[size:]).all(axis=1)
        fits &= (now + most[:, cell] >= low[size:]).all(axis=1)
        tables = np.concatenate([tables[row[fits]], value[fits, None]], axis=1)
        sums = now[fits]
        if len(tables) > MOST_LISTED:
            return None
    return tables


def _logs(
    numbers: PublishedNumbers, member: np.typing.NDArray[np.bool_], tables: Ints, sums: Ints
) -> Floats:
    """Log likelihoods: equal sets of records with one noise are one observation."""
    out = np.zeros(len(tables))
    for cell, law in enumerate(numbers.believed.tolist()):
        if law >= 0:
            out += _weight(numbers, law, tables[:, cell])
    # Each set of records has a word of its own.
    words = np.random.Generator(np.random.PCG64(0)).integers(1, 2**62, tables.shape[1])
    filled = np.where(tables > 0, words, 0)
    known: dict[int, list[tuple[int, Ints]]] = {}
    for number, law in enumerate(numbers.law.tolist()):
        if law < 0:
            continue
        weight = _weight(numbers, law, sums[:, number])
        source = int(numbers.noise[number])
        if source >= 0:
            of_records = np.bitwise_xor.reduce(filled[:, member[number]], axis=1)
            for other, earlier in known.setdefault(source, []):
                same = (earlier == of_records) & (of_records != 0)
                weight[same] = 0.0 if other == law else -np.inf
            known[source].append((law, of_records))
        out += weight
    return out


def _weight(numbers: PublishedNumbers, law: int, values: Ints) -> Floats:
    low, high, logs = numbers.laws[law]
    inside = (values >= low) & (values <= high)
    if logs is None:
        return np.where(inside, 0.0, -np.inf)
    return np.where(inside, logs[np.clip(values - low, 0, len(logs) - 1)], -np.inf)
