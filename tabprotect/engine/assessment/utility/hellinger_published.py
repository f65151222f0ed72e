"""Hellinger utility of the published counts as they are.

1 - H / sqrt(sum f), where H = sqrt(sum (sqrt f - sqrt g)^2 / 2) over the compared cells that have
a published count: f the true count, g the published one; suppressed cells are left out. 1 where
nothing changed. A negative count g is taken as 0.

Source: Langsrud and Lupp 2021, section 5.
"""

from __future__ import annotations

from tabprotect.engine.assessment.assessed_release import AssessedRelease
from tabprotect.engine.assessment.distances import hellinger
from tabprotect.engine.assessment.figure import Figure
from tabprotect.engine.assessment.measure import Measure


class HellingerPublished(Measure):
    """Registered as ``hellinger_published``."""

    name = "hellinger_published"
    label = "Hellinger, published cells"
    unit = "share"
    direction = "higher is better"
    noun = "utility"

    def compute(self, case: AssessedRelease) -> Figure:
        """From the published counts, whether or not they add up."""
        true, published = case.pair
        value, per_cell = hellinger(true, published)
        return Figure(value, case.spread(per_cell))


PLUGIN = HellingerPublished()
