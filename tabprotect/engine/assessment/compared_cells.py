"""The cells on which releases are compared, and each release's counts of them."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import combinations

import numpy as np

from tabprotect.engine.arrays import Floats, Ints
from tabprotect.engine.assessment.figure import NotComputable
from tabprotect.engine.budgets import COMPARED_CELLS
from tabprotect.engine.protection.subtables import groupings_of
from tabprotect.engine.release.release import Release
from tabprotect.engine.tables.domain import Domain
from tabprotect.engine.tables.groupings.grouping import Grouping
from tabprotect.engine.tables.margins import MarginSet
from tabprotect.engine.tables.publication import Publication
from tabprotect.languages.messages import message


def published_by(release: Release) -> Publication:
    """The sub-tables of the original that a release publishes.

    Raises
    ------
    NotComputable
        When a table is not made of sums over the original's cells.
    """
    groupings = groupings_of(release.domain, release.mechanism.parameters)
    margins = tuple(published.table.domain.names for published in release.tables)
    publication = Publication(release.domain, margins, groupings)
    found = tuple(published.table.domain for published in release.tables)
    if publication.margins != margins or publication.domains != found:
        raise NotComputable(message("a published table is laid out in another way than the original"))
    return publication


def stated_counts(release: Release) -> Floats:
    """The published counts of all tables, float64 (published cells,); NaN where suppressed."""
    parts = [np.where(p.hidden, np.nan, p.table.counts).reshape(-1) for p in release.tables]
    return np.concatenate(parts).astype(np.float64)


def every_margin(domain: Domain) -> MarginSet:
    """All sub-tables, from the grand total to the table itself."""
    return tuple(names for order in range(domain.ndim + 1) for names in combinations(domain.names, order))


def default_compared(domain: Domain, own: Sequence[Publication]) -> Publication:
    """The default cells of a comparison: every sub-table, and all that is published.

    A method that publishes inner cells alone and one that publishes totals beside them are thus
    judged on the same cells. For a table too large for that, only what is published.
    """
    size = math.prod(categories + 1 for categories in domain.shape)
    margins = list(every_margin(domain)) if size <= COMPARED_CELLS else []
    groupings: dict[str, Grouping] = {}
    for publication in own:
        margins += publication.margins
        groupings |= {g.name: g for g in publication.groupings}
    return Publication(domain, tuple(margins or [domain.names]), tuple(groupings.values()))


@dataclass(frozen=True, eq=False)
class _Source:
    """The finer published margin that a margin follows from: the cell that each cell adds into."""

    begin: int
    end: int
    into: Ints


@lru_cache(maxsize=16)
def _sources(own: Publication, compared: Publication) -> tuple[tuple[_Source, ...], ...]:
    """Return for each compared margin the published ones that determine it, smallest first."""
    known = {g.name for g in own.groupings}
    out = []
    for m, names in enumerate(compared.margins):
        tells = [
            k
            for k in range(len(own.margins))
            if all(n in own.domain.names or n in known for n in names)
            and own.determines(own.margins[k], names)
        ]
        tells.sort(key=lambda k: (own.margins[k] != names, own.domains[k].size))
        sources = []
        for k in tells:
            # A cell that no inner cell adds into goes nowhere.
            into = np.full(own.domains[k].size, compared.domains[m].size, dtype=np.int64)
            into[own.keys(k)] = compared.keys(m)
            sources.append(_Source(int(own.starts[k]), int(own.starts[k + 1]), into))
        out.append(tuple(sources))
    return tuple(out)


def derive(own: Publication, compared: Publication, values: Floats) -> Floats:
    """The compared cells derived from published counts, float64 (compared cells,).

    A cell that is published has its published count; else the sum of the published counts of the
    smallest table whose cells make it up; NaN where a suppressed count would be needed.

    Parameters
    ----------
    values : float64 (own cells,)
        NaN where unknown.
    """
    parts = []
    for domain, sources in zip(compared.domains, _sources(own, compared), strict=True):
        part = np.full(domain.size, np.nan)
        for source in sources:
            missing = np.isnan(part)
            if not missing.any():
                break
            sums = np.bincount(source.into, values[source.begin : source.end], minlength=domain.size + 1)
            part[missing] = sums[: domain.size][missing]
        parts.append(part)
    return np.concatenate(parts)
