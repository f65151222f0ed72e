"""Cumulative rounding: tables that nest in one another, rounded along one line of cells.

The cells stand in a line in which every published count is a run. With S_k the sum of the first k of them and one
number U from 0 to base - 1 by chance, the line is rounded to Y_k = base * floor((S_k + U) / base), and a
published count is the difference at the ends of its run. So all add up, none changes by the base or more, each
is right on average, and zeros stay.

A reader knows the multiples and not the remainders r_k = S_k + U - Y_k, of which each count is its published
number plus r_k - r_(k-1). Every sequence of remainders that makes no count negative comes from one U and
one original, so that for whoever holds all originals equally likely they all weigh the same: a chain of
as many states as the base.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from tabprotect.engine.arrays import Bools, Floats, Ints
from tabprotect.engine.release.likelihood import Rerun
from tabprotect.engine.tables.publication import Publication
from tabprotect.engine.tables.table import Table

MOST_LISTED = 8
"""Cells up to which originals are listed; more are drawn."""

AT_ONCE = 256
"""Originals drawn together."""

DRAWN = 0.1
"""Microseconds that a cell of a drawn original takes."""


def line_of(publication: Publication) -> Ints | None:
    """The inner cells in an order in which every published count is a run, int64 (cells,).

    ``None`` where the tables do not nest, or the inner cells are not published.
    """
    if publication.domain not in publication.domains:
        return None
    keys = [np.asarray(publication.keys(m)) for m in range(len(publication.margins))]
    keys.sort(key=lambda one: len(np.unique(one)))
    for coarse, fine in itertools.pairwise(keys):
        if len(np.unique(fine)) != np.unique(np.stack([coarse, fine]), axis=1).shape[1]:
            return None
    # The last of lexsort's keys is the first to sort by.
    return np.lexsort(keys[::-1]).astype(np.int64)


def rounded(counts: Ints, line: Ints, base: int, start: int) -> Ints:
    """Rounded inner counts, int64 (..., cells), of those of one table or of many.

    Parameters
    ----------
    start
        The number U.
    """
    up_to = (np.cumsum(counts[..., line], axis=-1) + start) // base * base
    out = np.empty_like(counts)
    out[..., line] = np.diff(up_to, axis=-1, prepend=0)
    return out


@dataclass(frozen=True, eq=False)
class Remainders:
    """What rounded inner counts tell.

    Attributes
    ----------
    published : int64 (cells,)
    line : int64 (cells,)
    base
    """

    published: Ints
    line: Ints
    base: int

    @cached_property
    def _ways(self) -> Floats:
        """Shares of the ways to go on from each remainder before each cell of the line, (cells + 1, base)."""
        stays: Bools = self.published[self.line] == 0
        found = np.full((len(stays) + 1, self.base), 1.0 / self.base)
        for at in range(len(stays) - 1, -1, -1):
            if stays[at]:
                # A zero whose remainder falls would be negative.
                ways = np.cumsum(found[at + 1][::-1])[::-1]
                found[at] = ways / ways.sum()
        return found

    def draw(self, number: int, generator: np.random.Generator) -> Ints:
        """So many originals, int64 (number, cells)."""
        ways, stays = np.cumsum(self._ways, axis=1), self.published[self.line] == 0
        u = generator.random((len(ways), number))
        here = np.searchsorted(ways[0], u[0] * ways[0, -1], side="right")
        out = np.empty((number, len(stays)), dtype=np.int64)
        for at, cell in enumerate(self.line.tolist()):
            law = ways[at + 1]
            # Of a zero only remainders from here on.
            below = np.where(here > 0, law[here - 1], 0.0) if stays[at] else 0.0
            then = np.searchsorted(law, below + u[at + 1] * (law[-1] - below), side="right")
            then = np.minimum(then, self.base - 1)
            out[:, cell] = self.published[cell] + then - here
            here = then
        return out

    def rerun(self) -> Rerun:
        """What the rounding says of whole originals."""

        def many(originals: Ints, _: np.random.Generator) -> Floats:
            ways = np.zeros(len(originals))
            for start in range(self.base):
                ways += (rounded(originals, self.line, self.base, start) == self.published).all(axis=1)
            return ways / self.base

        def estimate(original: Table, generator: np.random.Generator) -> float:
            return float(many(original.counts.reshape(1, -1), generator)[0])

        def walk(generator: np.random.Generator) -> Iterator[Ints]:
            while True:
                yield from self.draw(AT_ONCE, generator)

        cells = len(self.line)
        by_draws = walk if cells > MOST_LISTED else None
        cost = 0.05 * self.base * cells
        return Rerun(estimate, exact=True, cost=cost, many=many, walk=by_draws, walk_cost=DRAWN * cells)
