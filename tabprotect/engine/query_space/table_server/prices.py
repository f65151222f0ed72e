"""What a refusal told: how far it moves what readers believe of at-risk cells. Confidential.

A refusal by the criterion is a function of the original. Readers who know the criterion leave out
every table for which the query would have been released; what that changes, against the tables
that agree with all that was out and whose release the criterion allowed, is the refusal's price.

Source: Kenthapadi, Mishra and Nissim, Journal of Computer and System Sciences 79, 2013.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from tabprotect.engine.arrays import Bools
from tabprotect.engine.errors import InputError
from tabprotect.engine.progress import SILENT, Progress
from tabprotect.engine.query_space.evidence import Evidence
from tabprotect.engine.query_space.lattice import Query
from tabprotect.engine.query_space.originals import drawn_originals
from tabprotect.engine.query_space.release_set import ReleaseSet

DRAWS = 400
"""Originals that are drawn and judged; errors are about one in twenty of a probability."""

LEAST = 20
"""With fewer that fit nothing is said."""


@dataclass(frozen=True)
class Price:
    """Of one refusal, by itself.

    Attributes
    ----------
    largest_move
        Of the probability that an inner cell has an at-risk count, over all cells.
    bits
        How surprising the refusal was: minus the binary logarithm of its probability.
    originals
        How many drawn tables this rests on.
    error
        Standard error of ``largest_move``, at most.
    """

    largest_move: float
    bits: float
    originals: int
    error: float

    def as_json(self) -> dict[str, object]:
        """For the log."""
        return {
            "largest_move": round(self.largest_move, 4),
            "bits": round(self.bits, 3),
            "originals": self.originals,
            "error": round(self.error, 4),
        }


def price(releases: ReleaseSet, query: Query, progress: Progress = SILENT) -> Price | None:
    """The price of refusing a query when so much was out; ``None`` where too few originals fit.

    Raises
    ------
    InfeasibleError
        Where originals can be neither listed nor drawn.
    """
    cells = releases.evidence.cells
    originals = drawn_originals(cells.table, cells.lattice, releases.released, DRAWS, progress)
    fits, refused = [], []
    at_risk: list[Bools] = []
    for number, original in enumerate(originals):
        progress.report("pricing the refusal", number / len(originals))
        try:
            evidence = Evidence.gather(original, cells.rule)
        except InputError:
            # Nothing is at risk in this one: everything would have been released.
            fits.append(True)
            refused.append(False)
        else:
            fits.append(_safe(releases, evidence, releases.released.members))
            refused.append(not _safe(releases, evidence, releases.released.add(query).members))
        at_risk.append(cells.rule.mask(original.counts.reshape(-1)))
    before = np.array(fits)
    after = before & np.array(refused)
    if before.sum() < LEAST or after.sum() < LEAST:
        return None
    risky = np.array(at_risk)
    moves = np.abs(risky[after].mean(axis=0) - risky[before].mean(axis=0))
    share = float(after.sum() / before.sum())
    return Price(
        float(moves.max()), -math.log2(share), int(before.sum()), 0.5 / math.sqrt(after.sum())
    )


def _safe(releases: ReleaseSet, evidence: Evidence, members: tuple[Query, ...]) -> bool:
    judged = releases.criterion.judge(
        evidence, members, releases.threshold, bounds=releases.bounds, decide_only=True
    )
    return judged.verdict == "safe"
