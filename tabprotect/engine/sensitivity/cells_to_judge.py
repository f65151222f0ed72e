"""The cells that have to stay wide: the at-risk ones, or all of them."""

from __future__ import annotations

from typing import Literal

from tabprotect.engine.sensitivity.small_count import SmallCount

Judged = Literal["at_risk", "all"]

JUDGED: dict[Judged, str] = {
    "at_risk": "the at-risk cells: what passes or is refused then tells something of them",
    "all": "every cell, zeros too: what passes or is refused then tells of the margins alone",
}


def judged_counts(at_risk: SmallCount, judged: Judged, total: int) -> SmallCount:
    """Range of the counts of the judged cells in a table with so many records."""
    return at_risk if judged == "at_risk" else SmallCount(0, max(total, at_risk.high))
