"""Ordered marginals: the longest prefix of the list of sub-tables that may be released together.

Sub-tables are ordered by critical width (or by the criterion's figure of each alone), then
dimension, then the variables' order. Releasing more never widens a bound, so bisection finds the
prefix. The first element alone and the whole list are candidates too, which the published procedure
forgets.

Source: Dobra, Karr, Sanil and Fienberg 2002, section 5.
"""

from __future__ import annotations

from tabprotect.engine.progress import SILENT, Progress
from tabprotect.engine.query_space.criterion import RiskCriterion
from tabprotect.engine.query_space.criterion_evidence import Evidence
from tabprotect.engine.query_space.frontier import maximal_queries
from tabprotect.engine.query_space.lattice import Query
from tabprotect.engine.query_space.ways_to_bound import BoundsWay


def longest_prefix(
    evidence: Evidence,
    criterion: RiskCriterion,
    threshold: int,
    *,
    bounds: BoundsWay = "auto",
    progress: Progress = SILENT,
) -> tuple[int, tuple[Query, ...]]:
    """Length of the longest prefix proved safe, and its frontier (empty if there is none)."""
    order = criterion.order(evidence)
    # The prefix of length `safe` is safe (0: only the total), that of length `refused` is not.
    safe, refused = 0, len(order) + 1
    best: tuple[Query, ...] = ()
    steps = max(1, len(order).bit_length())
    done = 0
    while refused - safe > 1:
        progress.report("bisection", min(done / steps, 1.0), best)
        middle = (safe + refused) // 2
        frontier = maximal_queries(order[:middle])
        verdict = criterion.judge(
            evidence,
            frontier,
            threshold,
            bounds=bounds,
            decide_only=True,
            progress=progress,
        ).verdict
        if verdict == "safe":
            safe, best = middle, frontier
        else:
            refused = middle
        done += 1
    return safe, best
