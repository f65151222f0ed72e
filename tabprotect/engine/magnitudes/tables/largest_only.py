"""Tables that name the largest contributions of each sum only: tau-ARGUS's with MAXSCORE.

Who contributes to several cells is not known. A union of cells is judged as if the largest of each
were one holding, and so the second largest, and so on: no holdings of these sizes make the union less
safe, so that what passes is safe. What a contributor knows of other cells cannot be tried.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tabprotect.engine.arrays import Ints
from tabprotect.engine.equal_rows import spread

RANKS = 2**24
"""Contributors of a cell have the numbers cell * RANKS + rank."""


@dataclass(frozen=True, eq=False)
class LargestOnly:
    """The largest contributions stated of cells, sorted by key. Confidential.

    Attributes
    ----------
    key : int64 (cells,)
    n : int64 (cells,)
        How many contribute.
    top : int64 (cells, ranks)
        The largest contributions, falling; 0 where there are fewer.
    """

    key: Ints
    n: Ints
    top: Ints

    @property
    def ranks(self) -> int:
        """Return how many of the largest contributions are named."""
        return int(self.top.shape[1])

    @property
    def nonzero(self) -> Ints:
        """Return how many contribute something: where one of the largest is 0, so are those after it."""
        short = (self.top == 0).any(axis=1)
        return np.where(short, (self.top > 0).sum(axis=1), self.n).astype(np.int64)

    def contributions(self, cells: Ints, value: Ints) -> tuple[Ints, Ints, Ints]:
        """Start, holding and size of the contributions to some cells of these sums.

        What is not named is spread evenly: rules that look at no more than is named do not see it.
        """
        n = self.n[cells]
        start = np.append(0, np.cumsum(n))
        rank = spread(np.zeros(len(cells), dtype=np.int64), n)
        of = np.repeat(np.arange(len(cells)), n)
        named = np.minimum(n, self.ranks)
        left, more = value - self.top[cells].sum(axis=1), np.maximum(n - named, 1)
        place = rank - named[of]
        even = (left // more)[of] + (place < (left % more)[of])
        own = even
        if self.ranks:
            inside = np.minimum(rank, self.ranks - 1)
            own = np.where(rank < self.ranks, self.top[cells][of, inside], even)
        return start, cells[of] * RANKS + rank, own
