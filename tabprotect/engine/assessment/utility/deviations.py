"""How far the published counts are from the true ones: the largest deviation and the mean."""

from __future__ import annotations

from abc import abstractmethod

import numpy as np

from tabprotect.engine.arrays import Floats
from tabprotect.engine.assessment.assessed_release import AssessedRelease
from tabprotect.engine.assessment.figure import Figure, NotComputable
from tabprotect.engine.assessment.measure import Measure
from tabprotect.languages.messages import message


class DeviationMeasure(Measure):
    """Base of the measures of deviation: published minus true counts of the compared cells."""

    direction = "lower is better"
    noun = "utility"

    def compute(self, case: AssessedRelease) -> Figure:
        """Compute it from the published counts."""
        true, published = case.pair
        moved = np.abs(published - true)
        if self.unit != "counts":
            if not (true > 0).any():
                raise NotComputable(message("no compared cell has a true count above 0"))
            moved = np.divide(moved, true, out=np.full(true.shape, np.nan), where=true > 0)
        return Figure(self.summary(moved[np.isfinite(moved)]), case.spread(moved))

    @abstractmethod
    def summary(self, moved: Floats) -> float:
        """One figure of all cells' deviations (cells,)."""


class Largest(DeviationMeasure):
    """The largest deviation, in counts or relative to the true count."""

    def summary(self, moved: Floats) -> float:
        """The largest."""
        return float(moved.max())


class Mean(DeviationMeasure):
    """The mean deviation, in counts or relative to the true count."""

    def summary(self, moved: Floats) -> float:
        """The mean."""
        return float(moved.mean())


class MaxAbsoluteDeviation(Largest):
    """Largest absolute deviation: registered as ``max_absolute_deviation``."""

    name = "max_absolute_deviation"
    label = message("Largest absolute deviation")
    unit = message("counts")
    text = message("Largest |published - true count| over the compared cells that have a published count.")


class MeanAbsoluteDeviation(Mean):
    """Mean absolute deviation: registered as ``mean_absolute_deviation``."""

    name = "mean_absolute_deviation"
    label = message("Mean absolute deviation")
    unit = message("counts")
    text = message("Mean |published - true count| over the compared cells that have a published count.")


class MeanLoss(Measure):
    """Mean change, hidden counts lost: registered as ``mean_loss``."""

    name = "mean_loss"
    label = message("Average change, hidden counts lost")
    direction = "lower is better"
    noun = "utility"
    unit = message("counts")
    text = message(
        "Mean |published - true count| over all compared cells; of a cell without a published "
        "count the whole true count is lost."
    )

    def compute(self, case: AssessedRelease) -> Figure:
        """Compute it from the published counts, and 0 where there is none."""
        lost = np.abs(np.nan_to_num(case.published) - case.truth)
        return Figure(float(lost.mean()), lost)


class MaxRelativeDeviation(Largest):
    """Largest relative deviation: registered as ``max_relative_deviation``."""

    name = "max_relative_deviation"
    label = message("Largest relative deviation")
    unit = message("share of the count")
    text = message(
        "Largest |published - true count| / true count over published cells whose true count is not 0."
    )


class MeanRelativeDeviation(Mean):
    """Mean relative deviation: registered as ``mean_relative_deviation``."""

    name = "mean_relative_deviation"
    label = message("Mean relative deviation")
    unit = message("share of the count")
    text = message(
        "Mean |published - true count| / true count over published cells whose true count is not 0."
    )


PLUGINS = (
    MaxAbsoluteDeviation(),
    MeanAbsoluteDeviation(),
    MeanLoss(),
    MaxRelativeDeviation(),
    MeanRelativeDeviation(),
)
