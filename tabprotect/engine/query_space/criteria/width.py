"""Width of bounds: how closely what is released pins down the small counts of the whole table.

The figure is the smallest upper minus lower bound of a small count that a reader can work out
from all released margins together. A release is allowed at the threshold beta when that width is
proved to be at least beta. Releases whose margins are the cliques of a chordal graph have sharp
bounds in closed form; for others a wider release of that kind that still reaches beta proves
safety, a single margin below beta proves the opposite, and integer programmes decide what is left
where the table is small enough. What stays undecided is refused.

Source: Dobra, Karr, Sanil and Fienberg 2002, section 3.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import partial
from typing import ClassVar

import numpy as np

from tabprotect.engine.arrays import Bools, Ints
from tabprotect.engine.bounds.bounding import Search, WidthResult, width
from tabprotect.engine.bounds.bounds import Bounds
from tabprotect.engine.bounds.support import SUPPORT_CELLS
from tabprotect.engine.progress import SILENT, Progress
from tabprotect.engine.protection.margins.margin_safety import MOST_TIGHT
from tabprotect.engine.query_space.criterion import WHOLE, Bounding, RiskCriterion, Standard
from tabprotect.engine.query_space.criterion_evidence import (
    Evidence,
    MarginScreening,
    RiskJudgement,
    TightCell,
)
from tabprotect.engine.query_space.frontier import maximal_queries
from tabprotect.engine.query_space.graphs.chordal import Covers, covers, decomposable
from tabprotect.engine.query_space.graphs.graph_walk import GraphWalk, WidthWalk
from tabprotect.engine.query_space.lattice import Query
from tabprotect.engine.query_space.possible_tables import alike
from tabprotect.engine.ways_to_bound import BoundsWay
from tabprotect.languages.messages import message

EXACT_CELLS = 20_000
"""Most cells left open by a part of a release for which programmes are solved unasked."""

QUICK_CELLS = 100
"""Limit when one of many releases of a table larger than that is judged."""

QUICK_WORK = 1e6
"""Nominal microseconds (`solver.solver_work`) of programmes for a judgement that somebody waits
for.
"""


class Width(RiskCriterion):
    """The smallest width of bounds on an at-risk cell, as a criterion."""

    name: ClassVar[str] = "width"
    label: ClassVar[str] = message("Bounds on small counts")
    unit: ClassVar[str] = "counts"

    def judge(
        self,
        evidence: Evidence,
        released: Sequence[Query],
        threshold: int,
        *,
        bounding: Bounding = WHOLE,
        progress: Progress = SILENT,
    ) -> RiskJudgement:
        bounds, decide_only, quick = bounding.way, bounding.decide_only, bounding.quick
        frontier = maximal_queries(released) or (0,)
        variables = evidence.lattice.variables
        closed = bounds in ("auto", "decomposable") and evidence.lattice.separable(frontier)
        tree = decomposable(variables, frontier) if closed else None
        if tree is not None:
            lower, upper = evidence.decomposable_bounds(tree.cliques, tree.separators)
            smallest = int((upper - lower).min())
            return RiskJudgement(
                "safe" if smallest >= threshold else "bad",
                smallest,
                True,
                "decomposable",
                evidence.tight_cells(upper, lower, threshold),
            )
        ceiling = int(evidence.widths.smallest_at(frontier).min())
        if decide_only and ceiling < threshold and bounds in ("auto", "decomposable"):
            return RiskJudgement("bad", ceiling, False, "frechet")
        hurried = decide_only or quick
        small = self.decides(evidence, "auto")
        programmed = partial(
            _programmed,
            Standard(evidence, self, threshold, bounds),
            frontier,
            most_work=QUICK_WORK if quick else math.inf,
            progress=progress,
        )
        if bounds not in ("auto", "decomposable"):
            return programmed(most_open=SUPPORT_CELLS, decide_only=decide_only)
        known = bounds == "decomposable" or decide_only or not small
        if known and self._covered(evidence, frontier, threshold):
            if bounds == "auto" and not hurried:
                # Safe; the figure itself is given where it is cheap.
                found = programmed(most_open=QUICK_CELLS, decide_only=False)
                if found.exact:
                    return found
            return RiskJudgement("safe", ceiling, False, message("decomposable cover"))
        if bounds == "decomposable":
            return self._undecided(evidence, frontier, threshold)
        if hurried and not small:
            return programmed(most_open=QUICK_CELLS, decide_only=True)
        found = programmed(most_open=EXACT_CELLS, decide_only=decide_only)
        if quick and found.verdict == "unknown" and self._covered(evidence, frontier, threshold):
            return RiskJudgement("safe", found.width, False, message("decomposable cover"))
        return found

    def _covered(self, evidence: Evidence, frontier: Sequence[Query], threshold: int) -> bool:
        """Return True if a decomposable release that contains this one proves it safe."""
        queries = np.array(frontier[:1], dtype=np.int64)
        return bool(self.screen(evidence, tuple(frontier[1:]), queries, threshold).safe[0])

    def _undecided(self, evidence: Evidence, frontier: Sequence[Query], threshold: int) -> RiskJudgement:
        """The judgement from single margins: they can prove a release bad, never safe."""
        upper = evidence.smallest_of(frontier)
        ceiling = int(upper.min())
        return RiskJudgement(
            "bad" if ceiling < threshold else "unknown",
            ceiling,
            False,
            "frechet",
            evidence.tight_cells(upper, np.zeros_like(upper), threshold),
        )

    def screen(
        self, evidence: Evidence, released: tuple[Query, ...], queries: Ints, threshold: int
    ) -> MarginScreening:
        lattice, smallest_at = evidence.lattice, evidence.widths.smallest_at
        safe = np.zeros(len(queries), dtype=np.bool_)
        bad = smallest_at(queries) < threshold
        if released and int(smallest_at(released).min()) < threshold:
            bad[:] = True
        variables, place = lattice.variables, lattice.at(queries)
        size = np.bitwise_count(queries)
        # Larger ones first: what lies below a safe one need not be looked at.
        listed = lattice.listed
        below = np.zeros(lattice.size if listed else 0, dtype=np.bool_)
        for dimension in range(variables, -1, -1):
            here = (size == dimension) & ~bad
            if listed:
                safe[here] = below[place[here]]
            left = np.flatnonzero(here & ~safe)
            if len(left):
                cover = covers(variables, released, queries[left], lattice.crossing)
                safe[left] = self._wide(evidence, cover, threshold)
                bad[left] = ~safe[left] & cover.exact
            reached = queries[here & safe]
            for v in range(variables) if listed else ():
                # Without a level that a finer one implies it would be the same query.
                below[lattice.at(reached & ~(1 << v))] = True
        return MarginScreening(safe, bad)

    def _wide(self, evidence: Evidence, cover: Covers, threshold: int) -> Bools:
        """Mask of the covers (n,) that keep every at-risk cell wide enough."""
        tightest = evidence.widths.smallest_at(cover.cliques).min(axis=1)
        wide: Bools = tightest >= threshold
        # No lower bound exceeds the count itself: with that much room it need not be known.
        near = wide & (tightest < threshold + evidence.cells.rule.high)
        for at in np.flatnonzero(near):
            wide[at] = self._reaches(evidence, cover.cliques[at], cover.separators[at], threshold)
        return wide

    def decides(self, evidence: Evidence, bounds: BoundsWay) -> bool:
        if bounds == "auto":
            return evidence.cells.table.domain.size <= EXACT_CELLS
        return bounds != "decomposable"

    def refuses(self, evidence: Evidence, tables: Ints, margins: Sequence[Query], threshold: int) -> Bools:
        """With all tables at hand, the extremes within each class are the sharp bounds."""
        classes = alike(evidence.cells.table.domain.shape, tables, margins)
        order = np.argsort(classes, kind="stable")
        begins = np.flatnonzero(np.diff(classes[order], prepend=-1))
        lower = np.minimum.reduceat(tables[order], begins, axis=0)
        upper = np.maximum.reduceat(tables[order], begins, axis=0)
        narrow = (upper - lower < threshold)[classes]
        return np.asarray((narrow & evidence.cells.rule.mask(tables)).any(axis=1))

    def walk(self, evidence: Evidence, threshold: int) -> GraphWalk:
        standard = Standard(evidence, self, threshold)

        def proved(cliques: tuple[Query, ...]) -> bool:
            return standard.judge(cliques, decide_only=True).verdict == "safe"

        return WidthWalk(evidence, threshold, proved)

    def _reaches(self, evidence: Evidence, cliques: Ints, separators: Ints, threshold: int) -> bool:
        """Return True if a cover, by elimination steps, keeps every at-risk cell wide enough."""
        cells, smallest_at = evidence.cells, evidence.widths.smallest_at
        known = int(np.bitwise_or.reduce(cliques))
        settled = ~cells.open_at(known)
        if not settled.any():
            return True
        close = threshold + cells.rule.high
        upper = evidence.smallest_of(cliques[smallest_at(cliques) < close].tolist())
        near = np.flatnonzero(settled & (upper < threshold + cells.counts[: cells.size]))
        lower = np.full(len(near), cells.total, dtype=np.int64)
        for clique, separator in zip(cliques.tolist(), separators.tolist(), strict=True):
            lower += cells.counts_at(clique)[near] - cells.counts_at(separator)[near]
            live = lower > 0
            if not live.any():
                return True
            # Further steps can only lower the bound.
            near, lower = near[live], lower[live]
        return bool((upper[near] - lower >= threshold).all())


def _programmed(
    standard: Standard,
    frontier: Sequence[Query],
    *,
    most_open: int,
    most_work: float,
    decide_only: bool,
    progress: Progress,
) -> RiskJudgement:
    """Judge by shuttle, linear and integer programmes; find the width unless ``decide_only``."""
    evidence = standard.evidence
    cells = evidence.cells

    def found(beta: int | None) -> WidthResult:
        return width(
            cells.table,
            evidence.lattice.margins(frontier),
            cells=(cells.rule.low, cells.rule.high),
            beta=beta,
            search=Search(standard.bounds, most_open, most_work),
            progress=progress,
        )

    decided = found(standard.threshold)
    assert decided.verdict is not None
    smallest = decided if decide_only or decided.exact else found(None)
    verdict = decided.verdict
    return RiskJudgement(
        verdict,
        smallest.width,
        smallest.exact,
        smallest.method,
        _tight(evidence, decided.tight) if verdict != "safe" else (),
    )


def _tight(evidence: Evidence, bounds: Bounds) -> tuple[TightCell, ...]:
    domain, table = evidence.cells.table.domain, evidence.cells.table
    order = np.argsort(bounds.widths, kind="stable")[:MOST_TIGHT]
    found = []
    for at in order:
        index = domain.unflat(int(bounds.cells[at]))
        found.append(
            TightCell(
                index, domain.cell_text(index), table[index], int(bounds.lower[at]), int(bounds.upper[at])
            )
        )
    return tuple(found)


PLUGIN = Width()
