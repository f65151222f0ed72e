"""The sub-tables a method publishes: two declared parameters and their joint meaning."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from typing import NamedTuple

from tabprotect.engine.budgets import MOST_PUBLISHED
from tabprotect.engine.errors import InputError, about
from tabprotect.engine.formats.grouping_files import parse_groupings
from tabprotect.engine.parameters import Parameter
from tabprotect.engine.tables.domain import Domain
from tabprotect.engine.tables.formula import in_formula
from tabprotect.engine.tables.groupings.grouping import Grouping, declared
from tabprotect.engine.tables.margins import MarginSet, all_margins
from tabprotect.engine.tables.publication import Publication
from tabprotect.engine.tables.table import Table
from tabprotect.languages.messages import message

MARGINS: Parameter[str | None] = Parameter(
    "margins",
    message("Published tables"),
    message(
        "A model formula over the variables: a*b + c publishes a by b with its totals, and c. "
        "Without one every table is published, the inner cells included."
    ),
    "formula",
)

GROUPINGS: Parameter[str | None] = Parameter(
    "groupings",
    message("Groupings"),
    message(
        "Variables that group the categories of another one, for use in the formula beside the "
        "levels that the variables have (region@nuts2): "
        "eu:country=Spain>EU,Portugal>EU,Iceland>outside; or a file."
    ),
    "groupings",
)


KEEP: Parameter[str | None] = Parameter(
    "keep",
    message("Kept sums"),
    message(
        "The margins that are published exactly, as a model formula: geo + region*age keeps the "
        "counts of each geo and of each region by age. Without one all margins of one variable less "
        "than the table."
    ),
    "formula",
    may_be_unstated=True,
)


MANY_WAYS, CELLS, SPARSE, SMALL_SHARE = 4, range(40, 201), 3.0, 0.4
"""Variables from which on, inner cells of which, and the mean published count of an inner cell below which
not all tables are published; and the share of cells below it above which they are not, whatever the mean."""

TINY = 12
"""Inner cells up to which a sparse table is published without any sum where :func:`fewer_by_inner` says so."""


class Fewer(NamedTuple):
    """The tables that are published where not all are: a formula, and what is said of it."""

    formula: str
    sentence: str


def kept_of(domain: Domain, values: Mapping[str, object]) -> Publication:
    """The kept margins by a method's values: all those the formula names.

    Raises
    ------
    InputError
        For a formula or a grouping that does not fit the table, or when the table itself is kept.
    """
    formula = values.get(KEEP.name)
    groupings = groupings_of(domain, values)
    if not formula:
        return _publication_of(domain, all_margins(domain), groupings)
    with about(KEEP.name):
        kept = _publication(domain, str(formula), groupings)
    if any(kept.determines(margin, domain.names) for margin in kept.margins):
        raise InputError(
            message("with these margins kept the table itself would be published as it is"),
            hint=message("keep margins of fewer variables, or of groups of categories"),
        )
    return kept


@lru_cache(maxsize=8)
def _publication_of(domain: Domain, margins: MarginSet, groupings: tuple[Grouping, ...]) -> Publication:
    return Publication(domain, margins, groupings)


def groupings_of(domain: Domain, values: Mapping[str, object]) -> tuple[Grouping, ...]:
    """The groupings a method may name: the levels of the variables, and those among its values."""
    known = declared(domain)
    return (*known, *(g for g in given_groupings(domain, values) if g not in known))


def given_groupings(domain: Domain, values: Mapping[str, object]) -> tuple[Grouping, ...]:
    """The groupings among a method's values; none where it declares none."""
    text = values.get(GROUPINGS.name)
    return parse_groupings(str(text), domain) if text else ()


def publication_of(domain: Domain, values: Mapping[str, object]) -> Publication:
    """The published sub-tables by a method's values.

    Raises
    ------
    InputError, ParameterError
        For a formula or a grouping that does not fit the table.
    """
    formula = values.get(MARGINS.name)
    groupings = groupings_of(domain, values)
    if not formula:
        formula = "*".join(map(in_formula, domain.names))
    return _publication(domain, str(formula), groupings)


def may_be_fewer(domain: Domain, *, cautious: bool = False) -> bool:
    """Return True for tables of many variables and some cells, of which not all tables may be published."""
    if domain.size <= TINY:
        return domain.ndim > 1 and not cautious
    return domain.ndim >= MANY_WAYS and domain.size in (range(CELLS.stop) if cautious else CELLS)


def fewer_by_inner(inner: Table, values: Mapping[str, object], *, cautious: bool = False) -> Fewer | None:
    """The tables that are published of a sparse table where none are named: a tiny one, or of many variables.

    With all tables readers would know too many of its counts. This looks at the inner cells as they are
    published, drawn before: whoever reads them chooses the same, so that the choice tells nothing.

    Parameters
    ----------
    cautious
        Whether tables of fewer cells may be sparse, too, and one of which many cells are so small; sums
        of tiny ones stay.

    Returns
    -------
    Fewer or None
        The inner cells alone of a tiny table, and with the tables of one variable else; ``None`` for all.
    """
    domain, counts = inner.domain, inner.counts
    if values.get(MARGINS.name) or not may_be_fewer(domain, cautious=cautious):
        return None
    names = [in_formula(name) for name in domain.names]
    if counts.mean() >= SPARSE and not (cautious and (counts < SPARSE).mean() > SMALL_SHARE):
        return None
    if domain.size <= TINY:
        said = message(
            "The inner cells are few and sparse: no sum is published beside them. "
            "Name some in margins if they are needed."
        )
        return Fewer(f"{':'.join(names)} - 1", said)
    said = message(
        "The inner cells are sparse: beside them only the tables of one variable are published. "
        "Name more in margins if they are needed."
    )
    return Fewer(f"{' + '.join(names)} + {':'.join(names)}", said)


def asked_of(domain: Domain, formula: str, groupings: str, stated: Mapping[str, object]) -> Publication:
    """The sums that a reader asks about.

    Parameters
    ----------
    groupings
        The reader's own, as text or a file; those of the same name stand for the stated ones.
    stated
        A mechanism's parameters, whose groupings the formula may name too.

    Raises
    ------
    InputError
        For a formula or a grouping that does not fit the table.
    """
    own = parse_groupings(groupings, domain)
    named = {grouping.name for grouping in own}
    known = (g for g in groupings_of(domain, stated) if g.name not in named)
    return _publication(domain, formula, (*own, *known))


@lru_cache(maxsize=8)
def _publication(domain: Domain, formula: str, groupings: tuple[Grouping, ...]) -> Publication:
    # A preview asks for the same one again and again; it remembers its incidence.
    publication = Publication.of(domain, formula, groupings)
    if publication.size > MOST_PUBLISHED:
        raise InputError(
            message(
                "{margins:,} tables with {size:,} cells in all are too many to be published at once",
                len(publication.margins),
                publication.size,
            ),
            hint=message("name the tables you need in the formula, for example (a + b + c)^2"),
        )
    return publication
