"""Whole originals from drawn changes of groups of cells."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import numpy.typing as npt

from tabprotect.engine.arrays import Floats, Ints, Signs
from tabprotect.engine.posterior.posterior import NARROW_COUNTS, Posterior
from tabprotect.engine.posterior.prior import Prior
from tabprotect.engine.progress import Progress
from tabprotect.engine.tables.table import Table

MOST_LISTED = 2**24
"""Most counts of all originals that are listed."""

DrawChanges = Callable[[int, np.random.Generator, Progress], npt.NDArray[np.signedinteger]]
DrawTables = Callable[[int, np.random.Generator, Progress], Ints]
DrawNarrow = Callable[[int, np.random.Generator, Progress], Signs]


def of_tables(draw: DrawChanges, group_of_cell: Ints, published: Ints) -> DrawTables:
    """Whole originals from the changes of the groups."""

    def drawn(number: int, generator: np.random.Generator, progress: Progress) -> Ints:
        return whole_tables(draw(number, generator, progress), group_of_cell, published)

    return drawn


def whole_tables(
    changes: npt.NDArray[np.signedinteger], group_of_cell: Ints, published: Ints
) -> npt.NDArray[np.int64]:
    """Whole originals, int64 (originals, cells), from the changes of the groups."""
    return np.asarray((_by_cell(changes, group_of_cell) + published[:, None]).T, dtype=np.int64)


def shares_of(changes: Ints, span: int, weights: Floats | None = None) -> Floats:
    """Laws of the changes (originals, groups), and of no change, float64 (groups + 1, 2 span + 1)."""
    out = np.zeros((changes.shape[1] + 1, 2 * span + 1))
    out[-1, span] = 1.0
    for law, column in zip(out, changes.T, strict=False):
        found = np.bincount(column + span, weights=weights, minlength=len(law))
        law[:] = found / found.sum()
    return out


def listed_tables(
    originals: tuple[Ints, Floats], group_of_cell: Ints, published: Ints
) -> tuple[Ints, Floats] | None:
    """All originals, from changes of groups and log weights, with their chances; ``None``: too many."""
    changes, logs = originals
    if len(logs) * len(published) > MOST_LISTED:
        return None
    weights = np.exp(logs - logs.max())
    return whole_tables(changes, group_of_cell, published), weights / weights.sum()


def over_listed(
    published: Table, prior: Prior, reason: str, originals: tuple[Ints, Floats], group_of_cell: Ints
) -> Posterior:
    """The posterior over all originals, given as changes of groups and their log weights.

    Cells of a last group never change.
    """
    changes, logs = originals
    counts = published.counts.reshape(-1)
    weights = np.exp(logs - logs.max())
    weights /= weights.sum()
    below = np.cumsum(weights)
    span = int(np.abs(changes).max(initial=0))

    def draw(number: int, generator: np.random.Generator, progress: Progress) -> Ints:
        at = np.searchsorted(below, generator.random(number) * below[-1], side="right")
        return np.asarray(changes[np.minimum(at, len(changes) - 1)], dtype=np.int64)

    return Posterior(
        published=published,
        prior=prior,
        way="exact",
        reason=reason,
        group_of_cell=group_of_cell,
        first=counts - span,
        chances=shares_of(changes, span, weights),
        draw_originals=of_tables(draw, group_of_cell, counts),
        count_originals=lambda: len(weights),
        list_originals=lambda: listed_tables(originals, group_of_cell, counts),
    )


NARROW = 20
"""Largest change for which counts are drawn in eight bits."""


def narrow_tables(draw: DrawChanges, group_of_cell: Ints, published: Ints, span: int) -> DrawNarrow | None:
    """Originals in eight bits: counts beyond ``NARROW_COUNTS`` are some count beyond it."""
    if span > NARROW:
        return None
    most = NARROW_COUNTS + NARROW
    cut = np.clip(published, -most, most).astype(np.int8)

    def drawn(number: int, generator: np.random.Generator, progress: Progress) -> Signs:
        changes = draw(number, generator, progress).astype(np.int8, copy=False)
        found = _by_cell(changes, group_of_cell)
        found += cut[:, None]
        return found.T

    return drawn


def _by_cell(changes: npt.NDArray[np.signedinteger], group_of_cell: Ints) -> npt.NDArray[np.signedinteger]:
    """(cells, draws) from (draws, groups); cells of a last group never change."""
    groups, number = changes.shape[1], len(changes)
    out = np.zeros((len(group_of_cell), number), dtype=changes.dtype)
    moving = np.flatnonzero(group_of_cell < groups)
    if len(moving) == len(out):
        # Whatever the mode, indices lie within; by default the output would be copied.
        np.take(changes.T, group_of_cell, axis=0, out=out, mode="clip")
    else:
        out[moving] = changes.T[group_of_cell[moving]]
    return out
