"""What one run did to the table: the figures of ``protect --json``, the window and the dossier.

Confidential: every figure depends on the original.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tabprotect.engine.percent import percent
from tabprotect.engine.protection.judged_cells import Judged
from tabprotect.engine.protection.problem import Protected
from tabprotect.engine.protection.registered import methods
from tabprotect.engine.protection.subtables import groupings_of
from tabprotect.engine.tables.margins import all_margins
from tabprotect.engine.tables.moves import MoveSet
from tabprotect.engine.tables.publication import Publication
from tabprotect.engine.tables.table import Table


@dataclass(frozen=True)
class RunSummary:
    """Figures of one run, about the main published table.

    Attributes
    ----------
    at_risk_cells
        True counts of that table which the small-count rule calls at risk.
    judged_cells
        The cells the shares are over: the at-risk ones, or all positive ones where none is.
    unchanged_cells
        How many of the judged cells are published with their true count.
    suppressed_cells
        Cells of all published tables that are published without a count.
    tables
        Number of published tables.
    changed_cells
        Cells of the main table whose count changed (suppressed ones apart).
    largest_change
        Largest |published - true count|.
    mean_absolute_deviation
        Mean |published - true count| over the judged cells that are published.
    blocked_share
        Share of the moves the coins asked for that were blocked; ``None`` without cycles.
    margins_preserved
        Whether every margin that is to be kept is kept, compared on the two tables; for a method
        without cycles, every margin short of the table itself. ``None`` where inner cells are
        not published.
    finding
        What the method itself has to say, in a sentence.
    """

    at_risk_cells: int
    judged_cells: int
    unchanged_cells: int
    suppressed_cells: int
    tables: int
    changed_cells: int
    largest_change: int
    mean_absolute_deviation: float
    blocked_share: float | None
    margins_preserved: bool | None
    finding: str = ""

    @property
    def unchanged_share(self) -> float:
        """Share of the judged cells that are published unchanged (1 where there is none)."""
        return self.unchanged_cells / self.judged_cells if self.judged_cells else 1.0

    @property
    def sentence(self) -> str:
        """The summary in words."""
        whose = "at-risk" if self.at_risk_cells else "positive"
        noun = "cell is" if self.judged_cells == 1 else "cells are"
        parts = [
            f"{self.unchanged_cells:,} of {self.judged_cells:,} {whose} {noun} published unchanged"
        ]
        if self.suppressed_cells:
            noun = "cell is" if self.suppressed_cells == 1 else "cells are"
            parts.append(f"{self.suppressed_cells:,} {noun} suppressed")
        if self.changed_cells:
            parts.append(f"no count differs by more than {self.largest_change}")
        elif self.blocked_share is None:
            said = "every published count" if self.tables == 1 else "the main table"
            parts.append(f"{said} is exact")
        if self.blocked_share is not None:
            kept = "every margin is kept" if self.margins_preserved else "MARGINS ARE BROKEN"
            parts += [f"{percent(self.blocked_share)} of the moves were blocked", kept]
        said = "; ".join(parts) + "."
        return f"{said} {self.finding}".strip()

    def as_json(self) -> dict[str, object]:
        """The figures for ``protect --json``."""
        return {
            "unchanged_share": self.unchanged_share,
            "blocked_share": self.blocked_share,
            "at_risk_cells": self.at_risk_cells,
            "judged_cells": self.judged_cells,
            "unchanged_cells": self.unchanged_cells,
            "suppressed_cells": self.suppressed_cells,
            "tables": self.tables,
            "changed_cells": self.changed_cells,
            "largest_change": self.largest_change,
            "mean_absolute_deviation": self.mean_absolute_deviation,
            "margins_preserved": self.margins_preserved,
            "finding": self.finding,
            "sentence": self.sentence,
        }


def summarise(protected: Protected) -> RunSummary:
    """Compare the original with what was published."""
    record, release = protected.record, protected.release
    main, domain = release.tables[0], record.problem.table.domain
    parameters = release.mechanism.values
    groupings = groupings_of(domain, parameters)
    weighted = methods()[release.mechanism.method].weighted(parameters)
    judged = Judged.of(record.problem, main, groupings, weighted=weighted)
    shown = ~main.hidden
    moved = np.where(shown, main.table.counts - judged.truth, 0)
    cells, seen = int(judged.cells.sum()), judged.cells & shown
    preserved = None
    if main.table.domain == domain and main.suppressed is None:
        moves = parameters.get("cycles")
        kept = (
            moves.publication
            if isinstance(moves, MoveSet)
            else Publication(domain, all_margins(domain))
        )
        truth = Table.dense(domain, judged.truth) if weighted else record.problem.table
        preserved = kept.sums(truth) == kept.sums(main.table)
    return RunSummary(
        at_risk_cells=judged.at_risk,
        judged_cells=cells,
        unchanged_cells=int(judged.unchanged(main)[judged.cells].sum()),
        suppressed_cells=sum(int(p.hidden.sum()) for p in release.tables),
        tables=len(release.tables),
        changed_cells=int((moved != 0).sum()),
        largest_change=int(np.abs(moved).max(initial=0)),
        mean_absolute_deviation=float(np.abs(moved[seen]).mean()) if seen.any() else 0.0,
        blocked_share=None if record.steps is None else record.blocked_share,
        margins_preserved=preserved,
        finding=record.sentence,
    )
