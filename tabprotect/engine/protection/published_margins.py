"""Factors of published counts: each a function of the true sum of the inner cells behind it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TypedDict, Unpack

import numpy as np

from tabprotect.engine.arrays import Floats, Ints
from tabprotect.engine.equal_rows import equal_rows
from tabprotect.engine.errors import InputError, TooLargeError
from tabprotect.engine.release.findings import Omission
from tabprotect.engine.release.likelihood import CellFactors, Rerun, each_cell
from tabprotect.engine.release.release import PublishedTable, Release
from tabprotect.engine.tables.domain import Domain
from tabprotect.engine.tables.publication import Publication
from tabprotect.engine.tables.table import Table
from tabprotect.languages.messages import message

MOST_JOINED = 500
"""Most inner cells for which a posterior takes totals beside published inner cells."""

MOST_ENTRIES = 40_000_000
"""Most inner cells times margins in a posterior, at some 50 bytes each."""


INNER_NOTE = message("Only the published inner counts are used; the published totals say a little more.")

Support = tuple[int, int, Floats | None]
"""Lowest and highest true sum, and the log weights of those between (none: all alike)."""


def rank(table: Domain, original: Domain) -> tuple[int, int]:
    """Sort key of a published table: the main one, by which a release is judged, comes first.

    The main table has the most variables; of several such tables, the most of the original's own,
    since groups of categories hide how small the counts of the categories are.
    """
    return -table.ndim, sum(name not in original.names for name in table.names)


def main_first(tables: Sequence[Table], original: Domain) -> tuple[PublishedTable, ...]:
    """The tables as they are published, sorted by :func:`rank`."""
    ordered = sorted(tables, key=lambda t: rank(t.domain, original))
    return tuple(map(PublishedTable, ordered))


def counts_of(release: Release, publication: Publication) -> Ints:
    """The published counts in the order of a publication, int64 (size,).

    Raises
    ------
    InputError
        When the tables of the release are not those of its mechanism.
    """
    by_names = {p.table.domain.names: p.table for p in release.tables}
    try:
        tables = [by_names.pop(domain.names) for domain in publication.domains]
    except KeyError:
        by_names = {("",): release.table}
    if by_names:
        raise InputError(
            message("the published tables are not those the mechanism names"),
            hint=message("take the mechanism that came with the tables"),
        )
    return publication.stack(tables)


def informative(
    publication: Publication, counts: Ints, *, joined: range = range(0)
) -> tuple[Publication, Ints]:
    """The margins a posterior takes into account, and their counts.

    These are all margins, or the inner cells alone of a large table that publishes them.

    Parameters
    ----------
    joined
        Numbers of inner cells, above the usual ones, of which all margins are taken.
    """
    inner = publication.domain
    beside = inner in publication.domains and len(publication.domains) > 1
    if inner.size <= MOST_JOINED or inner.size in joined or not beside:
        return publication, counts
    return inner_cells(publication, counts)


def inner_cells(publication: Publication, counts: Ints) -> tuple[Publication, Ints]:
    """The published inner cells alone."""
    at = publication.domains.index(publication.domain)
    alone = Publication(publication.domain, (publication.margins[at],))
    return alone, counts[publication.starts[at] : publication.starts[at + 1]]


def _require_followed(publication: Publication) -> None:
    """Raise before the work, with what it would cost, if too many sums would be followed."""
    entries = publication.domain.size * len(publication.margins)
    if entries > MOST_ENTRIES:
        raise TooLargeError(
            message(
                "{size:,} inner cells in {margins:,} published tables are too many to be "
                "followed: it would take about {value:.0f} GB",
                publication.domain.size,
                len(publication.margins),
                50 * entries / 1e9,
            ),
            hint=message("ask for bounds of some cells instead (tabprotect bounds)"),
        )


class Beyond(TypedDict, total=False):
    """What a mechanism says beyond its numbers, as in ``CellFactors``."""

    rerun: Rerun | None
    note: str
    left_out: tuple[Omission, ...]
    approximate: bool


def sum_factors(
    release: Release,
    published: tuple[Publication, Ints],
    weigh: Callable[[int, int], Support],
    *,
    signed: bool = False,
    **beyond: Unpack[Beyond],
) -> CellFactors:
    """One factor for each published number; cells that are the same sum are one number.

    Parameters
    ----------
    published
        The published margins to take into account, and their counts int64 (size of the
        publication,) in the order of :func:`counts_of`.
    weigh
        (published count, inner cells behind it) -> what its true sum may be.
    signed
        Whether the mechanism can publish negative counts.
    beyond
        What the mechanism says beyond the numbers.

    Raises
    ------
    InputError
        For a count that no mechanism of this kind produces.
    TooLargeError
        Before the work, with what it would cost.
    """
    publication, counts = published
    if not signed and (counts < 0).any():
        raise InputError(message("a published count is negative; this mechanism makes none"))
    _require_followed(publication)
    if publication.domains == (publication.domain,) and not publication.domain.structural:
        # Inner cells alone need no incidence.
        (starts, inner), behind = each_cell(publication.domain), np.ones_like(counts)
    else:
        cells, _ = publication.distinct
        starts, inner = publication.behind(cells)
        behind = np.diff(starts)
        # A cell that nothing adds into is 0 and says nothing.
        counts, behind = counts[cells[behind > 0]], behind[behind > 0]
        starts = np.concatenate([[0], np.cumsum(behind)]).astype(np.int64)
    first, kind = equal_rows([counts, behind])
    kinds = [weigh(int(counts[k]), int(behind[k])) for k in first]
    factors = CellFactors.of(publication.domain, release.tables, (starts, inner), kind, kinds)
    return replace(factors, **beyond)


def with_total(factors: CellFactors, total: Support) -> CellFactors:
    """The same where more is known of the grand total than its own publication says.

    Parameters
    ----------
    total
        Its possible values.
    """
    low, high, logs = total
    runs = np.zeros(0) if logs is None else logs
    size = factors.domain.size
    return replace(
        factors,
        starts=np.append(factors.starts, factors.starts[-1] + size),
        cells=np.concatenate([factors.cells, np.arange(size, dtype=np.int64)]),
        kind=np.append(factors.kind, len(factors.low)),
        low=np.append(factors.low, low),
        high=np.append(factors.high, high),
        log_starts=np.append(factors.log_starts, factors.log_starts[-1] + len(runs)),
        logs=np.concatenate([factors.logs, runs]),
    )
