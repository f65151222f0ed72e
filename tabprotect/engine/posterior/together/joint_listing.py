"""Every original from which several releases by moves can all have come, with its weight.

Backwards through the steps of each release with a set of distinct tables, leaving out those that no
further step can bring within the reach of the other releases; then what the lists have in common.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from tabprotect.engine.arrays import Floats, Ints, Shorts
from tabprotect.engine.equal_rows import place_among
from tabprotect.engine.posterior.moves.enumeration import lowest_masses, stepped_back
from tabprotect.engine.posterior.together.joint_model import JointModel
from tabprotect.engine.progress import SILENT, Progress
from tabprotect.languages.messages import message

MOST_TABLES = 2_000_000
"""Most tables of one release that are held at once."""

MOST_ENTRIES = 2**28
"""Most counts handled in all: some seconds."""

HASH_SEED = 7
"""Rows are told apart by a digest; equal digests are compared in full."""


class _TooManyError(Exception):
    """More tables than may be held."""


def listed_together(model: JointModel, progress: Progress = SILENT) -> tuple[Ints, Floats] | None:
    """All originals as changes of the groups, and their log weights; ``None`` beyond the limits.

    Returns
    -------
    changes : int64 (originals, groups)
        Original - published in the first release.
    log_weights : float64 (originals,)
    """
    groups = len(model.signatures)
    reach = model.touches()
    from_first = np.concatenate([np.zeros((groups, 1), dtype=np.int64), model.difference], axis=1)
    low = (-reach - from_first.T).max(axis=0)
    high = (reach - from_first.T).min(axis=0)
    lists = []
    left = [MOST_ENTRIES]
    try:
        for r in range(len(model.releases)):
            window = low + from_first[:, r], high + from_first[:, r]
            changes, logs = _one(model, r, window, left, progress)
            lists.append((changes - from_first[:, r].astype(np.int16), logs))
        changes, logs = lists[0]
        for other in lists[1:]:
            changes, logs = _common(changes, logs, *other)
    except _TooManyError:
        return None
    for factor in model.factors:
        cells = _sum_change(model, factor.cycles, factor.signs, changes)
        if cells is None:
            return None
        logs = logs + factor.weight(cells)
    possible = logs > -np.inf
    return changes[possible].astype(np.int64), logs[possible]


def _sum_change(
    model: JointModel, cycles: tuple[int, ...], signs: tuple[int, ...], changes: Shorts
) -> Ints | None:
    """The change of a sum whose border some cycles cross, from those of the groups."""
    sig = model.signatures
    net = np.zeros(model.cycles, dtype=np.int64)
    net[list(cycles)] = signs
    touch = np.zeros((len(sig), model.cycles))
    touch[sig.groups, sig.cycles] = sig.signs
    weight, *_ = np.linalg.lstsq(touch.T, net.astype(np.float64), rcond=None)
    if np.abs(touch.T @ weight - net).max(initial=0.0) > 1e-6:
        return None
    return np.rint(changes @ weight).astype(np.int64)


def _one(
    model: JointModel, r: int, window: tuple[Ints, Ints], left: list[int], progress: Progress
) -> tuple[Shorts, Floats]:
    """The originals of one release within a window, as changes from it."""
    sig, release = model.signatures, model.releases[r]
    bounds, groups, group_signs = sig.of_cycles
    remaining = model.touches()[r].copy()
    change: Shorts = np.zeros((1, len(sig)), dtype=np.int16)
    log = np.zeros(1)
    for step, cycle in enumerate(reversed(release.sequence.tolist())):
        progress.report(message("counting originals"), step / len(release.sequence))
        own = slice(int(bounds[cycle]), int(bounds[cycle + 1]))
        at, signs = groups[own], group_signs[own].astype(np.int16)
        remaining[at] -= 1
        masses = lowest_masses(release.coin, release.lowest[at] + change[:, at], signs)
        ends = window[0][at] - remaining[at], window[1][at] + remaining[at]
        change, log = stepped_back(change, log, (at, signs), masses, ends)
        left[0] -= change.size
        if left[0] < 0:
            raise _TooManyError
        change, log = _merged(change, log)
        if len(change) > MOST_TABLES:
            raise _TooManyError
    return change, log


def _digests(rows: Shorts) -> npt.NDArray[np.uint64]:
    generator = np.random.Generator(np.random.PCG64(HASH_SEED))
    odd = (2 * generator.integers(0, 2**62, (rows.shape[1],)) + 1).astype(np.uint64)
    out = np.zeros(len(rows), dtype=np.uint64)
    for column in range(rows.shape[1]):
        out += rows[:, column].astype(np.int64).view(np.uint64) * odd[column]
    return out


def _merged(changes: Shorts, log: Floats) -> tuple[Shorts, Floats]:
    """Equal rows once, with the sum of their weights."""
    if not len(changes):
        return changes, log
    _, first, inverse = np.unique(_digests(changes), return_index=True, return_inverse=True)
    inverse = inverse.reshape(-1)
    if (changes[first][inverse] != changes).any():
        raise _TooManyError
    peak = log.max()
    total = np.bincount(inverse, weights=np.exp(log - peak))
    with np.errstate(divide="ignore"):
        return changes[first], np.log(total) + peak


def _common(changes: Shorts, log: Floats, others: Shorts, other_log: Floats) -> tuple[Shorts, Floats]:
    """The rows of both lists, with the product of their weights."""
    theirs = _digests(others)
    order = np.argsort(theirs)
    at = place_among(theirs[order], _digests(changes))
    both = at >= 0
    rows = order[at[both]]
    if (others[rows] != changes[both]).any():
        raise _TooManyError
    return changes[both], log[both] + other_log[rows]
