"""The verdict compared with the original: which of the readers' beliefs are right. Confidential."""

from __future__ import annotations

from dataclasses import dataclass

from tabprotect.engine.release.verdict_figures import Verdict
from tabprotect.languages.said import plural, say


@dataclass(frozen=True)
class WorstCell:
    """The at-risk cell in whose true count a reader has the highest belief."""

    table: tuple[str, ...]
    cell: tuple[str, ...]
    belief: float


@dataclass(frozen=True)
class Staff:
    """Readers' right beliefs, over the true at-risk cells of all judged tables.

    Attributes
    ----------
    at_risk_cells
        Their number.
    known, certain
        Cells whose true count a reader believes in with more than the limit, and as good as surely.
    stuck
        Cells that no cycle of the mechanism can move; ``None`` without cycles. Nothing is gated on
        it.
    mean_belief
        Mean belief in the true count; 0 where no cell is at risk.
    worst
        The cell with the highest belief; ``None`` where none is at risk.
    """

    at_risk_cells: int
    known: int
    certain: int
    stuck: int | None
    mean_belief: float
    worst: WorstCell | None

    def as_json(self) -> dict[str, object]:
        """``verdict.staff`` of ``protect --json``."""
        worst = self.worst
        return {
            "at_risk_cells": self.at_risk_cells,
            "known": self.known,
            "certain": self.certain,
            "stuck": self.stuck,
            "mean_belief": self.mean_belief,
            "worst": None
            if worst is None
            else {
                "table": list(worst.table),
                "cell": list(worst.cell),
                "belief": worst.belief,
            },
        }

    @property
    def sentence(self) -> str:
        """The figures in words."""
        if not self.at_risk_cells or self.worst is None:
            return say("In truth no judged cell is at risk.")
        cell = ", ".join(self.worst.cell) or say("the grand total")
        return plural(
            self.known,
            "In truth {known:,} of {at_risk_cells:,} at-risk cells is known and "
            "{certain:,} certain; mean belief in the true count {mean_belief:.2f}, "
            "highest {belief:.2f} ({cell}).",
            "In truth {known:,} of {at_risk_cells:,} at-risk cells are known and "
            "{certain:,} certain; mean belief in the true count {mean_belief:.2f}, "
            "highest {belief:.2f} ({cell}).",
            self.known,
            self.at_risk_cells,
            self.certain,
            self.mean_belief,
            self.worst.belief,
            cell,
        )


@dataclass(frozen=True)
class StaffVerdict(Verdict):
    """A verdict with the figures that only staff may see."""

    staff: Staff | None = None

    def as_json(self) -> dict[str, object]:
        return super().as_json() | {"staff": None if self.staff is None else self.staff.as_json()}
