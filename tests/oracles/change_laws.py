"""Laws of the changes of groups by listing every original."""

from __future__ import annotations

import numpy as np

from tabprotect.engine.arrays import Floats
from tabprotect.engine.posterior.moves.enumeration import enumerated_originals
from tabprotect.engine.posterior.moves.signature_model import GroupModel
from tabprotect.engine.progress import SILENT, Progress


def distribution(model: GroupModel, progress: Progress = SILENT) -> Floats | None:
    """The distribution of each group's change by brute force, (groups, 2 span + 1)."""
    found = enumerated_originals(model, most_work=10**12, progress=progress)
    if found is None:
        return None
    groups, changes, log_weights = found
    out = np.zeros((model.groups, 2 * model.span + 1))
    if len(changes):
        weight = np.exp(log_weights - log_weights.max())
        weight /= weight.sum()
        for column, group in enumerate(groups):
            out[group] = np.bincount(model.span + changes[:, column], weights=weight, minlength=out.shape[1])
    return out
