"""The chance that nothing at all was changed: what readers believe of a release, as a whole."""

from __future__ import annotations

import numpy as np

from tabprotect.engine.disclosure.insiders import LISTED_CELLS, MANY_CELLS, PART_CELLS
from tabprotect.engine.posterior.posterior import NARROW_COUNTS, Posterior
from tabprotect.engine.progress import SILENT, Progress

DRAWN = 4_000
"""Originals drawn where they are not listed."""

MOST_DRAWN, LEAST = 2**22, 32
"""The most counts of all drawn originals, and how many of these say anything."""


def unchanged(
    posterior: Posterior, generator: np.random.Generator, progress: Progress = SILENT
) -> float | None:
    """P(the original is the published table), exact for few cells, else a share of drawn originals.

    Of a large table the share for a part that is independent of the rest: the chance for all is smaller
    still. ``None`` where not every cell is published, or it is too much work.
    """
    if posterior.hidden is not None and posterior.hidden.any():
        return None
    published = posterior.published.counts.reshape(-1)
    if (exact := as_listed(posterior)) is not None:
        return exact
    some = posterior.some_parts if len(published) > MANY_CELLS else None
    if some is not None and (part := some(PART_CELLS, generator)) is not None:
        # In eight bits large counts are some large count.
        small = published[part.cells] <= NARROW_COUNTS
        number = min(DRAWN, max(MOST_DRAWN // len(part.cells), LEAST))
        same = part.draw(number, generator, progress)[:, small] == published[part.cells][small]
        return float(same.all(axis=1).mean())
    if (number := min(DRAWN, MOST_DRAWN // len(published))) < LEAST:
        return None
    drawn = posterior.draw_originals(number, generator, progress)
    return float((drawn == published).all(axis=1).mean())


def as_listed(posterior: Posterior) -> float | None:
    """The same by all originals of few cells; ``None`` where they are not listed, or a count is hidden."""
    if posterior.hidden is not None and posterior.hidden.any():
        return None
    published = posterior.published.counts.reshape(-1)
    listed = posterior.list_originals() if len(published) <= LISTED_CELLS else None
    if listed is None:
        return None
    tables, chances = listed
    return float(chances[(tables == published).all(axis=1)].sum() / chances.sum())
