"""What ``cox_steps.c`` does, one table and one walk at a time, from the words of the method's page."""

from __future__ import annotations

import numpy as np

from tabprotect.engine.arrays import Ints
from tabprotect.engine.protection.rounding.cox_rounding import bordered


def rounded(counts: Ints, base: int) -> Ints:
    """Round one table (rows, columns)."""
    rests = bordered(counts, base)
    up = np.zeros(rests.shape, dtype=np.int64)
    while rests.any():
        ring = _walk(rests)
        even, odd = ring[::2], ring[1::2]
        more = min(base - max(rests[c] for c in even), min(rests[c] for c in odd))
        less = min(min(rests[c] for c in even), base - max(rests[c] for c in odd))
        step = more if more < less else -less
        for sign, cells in ((1, even), (-1, odd)):
            for cell in cells:
                rests[cell] += sign * step
                if rests[cell] == base:
                    rests[cell], up[cell] = 0, 1
    return counts - counts % base + base * up[:-1, :-1]


def _walk(rests: Ints) -> list[tuple[int, int]]:
    row, column = int(np.flatnonzero(rests.any(axis=1))[0]), -1
    nodes: list[tuple[str, int]] = [("row", row)]
    cells: list[tuple[int, int]] = []
    while True:
        in_row = nodes[-1][0] == "row"
        line = rests[row] if in_row else rests[:, column]
        to = next(k for k in np.flatnonzero(line).tolist() if k != (column if in_row else row))
        row, column = (row, to) if in_row else (to, column)
        cells.append((row, column))
        node = ("column", to) if in_row else ("row", to)
        if node in nodes:
            return cells[nodes.index(node) :]
        nodes.append(node)
