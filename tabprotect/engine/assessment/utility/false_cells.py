"""Cells that are published as empty and are not, or the other way round. Suppressed ones are left out."""

from __future__ import annotations

import numpy as np

from tabprotect.engine.arrays import Bools
from tabprotect.engine.assessment.assessed_release import AssessedRelease
from tabprotect.engine.assessment.figure import Figure, mean
from tabprotect.engine.assessment.measure import Measure
from tabprotect.languages.messages import message


class FalsePositives(Measure):
    """False positives: registered as ``false_positives``."""

    name = "false_positives"
    label = message("False positives")
    unit = message("share of empty cells")
    direction = "lower is better"
    noun = "utility"
    text = message(
        "Share of the compared cells with a true count of 0 that are published above 0.\n\n"
        "Suppressed cells are left out."
    )

    def compute(self, case: AssessedRelease) -> Figure:
        """Compute it from the published counts."""
        true, published = case.pair
        return false_share(
            case, true == 0, published > 0, message("no compared cell is empty in the original")
        )


class FalseZeros(Measure):
    """False zeros: registered as ``false_zeros``."""

    name = "false_zeros"
    label = message("False zeros")
    unit = message("share of positive cells")
    direction = "lower is better"
    noun = "utility"
    text = message(
        "Share of the compared cells with a true count above 0 that are published as 0 (or "
        "below).\n\nSuppressed cells are left out."
    )

    def compute(self, case: AssessedRelease) -> Figure:
        """Compute it from the published counts."""
        true, published = case.pair
        return false_share(
            case, true > 0, published <= 0, message("no compared cell has a true count above 0")
        )


def false_share(case: AssessedRelease, cells: Bools, false: Bools, none: str) -> Figure:
    """The share of some compared cells (cells,) that are false; ``none`` says why there is none."""
    shares = np.where(cells, false, np.nan)
    return Figure(mean(shares[cells], none), case.spread(shares))


PLUGINS = (FalsePositives(), FalseZeros())
