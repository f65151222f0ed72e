"""Exchange steps on every table with the same margins: the chances of one step, and the law that is kept."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence

import numpy as np

Cells = tuple[int, ...]


def fibre(counts: np.ndarray) -> list[Cells]:
    """All tables with the margins of one."""
    rows, columns = counts.sum(axis=1).tolist(), counts.sum(axis=0).tolist()

    def filled(left: list[int], row: int) -> list[Cells]:
        if row == len(rows):
            return [()] if not any(left) else []
        found = []
        for one in itertools.product(*(range(min(rows[row], n) + 1) for n in left)):
            if sum(one) == rows[row]:
                rest = filled([n - x for n, x in zip(left, one, strict=True)], row + 1)
                found += [(*one, *others) for others in rest]
        return found

    return filled(columns, 0)


def matrix(
    counts: np.ndarray, theta: float, nobody: Sequence[int] = ()
) -> tuple[list[Cells], np.ndarray, np.ndarray]:
    """The tables, the chances of one step from each to each, and the law that is to be kept."""
    tables = [one for one in fibre(counts) if not any(one[cell] for cell in nobody)]
    number = {one: k for k, one in enumerate(tables)}
    law = np.array([math.prod(math.factorial(n) ** -theta for n in one) for one in tables])
    columns = counts.shape[1]
    out = np.zeros((len(tables),) * 2)
    for k, one in enumerate(tables):
        filled = [cell for cell, n in enumerate(one) if n]
        for p, q in itertools.product(filled, filled):
            then, (u, v), (s, t) = list(one), divmod(p, columns), divmod(q, columns)
            chance = 0.0
            if u != s and v != t:
                for cell, by in ((p, -1), (q, -1), (u * columns + t, 1), (s * columns + v, 1)):
                    then[cell] += by
                to, m = number.get(tuple(then)), sum(n > 0 for n in then)
                if to is not None:
                    chance = min(1.0, (len(filled) / m) ** 2 * law[to] / law[k]) / len(filled) ** 2
                    out[k, to] += chance
            out[k, k] += 1 / len(filled) ** 2 - chance
    return tables, out, law / law.sum()
