"""The price of a refusal: what it tells by itself, of whoever is in the table. Confidential.

A criterion refuses by the original, so a refusal tells that the original is one of those it
refuses. Where all tables with the released margins can be listed, both sides are counted, all of
them taken as equally likely beforehand.

Source: Kenthapadi, Mishra and Nissim 2005 on refusals that tell; measured here, not avoided. With
the width over all cells (``cells=all``) a refusal tells of margins alone.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from tabprotect.engine.progress import SILENT, Progress
from tabprotect.engine.query_space.frontier import maximal
from tabprotect.engine.query_space.lattice import Query
from tabprotect.engine.query_space.possible_tables import possible_tables
from tabprotect.engine.query_space.release_set import ReleaseSet


@dataclass(frozen=True)
class Price:
    """What one refusal tells.

    Attributes
    ----------
    bits
        -log2 of the share of the tables that were possible before and would be refused, too.
    before, after
        P(the count of one cell is at risk) without and with the refusal: of the at-risk cell that
        it moves most.
    cell
        That cell's categories.
    originals, left
        Tables that were possible before; those of them that would be refused.
    """

    bits: float
    before: float
    after: float
    cell: tuple[str, ...]
    originals: int
    left: int

    @property
    def largest_move(self) -> float:
        """How far the probability moves that an at-risk cell is at risk, 0..1."""
        return abs(self.after - self.before)

    @property
    def sentence(self) -> str:
        """In words, for staff."""
        return (
            f"The refusal tells {self.bits:.2f} bits: {self.left:,} of {self.originals:,} possible "
            f"tables would be refused. It moves {', '.join(self.cell)} most: at risk with "
            f"probability {self.before:.2f} before, {self.after:.2f} after."
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
        }


def price(
    releases: ReleaseSet,
    query: Query,
    *,
    refused: Iterable[Query] = (),
    progress: Progress = SILENT,
) -> Price | None:
    """What refusing a query tells whoever knows all that is released.

    Parameters
    ----------
    releases
        What is out, and what judges.
    query
        Refused by the criterion, not by a rule.
    refused
        Queries that the criterion refused before: known already, and refused still.

    Returns
    -------
    Price or None
        ``None`` where the possible tables cannot be listed, or the criterion refuses nothing.

    Raises
    ------
    Interrupted
        When cancelled.
    """
    evidence, criterion = releases.evidence, releases.criterion
    cells, domain = evidence.cells, evidence.cells.table.domain
    out = releases.released.members
    if releases.allows(query):
        return None
    tables = possible_tables(cells.table, out, progress)
    if tables is None:
        return None

    def refuses(*more: Query) -> np.ndarray:
        progress.report("pricing the refusal", 0.5)
        margins = maximal((*out, *more))
        return criterion.refuses(evidence, tables, margins, releases.threshold)

    # Nobody could ask about a table of which no cell counts.
    possible = cells.rule.mask(tables).any(axis=1)
    if releases.judgement.verdict == "safe":
        possible &= ~refuses()
    before = set(refused)
    for other in before:
        # What lies above something refused is refused: that tells nothing more.
        if not any(one != other and one & other == one for one in before):
            possible &= refuses(other)
    left = possible & refuses(query)
    if not left.any():
        return None
    own = cells.at_risk.mask(cells.table.counts.reshape(-1))
    shares = [cells.at_risk.mask(tables[among]).mean(axis=0) for among in (possible, left)]
    cell = int(np.where(own, np.abs(shares[1] - shares[0]), -1.0).argmax())
    return Price(
        bits=math.log2(int(possible.sum()) / int(left.sum())),
        before=float(shares[0][cell]),
        after=float(shares[1][cell]),
        cell=domain.labels(domain.unflat(cell)),
        originals=int(possible.sum()),
        left=int(left.sum()),
    )
