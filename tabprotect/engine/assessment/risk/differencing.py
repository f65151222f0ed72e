"""What two releases of the same table give away together.

The table is released once more by the same method with chances of its own, and a reader who
assumes nothing multiplies what both say of each cell: mean over the small inner counts (or those
of the main published table) of the belief in the true count. Exact where cells are independent of
each other in the release; else it leaves out what the cells say about one another. Where the
second release must be the same (no chance in the method, or record keys that came with the table)
it says nothing new, and neither does this figure beside the belief in the true count.
"""

from __future__ import annotations

import numpy as np

from tabprotect.engine.arrays import Bools, Floats, Ints
from tabprotect.engine.assessment.assessed_release import AssessedRelease
from tabprotect.engine.assessment.figure import Figure, NotComputable
from tabprotect.engine.assessment.measure import Measure
from tabprotect.engine.posterior.posterior import Posterior
from tabprotect.languages.messages import message


class Differencing(Measure):
    """Belief after a second release: registered as ``differencing``."""

    name = "differencing"
    label = message("Belief after a second release")
    unit = message("probability")
    direction = "lower is better"
    noun = "risk"
    needs = ("posterior", "second_release")
    over = "inner cells"

    def compute(self, case: AssessedRelease) -> Figure:
        """Compute it from the posteriors of both releases."""
        at_risk = case.at_risk
        truth = case.believed
        first = case.posterior
        if not case.second_is_new:
            belief = first.probability(truth)
        else:
            # What is drawn needs no second one to be drawn beside it.
            if first.way != "exact" or (second := case.second_posterior).way != "exact":
                raise NotComputable(message("the posteriors are drawn: their product is not"))
            belief = _joined(first, second, truth, at_risk)
        belief = np.where(at_risk, belief, np.nan)
        return Figure(float(belief[at_risk].mean()), belief)


def _joined(first: Posterior, second: Posterior, truth: Ints, cells: Bools) -> Floats:
    """The belief in the true count of the chosen cells after both, shape of the table."""
    belief = first.probability(truth)
    for cell in np.argwhere(cells):
        index = tuple(cell.tolist())
        values, chances = first.distribution(index)
        other, weights = second.distribution(index)
        shared, here, there = np.intersect1d(values, other, assume_unique=True, return_indices=True)
        joint = chances[here] * weights[there]
        belief[index] = joint[shared == truth[index]].sum() / joint.sum()
    return belief


PLUGIN = Differencing()
