"""Brute force: every original that could have led to the published table, with its weight.

Goes backwards through the steps with a set of distinct tables (as changes of groups) and their
weights. Gives the oracle for small cycle sets, and the exact number of possible originals.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from tabprotect.engine.arrays import Floats, Ints, Shorts
from tabprotect.engine.posterior.moves.backward_factors import step_structures
from tabprotect.engine.posterior.moves.signature_model import FAR, Coin, GroupModel
from tabprotect.engine.progress import SILENT, Progress
from tabprotect.languages.messages import message

MOST_WORK = 20_000_000
"""Most entries handled in all."""

ENUMERATION_TABLES = 100_000
"""Most tables of one component."""


def enumerated_originals(
    model: GroupModel, *, cycles: Ints | None = None, most_work: int = MOST_WORK, progress: Progress = SILENT
) -> tuple[Ints, Ints, Floats] | None:
    """All originals that given cycles (default: all) could have turned into the published table.

    Returns
    -------
    groups : int64 (k,)
        The groups that these cycles touch.
    changes : int64 (tables, k)
        Distinct originals as original - published.
    log_weights : float64 (tables,)
        Log of likelihood times prior, up to a constant; always finite.

    ``None`` beyond the limits.
    """
    chosen = np.arange(len(model.moves)) if cycles is None else np.sort(cycles)
    entries = [model.moves.entries(int(i)) for i in chosen]
    groups = np.unique(np.concatenate([cells for cells, _ in entries] or [model.moves.cells]))
    column = {int(g): k for k, g in enumerate(groups)}
    local = [(np.array([column[int(g)] for g in cells]), signs.astype(np.int64)) for cells, signs in entries]
    change: Shorts = np.zeros((1, len(groups)), dtype=np.int16)
    log_weight = np.zeros(1)
    work = 0
    for step in range(len(local) * model.passes - 1, -1, -1):
        progress.report(message("counting originals"), 1 - step / (len(local) * model.passes))
        at, signs = local[step % len(local)]
        work += 3 * change.size
        if len(change) > ENUMERATION_TABLES or work > most_work:
            return None
        masses = _log_masses(model, groups[at], change[:, at], signs)
        change, log_weight = _merged(*stepped_back(change, log_weight, (at, signs), masses))
    if model.log_prior is not None:
        log_weight = log_weight + model.log_prior[groups, model.span + change].sum(axis=1)
    possible = log_weight > -np.inf
    return groups, change[possible].astype(np.int64), log_weight[possible]


def _log_masses(model: GroupModel, groups: Ints, change: Shorts, signs: Ints) -> list[Floats]:
    """Log chances that the coin subtracts, leaves and adds a cycle, for each original."""
    if model.worth is not None:
        ratios = (_ratio(model, groups, change, way * signs) for way in (1, -1))
        with np.errstate(divide="ignore"):
            return [np.log(mass) for mass in model.coin.ratio_masses(*ratios)]
    return lowest_masses(model.coin, model.lowest[groups] + change, signs)


def lowest_masses(coin: Coin, counts: Ints, signs: Ints | Shorts) -> list[Floats]:
    """The same of counts (originals, groups), where nothing but the smallest ones matters."""
    low_plus = np.where(signs > 0, counts, FAR).min(axis=1)
    low_minus = np.where(signs < 0, counts, FAR).min(axis=1)
    return coin.log_masses(low_plus, low_minus)


def stepped_back(
    change: Shorts,
    log_weight: Floats,
    step: tuple[Ints, Ints | Shorts],
    masses: Sequence[Floats],
    window: tuple[Ints, Ints] | None = None,
) -> tuple[Shorts, Floats]:
    """All tables before a step, with their log weights; equal ones are not yet merged.

    Parameters
    ----------
    step
        The groups that it touches, and the signs of its cycle there.
    masses
        Log chances that the coin subtracted, left and added it, (originals,) each.
    window
        The ends between which the groups touched must be.
    """
    at, signs = step
    parts, logs = [], []
    for effective, mass in zip((-1, 0, 1), masses, strict=True):
        rows = np.flatnonzero(mass > -np.inf)
        moved = change[np.ix_(rows, at)] - effective * signs
        if window is not None:
            inside = np.asarray(((moved >= window[0]) & (moved <= window[1])).all(axis=1))
            rows, moved = rows[inside], moved[inside]
        before = change[rows]
        before[:, at] = moved
        parts.append(before)
        logs.append(log_weight[rows] + mass[rows])
    return np.concatenate(parts), np.concatenate(logs)


def _ratio(model: GroupModel, groups: Ints, change: Shorts, signs: Ints) -> Floats:
    """Log ratio of the weights after one more step of the given signs, (tables,)."""
    assert model.worth is not None
    at = model.span + 1 + change
    return np.asarray(
        (model.worth[groups, at + signs] - model.worth[groups, at]).sum(axis=1), dtype=np.float64
    )


def _merged(changes: Shorts, log_weight: Floats) -> tuple[Shorts, Floats]:
    """Merge equal rows and add their weights."""
    if not len(changes):
        return changes, log_weight
    whole = np.dtype((np.void, changes.dtype.itemsize * changes.shape[1]))
    rows = np.ascontiguousarray(changes).view(whole).reshape(-1)
    _, first, inverse = np.unique(rows, return_index=True, return_inverse=True)
    peak = log_weight.max()
    total = np.bincount(inverse.reshape(-1), weights=np.exp(log_weight - peak))
    return changes[first], np.log(total) + peak


def number_of_originals(model: GroupModel) -> int | None:
    """The number of possible originals; ``None`` if there are too many to count.

    The numbers of components of cycles that share no cell multiply.
    """
    total, left = 1, MOST_WORK
    for structure in step_structures(model):
        for cycles in structure.cycle_members.T:
            left -= 1000
            found = enumerated_originals(model, cycles=cycles, most_work=left)
            if found is None:
                return None
            left -= found[1].size
            total *= len(found[1])
    return total
