"""The cycles that a published table leaves open: the others were blocked, or not taken, whatever the coins."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from tabprotect.engine.arrays import Bools
from tabprotect.engine.cycles import cycle_steps
from tabprotect.engine.cycles.graphs import repeated
from tabprotect.engine.cycles.signatures import Signatures
from tabprotect.engine.posterior.moves.backward_factors import step_structures
from tabprotect.engine.posterior.moves.signature_model import GroupModel, over_groups
from tabprotect.engine.posterior.moves.strips import StripPlan


def open_cycles(model: GroupModel) -> Bools:
    """Return which cycles may have been taken, or were blocked or not as other cycles have it, (cycles,).

    Under any_zero a cycle was taken only where every count is 1 at least before it. Undoing the steps
    from the last one on, with the least and the largest count that each group can have, tells of most
    cycles beside zeros that they were never taken: a published zero can have been 1 before the last
    cycle that took from it, and a cycle that would have added to it was blocked.
    """
    coin, moves = model.coin, model.moves
    least, most = model.lowest.copy(), model.lowest.copy()
    found = np.zeros(len(moves), dtype=np.bool_)
    chances = coin.alpha > 0, coin.beta > 0, coin.gamma > 0
    for _ in range(model.passes):
        cycle_steps.undoable(len(moves), *chances, moves.starts, moves.cells, moves.signs, least, most, found)
    each = repeated(moves)
    return np.repeat(found.reshape(-1, each).any(axis=1), each)


def only_open(model: GroupModel) -> GroupModel:
    """The model without the cycles that are not open: their factors are the same for all originals.

    Strips that are narrow enough stay whole, as those have a way of their own.
    """
    if model.coin.rule != "any_zero" or not len(model.moves):
        return model
    plans = (StripPlan.of(one, model.compact()) for one in step_structures(model.compact()))
    if all(one is not None and not one.tall for one in plans):
        return model
    kept = open_cycles(model)
    if kept.all():
        return model
    sig = model.signatures
    touch = kept[sig.cycles]
    touches = np.bincount(sig.groups[touch], minlength=len(sig))
    if model.log_prior is not None and not np.isfinite(model.log_prior[touches == 0, model.span]).all():
        # No original fits, which the ways to a posterior say.
        return model
    groups = np.flatnonzero(touches)
    number = np.full(len(sig) + 1, -1, dtype=np.int64)
    number[groups] = np.arange(len(groups))
    fewer = Signatures(
        group_of_cell=number[sig.column],
        first_cell=sig.first_cell[groups],
        starts=np.r_[0, np.cumsum(touches[groups])].astype(np.int64),
        cycles=(np.cumsum(kept) - 1)[sig.cycles[touch]],
        signs=sig.signs[touch],
    )
    return replace(
        model,
        moves=over_groups(model.moves.take(np.flatnonzero(kept)), fewer),
        signatures=fewer,
        lowest=model.lowest[groups],
        reach=touches[groups] * model.passes,
        log_prior=None if model.log_prior is None else model.log_prior[groups],
    )
