"""Which margins of the open table are to be released, and by what criterion that is judged."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from tabprotect.engine.query_space.ways_to_bound import BoundsWay
from tabprotect.engine.tables.domain import Domain
from tabprotect.engine.tables.margins import MarginSet, maximal_margins


@dataclass(frozen=True)
class ReleasePlan:
    """A plan: nothing of it has left the house.

    Attributes
    ----------
    margins
        The released frontier by variable names, in the order of release.
    threshold
        Beta: a release is allowed when the criterion's figure is proved to be at least this.
    criterion, bounds
        The risk criterion, and how bounds are found (names of the query space).
    """

    margins: MarginSet = ()
    threshold: int = 3
    criterion: str = "width"
    bounds: BoundsWay = "auto"

    def with_margin(self, domain: Domain, margin: Iterable[str]) -> MarginSet:
        """The margins with one more, those inside another one left out."""
        names = domain.project(margin).names
        kept = set(maximal_margins(domain, (*self.margins, names)))
        return tuple(m for m in (*self.margins, names) if m in kept)

    def fits(self, domain: Domain) -> bool:
        """Whether every margin is over variables of a table, in its order."""
        known = set(domain.known_names)
        return all(known.issuperset(m) and domain.project(m).names == m for m in self.margins)
