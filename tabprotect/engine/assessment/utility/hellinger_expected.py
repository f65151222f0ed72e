"""Hellinger utility of the inner cells that the release suggests.

1 - H / sqrt(sum f), where H = sqrt(sum (sqrt f - sqrt g)^2 / 2) over all inner cells: f the true
count, g the expected one: iterative proportional fitting to the restored counts. 1 where nothing
changed. A negative count g is taken as 0.

Source: Langsrud and Lupp 2021, section 5.
"""

from __future__ import annotations

from tabprotect.engine.assessment.assessed_release import AssessedRelease
from tabprotect.engine.assessment.distances import hellinger
from tabprotect.engine.assessment.figure import Figure
from tabprotect.engine.assessment.measure import Measure


class HellingerExpected(Measure):
    """Registered as ``hellinger_expected``."""

    name = "hellinger_expected"
    label = "Hellinger, expected inner cells"
    unit = "share"
    direction = "higher is better"
    noun = "utility"
    needs = (
        "restored",
        "expected",
    )
    over = "inner cells"

    def compute(self, case: AssessedRelease) -> Figure:
        """From the expected inner cells."""
        value, per_cell = hellinger(case.inner, case.expected)
        return Figure(value, per_cell)


PLUGIN = HellingerExpected()
