"""Association of two variables in a table: Pearson's chi-square and Cramer's V."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations

import numpy as np

from tabprotect.engine.arrays import Floats


@dataclass(frozen=True)
class Pair:
    """Two variables, in the original and in what is released.

    Attributes
    ----------
    chi_square, cramers_v
        (original, released).
    """

    chi_square: tuple[float, float]
    cramers_v: tuple[float, float]


def pairs(original: Floats, released: Floats) -> list[Pair]:
    """Every pair of axes of two tables of one shape; none for a one-way table."""
    found = []
    for kept in combinations(range(original.ndim), 2):
        others = tuple(axis for axis in range(original.ndim) if axis not in kept)
        a, b = (association(table.sum(axis=others)) for table in (original, released))
        found.append(Pair((a[0], b[0]), (a[1], b[1])))
    return found


def association(table: Floats) -> tuple[float, float]:
    """Chi-square of independence and Cramer's V of a two-way table.

    Empty rows and columns are left out; both are 0 where fewer than two are left.
    """
    table = table[table.sum(axis=1) > 0][:, table.sum(axis=0) > 0]
    smallest = min(table.shape) - 1
    if smallest < 1:
        return 0.0, 0.0
    total = table.sum()
    expected = np.outer(table.sum(axis=1), table.sum(axis=0)) / total
    chi_square = float(((table - expected) ** 2 / expected).sum())
    return chi_square, float(np.sqrt(chi_square / (total * smallest)))
