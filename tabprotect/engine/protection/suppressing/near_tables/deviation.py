"""A change of some published cells that leaves all others, and every sum, as they are."""

from __future__ import annotations

from dataclasses import dataclass

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
    def of(cls, cells: Ints, change: Ints, room: Ints) -> Deviation:
        """From the moved cells and how far each may fall."""
        ahead = behind = ENDLESS
        # A few cells: arrays would take ten times as long.
        for left, by in zip(room.tolist(), change.tolist(), strict=True):
            if by < 0:
                ahead = min(ahead, left // -by)
            elif by > 0:
                behind = min(behind, left // by)
        return cls(cells, change, ahead, behind)
