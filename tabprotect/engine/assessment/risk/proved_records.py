"""How many records every compatible table has: what somebody can prove about the people in it.

Sum over the inner cells (or those of the main published table) of the lowest count that some
original could have there from which this release could come. A lower end of 1 proves that somebody
with these categories exists.

Source: Liu and others 2025, arXiv 2504.21199 (claims that are verified by programmes).
"""

from __future__ import annotations

from tabprotect.engine.assessment.assessed_release import AssessedRelease
from tabprotect.engine.assessment.figure import Figure
from tabprotect.engine.assessment.measure import Measure
from tabprotect.languages.messages import message


class ProvedRecords(Measure):
    """Records that are proved to exist: registered as ``proved_records``."""

    name = "proved_records"
    label = message("Records that are proved to exist")
    unit = message("records")
    direction = "lower is better"
    noun = "risk"
    needs = ("posterior",)
    over = "inner cells"

    def compute(self, case: AssessedRelease) -> Figure:
        """Compute it from the mechanism."""
        lowest, _ = case.feasible
        return Figure(float(lowest.sum()), lowest, case.left_out)


PLUGIN = ProvedRecords()
