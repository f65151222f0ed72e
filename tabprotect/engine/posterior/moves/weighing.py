"""The likelihood of given whole originals under a release by moves, component by component.

Cycles that share no cell change their cells independently, so the weight of an original is a
product over such components, and the originals of each are listed separately. However many
components there are, only the largest has to be small.
"""

from __future__ import annotations

import numpy as np

from tabprotect.engine.arrays import Floats, Ints
from tabprotect.engine.posterior.moves.backward_factors import step_structures
from tabprotect.engine.posterior.moves.enumeration import MOST_WORK, enumerated_originals
from tabprotect.engine.posterior.moves.signature_model import group_model
from tabprotect.engine.posterior.prior import Uniform
from tabprotect.engine.progress import Progress
from tabprotect.engine.release.likelihood import MoveSequence


def log_weights(likelihood: MoveSequence, tables: Ints, progress: Progress) -> Floats | None:
    """Log P(release | original) of originals int64 (n, cells), up to a constant.

    ``None`` if the originals of some component are too many to be listed.
    """
    model = group_model(likelihood, Uniform(), progress)
    sig = model.signatures
    change = tables - likelihood.published.counts.reshape(-1)
    group = sig.group_of_cell
    untouched = group < 0
    of_group = change[:, sig.first_cell]
    # Untouched cells are as published, and the cells of a group move alike.
    possible = (change[:, untouched] == 0).all(axis=1)
    possible &= (change[:, ~untouched] == of_group[:, group[~untouched]]).all(axis=1)
    log = np.where(possible, 0.0, -np.inf)
    left = MOST_WORK
    for structure in step_structures(model):
        for cycles in structure.cycle_members.T:
            left -= 1000
            found = enumerated_originals(model, cycles=cycles, most_work=left, progress=progress)
            if found is None:
                return None
            groups, changes, weights = found
            left -= changes.size
            known = {row.tobytes(): weight for row, weight in zip(changes, weights, strict=True)}
            open_ = np.flatnonzero(log > -np.inf)
            asked = np.ascontiguousarray(of_group[np.ix_(open_, groups)])
            log[open_] += [known.get(row.tobytes(), -np.inf) for row in asked]
    return log
