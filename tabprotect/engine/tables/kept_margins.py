"""The margins that are published exactly whatever else happens: all that a designer may see."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from tabprotect.engine.arrays import Ints
from tabprotect.engine.tables.domain import Domain
from tabprotect.engine.tables.groupings.grouping import Grouping
from tabprotect.engine.tables.margins import all_margins
from tabprotect.engine.tables.publication import Publication
from tabprotect.engine.tables.table import Table


@dataclass(frozen=True, eq=False)
class KeptMargins:
    """Exact margins of a table and their counts, without the table.

    They are the same for the original and for every table that may be released for it: what is
    computed from them alone tells nothing that is not published anyway.

    Attributes
    ----------
    publication
        Which margins, none of them implied by another.
    counts : int64 (published cells,)
        Margin after margin, as the publication numbers its cells.
    """

    publication: Publication
    counts: Ints

    def __post_init__(self) -> None:
        self.counts.flags.writeable = False

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, KeptMargins):
            return NotImplemented
        same = self.publication == other.publication
        return same and np.array_equal(self.counts, other.counts)

    def __hash__(self) -> int:
        return hash((self.publication.margins, self.counts.tobytes()))

    @classmethod
    def of(cls, publication: Publication, table: Table) -> KeptMargins:
        """The margins of a table, be it the original or a release that keeps them."""
        kept = publication.maximal()
        return cls(kept, kept.added_up(table))

    @classmethod
    def even(cls, publication: Publication) -> KeptMargins:
        """The margins of a table whose cells all hold 1: what a shape alone says."""
        kept = publication.maximal()
        sizes = [np.bincount(kept.keys(m), minlength=kept.domains[m].size) for m in range(len(kept.margins))]
        return cls(kept, np.concatenate(sizes).astype(np.int64))

    @property
    def follow_from_shape(self) -> bool:
        """Return True if designs by the table's shape alone serve: all margins of one variable less.

        Such designs would touch structural zeros.
        """
        every = set(self.publication.margins) == set(all_margins(self.domain))
        return every and not self.domain.structural

    @property
    def domain(self) -> Domain:
        """The variables of the table."""
        return self.publication.domain

    @property
    def groupings(self) -> Sequence[Grouping]:
        """The groupings that a kept margin names."""
        return self.publication.groupings
