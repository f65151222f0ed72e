"""Exact likelihood where the current table chooses the cycles: every possible original is listed.

Going backwards from the published table, every table from which it can still be reached in the
remaining steps is listed, with the chance of one step between any two of them, P(step | table) =
1 / number of cycles through positive cells there. The likelihood of all originals is that matrix
of chances applied once per step.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tabprotect.engine.arrays import Floats, Ints
from tabprotect.engine.cycles.cycle_family import Family
from tabprotect.engine.equal_rows import place_among
from tabprotect.engine.progress import SILENT, Progress
from tabprotect.engine.release.likelihood import AdaptiveSequence
from tabprotect.languages.messages import message

MOST_APPLIED = 2_000_000_000
"""Most products in the whole exact computation: (tables + steps between two of them) x steps."""

ADAPTIVE_TABLES = 40_000
"""Most tables listed."""

ADAPTIVE_EDGES = 4_000_000
"""Most steps between two listed tables, in all."""

ADAPTIVE_AT_ONCE = 2**22
"""Entries (table, cycle, cell) handled at once."""


@dataclass(frozen=True, eq=False)
class Originals:
    """Every original that could have become the published table.

    Attributes
    ----------
    counts : int64 (tables, touched)
        Counts of the cells that some cycle touches.
    log_likelihood : float64 (tables,)
        Up to a constant; -inf where the published table is not reached after all.
    """

    counts: Ints
    log_likelihood: Floats


def adaptive_originals(
    likelihood: AdaptiveSequence, family: Family, progress: Progress = SILENT
) -> Originals | None:
    """Return every possible original, or ``None`` beyond the limits."""
    # Imported late: scipy would be a third of the start-up time.
    from scipy.sparse import csr_array

    published = likelihood.published.counts.reshape(-1)[family.touched]
    found = _reached(published, likelihood, family, progress)
    if found is None:
        return None
    tables, (before, after, chance), number = found
    if (len(before) + len(tables)) * likelihood.steps > MOST_APPLIED:
        return None
    size = len(tables)
    own = np.arange(size)
    leave = np.where(number > 0, likelihood.gamma, 1.0)
    chances = np.concatenate([chance / np.maximum(number[before], 1), leave])
    ends = (np.concatenate([before, own]), np.concatenate([after, own]))
    step = csr_array((chances, ends), shape=(size, size))
    mass = np.zeros(size)
    mass[0] = 1.0
    for taken in range(likelihood.steps):
        if taken % 64 == 0:
            progress.report(message("weighing originals"), taken / likelihood.steps)
        mass = np.asarray(step @ mass, dtype=np.float64)
        # All 0 when gamma is 0 and no table is this many moves away.
        mass /= mass.max() or 1.0
    with np.errstate(divide="ignore"):
        return Originals(tables, np.log(mass))


def _reached(
    published: Ints, likelihood: AdaptiveSequence, family: Family, progress: Progress
) -> tuple[Ints, tuple[Ints, Ints, Floats], Ints] | None:
    """Tables, steps (before, after, chance of the coin), and each table's number of free cycles."""
    # A random 64-bit sum identifies a table: two of 40,000 tables collide with probability 4e-11.
    secret = np.random.Generator(np.random.PCG64(2016)).integers(
        2**64, size=len(published) + 1, dtype=np.uint64
    )
    secret[-1] = 0
    by_cycle = (secret[family.cells] * family.signs.astype(np.uint64)).sum(axis=1, dtype=np.uint64)
    coins = [(1, likelihood.alpha), (-1, likelihood.beta)]
    coins = [(sign, chance) for sign, chance in coins if chance > 0]
    tables, keys = published[None, :], published[None, :].astype(np.uint64) @ secret[:-1]
    rank, sorted_keys = np.zeros(1, dtype=np.int64), keys
    edges: list[tuple[Ints, Ints, Floats]] = []
    number: list[Ints] = []
    count, first = 0, 0
    for depth in range(likelihood.steps + 1):
        progress.report(message("listing originals"), depth / (likelihood.steps + 1))
        frontier = np.arange(first, len(tables))
        if not len(frontier):
            break
        number.append(_choices(tables[frontier], family))
        first = len(tables)
        if depth == likelihood.steps:
            break
        after, cycle, sign, chance = _before(tables, frontier, family, coins)
        count += len(after)
        if count > ADAPTIVE_EDGES:
            return None
        key = keys[after] - sign.astype(np.uint64) * by_cycle[cycle]
        fresh = np.flatnonzero(place_among(sorted_keys, key) < 0)
        new, one = np.unique(key[fresh], return_index=True)
        if len(tables) + len(new) > ADAPTIVE_TABLES:
            return None
        one = fresh[one]
        added = family.padded(tables[after[one]].T).T
        added[np.arange(len(one))[:, None], family.cells[cycle[one]]] -= (
            sign[one, None] * family.signs[cycle[one]]
        )
        tables = np.concatenate([tables, added[:, :-1]])
        keys = np.concatenate([keys, new])
        rank = np.argsort(keys, kind="stable")
        sorted_keys = keys[rank]
        edges.append((rank[np.searchsorted(sorted_keys, key)], after, chance))
    none = np.zeros(0, dtype=np.int64)
    joined = [np.concatenate([none, *(e[k] for e in edges)]) for k in range(3)]
    return (
        tables,
        (joined[0].astype(np.int64), joined[1].astype(np.int64), joined[2].astype(np.float64)),
        np.concatenate(number),
    )


def _parts(tables: Ints, family: Family) -> list[Ints]:
    each = max(ADAPTIVE_AT_ONCE // max(family.cells.size, 1), 1)
    return [tables[k : k + each] for k in range(0, len(tables), each)]


def _choices(tables: Ints, family: Family) -> Ints:
    """Number of cycles through positive cells of each table."""
    parts = [(family.lowest(family.padded(part.T)) > 0).sum(axis=0) for part in _parts(tables, family)]
    return np.concatenate(parts)


def _before(
    tables: Ints, frontier: Ints, family: Family, coins: list[tuple[int, float]]
) -> tuple[Ints, Ints, Ints, Floats]:
    """Every step that leads to one of the tables: (table after, cycle, coin, its chance)."""
    found: list[tuple[Ints, Ints, Ints, Floats]] = []
    for part in _parts(frontier, family):
        counts = family.padded(tables[part].T)
        for sign, chance in coins:
            low = counts[family.cells[:, 0]] - sign * family.signs[:, :1]
            for k in range(1, family.cells.shape[1]):
                low = np.minimum(low, counts[family.cells[:, k]] - sign * family.signs[:, k, None])
            cycle, column = np.nonzero(low > 0)
            found.append(
                (part[column], cycle, np.full(len(cycle), sign, dtype=np.int64), np.full(len(cycle), chance))
            )
    after, cycle, signs, chances = (np.concatenate(column) for column in zip(*found, strict=True))
    return after, cycle, signs, chances
