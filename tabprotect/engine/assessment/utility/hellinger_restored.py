"""Hellinger utility of the published counts made additive.

1 - H / sqrt(sum f), where H = sqrt(sum (sqrt f - sqrt g)^2 / 2) over the compared cells that the
restored counts tell: f the true count, g the least squares fit by sums of one non-negative table,
in which suppressed cells are free. 1 where nothing changed. A negative count g is taken as 0.

Source: Langsrud and Lupp 2021, section 5.
"""

from __future__ import annotations

import numpy as np

from tabprotect.engine.assessment.assessed_release import AssessedRelease
from tabprotect.engine.assessment.distances import hellinger
from tabprotect.engine.assessment.figure import Figure
from tabprotect.engine.assessment.measure import Measure


class HellingerRestored(Measure):
    """Registered as ``hellinger_restored``."""

    name = "hellinger_restored"
    label = "Hellinger, additivity restored"
    unit = "share"
    direction = "higher is better"
    noun = "utility"
    needs = ("restored",)

    def compute(self, case: AssessedRelease) -> Figure:
        """From the restored counts."""
        known = np.isfinite(case.restored)
        value, per_cell = hellinger(case.truth[known], case.restored[known])
        out = np.full(known.shape, np.nan)
        out[known] = per_cell
        return Figure(value, out)


PLUGIN = HellingerRestored()
