"""At-risk cells whose true count a reader believes almost surely."""

from __future__ import annotations

import numpy as np

from tabprotect.engine.posterior.posterior import Posterior
from tabprotect.engine.sensitivity.small_count import SmallCount
from tabprotect.engine.tables.table import Table

SURE = 0.9
"""An at-risk cell whose true count a reader believes with more than this is as good as published."""


def given_away(posterior: Posterior, rule: SmallCount, original: Table | None) -> int:
    """At-risk cells that are as good as published; 0 without the original."""
    if original is None:
        return 0
    belief = posterior.probability(original.counts)
    return int(np.count_nonzero(belief[rule.mask(original.counts)] > SURE))
