"""The result of every way of bounding cells."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal

from tabprotect.engine.arrays import Bools, Ints

Method = Literal["decomposable", "shuttle", "lp", "integer", "frechet"]


@dataclass(frozen=True, eq=False)
class Bounds:
    """Bounds of some cells from released margins. Confidential: they name true at-risk cells.

    The true bounds, over all tables of whole counts from 0 up that have the released margins,
    always lie within ``lower..upper``; where ``sharp`` they are proven to be just these.

    Attributes
    ----------
    cells : int64 (m,)
        Mixed-radix keys.
    lower, upper : int64 (m,)
    sharp : bool (m,)
        Cells for which a table with the lower and one with the upper count is known.
    method
        The strongest way that was needed; ``frechet`` is the smallest margin count alone.
    why
        In a sentence, for people.
    """

    cells: Ints
    lower: Ints
    upper: Ints
    sharp: Bools
    method: Method
    why: str

    def __post_init__(self) -> None:
        for array in (self.lower, self.upper, self.sharp):
            array.flags.writeable = False

    @property
    def exact(self) -> bool:
        """Return True if every cell's bounds are proven sharp."""
        return bool(self.sharp.all())

    @property
    def widths(self) -> Ints:
        """Upper less lower (m,)."""
        return self.upper - self.lower

    def only(self, chosen: Bools) -> Bounds:
        """The bounds of the chosen cells (m,)."""
        return replace(
            self,
            cells=self.cells[chosen],
            lower=self.lower[chosen],
            upper=self.upper[chosen],
            sharp=self.sharp[chosen],
        )

    def __repr__(self) -> str:
        return f"<Bounds of {len(self.cells)} cells, {self.method}, exact={self.exact}>"
