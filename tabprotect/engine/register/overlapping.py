"""Earlier releases of the same records whose tables share variables with one, neither holding the other.

Two tables say of each other's cells no more than what they say of the margin of the variables that
both have. Where both publish that margin exactly, as cycles do, neither tells of the other; where one
does, readers know it for the other, which is judged with it; where neither does, what is believed of it
from one is one more factor of the other. All else is not read: it is told and takes a reason. So are variables that may be groups of each other's categories, and tables that hang
together in a ring, as A x B, B x C and A x C do: they say more than what they say two by two.

Confidential: margins of the original show whether two variables may be groups of one another.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from tabprotect.engine.arrays import Ints
from tabprotect.engine.belief.believing import believe
from tabprotect.engine.belief.effort import VERDICT
from tabprotect.engine.belief.evidence import RELEASE_ALONE, Evidence, OfRelease
from tabprotect.engine.posterior.margins import sums
from tabprotect.engine.release.likelihood import CellFactors, RecordSwaps, each_cell
from tabprotect.engine.release.published_numbers import Law
from tabprotect.engine.release.release import Release
from tabprotect.engine.tables.domain import Domain
from tabprotect.engine.tables.publication import Publication
from tabprotect.engine.tables.table import Table

MOST_GROUPED = 10
"""Categories up to which groups in any order are looked for; beyond, of neighbours alone."""

CLOSE = 0.05
"""The share by which totals may differ, that are not exact, for the records to be the same."""


@dataclass(frozen=True, eq=False)
class OverlapEvidence:
    """The evidence that one release and others give of each other.

    Attributes
    ----------
    of_this
        What is known of this table from another one.
    of_other
        What is known of the other one from this.
    """

    other: Evidence
    of_this: Evidence | None = None
    of_other: Evidence | None = None

    @property
    def tells(self) -> bool:
        """Return True if one of them tells of the other."""
        return self.of_this is not None or self.of_other is not None


def overlap_evidence(
    original: Table, group: Sequence[Evidence], other: Evidence, same_margins: int
) -> OverlapEvidence | None:
    """Return what a release and those read with it, and another one of the same records, tell of each other.

    Parameters
    ----------
    original
        The original of the release at hand.
    group
        The release at hand, then those that are read with it.
    same_margins
        The number of one-way margins that both originals share.

    Returns
    -------
    Told or None
        ``None`` where it cannot be worked out.
    """
    finest = max((one.release.domain for one in group), key=lambda domain: domain.size)
    shared = shared_variables(finest, other.release.domain)
    if shared is None or len(shared) > same_margins or may_group(original, other):
        return None
    here = next((found for one in group if (found := exact_margin(one, shared))), None)
    there = exact_margin(other, shared)
    if here is not None and there is not None:
        return OverlapEvidence(other) if _alike(here, there) else None
    if here is not None:
        return OverlapEvidence(other, of_other=_known(group[0].release, here))
    if there is not None:
        return OverlapEvidence(other, of_this=_known(other.release, there))
    if not shared:
        return OverlapEvidence(other)
    # Neither states it: each believes something of it, which is one more factor of the other.
    return OverlapEvidence(other, believed_margin(other, shared), believed_margin(group[0], shared))


def believed_margin(evidence: Evidence, names: Sequence[str]) -> Evidence:
    """What a reader of a release believes of a margin, as evidence for a table that has it, too.

    With an even belief over both tables the weight of a sum is the product of the ways in which each of them
    comes to it: what is believed of it from one is its likelihood for the other.
    """
    release = evidence.release
    chance = OfRelease(release, "a margin")
    found = believe(
        [evidence], knowing=RELEASE_ALONE, inner=True, effort=VERDICT, randomness=chance
    ).posterior
    (margin,) = sums(found, Publication(found.domain, (tuple(names),)), randomness=chance)
    laws: list[Law] = []
    for cell in range(margin.domain.size):
        chances = margin.chances[margin.group_of_cell[cell]]
        first, last = np.flatnonzero(chances)[[0, -1]]
        with np.errstate(divide="ignore"):
            logs = np.log(chances[first : last + 1])
        start = int(margin.first[cell])
        laws.append((start + int(first), start + int(last), logs))
    cells = np.arange(margin.domain.size, dtype=np.int64)
    known = CellFactors.of(margin.domain, (), each_cell(margin.domain), cells, laws)
    return Evidence(release, known, alone=True)


def shared_variables(one: Domain, other: Domain) -> tuple[str, ...] | None:
    """The names of the variables that both have; ``None`` if some have other categories."""
    known = {variable.name: variable for variable in one.variables}
    both = [variable for variable in other.variables if variable.name in known]
    if any(variable.categories != known[variable.name].categories for variable in both):
        return None
    return tuple(variable.name for variable in both)


def hang_in_a_ring(domains: Sequence[Domain]) -> bool:
    """Return True if tables say more together than what each two of them say."""
    left = [set(domain.names) for domain in domains]
    while left:
        before = [set(names) for names in left]
        alone = [{name for name in names if sum(name in other for other in left) > 1} for names in left]
        left = [
            names
            for number, names in enumerate(alone)
            if not any(
                names < other or (names == other and number > place)
                for place, other in enumerate(alone)
                if place != number
            )
        ]
        if left == before:
            return len(left) > 1
    return False


def same_total(original: Table, other: Evidence) -> bool:
    """Return True if the records may be the same, by the number of them."""
    exact = exact_margin(other, ())
    if exact is not None:
        return exact.total == original.total
    return abs(other.release.table.total - original.total) <= max(10.0, CLOSE * original.total)


def other_categories(one: Domain, other: Domain) -> bool:
    """Return True if variables of one name have other categories."""
    return shared_variables(one, other) is None


def exact_margin(evidence: Evidence, names: Sequence[str]) -> Table | None:
    """A margin where a release states every cell of it exactly; ``None`` where not."""
    found, domain = evidence.likelihood, evidence.likelihood.domain
    if not set(names) <= set(domain.names):
        return None
    if isinstance(found, CellFactors):
        tables = (published.table.domain.names for published in evidence.release.tables)
        return next(filter(None, (_of_table(found, one, names) for one in tables)), None)
    if isinstance(found, RecordSwaps):
        kept = found.kept
        stays = any(kept.determines(margin, names) for margin in kept.margins)
        return found.published.margin(names) if stays else None
    keys, moves = domain.project_keys(found.moves.cells, names), found.moves
    _, place = np.unique(moves.rows * domain.size + keys, return_inverse=True)
    if np.bincount(place.reshape(-1), weights=moves.signs).any():
        return None
    return found.published.margin(names)


def _of_table(found: CellFactors, table: tuple[str, ...], names: Sequence[str]) -> Table | None:
    """The margin by the sums of one published table, all of whose cells have one value."""
    domain = found.domain
    if not set(names) <= set(table) <= set(domain.names):
        return None
    margin = domain.project(table)
    keys, sizes = domain.project_keys(found.cells, table), np.diff(found.starts)
    filled = np.flatnonzero(sizes == domain.size // margin.size)
    filled = filled[found.low[found.kind[filled]] == found.high[found.kind[filled]]]
    if not len(filled):
        return None
    members = found.starts[filled, None] + np.arange(domain.size // margin.size)
    whole = keys[members]
    one = (whole == whole[:, :1]).all(axis=1)
    values = np.full(margin.size, -1, dtype=np.int64)
    values[whole[one, 0]] = found.low[found.kind[filled[one]]]
    if (values < 0).any():
        return None
    return Table.dense(margin, values.reshape(margin.shape)).margin(names)


def _known(release: Release, margin: Table) -> Evidence:
    """A margin as what is known beside a release that holds it."""
    cells = np.arange(margin.domain.size, dtype=np.int64)
    values, kind = np.unique(margin.counts.reshape(-1), return_inverse=True)
    sums = np.arange(len(cells) + 1, dtype=np.int64), cells
    laws: list[Law] = [(int(value), int(value), None) for value in values.tolist()]
    exact = CellFactors.of(margin.domain, (), sums, kind.reshape(-1).astype(np.int64), laws)
    return Evidence(release, exact, alone=True)


def _alike(one: Table, other: Table) -> bool:
    return bool(np.array_equal(one.counts, other.margin(one.domain.names).counts))


def may_group(original: Table, other: Evidence) -> bool:
    """Return True if categories of a variable that one table lacks may be groups of those of one that the
    other lacks."""
    own = original.domain
    mine = [name for name in own.names if name not in other.release.domain.names]
    theirs = [name for name in other.release.domain.names if name not in own.names]
    for name in theirs:
        counts = exact_margin(other, (name,))
        if counts is None and mine:
            return True
        for variable in mine:
            assert counts is not None
            both = sorted((original.margin([variable]).counts, counts.counts), key=len, reverse=True)
            if len(both[1]) > 1 and _adds_up(*both):
                return True
    return False


def _adds_up(fine: Ints, coarse: Ints) -> bool:
    """Return True if the coarse counts are sums of groups of the fine ones."""
    if int(fine.sum()) != int(coarse.sum()):
        return False
    if len(fine) > MOST_GROUPED:
        wanted = set(np.cumsum(coarse).tolist())
        return wanted <= set(np.cumsum(fine).tolist())
    subsets = np.zeros(1 << len(fine), dtype=np.int64)
    for place, count in enumerate(fine.tolist()):
        subsets[1 << place : 2 << place] = subsets[: 1 << place] + count
    reached = {0}
    for count in coarse.tolist():
        fitting = np.flatnonzero(subsets == count)
        reached = {done | more for done in reached for more in fitting[(fitting & done) == 0].tolist()}
    return bool(reached)
