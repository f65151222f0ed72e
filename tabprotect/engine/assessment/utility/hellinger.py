"""Hellinger utility: how near the distribution of counts is to the true one, in three places."""

from __future__ import annotations

import numpy as np

from tabprotect.engine.assessment.assessed_release import AssessedRelease
from tabprotect.engine.assessment.distances import hellinger
from tabprotect.engine.assessment.figure import Figure
from tabprotect.engine.assessment.measure import Measure
from tabprotect.languages.messages import message

TEXT = message("""Hellinger utility of {what}.

1 - H / sqrt(sum f), where H = sqrt(sum (sqrt f - sqrt g)^2 / 2) over {cells}: f the true count,
g {other}. 1 where nothing changed. A negative count g is taken as 0.

Source: Langsrud and Lupp 2021, section 5.""")


class Hellinger(Measure):
    """Base of the three utilities: one minus the Hellinger distance of two distributions."""

    unit = message("share")
    direction = "higher is better"
    noun = "utility"


class HellingerPublished(Hellinger):
    """Hellinger, published cells: registered as ``hellinger_published``."""

    name = "hellinger_published"
    label = message("Hellinger, published cells")
    text = TEXT.format(
        what=message("the published counts as they are"),
        cells=message("the compared cells that have a published count"),
        other=message("the published one; suppressed cells are left out"),
    )

    def compute(self, case: AssessedRelease) -> Figure:
        """Compute it from the published counts, whether or not they add up."""
        value, per_cell = hellinger(*case.pair)
        return Figure(value, case.spread(per_cell))


class HellingerRestored(Hellinger):
    """Hellinger, additivity restored: registered as ``hellinger_restored``."""

    name = "hellinger_restored"
    label = message("Hellinger, additivity restored")
    needs = ("restored",)
    text = TEXT.format(
        what=message("the published counts made additive"),
        cells=message("the compared cells that the restored counts tell"),
        other=message(
            "the least squares fit by sums of one non-negative table, in which suppressed cells are free"
        ),
    )

    def compute(self, case: AssessedRelease) -> Figure:
        """Compute it from the restored counts."""
        known = np.isfinite(case.restored)
        value, per_cell = hellinger(case.truth[known], case.restored[known])
        out = np.full(known.shape, np.nan)
        out[known] = per_cell
        return Figure(value, out)


class HellingerExpected(Hellinger):
    """Hellinger, expected inner cells: registered as ``hellinger_expected``."""

    name = "hellinger_expected"
    label = message("Hellinger, expected inner cells")
    needs = ("restored", "expected")
    over = "inner cells"
    text = TEXT.format(
        what=message("the inner cells that the release suggests"),
        cells=message("all inner cells"),
        other=message("the expected one: iterative proportional fitting to the restored counts"),
    )

    def compute(self, case: AssessedRelease) -> Figure:
        """Compute it from the expected inner cells."""
        return Figure(*hellinger(case.inner, case.expected))


PLUGINS = (HellingerPublished(), HellingerRestored(), HellingerExpected())
