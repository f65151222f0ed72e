"""Smallest margin count: how many records every small count hides among in each released margin.

The figure is the smallest count, over all released margins, of the margin's cell that a small count falls into: a minimum frequency rule for the people in small counts. It looks at one margin at a
time and says nothing about what several of them give away together; the width of bounds does.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

import numpy as np

from tabprotect.engine.arrays import Bools, Ints
from tabprotect.engine.progress import SILENT, Progress
from tabprotect.engine.query_space.criterion import WHOLE, Bounding, RiskCriterion
from tabprotect.engine.query_space.criterion_evidence import Evidence, MarginScreening, RiskJudgement
from tabprotect.engine.query_space.critical_widths.widths import by_figure
from tabprotect.engine.query_space.frontier import maximal_queries
from tabprotect.engine.query_space.graphs.graph_walk import GraphWalk, MarginWalk
from tabprotect.engine.query_space.lattice import Query
from tabprotect.engine.query_space.possible_tables import margin_counts, margin_keys
from tabprotect.languages.messages import message


class SmallestMargin(RiskCriterion):
    """The smallest released margin count at an at-risk cell, as a criterion."""

    name: ClassVar[str] = "smallest_margin"
    label: ClassVar[str] = message("Smallest margin count of small counts")
    unit: ClassVar[str] = "records"

    def judge(
        self,
        evidence: Evidence,
        released: Sequence[Query],
        threshold: int,
        *,
        bounding: Bounding = WHOLE,
        progress: Progress = SILENT,
    ) -> RiskJudgement:
        counts = evidence.smallest_of(maximal_queries(released))
        smallest = int(counts.min())
        return RiskJudgement(
            "safe" if smallest >= threshold else "bad",
            smallest,
            True,
            "counts",
            evidence.tight_cells(counts, np.zeros_like(counts), threshold),
        )

    def screen(
        self, evidence: Evidence, released: tuple[Query, ...], queries: Ints, threshold: int
    ) -> MarginScreening:
        smallest_at = evidence.widths.smallest_at
        safe = smallest_at(queries) >= threshold
        if released:
            safe &= int(smallest_at(released).min()) >= threshold
        return MarginScreening(safe, ~safe)

    def refuses(self, evidence: Evidence, tables: Ints, margins: Sequence[Query], threshold: int) -> Bools:
        shape, counted = evidence.cells.table.domain.shape, evidence.cells.rule.mask(tables)
        found = np.zeros(len(tables), dtype=np.bool_)
        for query in margins:
            few = margin_counts(shape, tables, query) < threshold
            found |= (few[:, margin_keys(shape, query)] & counted).any(axis=1)
        return found

    def order(self, evidence: Evidence) -> list[Query]:
        return by_figure(evidence.lattice, evidence.widths.smallest)

    def walk(self, evidence: Evidence, threshold: int) -> GraphWalk:
        return MarginWalk(evidence, threshold)


PLUGIN = SmallestMargin()
