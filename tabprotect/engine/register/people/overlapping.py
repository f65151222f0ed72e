"""Earlier releases of the same records whose tables share variables with one, neither holding the other.

Two tables say of each other's cells no more than what they say of the margin of the variables that
both have. Where both publish that margin exactly, as cycles do, neither tells of the other; where one
does, readers know it for the other, which is judged with it; where neither does, what is believed of it
from one is one more factor of the other. Where categories of one are groups of those of the other, the sums
of these are such a margin, too. All else is not read: it is told and takes a reason. So are groups that the
counts leave open, where no release crosses the two variables. Tables that hang together in a ring say more than
what they say two by two: see ``rings``.

Confidential: the original shows whether two variables may be groups of one another.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from tabprotect.engine.belief.evidence import Evidence
from tabprotect.engine.register.people.grouped_categories import (
    Groups,
    crossed,
    groups_between,
    over_groups,
    summed_evidence,
)
from tabprotect.engine.register.people.stated_margins import (
    believed_margin,
    exact_margin,
    known_margin,
    margin_evidence,
)
from tabprotect.engine.release.likelihood import CellFactors
from tabprotect.engine.tables.domain import Domain
from tabprotect.engine.tables.table import Table

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
    open
        The groups of categories by which they hang together, where neither is put to the other: both
        are to be read with all others.
    """

    other: Evidence
    of_this: Evidence | None = None
    of_other: Evidence | None = None
    open: tuple[Groups, ...] = ()

    @property
    def tells(self) -> bool:
        """Return True if one of them tells of the other."""
        return self.of_this is not None or self.of_other is not None


def overlap_evidence(
    original: Table,
    group: Sequence[Evidence],
    other: Evidence,
    same_margins: int,
    known: Sequence[Evidence] = (),
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
    known
        All releases of these records, which may show that variables are no groups of one another.

    Returns
    -------
    Told or None
        ``None`` where it cannot be worked out.
    """
    finest = max((one.release.domain for one in group), key=lambda domain: domain.size)
    shared = same_variables(finest, other.release.domain)
    if len(shared) > same_margins:
        return None
    own = [name for name in shared if name in original.domain.names]
    # Where no margin is the same nothing but a name says that they are of the same records.
    grouped = groups_between(original, other, own, alike=not same_margins)
    grouped = [one for one in grouped if not any(crossed(release, one) for release in known)]
    if grouped:
        told = _by_groups(group[0], other, shared, grouped) if finest == original.domain else None
        settled = all(one.group is not None or one.fine == one.coarse for one in grouped)
        settled = settled and all(map(_exact_or_hidden, (group[0], other)))
        return told or (OverlapEvidence(other, open=tuple(grouped)) if settled else None)
    here = next((found for one in group if (found := exact_margin(one, shared))), None)
    there = exact_margin(other, shared)
    if here is not None and there is not None:
        return OverlapEvidence(other) if _alike(here, there) else None
    if here is not None:
        return OverlapEvidence(other, of_other=known_margin(group[0].release, here))
    if there is not None:
        return OverlapEvidence(other, of_this=known_margin(other.release, there))
    if not shared:
        return OverlapEvidence(other)
    # Neither states it: each believes something of it, which is one more factor of the other.
    return OverlapEvidence(other, believed_margin(other, shared), believed_margin(group[0], shared))


def same_variables(one: Domain, other: Domain) -> tuple[str, ...]:
    """The names of the variables that both have with the same categories."""
    known = {variable.name: variable.categories for variable in one.variables}
    return tuple(
        variable.name for variable in other.variables if known.get(variable.name) == variable.categories
    )


def _by_groups(
    own: Evidence, other: Evidence, shared: Sequence[str], grouped: Sequence[Groups]
) -> OverlapEvidence | None:
    """What two releases tell of each other where categories of one are groups of the other's; ``None`` where
    it is not settled which, or one of them is by moves and tells of all of these sums."""
    if len(grouped) > 1 or (groups := grouped[0]).group is None:
        return None
    fine, coarse = (own, other) if groups.mine_is_fine else (other, own)
    names = (*shared, groups.coarse)
    if set(names) == set(coarse.release.domain.names):
        known = coarse.likelihood
    else:
        known = margin_evidence(coarse, names).likelihood
    told = summed_evidence(fine, shared, groups, coarse.release.domain)
    if told is None or not isinstance(known, CellFactors):
        return None
    of_fine = Evidence(coarse.release, over_groups(known, groups, fine.release.domain), alone=True)
    return (
        OverlapEvidence(other, of_fine, told)
        if groups.mine_is_fine
        else OverlapEvidence(other, told, of_fine)
    )


def same_total(original: Table, other: Evidence) -> bool:
    """Return True if the records may be the same, by the number of them."""
    exact = exact_margin(other, ())
    if exact is not None:
        return exact.total == original.total
    return abs(other.release.table.total - original.total) <= max(10.0, CLOSE * original.total)


def other_categories(one: Domain, other: Domain) -> bool:
    """Return True if variables of one name have other categories."""
    return len(same_variables(one, other)) < len(set(one.names) & set(other.names))


def _exact_or_hidden(one: Evidence) -> bool:
    """Return True if a release says between which ends its sums lie, and nothing else of them."""
    return isinstance(one.likelihood, CellFactors) and not len(one.likelihood.logs)


def _alike(one: Table, other: Table) -> bool:
    return bool(np.array_equal(one.counts, other.margin(one.domain.names).counts))
