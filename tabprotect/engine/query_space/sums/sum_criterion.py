"""A criterion about sums that are released together: a rule for magnitudes, by its number."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from typing import ClassVar

import numpy as np

from tabprotect.engine.arrays import Ints
from tabprotect.engine.magnitudes.tables.magnitude_table import MagnitudeTable
from tabprotect.engine.options import Measure
from tabprotect.engine.progress import SILENT, Progress
from tabprotect.engine.query_space.criterion import WHOLE, Bounding, RiskCriterion
from tabprotect.engine.query_space.criterion_evidence import Evidence, MarginScreening, RiskJudgement
from tabprotect.engine.query_space.frontier import maximal_queries
from tabprotect.engine.query_space.lattice import Query
from tabprotect.engine.query_space.sums.sum_evidence import (
    MOST_FIGURE,
    SumEvidence,
    SumsAudit,
    evidence_of_sums,
)
from tabprotect.engine.sensitivity.magnitude_rules import MagnitudeRule
from tabprotect.engine.sensitivity.rule import CellContributions
from tabprotect.engine.ways_to_bound import BoundsWay
from tabprotect.languages.messages import message

MOST_SUMS = 20_000
"""Sums beyond which a sub-table is released only where the rule finds every sum of the table safe."""


def percent(part: Ints, whole: Ints) -> Ints:
    """Whole percent of sums, rounded down."""
    whole = np.maximum(whole, 1)
    return np.asarray(np.minimum(part // whole, MOST_FIGURE) * 100 + part % whole * 100 // whole)


class SumCriterion(RiskCriterion):
    """Base of the criteria about sums.

    The figure of a release is the largest number, up to ``MOST_FIGURE``, with which the rule holds: of
    every sum that is published, and of every other for every reader who works out what he can.
    """

    measure: ClassVar[Measure] = "magnitudes"

    @abstractmethod
    def rule(self, threshold: int) -> MagnitudeRule:
        """The rule that a release has to keep, for a threshold of at least 1."""

    @abstractmethod
    def figures(self, cells: CellContributions) -> Ints:
        """The largest number with which the rule holds of each sum by itself, int64 (sums,)."""

    def gather(self, sums: MagnitudeTable) -> SumEvidence:
        """Look at every sum of a table once."""
        judged = sums.judged(self.rule(1).ranks).targeted()
        found = np.minimum(self.figures(judged), MOST_FIGURE)
        return SumEvidence.of(sums, np.where(judged.nonzero > 0, found, MOST_FIGURE))

    def judge(
        self,
        evidence: Evidence,
        released: Sequence[Query],
        threshold: int,
        *,
        bounding: Bounding = WHOLE,
        progress: Progress = SILENT,
    ) -> RiskJudgement:
        sums, frontier = evidence_of_sums(evidence), maximal_queries(released) or (0,)
        ceiling = int(sums.widths.smallest_at(frontier).min())
        if bounding.decide_only and ceiling < threshold:
            return RiskJudgement("bad", ceiling, False, "sums")
        found = self._audited(sums, frontier, threshold, progress)
        way = message("programmes")
        if bounding.decide_only:
            return RiskJudgement(found.verdict, ceiling, False, way, found.tight)
        safe, refused = (
            (threshold, ceiling + 1) if found.verdict == "safe" else (0, min(threshold, ceiling + 1))
        )
        # Most often nothing is given away beside what is published.
        middle = refused - 1
        while refused - safe > 1:
            if self._audited(sums, frontier, middle, progress).verdict == "safe":
                safe = middle
            else:
                refused = middle
            middle = (safe + refused) // 2
        return RiskJudgement(found.verdict, safe, True, way, found.tight)

    def _audited(
        self, sums: SumEvidence, frontier: tuple[Query, ...], threshold: int, progress: Progress
    ) -> SumsAudit:
        if threshold <= 0:
            return SumsAudit("safe", ())
        return sums.audited(self.rule(threshold), frontier, threshold, progress)

    def screen(
        self, evidence: Evidence, released: tuple[Query, ...], queries: Ints, threshold: int
    ) -> MarginScreening:
        smallest = evidence.widths.smallest_at
        bad = smallest(queries) < threshold
        if released:
            bad |= int(smallest(released).min()) < threshold
        everything = int(evidence.widths.smallest.min()) >= threshold
        return MarginScreening(np.full(len(queries), everything), bad)

    def decides(self, evidence: Evidence, bounds: BoundsWay) -> bool:
        return len(evidence_of_sums(evidence).queries) <= MOST_SUMS
