"""What somebody with a given posterior would know of the cells at risk."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tabprotect.engine.posterior.posterior import Posterior
from tabprotect.engine.release.verdict_figures import CERTAIN
from tabprotect.engine.sensitivity.small_count import SmallCount


@dataclass(frozen=True)
class Exposure:
    """Figures of a verdict, over the inner cells.

    Attributes
    ----------
    at_risk
        Expected number of at-risk cells.
    known, certain
        Number of cells where one at-risk count is believed with more than the limit; as good as
        certain.
    """

    at_risk: float
    known: int
    certain: int


def exposure(posterior: Posterior, rule: SmallCount, limit: float) -> Exposure:
    """Return what somebody with this posterior would know.

    Parameters
    ----------
    limit
        Belief above which a count is known.
    """
    highest = np.zeros(posterior.domain.shape)
    for count in range(rule.low, rule.high + 1):
        believed = posterior.probability(np.full(posterior.domain.shape, count))
        np.maximum(highest, believed, out=highest)
    return Exposure(
        float(posterior.small(rule).sum()), int((highest > limit).sum()), int((highest > CERTAIN).sum())
    )
