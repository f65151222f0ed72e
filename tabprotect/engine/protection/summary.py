"""What one run did to the table: the figures of ``protect --json``, the window and the dossier.

Confidential: every figure depends on the original.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tabprotect.engine.protection.problem import Protected
from tabprotect.engine.tables.margins import all_margins, differing_margins
from tabprotect.engine.tables.moves import MoveSet


@dataclass(frozen=True)
class Summary:
    """Figures of one run.

    Attributes
    ----------
    at_risk_cells
        Cells of the original that the small-count rule calls at risk.
    judged_cells
        The cells the shares are over: the at-risk ones, or all positive ones where none is.
    unchanged_cells
        How many of the judged cells are published with their true count.
    changed_cells
        Cells of the whole table whose count changed.
    largest_change
        Largest |published - original|.
    mean_absolute_deviation
        Mean |published - original| over the judged cells.
    blocked_share
        Share of the moves the coins asked for that were blocked.
    margins_preserved
        Whether every margin that is to be kept is kept, compared on the two tables.
    """

    at_risk_cells: int
    judged_cells: int
    unchanged_cells: int
    changed_cells: int
    largest_change: int
    mean_absolute_deviation: float
    blocked_share: float
    margins_preserved: bool

    @property
    def unchanged_share(self) -> float:
        """Share of the judged cells that are published unchanged (1 where there is none)."""
        return self.unchanged_cells / self.judged_cells if self.judged_cells else 1.0

    @property
    def sentence(self) -> str:
        """The summary in words."""
        whose = "at-risk" if self.at_risk_cells else "positive"
        noun = "cell is" if self.judged_cells == 1 else "cells are"
        kept = "every margin is kept" if self.margins_preserved else "MARGINS ARE BROKEN"
        return (
            f"{self.unchanged_cells} of {self.judged_cells} {whose} {noun} published unchanged; "
            f"no count differs by more than {self.largest_change}; "
            f"{self.blocked_share:.0%} of the moves were blocked; {kept}."
        )

    def as_json(self) -> dict[str, object]:
        """The figures for ``protect --json``."""
        return {
            "unchanged_share": self.unchanged_share,
            "blocked_share": self.blocked_share,
            "at_risk_cells": self.at_risk_cells,
            "judged_cells": self.judged_cells,
            "unchanged_cells": self.unchanged_cells,
            "changed_cells": self.changed_cells,
            "largest_change": self.largest_change,
            "mean_absolute_deviation": self.mean_absolute_deviation,
            "margins_preserved": self.margins_preserved,
            "sentence": self.sentence,
        }


def summarise(protected: Protected) -> Summary:
    """Compare the original with what was published."""
    record = protected.record
    original = record.problem.table.counts
    moved = protected.release.table.counts - original
    judged = record.problem.at_risk.mask(original)
    at_risk = int(judged.sum())
    if not at_risk:
        judged = original > 0
    moves = protected.release.mechanism.parameters.get("cycles")
    domain = record.problem.table.domain
    margins = moves.margins if isinstance(moves, MoveSet) else all_margins(domain)
    broken = differing_margins(record.problem.table, protected.release.table, margins)
    cells = int(judged.sum())
    return Summary(
        at_risk_cells=at_risk,
        judged_cells=cells,
        unchanged_cells=int((moved[judged] == 0).sum()),
        changed_cells=int((moved != 0).sum()),
        largest_change=int(np.abs(moved).max(initial=0)),
        mean_absolute_deviation=float(np.abs(moved[judged]).mean()) if cells else 0.0,
        blocked_share=record.blocked_share,
        margins_preserved=not broken,
    )
