"""The release plan: which margins of the open table are to be released, and by which criterion."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from tabprotect.engine.query_space.ways_to_bound import BoundsWay
from tabprotect.engine.tables.domain import Domain
from tabprotect.engine.tables.margins import MarginSet, maximal_margins


@dataclass(frozen=True)
class ReleasePlan:
    """The margins planned for release. Nothing of it has left the house.

    Attributes
    ----------
    margins
        The released frontier by variable names, in the order of release.
    threshold
        Beta: a release is allowed if the criterion's figure is proved to be at least this.
    criterion, bounds
        The names of the risk criterion and of the method for bounds, as in the query space.
    """

    margins: MarginSet = ()
    threshold: int = 3
    criterion: str = "width"
    bounds: BoundsWay = "auto"

    def with_margin(self, domain: Domain, margin: Iterable[str]) -> MarginSet:
        """The margins with one more added, without those inside another one."""
        names = domain.project(margin).names
        kept = set(maximal_margins(domain, (*self.margins, names)))
        return tuple(m for m in (*self.margins, names) if m in kept)

    def fits(self, domain: Domain) -> bool:
        """Return True if every margin is over variables of the table, in its order."""
        known = set(domain.known_names)
        return all(known.issuperset(m) and domain.project(m).names == m for m in self.margins)
