"""A change of some published cells that leaves all others, and every sum, as they are."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tabprotect.engine.arrays import Ints

ENDLESS = 2**50
"""More than any count can move: nothing limits it."""


@dataclass(frozen=True, eq=False)
class Deviation:
    """A direction in which a table can move: proof that its cells are not known. Confidential.

    Attributes
    ----------
    cells : int64 (moved,)
        The published cells that move; a reader must not see any of them.
    change : int64 (moved,)
        By how much.
    ahead, behind
        How many times the change can be made, and how many times its opposite, before a cell would
        be less than a reader allows.
    """

    cells: Ints
    change: Ints
    ahead: int
    behind: int

    @classmethod
    def of(cls, cells: list[int], change: list[int], room: list[int]) -> Deviation:
        """Make one from the moved cells and how far each may fall."""
        ahead = behind = ENDLESS
        # A few cells: arrays would take ten times as long.
        for left, by in zip(room, change, strict=True):
            if by < 0:
                ahead = min(ahead, left // -by)
            elif by > 0:
                behind = min(behind, left // by)
        moved = np.array(cells, dtype=np.int64), np.array(change, dtype=np.int64)
        return cls(*moved, ahead, behind)
