"""Distances between two sets of counts, and ranks."""

from __future__ import annotations

import numpy as np

from tabprotect.engine.arrays import Floats
from tabprotect.engine.assessment.figure import NotComputable
from tabprotect.languages.messages import message


def hellinger(true: Floats, other: Floats) -> tuple[float, Floats]:
    """Hellinger utility 1 - H / sqrt(sum of the true counts), and each cell's part of H^2.

    Negative counts are taken as 0.

    Raises
    ------
    NotComputable
        When all true counts are 0.
    """
    total = float(true.sum())
    if total <= 0:
        raise NotComputable(message("all true counts are 0"))
    parts = (np.sqrt(true) - np.sqrt(np.maximum(other, 0.0))) ** 2 / 2
    return 1.0 - float(np.sqrt(parts.sum() / total)), parts


def ranks(values: Floats) -> Floats:
    """Ranks from 1 up, (values,); equal values share the mean of theirs."""
    _, inverse, times = np.unique(values, return_inverse=True, return_counts=True)
    last = np.cumsum(times)
    return np.asarray((last - (times - 1) / 2)[inverse])
