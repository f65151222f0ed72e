"""The public edition, which anybody may read. A function of the bundle alone."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import date
from itertools import groupby

from markupsafe import Markup, escape

from tabprotect.engine.bundle.reader_text import reader_lines, title_of
from tabprotect.engine.bundle.staff.release_findings import bundle_files, magnitude_headline, stated
from tabprotect.engine.bundle.verify import Verification
from tabprotect.engine.protection.registered import methods
from tabprotect.engine.release.findings import Finding, FindingGroup
from tabprotect.engine.release.release import Release
from tabprotect.engine.report import svg_figures
from tabprotect.engine.report.printed_grids import Grid, magnitude_grid, published_grid
from tabprotect.engine.tables.domain import Domain
from tabprotect.languages.messages import day_said, joined, message
from tabprotect.languages.translation import translate

_CODE, _STRONG = re.compile("`([^`]+)`"), re.compile(r"\*\*([^*]+)\*\*")

_CONTROL = dict.fromkeys((*range(32), *range(127, 160)), "�")
_CONTROL |= {ord(c): " " for c in "\n\t"}


def plain(text: str) -> str:
    """Text without characters that control a printer or break a page: labels come from anybody."""
    return text.translate(_CONTROL).encode("utf-8", "replace").decode()


def sections(release: Release) -> dict[str, Markup]:
    """The README by heading; the text before the first heading under ``""``. Public."""
    found: dict[str, list[str]] = {"": []}
    current = found[""]
    for line in reader_lines(release)[1:]:
        if line.startswith("## "):
            current = found.setdefault(line[3:], [])
        else:
            current.append(line)
    return {heading: Markup("\n").join(_blocks(lines)) for heading, lines in found.items()}


def _kind(line: str) -> str:
    return "" if not line else "point" if line[:2] == "- " else "code" if line[:4] == "    " else "p"


_OPTION = re.compile(r" \(`\w+`\)\.$")
"""The name of a choice, which is for whoever types it."""


def _blocks(lines: list[str]) -> Iterator[Markup]:
    for kind, group in groupby(lines, _kind):
        if kind == "point":
            points = (
                Markup("<li>{}</li>").format(_inline(_OPTION.sub(".", translate(line)[2:]))) for line in group
            )
            yield Markup("<ul>{}</ul>").format(Markup("").join(points))
        elif kind == "code":
            yield Markup("<pre>{}</pre>").format(joined((plain(line[4:]) for line in group), "\n"))
        elif kind == "p":
            lines = list(group)
            # A paragraph of a method's page is broken into lines, and is one text.
            text = message(" ".join(lines)) if len(lines) > 1 else lines[0]
            yield Markup("<p>{}</p>").format(_inline(translate(text)))


def _inline(text: str) -> Markup:
    escaped = str(escape(plain(text)))
    marked = _STRONG.sub(r"<strong>\1</strong>", _CODE.sub(r"<code>\1</code>", escaped))
    return Markup(marked)


MOST_TABLES = 8
"""The most tables that are printed; further ones are in the files."""


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
        The chart of the main table's cells by published count; ``None`` for magnitudes.
    suppressed
        True if anything is suppressed.
    checks
        The checks that the bundle passed.
    """

    title: str
    made: str
    facts: tuple[tuple[str, str], ...]
    verdict: Finding
    sections: dict[str, Markup]
    tables: tuple[Grid, ...]
    further: int
    figure: Markup | None
    suppressed: bool
    checks: FindingGroup


def size_text(domain: Domain) -> str:
    """The shape of a table and its number of cells."""
    shape = " × ".join(map(str, domain.shape))
    return (
        message("{shape} = {size} cells", shape, svg_figures.count_text(domain.size))
        if shape
        else message("1 cell")
    )


def public_edition(found: Verification, made: date | None) -> PublicEdition:
    """The public edition of a verified bundle."""
    release = found.release
    facts, verdict, tables, figure = (_of_magnitudes if release.magnitudes else _of_counts)(release)
    return PublicEdition(
        title=title_of(release),
        made="" if made is None else translate(day_said(made)),
        facts=(
            *facts,
            *([] if made is None else [(message("Report made"), day_said(made))]),
            (message("Check number (SHA-256)"), found.fingerprint),
            *((message("Signed by the key"), key) for key in found.signers),
        ),
        verdict=verdict,
        sections=sections(release),
        tables=tables,
        further=max(len(release.published) - MOST_TABLES, 0),
        figure=figure,
        suppressed=any(bool(published.hidden.any()) for published in release.published),
        checks=bundle_files(found.checks),
    )


Parts = tuple[tuple[tuple[str, str], ...], Finding, tuple[Grid, ...], Markup | None]


def _of_counts(release: Release) -> Parts:
    """Facts, the verdict, the tables and the chart."""
    facts = (
        ("Variables", ", ".join(release.domain.names) or "none"),
        (message("Main table"), size_text(release.table.domain)),
        (message("Published tables"), str(len(release.tables))),
        ("Method", methods()[release.mechanism.method].label),
    )
    grids = tuple(published_grid(published) for published in release.tables[:MOST_TABLES])
    return facts, stated(release.mechanism.gate), grids, svg_figures.size_bars(release.tables[0])


def _of_magnitudes(release: Release) -> Parts:
    """The same of magnitudes."""
    # Late: a report of counts judges nothing.
    from tabprotect.engine.disclosure.verdict import verdict

    table, count_text = release.magnitude_table, svg_figures.count_text
    number, zero = count_text(len(table.key)), int(((table.value == 0) & ~table.hidden).sum())
    facts = (
        (message("Measure"), table.measure),
        (message("Method"), methods("magnitudes")[release.mechanism.method].label),
        (
            message("Sums"),
            message("{number}, {zero} of them 0", number, count_text(zero)) if zero else number,
        ),
        (message("Not published"), count_text(int(table.hidden.sum()))),
    )
    line = replace(magnitude_headline(verdict(release), staff=False), word="")
    return facts, line, (magnitude_grid(table),), None
