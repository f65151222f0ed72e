"""Which sub-tables a method publishes: two declared parameters and what they mean together."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache

from tabprotect.engine.errors import InputError
from tabprotect.engine.formats.groupings import parse_groupings
from tabprotect.engine.parameters import Parameter
from tabprotect.engine.tables.domain import Domain
from tabprotect.engine.tables.hierarchy import Grouping
from tabprotect.engine.tables.publication import Publication

MOST_PUBLISHED = 20_000_000
"""Cells of all published sub-tables together."""

MARGINS = Parameter(
    "margins",
    "Published sub-tables",
    "A model formula over the variables: a*b + c publishes a by b with its totals, and c. "
    "Without one every sub-table is published, the inner cells included.",
    "formula",
)

GROUPINGS = Parameter(
    "groupings",
    "Groupings",
    "Variables that group the categories of another one, for use in the formula: "
    "eu:country=Spain>EU,Portugal>EU,Iceland>outside; or a file.",
    "groupings",
)


def groupings_of(domain: Domain, values: Mapping[str, object]) -> tuple[Grouping, ...]:
    """The groupings among a method's values; none where it declares none."""
    text = values.get(GROUPINGS.name)
    return parse_groupings(str(text), domain) if text else ()


def publication_of(domain: Domain, values: Mapping[str, object]) -> Publication:
    """The sub-tables that a method's values say are published.

    Raises
    ------
    InputError, ParameterError
        For a formula or a grouping that does not fit the table.
    """
    formula = values.get(MARGINS.name)
    groupings = groupings_of(domain, values)
    if not formula:
        formula = "*".join(f"`{name}`" for name in domain.names)
    return _publication(domain, str(formula), groupings)


@lru_cache(maxsize=8)
def _publication(domain: Domain, formula: str, groupings: tuple[Grouping, ...]) -> Publication:
    # A preview asks for the same one again and again; it remembers its incidence.
    publication = Publication.of(domain, formula, groupings)
    if publication.size > MOST_PUBLISHED:
        raise InputError(
            f"{len(publication.margins):,} sub-tables with {publication.size:,} cells in all are "
            "too many to be published at once",
            hint="name the sub-tables you need in the formula, for example (a + b + c)^2",
        )
    return publication
