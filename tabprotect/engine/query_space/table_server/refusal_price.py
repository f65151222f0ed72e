"""The price of a refusal: what it tells by itself about people in the table. Confidential.

A criterion refuses by the original, so a refusal tells that the original is one of those it
refuses. If all tables with the released margins can be listed, both sides are counted, all taken as
equally likely beforehand; if they can only be drawn, they are counted among draws.

Source: Kenthapadi, Mishra and Nissim 2005 on refusals that tell; measured here, not avoided. With
the width over all cells (``cells=all``) a refusal tells about margins alone.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from functools import partial

import numpy as np

from tabprotect.engine.arrays import Ints
from tabprotect.engine.progress import SILENT, Progress
from tabprotect.engine.query_space.criterion import RiskCriterion
from tabprotect.engine.query_space.critical_widths.at_risk import AtRiskCells
from tabprotect.engine.query_space.drawn_originals import drawn_originals
from tabprotect.engine.query_space.frontier import maximal_queries, minimal_queries
from tabprotect.engine.query_space.lattice import Query
from tabprotect.engine.query_space.possible_tables import possible_tables
from tabprotect.engine.query_space.release_set import ReleaseSet
from tabprotect.languages.said import say

TELLS = say("The refusal tells")
"""The start of a refusal's price in the log."""

LEAST_DRAWN = 20
"""With fewer refused draws no price is stated."""


@dataclass(frozen=True)
class RefusalPrice:
    """The price of one refusal.

    Attributes
    ----------
    bits
        -log2 of the share of the tables possible before that would be refused too.
    before, after
        P(the count of one cell is at risk) without and with the refusal, of the at-risk cell that
        it moves most.
    cell
        That cell's categories.
    originals, left
        Number of tables that were possible before, and of those that would be refused.
    drawn
        Whether these are draws, and the figures estimates.
    """

    bits: float
    before: float
    after: float
    cell: tuple[str, ...]
    originals: int
    left: int
    drawn: bool = False

    @property
    def largest_move(self) -> float:
        """The change of the probability that an at-risk cell is at risk, 0..1."""
        return abs(self.after - self.before)

    @property
    def sentence(self) -> str:
        """In words, for staff."""
        told = (
            TELLS,
            self.bits,
            self.left,
            self.originals,
            ", ".join(self.cell),
            self.before,
            self.after,
        )
        return (
            say(
                "{TELLS} {bits:.2f} bits: {left:,} of {originals:,} "
                "drawn tables would be refused. It moves {cell} most: at risk with "
                "probability {before:.2f} before, {after:.2f} after.",
                *told,
            )
            if self.drawn
            else say(
                "{TELLS} {bits:.2f} bits: {left:,} of {originals:,} "
                "possible tables would be refused. It moves {cell} most: at risk with "
                "probability {before:.2f} before, {after:.2f} after.",
                *told,
            )
        )

    def as_json(self) -> dict[str, object]:
        """For logs and ``--json``."""
        return {
            "bits": self.bits,
            "largest_move": self.largest_move,
            "before": self.before,
            "after": self.after,
            "cell": list(self.cell),
            "originals": self.originals,
            "left": self.left,
            "drawn": self.drawn,
        }


def refusal_price(
    releases: ReleaseSet,
    *asked: Query,
    refused: Iterable[Query] = (),
    draws: int = 0,
    progress: Progress = SILENT,
) -> RefusalPrice | None:
    """The price of refusing a query, or several at once, for somebody who knows what is released.

    Parameters
    ----------
    releases
        The released set, with what judges it.
    asked
        Queries refused by the criterion, not by a rule; several if refused only together.
    refused
        Queries that the criterion refused before: known already, and still refused.
    draws
        Number of draws if the possible tables cannot be listed.

    Returns
    -------
    RefusalPrice or None
        ``None`` if the possible tables can neither be listed nor drawn, or too few of them would
        be refused.

    Raises
    ------
    InfeasibleError
        If there is nothing to draw from.
    Interrupted
        If cancelled.
    """
    evidence, criterion = releases.evidence, releases.criterion
    cells = evidence.cells
    out = releases.released.members
    if len(asked) == 1 and releases.allows(asked[0]):
        return None
    tables, judge = possible_tables(cells.table, out, progress), criterion.refuses
    drawn = tables is None
    if tables is None:
        if not draws:
            return None
        tables = _drawn(releases, draws, progress)
        # Each by itself: draws are not all tables of a class.
        judge = partial(RiskCriterion.refuses, criterion)

    def refuses(*more: Query) -> np.ndarray:
        progress.report(say("pricing the refusal"), 0.5)
        return judge(evidence, tables, maximal_queries((*out, *more)), releases.threshold)

    # Nobody could ask about a table in which no cell counts.
    possible = cells.rule.mask(tables).any(axis=1)
    if releases.judgement.verdict == "safe":
        possible &= ~refuses()
    # Whatever is above a refused query is refused: that tells nothing more.
    for other in minimal_queries(refused):
        possible &= refuses(other)
    left = possible & refuses(*asked)
    if left.sum() < (LEAST_DRAWN if drawn else 1):
        return None
    return _told(cells, tables[possible], tables[left], drawn=drawn)


def _drawn(releases: ReleaseSet, draws: int, progress: Progress) -> Ints:
    """Tables with the released margins, int64 (draws, cells)."""
    cells = releases.evidence.cells
    found = drawn_originals(cells.table, cells.lattice, releases.released, draws, progress)
    return np.stack([each.counts.reshape(-1) for each in found])


def _told(cells: AtRiskCells, before: Ints, after: Ints, *, drawn: bool) -> RefusalPrice:
    """The price, from the tables left, int64 (tables, cells), and those possible before."""
    own = cells.at_risk.mask(cells.table.counts.reshape(-1))
    shares = [cells.at_risk.mask(tables).mean(axis=0) for tables in (before, after)]
    cell = int(np.where(own, np.abs(shares[1] - shares[0]), -1.0).argmax())
    domain = cells.table.domain
    return RefusalPrice(
        bits=math.log2(len(before) / len(after)),
        before=float(shares[0][cell]),
        after=float(shares[1][cell]),
        cell=domain.labels(domain.unflat(cell)),
        originals=len(before),
        left=len(after),
        drawn=drawn,
    )
