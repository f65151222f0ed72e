"""By how much the coefficients of one release exceed those of another of the same original.

A release is the original plus its cycles, each as often as its steps added it. The difference of two
releases is therefore a sum of cycles, whose numbers are known if the cycles are independent; else
they are known up to whole combinations of cycles that add up to nothing.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tabprotect.engine.arrays import Ints

PRIME = 2**31 - 1
"""Systems are solved modulo it; what is found is checked in whole numbers."""

MOST_UNKNOWN = 400
"""Most cycles whose numbers are not found one after the other."""

LARGEST = 10_000
"""Largest number in a solution: beyond, a residue is taken for a fraction."""


class NoneFitError(Exception):
    """The difference is no sum of the cycles."""


@dataclass(frozen=True, eq=False)
class Differences:
    """All whole solutions of signs @ D = difference: D = ``found`` + ``kernel`` @ shift.

    Attributes
    ----------
    found : int64 (cycles, releases)
    kernel : int64 (cycles, k)
        The shift of a solution is its own values at k of the cycles, ``free``, less those of
        ``found``.
    free : int64 (k,)
    """

    found: Ints
    kernel: Ints
    free: Ints


def differences(signs: Ints, difference: Ints) -> Differences | None:
    """Solve in whole numbers.

    Parameters
    ----------
    signs : int64 (groups, cycles)
        How each cycle changes each group of cells.
    difference : int64 (groups, releases)

    Returns
    -------
    Differences or None
        ``None`` if there are too many unknown ones, or combinations that are no whole numbers.

    Raises
    ------
    NoneFitError
        If there is no solution.
    """
    found, open_ = _one_by_one(signs, difference)
    if not len(open_):
        if (signs @ found != difference).any():
            raise NoneFitError
        nothing = np.zeros((signs.shape[1], 0), dtype=np.int64)
        return Differences(found, nothing, np.zeros(0, dtype=np.int64))
    if len(open_) > MOST_UNKNOWN:
        return None
    rest = difference - signs @ found
    rows = np.unique(np.concatenate([signs[:, open_], rest], axis=1), axis=0)
    solved = _modulo(rows[:, : len(open_)], rows[:, len(open_) :])
    if solved is None:
        return None
    some, kernel, free = solved
    found[open_] = some
    whole = np.zeros((signs.shape[1], kernel.shape[1]), dtype=np.int64)
    whole[open_] = kernel
    if (signs @ whole != 0).any():
        return None
    if (signs @ found != difference).any():
        # Every solution is this one plus whole combinations: none of them is whole.
        raise NoneFitError
    return Differences(found, whole, open_[free])


def _one_by_one(signs: Ints, difference: Ints) -> tuple[Ints, Ints]:
    """Numbers that follow one after the other from groups with a single unknown cycle.

    Returns
    -------
    found : int64 (cycles, releases)
        0 where it is open.
    open_ : int64 (n,)
        The other cycles.
    """
    found = np.zeros((signs.shape[1], difference.shape[1]), dtype=np.int64)
    touching = [np.flatnonzero(row).tolist() for row in signs]
    groups = [np.flatnonzero(column).tolist() for column in signs.T]
    unknown = [len(cycles) for cycles in touching]
    rest, known = difference.copy(), [False] * signs.shape[1]
    ready = [g for g, number in enumerate(unknown) if number == 1]
    while ready:
        group = ready.pop()
        cycle = next((c for c in touching[group] if not known[c]), None)
        if cycle is None:
            continue
        value = rest[group] * signs[group, cycle]
        found[cycle], known[cycle] = value, True
        for g in groups[cycle]:
            rest[g] -= signs[g, cycle] * value
            unknown[g] -= 1
            if unknown[g] == 1:
                ready.append(g)
    return found, np.array([c for c, done in enumerate(known) if not done], dtype=np.int64)


def _modulo(signs: Ints, difference: Ints) -> tuple[Ints, Ints, Ints] | None:
    """One solution, the kernel and its free cycles, by elimination modulo a prime."""
    cycles = signs.shape[1]
    table = np.concatenate([signs, difference], axis=1) % PRIME
    pivots: list[int] = []
    row = 0
    for column in range(cycles):
        below = np.flatnonzero(table[row:, column])
        if not len(below):
            continue
        at = row + int(below[0])
        table[[row, at]] = table[[at, row]]
        table[row] = table[row] * pow(int(table[row, column]), -1, PRIME) % PRIME
        others = np.flatnonzero(table[:, column])
        others = others[others != row]
        table[others] = (table[others] - table[others, column][:, None] * table[row]) % PRIME
        pivots.append(column)
        row += 1
        if row == len(table):
            break
    if table[row:, cycles:].any():
        raise NoneFitError
    free = np.setdiff1d(np.arange(cycles), pivots)
    some = np.zeros((cycles, difference.shape[1]), dtype=np.int64)
    some[pivots] = table[:row, cycles:]
    kernel = np.zeros((cycles, len(free)), dtype=np.int64)
    kernel[pivots] = -table[:row, free] % PRIME
    kernel[free, np.arange(len(free))] = 1
    for array in (some, kernel):
        array[array > PRIME // 2] -= PRIME
    if max(np.abs(some).max(initial=0), np.abs(kernel).max(initial=0)) > LARGEST:
        # A fraction: then the combinations, or all solutions, are not whole.
        return None
    return some, kernel, free
