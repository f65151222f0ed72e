"""The public edition, which anybody may read. A function of the bundle alone."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date

from markupsafe import Markup

from tabprotect.engine.bundle.check_lines import CheckGroup, CheckLine, bundle_files, stated
from tabprotect.engine.bundle.verify import Verification
from tabprotect.engine.protection.registered import methods
from tabprotect.engine.report import svg_figures
from tabprotect.engine.report.printed_grids import Grid, published_grid
from tabprotect.engine.report.readme_parts import sections
from tabprotect.engine.tables.domain import Domain
from tabprotect.languages.said import say

MOST_TABLES = 8
"""The most tables that are printed; further ones are in the files."""


UNTITLED = say("A protected table of counts")


@dataclass(frozen=True)
class PublicEdition:
    """The contents of the public template.

    Attributes
    ----------
    title
        The title of the release.
    made
        The day of the report.
    facts
        Names and values for the cover.
    verdict
        The verdict as the release states it.
    sections
        The sections of the bundle's README by heading.
    tables, further
        The published tables that are printed; the number of further ones.
    figure
        The chart of the main table's cells by published count.
    suppressed
        True if any count is suppressed.
    checks
        The checks that the bundle passed.
    """

    title: str
    made: str
    facts: tuple[tuple[str, str], ...]
    verdict: CheckLine
    sections: dict[str, Markup]
    tables: tuple[Grid, ...]
    further: int
    figure: Markup
    suppressed: bool
    checks: CheckGroup


def day_text(day: date) -> str:
    """A date for people, in the same order in every locale."""
    return f"{day.day} {_MONTHS[day.month - 1]} {day.year}"


_MONTHS = (
    *("January", "February", "March", "April", "May", "June", "July", "August"),
    *("September", "October", "November", "December"),
)


def size_text(domain: Domain) -> str:
    """The shape of a table and its number of cells."""
    shape = " × ".join(map(str, domain.shape))
    return (
        say("{shape} = {size} cells", shape, svg_figures.count_text(domain.size))
        if shape
        else say("1 cell")
    )


def public_edition(found: Verification, made: date) -> PublicEdition:
    """The public edition of a verified bundle."""
    release = found.release
    return PublicEdition(
        title=" ".join(release.title.split()) or UNTITLED,
        made=day_text(made),
        facts=(
            ("Variables", ", ".join(release.domain.names) or "none"),
            (say("Main table"), size_text(release.table.domain)),
            (say("Published tables"), str(len(release.tables))),
            ("Method", methods()[release.mechanism.method].label),
            (say("Report made"), day_text(made)),
            (say("Fingerprint (SHA-256)"), found.fingerprint),
            *((say("Signed by the key"), key) for key in found.signers),
        ),
        verdict=stated(release.mechanism.gate),
        sections=sections(release),
        tables=tuple(published_grid(published) for published in release.tables[:MOST_TABLES]),
        further=max(len(release.tables) - MOST_TABLES, 0),
        figure=svg_figures.size_bars(release.tables[0]),
        suppressed=any(published.suppressed is not None for published in release.tables),
        checks=bundle_files(found.checks),
    )
