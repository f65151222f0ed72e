"""The least count a reader considers possible: hidden cells that are not zero are at least 1.

Where zeros are always published, a hidden count is at least 1. A hidden sum is then at least the
number of its parts that are not zero, since the reader sees which parts are. What is left above
these ends is all that a reader does not know: choice, check and audit work on that *room*.

With the inner table published this is the table less one in every cell that is not zero. Where
only margins are published, their hidden cells have lower ends and the inner cells have none, as
nobody sees which of these are zero; but one that alone makes a margin's cell has the end of that.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tabprotect.engine.arrays import Ints
from tabprotect.engine.tables.publication import Publication


@dataclass(frozen=True, eq=False)
class LowerEnds:
    """The least counts a reader considers possible. Confidential: they tell which cells are zero.

    Attributes
    ----------
    published : int64 (published cells,)
    inner : int64 (inner cells,)
    """

    published: Ints
    inner: Ints

    @classmethod
    def of(cls, publication: Publication, inner: Ints, *, never_zero: bool) -> LowerEnds:
        """From the true inner counts, int64 (inner cells,).

        Parameters
        ----------
        never_zero
            Whether readers know that no hidden cell is zero.
        """
        if not never_zero:
            return cls(np.zeros(publication.size, np.int64), np.zeros(len(inner), np.int64))
        if publication.domain in publication.domains:
            positive = (inner > 0).astype(np.int64)
            return cls(np.asarray(publication.incidence @ positive), positive)
        ends = _of_margins(publication, inner)
        # A sum of one inner cell alone, all else being structural zeros, tells of that cell.
        sums = publication.incidence
        alone = np.flatnonzero(np.diff(sums.indptr) == 1)
        least = np.zeros(len(inner), np.int64)
        np.maximum.at(least, sums.indices[sums.indptr[alone]], ends[alone])
        return cls(np.maximum(ends, np.asarray(sums @ least)), least)


def _of_margins(publication: Publication, inner: Ints) -> Ints:
    """1 for a sum that is not zero; more where a finer margin shows more parts that are not."""
    counts: Ints = np.asarray(publication.incidence @ inner)
    ends = (counts > 0).astype(np.int64)
    keys = [publication.keys(m) for m in range(len(publication.margins))]
    for fine, finer in enumerate(publication.margins):
        parts, first = np.unique(keys[fine], return_index=True)
        positive = counts[publication.starts[fine] + parts] > 0
        for m, margin in enumerate(publication.margins):
            if m != fine and publication.determines(finer, margin):
                run = slice(int(publication.starts[m]), int(publication.starts[m + 1]))
                number: Ints = np.bincount(
                    keys[m][first[positive]], minlength=publication.domains[m].size
                )
                ends[run] = np.maximum(ends[run], number)
    return ends
