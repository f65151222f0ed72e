"""The judged cells of a published table: true counts beside published ones."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

import numpy as np

from tabprotect.engine.arrays import Bools, Ints
from tabprotect.engine.protection.problem import Problem
from tabprotect.engine.release.release import PublishedTable
from tabprotect.engine.tables.groupings.grouping import Grouping


@dataclass(frozen=True, eq=False)
class JudgedCells:
    """The cells of one published table that figures are averaged over. Confidential.

    Attributes
    ----------
    truth : int64, shape of the published table
        The counts that would be published without protection.
    at_risk
        Number of at-risk cells among the published table's cells.
    cells : bool, shape of the published table
        The at-risk cells, or all positive ones where none is.
    """

    truth: Ints
    at_risk: int
    cells: Bools

    @classmethod
    def of(
        cls,
        problem: Problem,
        published: PublishedTable,
        groupings: tuple[Grouping, ...] = (),
        *,
        weighted: bool = False,
    ) -> JudgedCells:
        """Judge a published table by the problem's rule, which is about counts of records."""
        domain = published.table.domain
        counts = problem.unprotected(domain, groupings).counts
        cells = problem.at_risk.mask(counts)
        at_risk = int(cells.sum())
        truth = problem.unprotected(domain, groupings, weighted=True).counts if weighted else counts
        return cls(truth, at_risk, cells if at_risk else counts > 0)

    def changes(self, published: PublishedTable) -> Counter[int]:
        """The frequency of each change of a judged cell; cells without a count are left out."""
        moved = published.table.counts - self.truth
        return changes(moved[self.cells & ~published.hidden])


def changes(moved: Ints) -> Counter[int]:
    """The frequency of each change."""
    values, times = np.unique(moved, return_counts=True)
    return Counter(dict(zip(values.tolist(), times.tolist(), strict=True)))
