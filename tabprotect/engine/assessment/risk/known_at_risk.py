"""Share of the small counts whose true count a reader would know.

Over the small inner counts (or those of the main published table), for a reader who assumes nothing
and knows the mechanism: known is a count that is believed with more than the limit of the gate. A
glance within about a second: where cells hang together in too many ways, only what is proved counts.
"""

from __future__ import annotations

import numpy as np

from tabprotect.engine.assessment.assessed_release import AssessedRelease
from tabprotect.engine.assessment.figure import Figure, NotComputable, mean
from tabprotect.engine.assessment.measure import Measure
from tabprotect.engine.errors import TabprotectError
from tabprotect.engine.release.mechanism import Gate
from tabprotect.engine.tables.groupings.grouping import true_table
from tabprotect.languages.messages import message


class KnownAtRisk(Measure):
    """At-risk cells a reader would know: registered as ``known_at_risk``."""

    name = "known_at_risk"
    label = message("Small counts a reader would know")
    unit = message("share of the small counts")
    direction = "lower is better"
    noun = "risk"
    needs = ("posterior",)
    over = "inner cells"

    def compute(self, case: AssessedRelease) -> Figure:
        """Compute it from a glance at the release."""
        # Inference is imported with the first figure that needs it.
        from tabprotect.engine.disclosure.cell_beliefs import at_a_glance

        most = case.effort.cells
        if most is not None and case.release.domain.size > most:
            raise NotComputable(message("{size:,} cells are too many to look at", case.release.domain.size))
        try:
            belief = at_a_glance(case.release, case.progress)
        except TabprotectError as error:
            raise NotComputable(str(error)) from None
        groupings = case.own.groupings
        truth = true_table(case.problem.table, belief.domain, groupings).counts.reshape(-1)
        cells = belief.among(case.problem.at_risk.mask(truth))
        known = belief.probability(truth[cells], cells) > Gate().belief_limit
        found = np.full(belief.domain.size, np.nan)
        found[cells] = known
        share = mean(known.astype(np.float64), message("no cell has a small count"))
        return Figure(share, found.reshape(belief.domain.shape))


PLUGIN = KnownAtRisk()
