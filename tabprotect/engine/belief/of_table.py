"""What is believed of the cells of one published table of a release, at whatever level it stands."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property

from tabprotect.engine.arrays import Ints
from tabprotect.engine.belief.believed import Believed
from tabprotect.engine.belief.evidence import Evidence
from tabprotect.engine.errors import InfeasibleError
from tabprotect.engine.posterior.margins import sums
from tabprotect.engine.posterior.posterior import Posterior
from tabprotect.engine.progress import SILENT, Progress
from tabprotect.engine.protection.registered import methods
from tabprotect.engine.protection.subtables import groupings_of
from tabprotect.engine.release.likelihood import Likelihood
from tabprotect.engine.release.release import Release
from tabprotect.engine.tables.domain import Index
from tabprotect.engine.tables.groupings.grouping import true_table
from tabprotect.engine.tables.publication import Publication
from tabprotect.engine.tables.table import Table
from tabprotect.languages.messages import message

INNER = -1
"""Stands for the inner cells where they are not published."""


@dataclass(frozen=True, eq=False)
class OfTable:
    """The belief about the cells of one table.

    Attributes
    ----------
    number
        The table's place in the release, or ``INNER``.
    believed
        What is believed of its cells.
    publication
        The publication whose only margin the table is.
    original
        The true counts of its cells; ``None`` where these are not known.
    """

    number: int
    believed: Believed
    publication: Publication
    original: Table | None

    @property
    def names(self) -> tuple[str, ...]:
        """The table's variables, or levels of them."""
        return self.publication.domains[0].names

    def place(self, cell: Index) -> Index:
        """The cell of the table that an inner cell belongs to."""
        inner = self.publication.domain
        return self.publication.domains[0].unflat(int(self._keys[inner.flat(cell)]))

    def member(self, cell: Index) -> Index:
        """The first inner cell that belongs to a cell of the table."""
        key = self.publication.domains[0].flat(cell)
        return self.publication.domain.unflat(int((self._keys == key).argmax()))

    @cached_property
    def _keys(self) -> Ints:
        return self.publication.keys(0)


def tables_to_judge(release: Release, posterior: Posterior) -> tuple[int, ...]:
    """The tables a posterior is to be had of, the main one first.

    Published tables that state their true counts on purpose have none, where no cell is hidden.
    """
    exact = methods()[release.mechanism.method].publishes_true_counts(release)
    judged = [
        number
        for number, published in enumerate(release.tables)
        if published is release.inner or not (exact and published.suppressed is None)
    ]
    if posterior.domain == release.domain and release.inner is None:
        judged.insert(0 if exact else len(judged), INNER)
    return tuple(judged)


def law_of_its_own(release: Release, number: int, inner: Posterior | None) -> Likelihood | None:
    """The likelihood of a table that the posterior of the inner cells leaves out; ``None`` where
    that posterior tells of its cells."""
    if inner is not None and inner.recorded_sums is not None:
        return None
    return methods()[release.mechanism.method].table_likelihood(release, number)


def of_table(
    release: Release,
    number: int,
    found: Believed,
    alone: Callable[[Evidence], Believed],
    *,
    original: Table | None = None,
    progress: Progress = SILENT,
) -> OfTable:
    """Return what is believed of one table's cells.

    Parameters
    ----------
    number
        The table, or ``INNER``.
    found
        What is believed of the release.
    alone
        Asks what is believed given one table by itself.
    original
        The inner cells, where they are known.

    Raises
    ------
    InfeasibleError, TooLargeError
        If there is no posterior of its cells.
    """
    published = None if number == INNER else release.tables[number]
    domain = release.domain if published is None else published.table.domain
    groupings = groupings_of(release.domain, release.mechanism.parameters)
    publication = Publication(release.domain, (domain.names,), groupings)
    true = None if original is None else true_table(original, domain, groupings)
    if domain == found.posterior.domain:
        return OfTable(number, found, publication, true)
    inner = found.posterior if found.posterior.domain == release.domain else None
    law = law_of_its_own(release, number, inner)
    if law is not None:
        return OfTable(number, alone(Evidence(release, law, alone=True)), publication, true)
    if inner is None or published is None:
        raise InfeasibleError(message("the posterior is not about the cells it is made of"))
    (summed,) = sums(inner, publication, progress=progress)
    as_published = replace(summed, published=published.table, hidden=published.suppressed)
    return OfTable(number, replace(found, posterior=as_published), publication, true)
