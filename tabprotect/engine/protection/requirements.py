"""Wishes: what must stay true of a table in a user's words, and the methods that promise it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

from tabprotect.engine.parameters import Values
from tabprotect.engine.protection.method import Method
from tabprotect.engine.protection.subtables import KEEP, MARGINS, groupings_of, publication_of
from tabprotect.engine.tables.domain import Domain
from tabprotect.engine.tables.margins import MarginSet
from tabprotect.engine.tables.publication import Publication
from tabprotect.languages.messages import message


@dataclass(frozen=True)
class Requirement:
    """A property of a table that a user may want to stay true.

    Attributes
    ----------
    label
        The text of the check box.
    kept, lost
        A few words for a method that promises it and for one that does not.
    granted_by
        Names of ``GUARANTEES``, any of which grants it.
    help
        What it means, in a sentence.
    """

    label: str
    kept: str
    lost: str
    granted_by: tuple[str, ...] = ()
    help: str = ""


KEPT = "margins"
WHOLE = "complete"

REQUIREMENTS: Mapping[str, Requirement] = MappingProxyType(
    {
        KEPT: Requirement(
            message("These sums, exactly"),
            message("these sums, exactly"),
            message("sums are not exact"),
            help=message("The chosen sums are published as they are."),
        ),
        "additive": Requirement(
            message("Everything adds up"),
            message("adds up"),
            message("the table would not add up"),
            ("additive", "exact"),
            message("Published cells add up to the published sums."),
        ),
        WHOLE: Requirement(
            message("No count is hidden"),
            message("nothing hidden"),
            message("counts would be missing"),
            ("complete",),
            message("Every cell of the table is published with a count."),
        ),
        "exact": Requirement(
            message("Counts that are shown are exact"),
            message("shown counts exact"),
            message("counts are changed"),
            ("exact",),
            message("A count is the true one, or it is not published."),
        ),
        "consistent": Requirement(
            message("The same cell is the same in every table"),
            message("same in every table"),
            message("a cell may differ from table to table"),
            ("consistent", "exact"),
            message("A cell that stands in several tables has one count in all of them."),
        ),
        "zeros_kept": Requirement(
            message("Zeros stay zeros"),
            message("zeros stay"),
            message("zeros can rise"),
            ("zeros_kept", "exact"),
            message("Where nobody is, nobody is published."),
        ),
    }
)
"""The requirements by name, in the order in which they are asked."""


@dataclass(frozen=True)
class Promised:
    """The requirements that a method with given parameters grants, whatever the random numbers.

    Attributes
    ----------
    names
        The requirements it grants, except those about exact sums.
    exact : Publication or None
        The sums it publishes exactly.
    """

    names: frozenset[str]
    exact: Publication | None

    @classmethod
    def of(cls, method: Method, domain: Domain, values: Values) -> Promised:
        """The promises by the method's own declarations.

        Parameters
        ----------
        values
            As ``Method.resolve`` gives them.
        """
        promised = set(method.promised(values))
        published = _published(domain, values)
        names = {name for name, requirement in REQUIREMENTS.items() if promised & set(requirement.granted_by)}
        if domain.names not in published.margins:
            names.discard(WHOLE)
        exact = method.kept(domain, values)
        if exact is None and {"exact", "complete"} <= promised:
            exact = published
        if exact is None and "total_kept" in promised:
            exact = Publication(domain, ((),))
        return cls(frozenset(names), exact)

    def lost(self, asked: MarginSet = ()) -> tuple[str, ...]:
        """The requirements that are not granted, in the order of ``REQUIREMENTS``.

        Parameters
        ----------
        asked
            The sums that are to be exact.
        """
        given = set(self.names)
        if all(self._tells(margin) for margin in asked):
            given.add(KEPT)
        return tuple(name for name in REQUIREMENTS if name not in given)

    def _tells(self, margin: tuple[str, ...]) -> bool:
        exact = self.exact
        return exact is not None and any(exact.determines(m, margin) for m in exact.margins)


def _published(domain: Domain, values: Values) -> Publication:
    """The sub-tables that are published: the table itself where no parameter names others."""
    if MARGINS.name in values:
        return publication_of(domain, values)
    # Groupings of kept sums are no tables of their own.
    groupings = () if KEEP.name in values else groupings_of(domain, values)
    names = tuple(next((g.name for g in groupings if g.of == n), n) for n in domain.names)
    return Publication(domain, (names,), groupings)
