"""Blocks of cells that are hidden whole: a pattern that tells which blocks hold an at-risk count.

The categories of every variable are cut in order into groups; a block is a product of groups in one
published table. A block that holds an at-risk count is hidden whole, zeros that must be published
excepted, and no other cell is: no cost and no room of a neighbour has a say. To follow the
choice for another original takes two sparse products, so that thousands are followed at once.

A grouping or a level of a variable that a table is published by is cut by its own categories. Where
totals must be published, an at-risk number of a smaller table is a block by itself.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from tabprotect.engine.arrays import Bools, Floats, Ints
from tabprotect.engine.parameters import Parameter
from tabprotect.engine.release.likelihood import Rerun
from tabprotect.engine.sensitivity.small_count import SmallCount
from tabprotect.engine.tables.domain import Domain
from tabprotect.engine.tables.publication import Publication
from tabprotect.engine.tables.table import Table
from tabprotect.languages.messages import message

if TYPE_CHECKING:
    from scipy.sparse import csr_array

BLOCK: Parameter[int | None] = Parameter(
    "block",
    message("Categories in a block"),
    message(
        "Of each variable, for the choice by blocks: more hide more, and leave more open. Without a number 2."
    ),
    "integer",
    None,
    2,
    1000,
    may_be_unstated=True,
    of="choice",
)

USUAL = 2
"""Categories in a block where none are given."""

BY_NUMBER, BY_ENTRY = 0.03, 0.01
"""Nominal microseconds of following one original among many, for each published number and for each
inner cell behind it."""


def groups(categories: int, size: int) -> Ints:
    """The group of each category, int64 (categories,): ``size`` in each, what is left in the last.

    Fewer categories than two groups take are one.
    """
    number = max(1, categories // size)
    return np.minimum(np.arange(categories, dtype=np.int64) // size, number - 1)


def _blocks(domain: Domain, size: int) -> Ints:
    """The block of each cell of a table, int64 (cells,)."""
    out = np.zeros(1, dtype=np.int64)
    for categories in domain.shape:
        own = groups(categories, size)
        out = (out[:, None] * (int(own.max()) + 1) + own[None, :]).reshape(-1)
    return out


@dataclass(frozen=True, eq=False)
class BlockRule:
    """The choice by blocks for one publication.

    Attributes
    ----------
    publication
    rule
        The at-risk counts.
    zeros
        Whether zeros of a hidden block are hidden, too.
    sums : csr, (numbers, inner cells)
        The distinct published numbers.
    members : csr, (blocks, numbers)
        The numbers of each block.
    """

    publication: Publication
    rule: SmallCount
    zeros: bool
    sums: csr_array[np.float64]
    members: csr_array[np.float64]

    @classmethod
    def of(
        cls, publication: Publication, rule: SmallCount, size: int | None, *, zeros: bool, totals: bool
    ) -> BlockRule:
        """The rule for groups of a size.

        Parameters
        ----------
        zeros
            Whether zeros may be hidden.
        totals
            Whether totals may be hidden that are not at risk.
        """
        from scipy.sparse import csr_array

        largest = max(domain.size for domain in publication.domains)
        block = np.zeros(publication.size, dtype=np.int64)
        count = 0
        for m, domain in enumerate(publication.domains):
            alone = domain.size < largest and not totals
            own = np.arange(domain.size) if alone else _blocks(domain, size or USUAL)
            block[publication.starts[m] : publication.starts[m + 1]] = count + own
            count += int(own.max(initial=-1)) + 1
        first, inverse = publication.distinct
        # A sum of no cells at all is zero for every reader, and in no block.
        within = np.flatnonzero(np.diff(publication.incidence.indptr) > 0)
        members = csr_array(
            (np.ones(len(within)), (block[within], inverse[within])), shape=(count, len(first))
        )
        members.data[:] = 1.0
        sums = csr_array(publication.incidence[first]).astype(np.float64)
        return cls(publication, rule, zeros, sums, members)

    def numbers(self, originals: Ints) -> Bools:
        """The distinct numbers that are hidden for each original (inner cells, originals)."""
        counts = self.sums @ originals.astype(np.float64)
        at_risk = (counts >= self.rule.low) & (counts <= self.rule.high)
        holds = self.members @ at_risk.astype(np.float64) > 0
        hidden: Bools = (self.members.T @ holds.astype(np.float64)) > 0
        return hidden if self.zeros else hidden & (counts > 0)

    def hidden(self, original: Ints) -> Bools:
        """The published cells (size,) that are hidden for an original, int64 (inner cells,)."""
        return self.numbers(original[:, None])[:, 0][self.publication.distinct[1]]

    def gives(self, hidden: Bools, originals: Ints) -> Floats:
        """1 for each original (originals, inner cells) for which these very cells are hidden."""
        expected = hidden[self.publication.distinct[0]]
        same = self.numbers(originals.T) == expected[:, None]
        chances: Floats = same.all(axis=0).astype(np.float64)
        return chances

    def alone(self, hidden: Bools) -> Bools:
        """The hidden published cells (size,) that are the only hidden ones of a block: at risk."""
        expected = hidden[self.publication.distinct[0]]
        only = (self.members @ expected.astype(np.float64)) == 1.0
        # The same number in two tables may be hidden for the sake of either block.
        if len(expected) < self.publication.size:
            only[:] = False
        at_risk = (self.members.T @ only.astype(np.float64)) > 0
        alone: Bools = (at_risk & expected)[self.publication.distinct[1]]
        return alone

    def held(self, hidden: Bools) -> Bools:
        """The blocks with hidden numbers, bool (blocks,)."""
        held: Bools = self.members @ hidden[self.publication.distinct[0]].astype(np.float64) > 0
        return held

    def rerun(self, hidden: Bools) -> Rerun:
        """The choice followed for other originals: whether it hides these published cells."""

        def estimate(original: Table, generator: np.random.Generator) -> float:
            return float(self.gives(hidden, original.counts.reshape(1, -1))[0])

        def many(originals: Ints, generator: np.random.Generator) -> Floats:
            return self.gives(hidden, originals)

        cost = 1.0 + BY_NUMBER * self.sums.shape[0] + BY_ENTRY * self.sums.nnz
        return Rerun(estimate, exact=True, cost=cost, many=many)
