"""A risk criterion: how dangerous a set of released margins is. One file in ``criteria/``."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from tabprotect.engine.arrays import Bools, Ints
from tabprotect.engine.options import Measure
from tabprotect.engine.plain_values.encoding import Encodable
from tabprotect.engine.progress import SILENT, Progress
from tabprotect.engine.query_space.criterion_evidence import Evidence, MarginScreening, RiskJudgement
from tabprotect.engine.query_space.graphs.graph_walk import GraphWalk
from tabprotect.engine.query_space.lattice import Query
from tabprotect.engine.registry import Documented
from tabprotect.engine.tables.table import Table
from tabprotect.engine.ways_to_bound import BoundsWay


@dataclass(frozen=True)
class Bounding:
    """The way that a judgement bounds the cells, and how far it goes.

    Attributes
    ----------
    way
        How cells are bounded.
    decide_only
        Whether it may stop as soon as the verdict is known.
    quick
        Whether it may leave undecided what takes longer than somebody who points at a sub-table
        wants to wait.
    """

    way: BoundsWay = "auto"
    decide_only: bool = False
    quick: bool = False


WHOLE = Bounding()
"""A whole judgement: the verdict, the figure and the tight cells, however long it takes."""


class RiskCriterion(Documented, Encodable, ABC):
    """Base of all criteria. The module's docstring is its help page.

    The figure never grows when more is released (monotone), depends only on the table and on
    what is released (pure), and a release is allowed if the figure is *proved* to be at least
    the threshold.
    """

    name: ClassVar[str]
    label: ClassVar[str]
    unit: ClassVar[str]
    measure: ClassVar[Measure] = "counts"
    usual: ClassVar[int] = 3
    """The threshold where none is given."""
    json_keys = "name label unit measure help"

    @abstractmethod
    def judge(
        self,
        evidence: Evidence,
        released: Sequence[Query],
        threshold: int,
        *,
        bounding: Bounding = WHOLE,
        progress: Progress = SILENT,
    ) -> RiskJudgement:
        """The figure of one release, with a proof that it reaches the threshold if there is one."""

    @abstractmethod
    def screen(
        self, evidence: Evidence, released: tuple[Query, ...], queries: Ints, threshold: int
    ) -> MarginScreening:
        """Cheap verdicts on ``released`` with each of many queries (n,) added in turn."""

    def refuses(self, evidence: Evidence, tables: Ints, margins: Sequence[Query], threshold: int) -> Bools:
        """Mask of the tables for which the release of some margins would be refused, (tables,).

        Parameters
        ----------
        evidence
            Evidence of one of them, for its rule and its variables.
        tables : int64 (tables, cells)
            All tables that share some of the margins; the result has no meaning for tables in which
            no cell is looked at.
        """
        domain, rule = evidence.cells.table.domain, evidence.cells.rule
        found = np.zeros(len(tables), dtype=np.bool_)
        for number in np.flatnonzero(rule.mask(tables).any(axis=1)):
            table = Table.dense(domain, tables[number].reshape(domain.shape))
            other = Evidence.gather(table, evidence.cells.at_risk, cells=evidence.cells.judged)
            found[number] = self.judge(other, margins, threshold).verdict != "safe"
        return found

    def decides(self, evidence: Evidence, bounds: BoundsWay) -> bool:
        """Return True if :meth:`judge` can settle what :meth:`screen` leaves open."""
        return False

    def order(self, evidence: Evidence) -> list[Query]:
        """All sub-tables, the least risky first: the order of the heuristic search."""
        return evidence.widths.ordered()

    def walk(self, evidence: Evidence, threshold: int) -> GraphWalk:
        """The start of the searches over decomposable releases."""
        return _JudgedWalk(self, evidence, threshold)


@dataclass(frozen=True)
class Standard:
    """The standard that a release is held to: a criterion's figure that reaches a threshold.

    Attributes
    ----------
    evidence
        The table with the figures of all its margins.
    criterion, threshold
        What judges a release, and what its figure must be proved to reach.
    bounds
        How cells are bounded.
    """

    evidence: Evidence
    criterion: RiskCriterion
    threshold: int
    bounds: BoundsWay = "auto"

    def walk(self) -> GraphWalk:
        """The start of the searches over decomposable releases."""
        return self.criterion.walk(self.evidence, self.threshold)

    def judge(
        self,
        released: Sequence[Query],
        *,
        decide_only: bool = False,
        quick: bool = False,
        progress: Progress = SILENT,
    ) -> RiskJudgement:
        """The figure of one release (see :class:`Bounding`)."""
        return self.criterion.judge(
            self.evidence,
            released,
            self.threshold,
            bounding=Bounding(self.bounds, decide_only, quick),
            progress=progress,
        )


class _JudgedWalk(GraphWalk):
    """A walk for any criterion: each release on the way is judged anew."""

    def __init__(self, criterion: RiskCriterion, evidence: Evidence, threshold: int) -> None:
        super().__init__(evidence.lattice)
        self._standard = Standard(evidence, criterion, threshold)

    def _fits(self, i: int, j: int) -> bool:
        self.toggle(i, j)
        cliques = self.tree().cliques
        self.toggle(i, j)
        return self._standard.judge(cliques, decide_only=True).verdict == "safe"
